"""`recallbench effectiveness`, as a process."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.effectiveness.judge_server import ruling, serving

CASES = [
    {
        "test_case_id": "fee",
        "input_text": "The fee is $45.",
        "expected_facts": [{"fact": "$45", "type": "money", "about": ["fee"]}],
        "expected_memory_type": "factual",
    },
    {"test_case_id": "old", "input_text": "I live in Vardal.", "expected_facts": ["Vardal"]},
    {
        "test_case_id": "new",
        "input_text": "I have moved to Ostrup.",
        "expected_facts": ["Ostrup"],
        "supersedes": "old",
        "question": "Where do I live?",
    },
]
PREDICTIONS = {
    "good": {
        "fee": {"facts": ["A fee of $45"], "memory_type": "factual"},
        "new": {"stored_after_update": ["Lives in Ostrup"], "recalled_after_update": ["Lives in Ostrup"]},
    },
    "bad": {
        "fee": {"facts": ["A fee of $54"], "memory_type": "episodic"},
        "new": {"stored_after_update": ["Lives in Vardal"], "recalled_after_update": ["Lives in Vardal"]},
    },
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"test_cases": CASES}, indent=1), encoding="utf-8")
    (tmp_path / "mine.json").write_text(json.dumps(PREDICTIONS), encoding="utf-8")
    return path


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("│").split("│")]


def test_systems_and_predictions_stand_side_by_side(recallbench: Any, data: Path) -> None:
    done = recallbench("effectiveness", data, "-s", "store=bm25", "--predictions", "mine.json", "--per-item")
    assert done.returncode == 0, done.stderr
    rows = {cells(line)[0]: cells(line)[1:] for line in done.stdout.splitlines() if line.startswith("│")}
    assert rows["extraction.f1"] == ["1.000 n=1", "1.000 n=1", "0.000 n=1"]
    assert rows["classification.accuracy"] == ["n/a", "1.000 n=1", "0.000 n=1"]
    assert rows["update.kept_both"] == ["1.000 n=1", "0.000 n=1", "0.000 n=1"]
    assert rows["update.updated"] == ["0.000 n=1", "1.000 n=1", "0.000 n=1"]
    assert rows["new"][0].startswith("I have")
    assert "store: n/a: classification: no memory of the system has a type." in done.stdout
    assert "bad: weights" in done.stdout
    assert "overall.score is not comparable between these systems" in done.stdout
    alike = recallbench("effectiveness", data, "--predictions", "mine.json")
    assert "not comparable" not in alike.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_a_narrow_terminal_has_systems_in_several_tables(recallbench: Any, data: Path) -> None:
    asked = ("effectiveness", data, "-s", "store=bm25", "--predictions", "mine.json", "--per-item")
    done = recallbench(*asked, columns=52)
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 52
    assert lines.count("update: items") == 2
    texts = [cells(line)[1] for line in lines if line.startswith("│ new ")]
    assert texts == ["I have moved to Ostrup.", "1.000"], done.stdout
    assert next(cells(line)[1:] for line in lines if line.startswith("│ update.updated ")) == [
        "0.000 n=1",
        "1.000 n=1",
    ]


def test_formats_and_files(recallbench: Any, data: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"out.{end}" for end in ("json", "csv", "md", "txt")]
    done = recallbench(
        "effectiveness", data, "--predictions", "mine.json", "--format", "json",
        *(word for file in files for word in ("-o", file)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert files[0].read_text() == done.stdout
    evaluations = json.loads(done.stdout)["evaluations"]
    assert [(one["system"], one["evaluator"]) for one in evaluations][:2] == [
        ("good", "extraction"),
        ("good", "classification"),
    ]
    rows = list(csv.DictReader(io.StringIO(files[1].read_text())))
    assert ("bad", "update.kept_old", "1.0") in {(row["system"], row["metric"], row["value"]) for row in rows}
    assert "| extraction.f1 | 1.000 n=1 | 0.000 n=1 |" in files[2].read_text().replace("\\", "")
    assert "│ extraction.f1" in files[3].read_text()


def test_gates(recallbench: Any, data: Path) -> None:
    gate = ("effectiveness", data, "--predictions", "mine.json", "--fail-under", "extraction.f1=0.5")
    red = recallbench(*gate, "--fail-over", "update.stale=0")
    assert red.returncode == 1
    assert "bad: extraction.f1 is 0.0000, below 0.5" in red.stderr
    assert "bad: update.stale is 1.0000, above 0" in red.stderr
    assert "good" not in red.stderr


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ((), "name at least one --system"),
        (("-s", "bm25", "-s", "bm25"), "two systems are called bm25"),
        (("-s", "bm25", "--only", "mood"), "--only mood: no such evaluator"),
        (("-s", "bm25", "--only", "deletion"), "has no test case for it"),
        (("-s", "bm26"), "Did you mean bm25?"),
        (("-s", "bm25", "--weight", "mood=1"), "--weight mood=1"),
        (("-s", "bm25", "--fail-under", "update.stale=1"), "Use --fail-over"),
        (
            ("-s", "vector(embedder='none')", "--only", "extraction", "--fail-under", "update.updated=.9"),
            "--fail-under update.updated: is not measured. Measured: extraction.precision,",
        ),
        (("--predictions", "set.json"), "no predictions"),
        (("-s", "bm25", "--tolerance", "nan"), "--tolerance nan"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_line(
    recallbench: Any, data: Path, args: tuple[str, ...], told: str
) -> None:
    done = recallbench("effectiveness", data, *args)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_judge_rules_and_its_rulings_are_kept(recallbench: Any, data: Path) -> None:
    args = ("effectiveness", data, "--predictions", "mine.json", "--only", "extraction", "--format", "csv")
    with serving() as judge:
        judge.rules = lambda stored, ids: ruling(dict.fromkeys(ids, "$54" in stored), "The fee")
        first = recallbench(*args, "--judge", f"judge@{judge.url}")
        assert first.returncode == 0, first.stderr
    figures = {
        (row["system"], row["metric"]): row["value"] for row in csv.DictReader(io.StringIO(first.stdout))
    }
    assert figures["good", "extraction.f1"] == "0.0"
    assert figures["bad", "extraction.f1"] == "1.0"
    again = recallbench(*args, "--judge", f"judge@{judge.url}", "--cassette-mode", "replay")
    assert (again.returncode, again.stdout) == (0, first.stdout)


def test_a_broken_data_set_names_its_lines(recallbench: Any, tmp_path: Path) -> None:
    (tmp_path / "set.json").write_text('{"test_cases": [\n{"test_case_id": "a"},\n{"input_text": "b"}\n]}')
    done = recallbench("effectiveness", "set.json", "-s", "bm25")
    assert done.returncode == 2
    assert "set.json:2: test_cases[0]: needs input_text or conversation" in done.stderr
    assert "set.json:3: test_cases[1].test_case_id: is missing." in done.stderr


def test_the_bundled_data_runs_offline(recallbench: Any) -> None:
    done = recallbench("effectiveness", "-s", "bm25", "--format", "csv")
    assert done.returncode == 0, done.stderr
    rows = {row["metric"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert float(rows["extraction.coverage"]["value"]) == 1.0
    assert float(rows["update.kept_both"]["value"]) == 1.0, "it keeps what it is told, the old beside the new"
    assert float(rows["deletion.gone"]["value"]) == 1.0
    assert rows["classification.accuracy"]["value"] == ""


def test_help_comes_without_anything_heavy(recallbench: Any) -> None:
    done = recallbench("effectiveness", "--help")
    assert done.returncode == 0
    assert "n/a and counts in no mean" in " ".join(done.stdout.split())


@pytest.mark.parametrize("format", ["table", "csv"])
def test_a_reader_that_leaves_opens_no_gate(data: Path, tmp_path: Path, unread: Any, format: str) -> None:
    args = ("effectiveness", data, "--predictions", "mine.json", "-o", "out.json", "--format", format)
    for floor, status in (("extraction.f1=0.5", 1), ("extraction.f1=0", 0)):
        found, said = unread(*args, "--fail-under", floor)
        assert found == status, said
        assert ("bad" in said) == bool(status)
        assert "Exception" not in said
        (tmp_path / "out.json").unlink()
