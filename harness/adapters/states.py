"""Which state of somebody's own code is under test: a version for what has none."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

_HARNESS = Path(__file__).resolve().parents[1]
_DIGITS = 12
_STATED = re.compile(rf"\((?:source|files) ([0-9a-f]{{{_DIGITS}}})\)")


def own_state(module: str) -> str:
    """Return a hash over the code of the user's own that an adapter consists of, empty where there is none.

    That is the adapter's module, its whole package where it has one, and whatever else it has loaded
    from where it lies or from the working directory; installed packages have versions instead.
    """
    found = sys.modules.get(module)
    file = getattr(found, "__file__", None)
    if file is None:
        return ""
    top = getattr(sys.modules.get(module.partition(".")[0]), "__path__", None)
    roots = {Path(file).resolve().parent, Path.cwd().resolve()}
    loaded = (getattr(one, "__file__", None) for one in list(sys.modules.values()))
    files = {path for name in loaded if name and (path := Path(name).resolve()).suffix == ".py"}
    files = {path for path in files if any(path.is_relative_to(root) for root in roots)}
    for folder in top or ():
        files |= set(Path(folder).resolve().rglob("*.py"))
    own = sorted(path for path in files if not _installed(path))
    return _hashed(own)


def _installed(path: Path) -> bool:
    return any(part in ("site-packages", "dist-packages") for part in path.parts) or path.is_relative_to(
        _HARNESS
    )


def files_state(words: Sequence[str], folder: Path) -> str:
    """Return a hash over the files that stand in a command line, empty where there is none.

    Args:
        words: the words of the command.
        folder: where it is run.
    """
    named = (folder / word for word in words)
    return _hashed(path for path in named if path.is_file() and not _installed(path.resolve()))


def same_code(version: str, later: str) -> bool:
    """Say whether two versions, told by two processes of one run, are of the same code.

    Where a version states a hash of the user's own code, that decides: what else it says may be
    different each time, as a date or the number of a process is.
    """
    states = _STATED.findall(version), _STATED.findall(later)
    return states[0] == states[1] if any(states) else version == later


def changed(what: str) -> str:
    """Return what there is to say when the code under test is edited during a run."""
    return (
        f"{what} has changed since the run began; what was answered before is kept. "
        "Start again: with the changed code it is another run."
    )


def marks(words: Sequence[str], folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Return size and time of change of the files that stand in a command line: a glance, where a hash is a look."""
    found = []
    for word in words:
        with suppress(OSError):
            about = (folder / word).stat()
            found.append((word, about.st_size, about.st_mtime_ns))
    return tuple(found)


def _hashed(files: Iterable[Path]) -> str:
    whole, seen = sha256(), False
    for path in files:
        with suppress(OSError):
            whole.update(sha256(path.read_bytes()).digest())
            seen = True
    return whole.hexdigest()[:_DIGITS] if seen else ""
