"""The runs that may be seen: those in one folder, and nothing that a name or a link leads out of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import InputError
from harness.runs.folder import ANSWERS, ATTEMPTS, LOG, MANIFEST, RunFolder

_SUFFIX = ".jsonl"
_MOST_BYTES = 64 * 1024 * 1024


class Listed(NamedTuple):
    """One folder in the list.

    Attributes:
        name: of the folder.
        run: the run, None where it cannot be read.
        answered: answers that are there.
        failed: system errors that are there.
        problem: why it cannot be read, empty where it can.
    """

    name: str
    run: RunFolder | None
    answered: int = 0
    failed: int = 0
    problem: str = ""


class Store:
    """A folder of runs, or one run.

    A name that a request brings is looked up among the folders that are there, and never joined to
    a path; what leads out of the folder through a link is not there.

    Args:
        path: the folder.

    Raises:
        InputError: when there is none.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise InputError(f"{path}: no such folder. Name a run, or a folder of runs.")
        self.path = path
        place = path.resolve()
        self._only = place.name if (path / MANIFEST).exists() else None
        self._root = place.parent if self._only else place

    def names(self) -> tuple[str, ...]:
        """Return the folders of runs, by name."""
        return tuple(sorted(self._folders()))

    def listed(self) -> list[Listed]:
        """Return every run, the one begun last first; one that cannot be read says why."""
        found = [self._listed(name) for name in self.names()]
        return sorted(found, key=lambda one: one.run.manifest.created if one.run else "", reverse=True)

    def runs(self, names: Sequence[str]) -> list[RunFolder]:
        """Return the runs of these names.

        Raises:
            KeyError: for a name that is no run's.
            InputError: for a run that cannot be read.
        """
        folders = self._folders()
        for name in names:
            if name not in folders:
                raise KeyError(name)
        return [RunFolder.load(self.path.joinpath(*self._below(name))) for name in names]

    def files(self, name: str) -> dict[str, Path]:
        """Return the files of a run that may be read, by name.

        Raises:
            KeyError: for a name that is no run's.
        """
        folder = self._folders()[name]
        return {
            file.name: file
            for file in sorted(folder.iterdir())
            if _is_told(file.name)
            and (file.name in (MANIFEST, LOG) or file.suffix == _SUFFIX)
            and self._within(file, folder)
            and file.is_file()
        }

    def text(self, name: str, file: str) -> bytes:
        """Return a file of a run, its first 64 MB.

        Raises:
            KeyError: for a file that may not be read, or is not there.
        """
        with self.files(name)[file].open("rb") as opened:
            return opened.read(_MOST_BYTES)

    def state(self, names: Sequence[str]) -> tuple[tuple[str, int, int], ...]:
        """Return what changes when a run goes on: sizes and times of its manifest and journals."""
        return tuple(
            (f"{name}/{file}", stat.st_mtime_ns, stat.st_size)
            for name in names
            for file, path in self.files(name).items()
            for stat in (path.stat(),)
        )

    def _below(self, name: str) -> tuple[str, ...]:
        return () if self._only else (name,)

    def _folders(self) -> dict[str, Path]:
        """Return the folders of runs that lie in the folder itself, and hold their journals themselves."""
        names = [self._only] if self._only else [path.name for path in self._root.iterdir()]
        places = {name: self._root / name for name in names}
        return {name: place for name, place in places.items() if _is_told(name) and self._is_run(place)}

    def _is_run(self, place: Path) -> bool:
        try:
            held = (place / MANIFEST).is_file()
        except OSError:  # a folder that may not be entered hides no other
            return False
        if not held or not self._within(place, self._root):
            return False
        return all(self._within(place / file, place) for file in (MANIFEST, ANSWERS, ATTEMPTS))

    @staticmethod
    def _within(path: Path, folder: Path) -> bool:
        """Say whether a path lies directly in a folder when every link is followed."""
        try:
            return path.resolve() == folder.resolve() / path.name
        except (OSError, RuntimeError):  # links that lead in a circle
            return False

    def _listed(self, name: str) -> Listed:
        try:
            (run,) = self.runs([name])
            finished = run.finished()
        except InputError as error:
            return Listed(name, None, problem=str(error))
        good = sum(finished.values())
        return Listed(name, run, good, len(finished) - good)


def _is_told(name: str) -> bool:
    """Say whether a name can be written in an address: one whose bytes are no UTF-8 cannot."""
    return name.isprintable()
