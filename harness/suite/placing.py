"""Folders that come to their place whole: made as a draft beside it, and then moved there."""

from __future__ import annotations

from pathlib import Path


def named(path: Path) -> Path:
    """Return a path with a name of its own, which `.` and `..` have not."""
    return path.resolve() if path.name in ("", "..") else path


def settle(draft: Path, place: Path) -> None:
    """Move a finished draft to its place.

    An empty folder that is there already is filled and stays, since somebody may be working in it; it is
    empty again where that fails.

    Raises:
        OSError: when it cannot be moved.
    """
    if not place.exists():
        draft.rename(place)
        return
    moved: list[Path] = []
    try:
        for each in sorted(draft.iterdir()):
            moved.append(each.rename(place / each.name))
    except OSError:
        for each in moved:
            each.rename(draft / each.name)
        raise
