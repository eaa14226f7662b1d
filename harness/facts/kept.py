"""Compiled patterns kept beside the bytecode, for the same reason: to start fast.

The matcher has some 150 patterns of its own. `re` compiles them in Python, which takes
55 ms in every process, more than reading and scoring a suite; reading them back takes 2 ms.
So they are kept the way Python keeps bytecode, and under the same conditions: in
`__pycache__`, for one version of the interpreter, written when that is allowed
(PYTHONDONTWRITEBYTECODE) and possible, and never needed: whatever is amiss with the file,
the pattern is compiled anew. `warm()` writes the file beforehand.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import marshal
import re
import sys
from pathlib import Path
from typing import Any

Key = tuple[str, int]
Code = tuple[int, list[int], int, dict[str, int], tuple[str | None, ...]]

_MOST = 1000
_STAMP = (sys.version, sys.implementation.cache_tag)
_store: dict[Key, Code] | None = None
_added: set[Key] = set()


def path() -> Path:
    """Return where the patterns are kept."""
    return Path(importlib.util.cache_from_source(__file__)).with_suffix(".patterns")


def compiled(source: str, flags: int) -> re.Pattern[str]:
    """Return `re.compile(source, flags)`, from what was kept where that can be had."""
    global _store
    if _store is None:
        _store = _load()
    key = (source, int(flags))
    code = _store.get(key)
    if code is not None:
        try:
            return _restored(source, code)
        except Exception:  # whatever the file holds, the pattern can be compiled
            _store.clear()
    pattern = re.compile(source, flags)
    _note(key)
    return pattern


def _restored(source: str, code: Code) -> re.Pattern[str]:
    import _sre  # type: ignore[import-not-found]

    flags, program, groups, names, by_index = code
    pattern: re.Pattern[str] = _sre.compile(source, flags, program, groups, names, by_index)
    return pattern


def _load() -> dict[Key, Code]:
    try:
        stamp, store = marshal.loads(path().read_bytes())
        return store if stamp == _STAMP and isinstance(store, dict) else {}
    except (OSError, ValueError, EOFError, TypeError):
        return {}


def _note(key: Key) -> None:
    """Remember to keep a pattern when the process ends."""
    if not _added and not sys.dont_write_bytecode:
        atexit.register(save)
    _added.add(key)


def save() -> None:
    """Write what was compiled since the file was read; a folder that cannot be written to is no matter.

    A file that is full holds patterns of earlier versions: it is begun anew.
    """
    from contextlib import suppress

    new = {key: code for key in _added if (code := _code(*key)) is not None}
    if not new:
        return
    store = {**_load(), **new}
    if len(store) > _MOST:
        store = new
    _added.clear()
    target = path()
    with suppress(OSError):
        target.parent.mkdir(exist_ok=True)
        draft = target.with_name(f"{target.name}.{id(store)}")
        draft.write_bytes(marshal.dumps((_STAMP, store)))
        draft.replace(target)


def _code(source: str, flags: int) -> Code | None:
    """Return the program that `re` makes of a pattern; None where this `re` is another one."""
    try:
        from re import _compiler, _parser  # type: ignore[attr-defined]

        parsed: Any = _parser.parse(source, flags)
        names: dict[str, int] = parsed.state.groupdict
        by_index: list[str | None] = [None] * parsed.state.groups
        for name, index in names.items():
            by_index[index] = name
        program = [int(item) for item in _compiler._code(parsed, flags)]
        return int(flags | parsed.state.flags), program, parsed.state.groups - 1, dict(names), tuple(by_index)
    except (ImportError, AttributeError):
        return None


def warm() -> int:
    """Compile and keep the patterns of every module and of the usual locales; return how many there are.

    To be called in a fresh process. Those of earlier versions are dropped.
    """
    global _store
    import pkgutil
    from contextlib import suppress

    with suppress(OSError):
        path().unlink(missing_ok=True)
    _store = {}

    facts = importlib.import_module("harness.facts")
    lazy = importlib.import_module("harness.facts.patterns").LazyPattern
    for kind in facts.FactType:
        for locale in ("en-US", "en-GB"):
            for value in ("$5 on May 5, 2024 at 5 PM or 5%", "Ann", "room 5", "C++", "カナ", "5 km"):
                fact = {"fact": value, "type": kind}
                facts.match_fact(f"It was {value}. Was it {value}?", fact, locale=locale)

    for module in pkgutil.iter_modules(facts.__path__):
        loaded = importlib.import_module(f"harness.facts.{module.name}")
        for value in vars(loaded).values():
            if isinstance(value, lazy) and value.keep:
                _note((value.source, int(value.flags)))
    count = len(_added)
    save()
    return count
