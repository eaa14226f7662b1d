"""`dataset import`, `import-answers` and `rescore`, on data sets of the public ones' form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli.dataset_import import import_answers_command, import_command, rescore_command
from harness.errors import InputError
from harness.runs.folder import find_runs
from harness.suite import load_suite
from tests.suite.importers.synthetic import lme_item, locomo_sample, written

AGE = "single-hop_talk-1_q002"


def call(command: Any, *args: str | Path) -> Result:
    """Call a command; an error of ours is raised, as the program's own handler gets it."""
    done = CliRunner().invoke(command, [str(arg) for arg in args])
    if isinstance(done.exception, InputError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "talks.json", [locomo_sample()])
    call(import_command, "locomo", "talks.json", "--out", "suite")
    return tmp_path / "suite"


def test_an_import_says_what_it_read_and_what_it_changed(suite: Path, tmp_path: Path) -> None:
    done = call(import_command, "talks.json", "--out", "again")
    assert "suite: " not in done.output
    assert (
        "again: 7 questions (adversarial 2, multi-hop 1, open-domain 1, single-hop 2, temporal 1)"
        in done.output
    )
    assert "repaired 2 × bad-evidence, such as talk-1_q002: 'D1:02'; read as D1:2." in done.output
    assert "CC BY-NC 4.0" in done.output
    told = json.loads((tmp_path / "again.import.json").read_text())
    assert told["schema"] == "recallbench.import/1"
    assert told["files"][0]["sha256"] in done.output
    assert {one["done"] for one in told["findings"]} == {"excluded", "repaired", "kept"}
    assert "CC BY-NC" in (suite / "README.md").read_text()


def test_verbose_lists_every_finding(suite: Path) -> None:
    done = call(import_command, "talks.json", "--out", "again", "--verbose")
    assert "excluded bad-evidence talk-1_q004: there is no turn D9:9; not cited." in done.output


def test_without_a_file_it_says_where_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="snap-research/locomo"):
        call(import_command, "locomo")
    with pytest.raises(InputError, match="cannot be read: no such file"):
        call(import_command, tmp_path / "nowhere.json")


def test_an_overlay_is_held_against_the_suite(suite: Path, tmp_path: Path) -> None:
    written(tmp_path / "fixes.json", {"talk-1_q002": "four"})
    done = call(import_command, "talks.json", "--out", "again", "--overlay", "fixes.json")
    assert "1 corrections: 1 other answers" in done.output


def test_a_bad_overlay_is_found_before_anything_is_written(suite: Path, tmp_path: Path) -> None:
    written(tmp_path / "fixes.json", {"talk-1_q02": "four"})
    with pytest.raises(InputError, match="no such question; nearest: talk-1_q002"):
        call(import_command, "talks.json", "--out", "again", "--overlay", "fixes.json")
    assert not (tmp_path / "again").exists()
    assert not (tmp_path / "again.import.json").exists()
    written(tmp_path / "fixes.json", {"talk-1_q002": "four", "temporal_talk-1_q001": "8 May 2023"})
    done = call(import_command, "talks.json", "--out", "again", "--overlay", "fixes.json")
    assert "2 corrections: 2 other answers" in done.output


def test_the_folder_one_stands_in_may_become_the_suite(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here" / "below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here" / "below")
    done = call(import_command, "../../talks.json", "--out", ".")
    assert "7 questions" in done.output
    assert len(load_suite(Path())) == 7, "it is the same folder still"
    assert (tmp_path / "here" / "below.import.json").is_file()
    with pytest.raises(InputError, match="is there already"):
        call(import_command, "../../talks.json", "--out", ".")
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["below", "below.import.json"]


def test_answers_become_a_run_that_can_be_scored(suite: Path, tmp_path: Path, recallbench: Any) -> None:
    rows = [
        {
            "question": "When did Ada go to the class?",
            "response": "on 7 May 2023",
            "context": ["Ada: yesterday"],
        },
        {"question_id": "talk-1_q002", "response": "4", "took": 0.5},
        {"question_id": "talk-1_q003", "response": "", "error": "timeout"},
    ]
    written(tmp_path / "theirs.json", rows)
    args = ["theirs.json", "--suite", suite, "--memory", "context", "--latency", "took", "--error", "error"]
    done = call(import_answers_command, *args)
    assert "3 answers, 4 of 7 cases without one" in done.output
    (run,) = find_runs(tmp_path / "runs")
    assert (run.manifest.system.label, run.manifest.system.kind) == ("theirs", "imported")
    assert call(import_answers_command, *args).exit_code == 0
    assert len(find_runs(tmp_path / "runs")) == 1
    assert len(list(run.records())) == 3
    table = recallbench("compare", run.path, "--suite", suite, "--scorer", "exact-match", "--format", "json")
    assert table.returncode == 0, table.stderr
    assert recallbench("show", "temporal_talk-1_q001", "--suite", suite).returncode == 0


ROW = {"test_id": AGE, "a": "3", "b": "four", "ctx": "Kiwi is three.", "failed": "timeout"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["--answer", "a"], ["--answer", "b"]),
        (["--answer", "a"], ["--answer", "a", "--memory", "ctx"]),
        (["--answer", "a"], ["--answer", "a", "--error", "failed"]),
        (["--answer", "a", "--rows", "old"], ["--answer", "a", "--rows", "new"]),
    ],
    ids=["answer", "memory", "error", "rows"],
)
def test_a_corrected_mapping_is_another_run(
    suite: Path, tmp_path: Path, first: list[str], second: list[str]
) -> None:
    rows = {"old": [ROW], "new": [{**ROW, "a": "5"}]}
    written(tmp_path / "theirs.json", rows if "--rows" in first else [ROW])
    for options in (first, second, second):
        call(import_answers_command, "theirs.json", "--suite", suite, *options)
    records = [list(run.records()) for run in find_runs(tmp_path / "runs")]
    assert [len(found) for found in records] == [1, 1]
    told = {(one.answer, one.kept, one.failure and one.failure.message) for (one,) in records}
    assert len(told) == 2


