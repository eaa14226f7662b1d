from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.comparison import compare
from harness.errors import InputError
from harness.runs.exporting import responses
from harness.runs.folder import find_runs
from harness.scoring import parse_responses
from harness.scoring.evidence_recall import EvidenceRecall
from harness.suite import load_suite


@pytest.fixture
def here(tmp_path: Path, write_suite: Any, recallbench: Any) -> Path:
    write_suite("layer1_01_fee", "layer2_01_fee")
    for args in (("-s", "bm25"), ("-s", "dump"), ("-s", "mine=bm25(rounds=1)")):
        done = recallbench("run", *args, "--suite", "suite")
        assert done.returncode == 0, done.stderr
    return tmp_path


def test_an_export_scores_as_the_runs_do(here: Path, recallbench: Any) -> None:
    done = recallbench("runs", "--export", "answers.json", "--note", "made for a test")
    assert done.returncode == 0, done.stderr
    data = json.loads((here / "answers.json").read_text(encoding="utf-8"))
    assert set(data) == {"_note", "_models", "bm25", "dump", "mine"}
    suite = load_suite(here / "suite")
    given = parse_responses(data, suite.ids)
    assert given.note.startswith("made for a test Exported from runs; words of memory")
    again = compare(suite, given, scorer=EvidenceRecall())
    lines = {
        row["case"]: row["reward"]
        for file in (here / "runs").glob("bm25-*/scores.evidence-recall.jsonl")
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    }
    bm25 = next(system for system in again.systems if system.system == "bm25")
    assert {score.case_id: score.reward for score in bm25.scores} == lines
    assert "made for a test" in recallbench("compare", "answers.json", "--suite", "suite").stdout


def test_two_runs_of_one_name_are_not_mixed(here: Path, recallbench: Any) -> None:
    assert recallbench("run", "-s", "bm25", "--suite", "suite", "--budget", "5").returncode == 0
    with pytest.raises(InputError, match="bm25: two of the runs are called so"):
        responses(find_runs(here / "runs"))
