"""Which state of somebody's own code is under test: a version for what has none."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

_HARNESS = Path(__file__).resolve().parents[1]
_DIGITS = 12


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


def _hashed(files: Iterable[Path]) -> str:
    whole, seen = sha256(), False
    for path in files:
        with suppress(OSError):
            whole.update(sha256(path.read_bytes()).digest())
            seen = True
    return whole.hexdigest()[:_DIGITS] if seen else ""