def test_an_overlay_tells_raw_corrected_and_ceiling(suite: Path, tmp_path: Path) -> None:
    written(
        tmp_path / "theirs.json",
        {AGE: "4", "temporal_talk-1_q001": "7 May 2023", "multi-hop_talk-1_q003": "a cow"},
    )
    fixes = {"talk-1_q002": {"answer": "4"}, "talk-1_q003": {"exclude": True, "reason": "nobody said"}}
    written(tmp_path / "fixes.json", fixes)
    done = call(
        import_answers_command,
        "theirs.json",
        "--suite",
        suite,
        "--overlay",
        "fixes.json",
        "--scorer",
        "exact-match",
    )
    rows = {line.split("│")[2].strip(): line for line in done.output.splitlines() if line.count("│") > 5}
    cells = {name: [cell.strip() for cell in line.split("│")[3:-1]] for name, line in rows.items()}
    assert cells["temporal"] == ["1/1", "1.000", "1.000", "1.000"]
    assert cells["single-hop"] == ["2/2", "0.000", "1.000", "0.500"]
    assert cells["multi-hop"] == ["0/1", "0.000", "–", "0.000"]
    again = call(
        rescore_command,
        tmp_path / "runs",
        "--suite",
        suite,
        "--overlay",
        "fixes.json",
        "--scorer",
        "exact-match",
    )
    assert again.output.splitlines()[1:] == done.output.splitlines()[3:]


def test_the_judge_does_not_rescore(suite: Path, tmp_path: Path) -> None:
    written(tmp_path / "theirs.json", {AGE: "4"})
    written(tmp_path / "fixes.json", {AGE: "4"})
    with pytest.raises(InputError, match="scored offline"):
        call(
            import_answers_command,
            "theirs.json",
            "--suite",
            suite,
            "--overlay",
            "fixes.json",
            "--scorer",
            "llm-judge",
        )


def test_an_imported_suite_is_run_and_compared_like_any_other(suite: Path, recallbench: Any) -> None:
    done = recallbench(
        "run", "--suite", suite, "-s", "bm25", "--controls", "--layer", "temporal", "--layer", "multi-hop"
    )
    assert done.returncode == 0, done.stderr
    assert "multi-hop" in done.stdout
    assert "single-hop" not in done.stdout
    wrong = recallbench("run", "--suite", suite, "-s", "bm25", "--layer", "layer1")
    assert wrong.returncode == 2
    assert "'layer1' is not one of 'adversarial', 'multi-hop'" in wrong.stderr
    dry = recallbench("run", "--suite", suite, "-s", "bm25", "--dry-run", "--limit", "1")
    assert "bm25" in dry.stdout
    assert recallbench("list", "--suite", suite).returncode == 0
    stats = recallbench("dataset", "stats", "--suite", suite)
    assert stats.returncode == 2
    assert "counts them" in stats.stderr


@pytest.mark.parametrize("system", ["bm25", "fts5"])
def test_evidence_recall_by_group_in_one_table(suite: Path, recallbench: Any, system: str) -> None:
    done = recallbench(
        "retrieval", "evaluate", "--suite", suite, "-s", system, "-s", f"other={system}", "--show", "groups"
    )
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.stdout.splitlines()]
    at = next(number for number, line in enumerate(done.stdout.splitlines()) if line == "groups")
    counts = {row[0]: row[1] for row in rows[at:] if len(row) == 6}
    assert counts == {
        "adversarial": "2", "multi-hop": "1", "open-domain": "0", "single-hop": "2", "temporal": "1", "all": "6",
    }  # fmt: skip
    assert "5 memories, 7 queries" in " ".join(done.stdout.split())


def test_longmemeval_is_found_out_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "lme.json", [lme_item()])
    done = call(import_command, "lme.json")
    assert "suites/longmemeval: 1 questions (multi-session 1) over 1 haystacks" in done.output
