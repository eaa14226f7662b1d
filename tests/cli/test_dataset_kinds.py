"""`dataset validate`: each file to the loader of what it is, broken ones too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.cli.datasets import look_at

ENTRY = {"test_case_id": "a", "input_text": "The fee is $45.", "expected_facts": ["$45"]}
RETRIEVAL = {
    "memories": [{"id": "m1", "content": "The fee is $45."}],
    "queries": [{"q": "What is the fee?", "expected_ids": ["m1"]}],
}
EFFECTIVENESS = "as an effectiveness data set"


@pytest.mark.parametrize(
    ("text", "counted", "rules"),
    [
        (json.dumps([ENTRY]), f"{EFFECTIVENESS} (1 set, 1 entry)", []),
        (json.dumps([{"test_case_id": "a"}]), EFFECTIVENESS, ["bad-value"]),
        (json.dumps([{"input_text": "Hi."}]), EFFECTIVENESS, ["bad-value"]),
        ("[]", EFFECTIVENESS, ["bad-value"]),
        ("[7]", EFFECTIVENESS, ["bad-value"]),
        ('{"test_cases": []}', EFFECTIVENESS, ["bad-value"]),
        ('{"test_cases": {"a": 1}}', EFFECTIVENESS, ["bad-value"]),
        ("", EFFECTIVENESS, ["bad-json"]),
        ('{"test_cases": [{"test_case_id": "a",', EFFECTIVENESS, ["bad-json"]),
        (json.dumps(RETRIEVAL), "as a retrieval data set (1 set, 1 memory, 1 query)", []),
        ('{"memories": []}', "as a retrieval data set", ["bad-form"]),
        ('{"queries": [', "as a retrieval data set", ["bad-json"]),
        ('{"test_cases": [{"id": "q", "query": "x"}]}', "as a retrieval data set", ["no-memories"]),
    ],
)
def test_a_file_goes_to_its_loader(tmp_path: Path, text: str, counted: str, rules: list[str]) -> None:
    path = tmp_path / "set.json"
    path.write_text(text)
    found = look_at(path, "basic", None)
    assert found.counted == counted
    assert [one.rule for one in found.problems[:1]] == rules
    assert all(one.line > 0 for one in found.problems)


@pytest.mark.parametrize(
    ("good", "counted"), [(RETRIEVAL, "as a retrieval data set"), ([ENTRY], EFFECTIVENESS)], ids=["r", "e"]
)
def test_its_neighbours_tell_what_a_broken_file_is(tmp_path: Path, good: Any, counted: str) -> None:
    (tmp_path / "a.json").write_text("")
    (tmp_path / "b.json").write_text(json.dumps(good))
    found = look_at(tmp_path, "basic", None)
    assert (found.counted, [one.rule for one in found.problems]) == (counted, ["bad-json"])


def test_a_broken_file_in_a_suite_makes_it_no_other_data_set(tmp_path: Path) -> None:
    (tmp_path / "layer1").mkdir()
    (tmp_path / "layer1" / "01_x.yaml").write_text("test_id: x\n")
    (tmp_path / "notes.json").write_text("{")
    found = look_at(tmp_path, "basic", None)
    assert found.counted.startswith("under the basic profile")
    assert any(one.path.name == "notes.json" for one in found.problems)
