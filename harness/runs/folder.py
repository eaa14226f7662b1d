"""The folder of a run: `manifest.json`, `attempts.jsonl`, `answers.jsonl`, `scores.<scorer>.jsonl`."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.runs.journal import Journal, lines
from harness.runs.manifest import Manifest, dated, manifest_from
from harness.runs.record import Record, record_from

MANIFEST = "manifest.json"
ANSWERS = "answers.jsonl"
ATTEMPTS = "attempts.jsonl"
LOG = "adapter.log"
_LOCK = ".lock"


class RunFolder:
    """A run on disk."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def begin(cls, root: Path, manifest: Manifest) -> RunFolder:
        """Return the folder of a run, made when there is none yet.

        Raises:
            InputError: when the folder holds something else.
        """
        path = root / manifest.id
        if (path / MANIFEST).exists():
            found = cls.load(path)
            if found.manifest.id != manifest.id:
                raise InputError(f"{path}: holds another run, {found.manifest.id}. Move it elsewhere.")
            return found
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path}: cannot be made: {error.strerror}. Name another --runs DIR.") from None
        begun = dated(manifest, datetime.now(UTC).isoformat(timespec="seconds"))
        _write_whole(path / MANIFEST, json.dumps(begun.as_data(), indent=2) + "\n")
        return cls(path, begun)

    @classmethod
    def load(cls, path: Path) -> RunFolder:
        """Read a run.

        Raises:
            InputError: when there is none, or its manifest cannot be read.
        """
        file = path / MANIFEST
        try:
            return cls(path, manifest_from(json.loads(file.read_text(encoding="utf-8"))))
        except FileNotFoundError:
            raise InputError(f"{path}: no run: there is no {MANIFEST} in it.") from None
        except OSError as error:
            raise InputError(f"{file}: cannot be read: {error.strerror}.") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{file}: no manifest of a run: {type(error).__name__}: {error}. "
                "Restore the file, or remove the run."
            ) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from working on the run.

        Raises:
            InputError: when one does already.
        """
        with (self.path / _LOCK).open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(
                    f"{self.path}: another process works on this run. Wait for it, or stop it."
                ) from None
            os.utime(self.path / _LOCK)
            yield

    @property
    def last_at_work(self) -> float:
        """When a process last worked on the run, seconds since the epoch."""
        file = self.path / _LOCK
        return (file if file.exists() else self.path / MANIFEST).stat().st_mtime

    @property
    def has_answers(self) -> bool:
        """Whether anything that was asked came to an end, be it by an answer or by an error of the system."""
        file = self.path / ANSWERS
        return file.exists() and file.stat().st_size > 0

    def records(self) -> Iterator[Record]:
        """Yield the records that count, one at a time: the last one for each case and repeat.

        Raises:
            InputError: for a journal that is no journal.
        """
        path = self.path / ANSWERS
        last = {key: at for at, (key, _) in enumerate(_keyed(path))}
        counting = set(last.values())
        for at, data in enumerate(lines(path)):
            if at not in counting:
                continue
            try:
                yield record_from(data)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise InputError(
                    f"{path}:{at + 1}: no record of an answer: {type(error).__name__}: {error}. "
                    "Restore the file, or remove the run."
                ) from None

    def record(self, case: str, repeat: int = 0) -> Record | None:
        """Return the record of one question, None when there is none."""
        return next((one for one in self.records() if one.key == (case, repeat)), None)

    def finished(self) -> dict[tuple[str, int], bool]:
        """Return what is finished, and whether it is an answer (or a failure)."""
        return {key: data.get("failure") is None for key, data in _keyed(self.path / ANSWERS)}

    def unasked(self) -> list[tuple[str, int]]:
        """Return the cases and repeats that the journal has an answer to and the run was never asked."""
        asked, repeats = self.manifest.cases, range(self.manifest.repeats)
        return sorted(key for key in self.finished() if key[0] not in asked or key[1] not in repeats)

    def attempts(self) -> dict[tuple[str, int], list[str]]:
        """Return the namespaces of every attempt that was begun, oldest first."""
        begun: dict[tuple[str, int], list[str]] = {}
        for key, data in _keyed(self.path / ATTEMPTS):
            begun.setdefault(key, []).append(str(data.get("namespace")))
        return begun

    def journals(self) -> tuple[Journal, Journal]:
        """Open the journals of attempts and answers for appending."""
        return Journal(self.path / ATTEMPTS), Journal(self.path / ANSWERS)

    def write_scores(self, scorer: str, rows: Iterable[Mapping[str, Any]]) -> Path:
        """Write the scores of one scorer, whole or not at all; return the file.

        A row takes the place of the one of its case; those of cases that are not scored now stay.

        Raises:
            InputError: for a file of scores that is none, where rows of it would have to stay.
        """
        path = self.path / f"scores.{_file_name(scorer)}.jsonl"
        fresh = {str(row["case"]): row for row in rows}
        if not fresh.keys() >= self.manifest.cases.keys():
            fresh = _scores_in(path) | fresh
        order = {case: at for at, case in enumerate(self.manifest.cases)}
        kept = sorted(fresh.items(), key=lambda one: order.get(one[0], len(order)))
        _write_whole(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for _, row in kept))
        return path


def find_runs(path: Path) -> list[RunFolder]:
    """Return the run in a folder, or every run in the folders inside it, by name.

    Raises:
        InputError: when there is none.
    """
    if (path / MANIFEST).exists():
        return [RunFolder.load(path)]
    if not path.is_dir():
        raise InputError(f"{path}: no such folder. Name a run, or a folder of runs.")
    found = [RunFolder.load(one) for one in sorted(path.iterdir()) if (one / MANIFEST).exists()]
    if not found:
        raise InputError(f"{path}: holds no run. `recallbench run --system NAME` makes one.")
    return found


def newest(runs: Sequence[RunFolder]) -> tuple[list[RunFolder], list[RunFolder]]:
    """Return the run of each label that was at work last, of those asked the most cases, and the others.

    An edited adapter or another budget make another run beside the old one, and so does a look
    at a single case, which must not take the place of the whole. Nor must a run that was begun
    and came to nothing, such as one whose endpoint was not there.
    """
    last: dict[str, RunFolder] = {}
    for run in sorted(runs, key=lambda run: (run.has_answers, len(run.manifest.cases), run.last_at_work)):
        last[run.manifest.system.label] = run
    kept = [run for run in runs if last[run.manifest.system.label] is run]
    return kept, [run for run in runs if run not in kept]


def models_of(runs: Iterable[RunFolder]) -> dict[str, str]:
    """Return the model behind each system's answers: the one that reads, else the one that writes for it."""
    return {
        run.manifest.system.label: model
        for run in runs
        if (model := run.manifest.reader.model or run.manifest.system.model)
    }


def _keyed(path: Path) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
    """Yield the lines of a journal, each with the case and the repeat that it is about."""
    for number, data in enumerate(lines(path), start=1):
        case, repeat = data.get("case"), data.get("repeat")
        if not isinstance(case, str) or type(repeat) is not int:
            raise InputError(
                f"{path}:{number}: names no case and repeat. Restore the file, or remove the run."
            )
        yield (case, repeat), data


def _scores_in(path: Path) -> dict[str, Mapping[str, Any]]:
    """Return the rows of a file of scores by their case, none where there is no file yet."""
    found: dict[str, Mapping[str, Any]] = {}
    for number, row in enumerate(lines(path), start=1):
        if not isinstance(row.get("case"), str):
            raise InputError(f"{path}:{number}: names no case. Remove the file and score the run again.")
        found[row["case"]] = row
    return found


def _file_name(scorer: str) -> str:
    return "".join(char if char.isalnum() or char in "-_" else "-" for char in scorer)


def _write_whole(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8", errors="replace", newline="\n")
    draft.replace(path)
