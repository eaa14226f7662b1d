"""The folder of a run: which records count, and what is wrong with it."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.adapters.protocol import Memory
from harness.errors import InputError
from harness.runs.folder import RunFolder, find_runs, newest
from harness.runs.manifest import Manifest, ReaderPart, SystemPart
from harness.runs.record import Failure, Record


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    system = SystemPart("bm25", "bm25", "bm25", "retrieval", {})
    cases = {f"c{number}": "1" for number in range(400)}
    return RunFolder.begin(
        tmp_path / "runs", Manifest(system, ReaderPart("extractive", 500, 50), "s", cases, "2")
    )


def write(folder: RunFolder, *records: Record) -> None:
    begun, answers = folder.journals()
    with begun, answers:
        for record in records:
            answers.append(record.as_data())


def test_of_two_records_about_one_question_the_last_counts(folder: RunFolder) -> None:
    failed = Failure("raised", "no", "recall")
    write(
        folder,
        Record("a", 0, 1, "n1", failure=failed),
        Record("b", 0, 1, "n2", "old"),
        Record("a", 1, 1, "n3", "second"),
        Record("a", 0, 2, "n4", "first"),
        Record("b", 0, 2, "n5", failure=failed),
    )
    assert [(one.key, one.answer) for one in folder.records()] == [
        (("a", 1), "second"),
        (("a", 0), "first"),
        (("b", 0), None),
    ]
    assert folder.finished() == {("a", 0): True, ("b", 0): False, ("a", 1): True}
    found = folder.record("a", 1)
    assert found is not None
    assert found.answer == "second"
    assert folder.record("c") is None


def test_records_are_read_one_at_a_time(folder: RunFolder) -> None:
    memory = Memory("m", "x" * 20_000)
    write(folder, *(Record(f"c{number}", 0, 1, "n", memories=(memory,)) for number in range(400)))
    tracemalloc.start()
    try:
        read = folder.records()
        assert isinstance(read, Iterator)
        assert sum(1 for _ in read) == 400
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (folder.path / "answers.jsonl").stat().st_size / 10


SOUND = Record("a", 0, 1, "n", memories=(Memory("m", "x"),), kept=("x",)).as_data()


@pytest.mark.parametrize(
    "change",
    [
        {"case": None},
        {"case": ["a"]},
        {"repeat": "0"},
        {"repeat": {}},
        {"namespace": ...},
        {"delivered": 7},
        {"delivered": [{"id": "x"}]},
        {"delivered": ["x"]},
        {"memories": ["x"]},
        {"memories": 7},
        {"memories": [{"id": "m", "text": "x", "created_at": "yesterday"}]},
        {"kept": 7},
        {"kept": {}},
        {"memories": [], "kept": {"memories": 0, "last": "x"}},
        {"failure": "no"},
        {"failure": {"kind": "raised"}},
        {"timings": ...},
    ],
    ids=str,
)
def test_a_record_that_is_none_is_named(folder: RunFolder, change: dict[str, Any]) -> None:
    data = {name: value for name, value in {**SOUND, **change}.items() if value is not ...}
    path = folder.path / "answers.jsonl"
    path.write_text(f"{json.dumps({**SOUND, 'case': 'other'})}\n{json.dumps(data)}\n")
    with pytest.raises(InputError, match=rf"{path}:2: .*Restore the file, or remove the run\."):
        list(folder.records())


def test_a_line_that_names_no_question_is_no_finished_work(folder: RunFolder) -> None:
    (folder.path / "answers.jsonl").write_text('{"a": 1}\n')
    (folder.path / "attempts.jsonl").write_text('{"case": [1], "repeat": 0, "namespace": "n"}\n')
    with pytest.raises(InputError, match=r"answers\.jsonl:1: names no case and repeat"):
        folder.finished()
    with pytest.raises(InputError, match=r"attempts\.jsonl:1: names no case and repeat"):
        folder.attempts()


def test_only_one_at_a_time_may_work_on_a_run(folder: RunFolder) -> None:
    with (
        folder.locked(),
        pytest.raises(InputError, match="another process works on this run"),
        RunFolder.load(folder.path).locked(),
    ):
        pass
    with folder.locked():
        pass


def test_runs_are_found_in_a_folder_and_as_one(folder: RunFolder, tmp_path: Path) -> None:
    root = folder.path.parent
    (root / "notes.txt").write_text("mine")
    (root / "empty").mkdir()
    assert [run.path for run in find_runs(root)] == [folder.path]
    assert [run.path for run in find_runs(folder.path)] == [folder.path]
    with pytest.raises(InputError, match="holds no run"):
        find_runs(root / "empty")
    with pytest.raises(InputError, match="no such folder"):
        find_runs(tmp_path / "nowhere")


def test_a_folder_that_cannot_be_made_is_said(folder: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be made: .*--runs DIR"):
        RunFolder.begin(tmp_path / "file", folder.manifest)


def test_scores_are_written_whole_under_a_name_that_is_one(folder: RunFolder) -> None:
    path = folder.write_scores("my/scorer:X(a='ü')", [{"case": "a", "said": "\ud800 ü"}])
    assert path.parent == folder.path
    assert json.loads(path.read_text(encoding="utf-8"))["said"].endswith(" ü")
    assert folder.write_scores("my/scorer:X(a='ü')", [{"case": "a", "said": "more"}]) == path
    assert json.loads(path.read_text(encoding="utf-8")) == {"case": "a", "said": "more"}
    assert not list(folder.path.glob(".scores*"))


def test_of_the_runs_of_one_system_the_one_at_work_last_is_the_newest(tmp_path: Path) -> None:
    runs = []
    for at, (label, budget) in enumerate((("a", 1), ("b", 1), ("a", 2), ("a", 3))):
        manifest = Manifest(
            SystemPart(label, label, label, "connector", {}),
            ReaderPart("extractive", budget, 50),
            "s",
            {"c": "1"},
            "2",
        )
        run = RunFolder.begin(tmp_path, manifest)
        with run.locked():
            pass
        os.utime(run.path / ".lock", (at, at))
        runs.append(run)
    os.utime(runs[2].path / ".lock", (9, 9))  # taken up again
    kept, older = newest(runs)
    assert kept == [runs[1], runs[2]]
    assert older == [runs[0], runs[3]]


def test_a_run_that_came_to_nothing_takes_no_place(tmp_path: Path) -> None:
    runs = []
    for budget in (1, 2):
        manifest = Manifest(
            SystemPart("a", "a", "a", "connector", {}),
            ReaderPart("extractive", budget, 50),
            "s",
            {str(case): "1" for case in range(budget)},
            "2",
        )
        runs.append(RunFolder.begin(tmp_path, manifest))
    (runs[0].path / "answers.jsonl").write_text("{}\n")
    for answers in (None, ""):
        if answers is not None:
            (runs[1].path / "answers.jsonl").write_text(answers)
        assert newest(runs) == ([runs[0]], [runs[1]])
    (runs[1].path / "answers.jsonl").write_text("{}\n")
    assert newest(runs) == ([runs[1]], [runs[0]])
