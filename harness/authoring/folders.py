"""Folders that come into being whole or not at all, and cases copied into them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.authoring.case_text import as_documents, as_legacy, dump, header_data
from harness.errors import InputError
from harness.suite import Case, Suite
from harness.suite.placing import named, settle


def refuse_inside(path: Path, suite: Suite) -> None:
    """Refuse to write into the suite that is read: what it holds would be its cases from then on.

    Raises:
        InputError: when the path is the suite's folder or below it.
    """
    if suite.root.is_dir() and path.resolve().is_relative_to(suite.root.resolve()):
        raise InputError(
            f"{path}: is inside the suite {suite.root}, which it would break. Name a place outside of it."
        )


@contextmanager
def new_folder(path: Path, source: Suite) -> Iterator[Path]:
    """Make a folder; until the block has ended well, it stands beside its place under another name.

    Args:
        path: the folder; an empty one that is there already is filled.
        source: the suite that its content is taken from.

    Raises:
        InputError: when there is one that holds something, it is inside the source, or it can't be made.
    """
    refuse_inside(path, source)
    place = named(path)
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InputError(f"{path}: there is something already. Name a new folder, or empty this one.")
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".recallbench-", dir=place.parent))
    except OSError as error:
        raise InputError(f"{path}: cannot be made: {error.strerror}.") from None
    try:
        made = draft / place.name
        made.mkdir()
        yield made
        settle(made, place)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}.") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def copy_cases(suite: Suite, cases: Iterable[Case], folder: Path) -> None:
    """Copy cases of a suite to their places in another folder, byte for byte.

    Conversations that several cases share in a file of their own come along. A case whose facts a gold file replaced is written anew, with those facts in its header: the gold file
    names cases that the copy may not have.
    """
    for case in cases:
        place = folder / place_of(suite, case)
        place.parent.mkdir(parents=True, exist_ok=True)
        shared = shared_talks(suite, case)
        if shared is not None and not (folder / shared).exists():
            (folder / shared).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(suite.root / shared, folder / shared)
        if case.gold_path is None:
            shutil.copyfile(case.path, place)
        else:
            place.write_text(_with_new_facts(case, shared), encoding="utf-8", newline="\n")


def shared_talks(suite: Suite, case: Case) -> Path | None:
    """Return the file, inside the suite, of the conversations that a case shares with others; None for its own."""
    held = case.haystack
    if held is None:
        return None
    return held.relative_to(suite.root) if held.is_relative_to(suite.root) else held


def _with_new_facts(case: Case, shared: Path | None) -> str:
    header = header_data(case)
    if shared is not None:
        return dump({**header, "haystack": shared.stem})
    return (as_documents if case.form == "documents" else as_legacy)(header, case.conversations())


def write_pieces(path: Path, pieces: Iterable[str]) -> None:
    """Write a text piece by piece, so that a large one is never held in whole; an old file stays until the end.

    Raises:
        InputError: when it can't be written.
    """
    target = path.resolve()
    draft: Path | None = None
    try:
        if target.exists() and not target.is_file():  # a pipe or /dev/null is written to, never replaced
            with target.open("w", encoding="utf-8", newline="\n") as open_already:
                open_already.writelines(pieces)
            return
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=target.parent, prefix=".recallbench-", delete=False
        ) as file:
            draft = Path(file.name)
            file.writelines(pieces)
        draft.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o644)
        draft.replace(target)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}.") from None
    finally:
        if draft is not None:
            draft.unlink(missing_ok=True)


def place_of(suite: Suite, case: Case) -> Path:
    """Return the path of a case inside its suite."""
    return Path(case.path.name) if suite.root.is_file() else case.path.relative_to(suite.root)
