"""Which files of a directory are cases; none is passed over in silence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from harness.errors import InputError, Problem
from harness.suite.models import LAYERS

HAYSTACKS = "haystacks"
"""The folder of conversations that many cases share."""
_CASE_ENDINGS = frozenset((".yaml", ".yml"))
_NOTE_ENDINGS = frozenset((".md",))


def find_cases(root: Path, gold: Path | None = None) -> tuple[list[Path], list[Problem]]:
    """Return the case files under a root, in order, and a problem for each file out of place.

    - A root that is a file is that one case.
    - A directory holds cases itself, in `layer1`, `layer2` and `layer3`, or both; with a folder
      `haystacks` of conversations that cases share, in folders of any name.
    - Hidden files and directories, README files and Markdown are nobody's business, and so is
      the gold file.

    Raises:
        InputError: when the root doesn't exist, is neither, or holds no file that could be a case.
    """
    if root.is_file():
        if root.suffix.lower() not in _CASE_ENDINGS:
            raise InputError(
                f"{root} is no case file; a suite is a directory of .yaml files, or one of them."
            )
        return [root], []
    if not root.is_dir():
        raise InputError(f"there is no suite at {root}; name a directory of case files with --suite.")
    cases: list[Path] = []
    problems: list[Problem] = []
    shared = (root / HAYSTACKS).is_dir()
    for path in _files(root):
        if gold is not None and path.name == gold.name and path.resolve() == gold.resolve():
            continue
        if path.suffix.lower() not in _CASE_ENDINGS:
            message, mend = "is no case file.", "Give it the ending .yaml, or take it out of the suite."
        elif shared and path.parent == root / HAYSTACKS:
            continue  # a case says which of them it asks about
        elif not _is_place_of_cases(path.parent, root, shared=shared):
            message = "stands outside of layer1/, layer2/ and layer3/."
            mend = "Move it to the directory of its layer."
        else:
            cases.append(path)
            continue
        problems.append(Problem(path, 0, "", message, mend, "stray-file"))
    if not cases and not problems:
        raise InputError(
            f"there is no case file in {root}; a suite has .yaml files in layer1, layer2, layer3."
        )
    return cases, problems


def _is_place_of_cases(folder: Path, root: Path, *, shared: bool) -> bool:
    return folder == root or (folder.parent == root and (shared or folder.name in LAYERS))


def _files(root: Path) -> Iterator[Path]:
    """Yield every file under the root but notes and hidden ones, linked directories included."""
    visited = {root.resolve()}
    for name, folders, files in os.walk(root, followlinks=True, onerror=_raise):
        folder = Path(name)
        folders[:] = sorted(inner for inner in folders if _is_new(folder / inner, visited))
        for file in sorted(files):
            path = folder / file
            if not (file.startswith((".", "README")) or path.suffix.lower() in _NOTE_ENDINGS):
                yield path


def _is_new(folder: Path, visited: set[Path]) -> bool:
    """Tell whether to enter a directory: not if it's hidden, nor twice when links go in a circle."""
    real = folder.resolve()
    if folder.name.startswith(".") or real in visited:
        return False
    visited.add(real)
    return True


def _raise(error: OSError) -> None:
    raise InputError(f"{error.filename} can't be read: {error.strerror}") from error
