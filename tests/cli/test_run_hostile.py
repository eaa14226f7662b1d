"""Systems that hang, crash, lie and shout: each costs its own cases, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.cli.systems import (
    MARK,
    answers,
    environment,
    journal,
    manifest,
    needs_proc,
    processes,
    run_folder,
    write_cases,
)

CASES = 2
# system: (kind, phase, part of the message); None where it only looks hostile
HOSTILE: dict[str, tuple[str, str, str] | None] = {
    "HangsInSleep": ("timeout", "recall", "recall took longer than 3 s"),
    "HangsInAwait": ("timeout", "recall", "recall took longer than 3 s"),
    "HangsInLoop": ("timeout", "ingest", "ingest took longer than 3 s"),
    "HangsInOpen": ("timeout", "open", "open took longer than 3 s"),
    "HangsInWait": ("timeout", "wait", "wait took longer than 3 s"),
    "HangsInClose": ("timeout", "close", "close took longer than 3 s"),
    "RaisesInInit": ("raised", "open", "ValueError: no such table: memories"),
    "RaisesInIngest": ("raised", "ingest", "ValueError: cannot embed"),
    "RaisesInWait": ("raised", "wait", "ValueError: the index is corrupt"),
    "RaisesInRecall": ("raised", "recall", "KeyError: 'score'"),
    "RaisesInClose": ("raised", "close", "OSError: cannot close"),
    "ReturnsNone": ("bad_value", "recall", "returned None; expected a list of memories"),
    "ReturnsTenMegabytes": ("oversized", "recall", "returned 10,000,001 characters"),
    "PrintsMegabytes": None,
    "LeaksThreads": ("leaked_threads", "close", "threads run on after close"),
    "DeletesItsStore": ("store_lost", "recall", "had stored in its folder is gone"),
    "Exits": ("crashed", "recall", "exit status 7): going down"),
    "ExitsPolitely": ("raised", "recall", "SystemExit: 3"),
    "KillsItsGroup": ("crashed", "recall", "signal SIGKILL"),
    "WritesIntoTheLine": ("crashed", "recall", ""),
    "ChangesFolder": None,
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str], str]:
    """Run all of them beside a good one in a single command."""
    import os

    folder = tmp_path_factory.mktemp("hostile")
    write_cases(folder / "suite", CASES, talks=2)
    mark = uuid.uuid4().hex
    systems = [part for name in HOSTILE for part in ("-s", f"{name}=hostile:{name}")]
    done = subprocess.run(
        [
            sys.executable, "-m", "harness", "run", *systems, "-s", "good=quick:Quick", "-s", "bm25",
            "--suite", "suite", "--timeout", "3", "--timeout", "load=60", "--concurrency", "8", "-o", "out.json",
        ],
        cwd=folder, capture_output=True, encoding="utf-8", timeout=300, check=False,
        env={**os.environ, "PYTHONUTF8": "1", "COLUMNS": "100", **environment(**{MARK: mark})},
    )  # fmt: skip
    return folder, done, mark


def test_the_command_ends_well_and_says_how_many_failed(ended: Any) -> None:
    _, done, _ = ended
    assert done.returncode == 0, done.stderr
    failing = sum(kind is not None for kind in HOSTILE.values())
    asked = (len(HOSTILE) + 2) * CASES
    assert done.stderr.splitlines() == [
        "wrote out.json",
        f"questions asked: {asked} now; {failing * CASES} failed (--retry-errors asks them again); "
        "kept in runs/ (recallbench compare runs/)",
    ]
    assert "noise" not in done.stdout


@pytest.mark.parametrize("name", HOSTILE)
def test_its_cause_is_journalled_and_no_score_is_made_of_it(ended: Any, name: str) -> None:
    folder, _, _ = ended
    expected = HOSTILE[name]
    found = answers(run_folder(folder / "runs", name))
    assert len(found) == CASES
    report = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    shown = next(one for one in report["systems"] if one["system"] == name)
    overall = shown["summary"]["overall"]
    for record in found.values():
        if expected is None:
            assert "failure" not in record
            continue
        kind, phase, said = expected
        assert record["outcome"] == "system_error"
        assert (record["failure"]["kind"], record["failure"]["phase"]) == (kind, phase)
        assert said in record["failure"]["message"]
        assert "answer" not in record
    if expected is None:
        assert (overall["scored"], overall["asked"]) == (CASES, CASES)
    else:
        assert {case["outcome"] for case in shown["cases"]} == {"system_error"}
        assert {case["reward"] for case in shown["cases"]} == {None}
        assert (overall["scored"], overall["asked"], overall["low"], overall["high"]) == (0, CASES, 0.0, 1.0)


@pytest.mark.parametrize("name", ["good", "bm25"])
def test_other_systems_in_the_command_are_unharmed(ended: Any, name: str) -> None:
    folder, _, _ = ended
    found = answers(run_folder(folder / "runs", name))
    assert len(found) == CASES
    assert all(one["memories"] and "failure" not in one for one in found.values())


def test_what_is_printed_goes_into_the_log_up_to_a_megabyte(ended: Any) -> None:
    folder, _, _ = ended
    log = run_folder(folder / "runs", "PrintsMegabytes") / "adapter.log"
    assert log.read_bytes().startswith(b"noise ")
    assert log.stat().st_size == 1 << 20
    traced = run_folder(folder / "runs", "RaisesInIngest") / "adapter.log"
    assert "ValueError: cannot embed" in traced.read_text(), "the traceback is where a developer finds it"


@needs_proc
def test_no_process_stays_behind(ended: Any) -> None:
    assert processes(ended[2]) == []


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("raises_at_import:X", "cannot load raises_at_import:X: RuntimeError: the licence has run out"),
        ("hangs_at_import:X", "cannot be loaded: load took longer than 1 s"),
        ("exits_at_import:X", "cannot be loaded: its process ended (exit status 9): no display"),
        ("quick:Nobody", "has no attribute 'Nobody'"),
        ("quick:time", "quick:time is no adapter"),
        ("quick:Logged(ms='soon')", "ms: Input should be a valid integer"),
        ("quick:Logged(pace=3)", "Its options: ms."),
        ("nowhere:X", "No module named 'nowhere'"),
    ],
)
def test_what_cannot_be_loaded_stops_the_command_before_any_work(
    recallbench: Any, tmp_path: Path, system: str, said: str
) -> None:
    write_cases(tmp_path / "suite", 1, talks=1)
    # Loading `quick` takes a part of a second; the hang is cut after one.
    limit = ("--timeout", "load=1") if "hangs" in system else ()
    done = recallbench("run", "-s", "bm25", "-s", system, "--suite", "suite", *limit, env=environment())
    assert done.returncode == 2
    assert done.stderr.startswith(f"recallbench: --system {system}: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert done.stdout == ""
    assert not list((tmp_path / "runs").glob("*/answers.jsonl")) or not any(
        journal(path) for path in (tmp_path / "runs").glob("*/answers.jsonl")
    )


def test_an_error_is_asked_again_only_when_told_to(recallbench: Any, tmp_path: Path) -> None:
    write_cases(tmp_path / "suite", 2, talks=1)
    command = ("run", "-s", "quick:Shaky", "--suite", "suite", "--format", "json")
    (tmp_path / "broken").touch()
    failed = recallbench(*command, env=environment())
    assert failed.returncode == 1
    assert "nothing could be scored: 2 errors in 2 answers: quick:Shaky 2 " in failed.stderr
    assert "questions asked: 2 now; 2 failed (--retry-errors asks them again)" in failed.stderr
    (tmp_path / "broken").unlink()

    same = recallbench(*command, env=environment())
    assert same.stdout == failed.stdout
    assert "questions asked: 0 now, 2 before; 2 failed" in same.stderr

    mended = recallbench(*command, "--retry-errors", env=environment())
    assert "questions asked: 2 now; kept" in mended.stderr
    assert json.loads(mended.stdout)["systems"][0]["summary"]["overall"]["scored"] == 2
    run = run_folder(tmp_path / "runs", "quick:Shaky")
    assert [one["attempt"] for one in journal(run / "answers.jsonl")] == [1, 1, 2, 2]
    assert manifest(run)["system"]["kind"] == "own"

    again = recallbench(*command, "--retry-errors", env=environment())
    assert "questions asked: 0 now, 2 before; kept" in again.stderr
    assert again.stdout == mended.stdout


def test_max_errors_stops_new_work_and_keeps_what_is_finished(recallbench: Any, tmp_path: Path) -> None:
    write_cases(tmp_path / "suite", 12, talks=1)
    command = (
        "run", "-s", "hostile:RaisesInRecall", "--suite", "suite", "--concurrency", "1", "--max-errors", "0.25",
    )  # fmt: skip
    done = recallbench(*command, env=environment())
    assert done.returncode == 1
    assert (
        "4 system errors in 12 answers, more than --max-errors 0.25. What is finished is kept." in done.stderr
    )
    assert "0/12 [0.00–1.00]" in done.stdout
    assert len(journal(run_folder(tmp_path / "runs", "hostile:RaisesInRecall") / "answers.jsonl")) == 4
    further = recallbench(*command[:-2], env=environment())
    assert (further.returncode, "nothing could be scored" in further.stderr) == (1, True)
    assert "questions asked: 8 now, 4 before; 12 failed" in further.stderr
