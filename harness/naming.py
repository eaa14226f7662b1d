"""Things found by name: scorers, adapters. A spec is what a user types for one.

    bm25    bm25(limit=8)    my_module:MyMemory    notes=simple_notes(steps=5)

A name is a built-in, an entry point of a group, or `module:attribute`; options follow in
brackets, texts in quotes; a label may stand before `=`, where labels make sense.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import InputError

_LABEL = re.compile(r"([^\s=()\[\]'\"]+)=(?=[A-Za-z_])")


class Spec(NamedTuple):
    """What a user asked for.

    Attributes:
        text: as it was typed, without a label.
        name: the name.
        options: the options in the brackets.
        label: what to call it in tables; the text when no label was given.
    """

    text: str
    name: str
    options: Mapping[str, Any]
    label: str


class Offer(NamedTuple):
    """What an installed package offers under a name."""

    name: str
    target: str
    source: str


def parse_spec(text: str, flag: str, *, labelled: bool = False) -> Spec:
    """Read `name`, `name(option=value, …)` or, with `labelled`, `label=name(…)`.

    Args:
        text: what was typed.
        flag: the option it was typed for, for messages.
        labelled: whether a label may stand in front.

    Raises:
        InputError: for options that are no Python literals, or an empty name.
    """
    spec, label = text.strip(), None
    if labelled and (found := _LABEL.match(spec)):
        label, spec = found[1], spec[found.end() :]
    name, bracket, rest = spec.partition("(")
    name = name.strip()
    if not name:
        raise InputError(f"{flag} {text!r}: names nothing.")
    options = _options(name, rest, spec, flag) if bracket else {}
    return Spec(spec, name, options, label or spec)


def _options(name: str, rest: str, spec: str, flag: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"_({rest}", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError("options are written name=value")
        if any(word.arg is None for word in call.keywords):
            raise ValueError("** has no place here")
        return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(
            f"{flag} {spec}: cannot read the options. Write {name}(option=value), texts in quotes."
        ) from None


def offered(group: str) -> list[Offer]:
    """Return what installed packages offer in a group of entry points, sorted by name."""
    from importlib.metadata import entry_points

    return sorted(
        Offer(point.name, point.value, point.dist.name if point.dist else "plugin")
        for point in entry_points(group=group)
    )


def unknown(flag: str, name: str, what: str, known: Iterable[str], *, own: bool = True) -> InputError:
    """Return the error for a name that nobody has, with the nearest one as a hint.

    Args:
        flag: the option the name was typed for.
        name: what was typed.
        what: what it should have named.
        known: the names that there are.
        own: whether `module:attribute` is taken too.
    """
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    other = "; or module:attribute" if own else ""
    return InputError(f"{flag} {name}: no such {what}.{hint} Known: {', '.join(names)}{other}.")


def look_here(folders: Sequence[Path] = ()) -> None:
    """Have modules found in the working directory, where what is one's own lies, and in further folders."""
    for folder in (Path.cwd(), *folders):
        if "" not in sys.path and str(folder) not in sys.path:
            sys.path.append(str(folder))


def load_target(target: str, flag: str, name: str, folders: Sequence[Path] = ()) -> Any:
    """Import what `module:attribute` names; modules may lie in the working directory.

    Args:
        target: module and attribute.
        flag: the option the name was typed for, for messages.
        name: what was typed.
        folders: further folders where modules may lie.

    Raises:
        InputError: when it cannot be imported, whatever the reason, `sys.exit()` in it too.
    """
    module, _, attribute = target.partition(":")
    look_here(folders)
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # whatever importing a module of the user's own does
        raise InputError(f"{flag} {name}: cannot load {target}: {type(error).__name__}: {error}") from None
    return found
