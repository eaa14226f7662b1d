"""Data sets and predictions as files: every problem at once, with line and mend."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.effectiveness.dataset import combined
from harness.effectiveness.loading import load_effectiveness
from harness.effectiveness.predictions import load_predictions
from harness.errors import InputError, SuiteError
from tests.effectiveness.made import dataset

GOOD = {"test_case_id": "a", "input_text": "The fee is $45.", "expected_facts": ["$45"]}


def problems(folder: Path, *cases: Any, **head: Any) -> list[tuple[str, str]]:
    with pytest.raises(SuiteError) as caught:
        dataset(folder, *cases, **head)
    assert all(one.line > 0 for one in caught.value.problems)
    assert all(one.mend for one in caught.value.problems)
    return [(one.field, one.rule) for one in caught.value.problems]


@pytest.mark.parametrize(
    ("changes", "field", "rule"),
    [
        ({"test_case_id": None}, "test_case_id", "bad-value"),
        ({"input_text": ""}, "input_text", "bad-value"),
        ({"conversation": [{"user": "Hi"}]}, "", "bad-value"),
        ({"colour": "red"}, "colour", "unknown-key"),
        ({"expected_importance_score": 11}, "expected_importance_score", "bad-value"),
        ({"expected_importance_score": True}, "expected_importance_score", "bad-value"),
        ({"expected_importance_score": 10**400}, "expected_importance_score", "bad-value"),
        ({"expected_memory_type": "mood"}, "expected_memory_type", "unknown-type"),
        ({"timestamp": "yesterday"}, "timestamp", "bad-value"),
        ({"deleted": "yes"}, "deleted", "bad-value"),
        ({"duplicates_of": "zz"}, "duplicates_of", "dangling-link"),
        ({"duplicates_of": "a"}, "duplicates_of", "circular-link"),
        ({"supersedes": "a", "question": "What?"}, "supersedes", "circular-link"),
        ({"user": "ann"}, "question", "bad-value"),
        ({"deleted": True, "question": "What?", "expected_facts": []}, "expected_facts", "bad-value"),
        ({"expected_facts": "fee"}, "expected_facts", "bad-value"),
        ({"expected_facts": ["…"]}, "expected_facts[0]", "empty-fact"),
        ({"expected_facts": [{"fact": "$45", "type": "cash"}]}, "expected_facts[0].type", "bad-value"),
        ({"expected_facts": [{"fact": "$54", "type": "money"}]}, "expected_facts[0]", "fact-not-in-input"),
        ({"expected_facts": [{"fact": "$45", "about": ["fine"]}]}, "expected_facts[0]", "fact-not-in-input"),
        ({"tags": "one"}, "tags", "bad-value"),
    ],
)  # fmt: skip
def test_each_problem_is_named(tmp_path: Path, changes: dict[str, Any], field: str, rule: str) -> None:
    found = problems(tmp_path, {**GOOD, **changes}, types=["factual"])
    where = ".".join(filter(None, ("test_cases[0]", field)))
    assert (where, rule) in found


def test_duplicates_of_two_groups_could_never_be_merged(tmp_path: Path) -> None:
    other = {**GOOD, "test_case_id": "b", "duplicates_of": "a", "group": "second"}
    found = problems(tmp_path, {**GOOD, "group": "first"}, other)
    assert found == [("test_cases[1].duplicates_of", "other-group")]
    assert len(dataset(tmp_path, {**GOOD, "group": "second"}, other).entries) == 2


def test_an_update_that_states_the_old_fact_still(tmp_path: Path) -> None:
    new = {
        **GOOD,
        "test_case_id": "b",
        "input_text": "The fee is $45 and no less.",
        "supersedes": "a",
        "question": "?",
    }
    assert problems(tmp_path, GOOD, {**new, "question": "What is the fee?"}) == [
        ("test_cases[1].supersedes", "not-superseded")
    ]
    past = {
        **new,
        "question": "Now?",
        "input_text": "The fee is $50, no longer $45.",
        "expected_facts": ["$50"],
    }
    assert len(dataset(tmp_path, GOOD, past).for_update()) == 1


def test_all_problems_come_at_once_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"test_cases": [\n {"test_case_id": "a"},\n {"test_case_id": "a",\n  "input_text": 5}]}')
    (tmp_path / "worse.json").write_text("{")
    with pytest.raises(SuiteError) as caught:
        load_effectiveness(tmp_path)
    told = str(caught.value)
    assert told.startswith("4 problems in the effectiveness data:")
    assert "bad.json:2: test_cases[0]: needs input_text or conversation" in told
    assert "bad.json:3: test_cases[1].test_case_id: the id 'a' stands twice" in told
    assert "bad.json:4: test_cases[1].input_text: must be text" in told
    assert "worse.json:1: is no JSON" in told


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', '{"test_cases": [NaN]}', "[" * 100_000, '{"cases": []}', '"words"', "[]"]
)
def test_what_is_no_data_set(tmp_path: Path, text: str) -> None:
    path = tmp_path / "set.json"
    path.write_text(text)
    with pytest.raises(SuiteError):
        load_effectiveness(path)


def test_an_id_that_two_files_have(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps([GOOD]))
    with pytest.raises(SuiteError, match=r"'a' is in .*one\.json too"):
        load_effectiveness(tmp_path)


def test_nothing_to_load(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no effectiveness data set"):
        load_effectiveness(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        load_effectiveness(tmp_path / "gone.json")


def test_forms_that_load(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Hi"}, {"representative": "The fee is $45."}]
    one = dataset(
        tmp_path, {"test_case_id": "a", "conversation": turns, "expected_facts": ["$45"]}, id="mine"
    )
    (entry,) = one.entries
    assert [(message.role, message.text) for message in entry.messages] == [
        ("user", "Hi"),
        ("assistant", "The fee is $45."),
    ]
    assert (one.id, entry.memory_type, entry.is_clustered) == ("mine", None, False)


def test_combined_sets_keep_their_agents_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps([{**GOOD, "test_case_id": name, "group": "g"}]))
    both = combined(load_effectiveness(tmp_path))
    assert [entry.group for entry in both.entries] == ["one/g", "two/g"]


def test_sets_that_share_an_id_are_not_combined(tmp_path: Path) -> None:
    one = dataset(tmp_path, GOOD)
    with pytest.raises(InputError, match="'a' is in set and in set"):
        combined([one, one])


def test_the_hash_changes_with_what_decides_a_figure(tmp_path: Path) -> None:
    first = dataset(tmp_path, GOOD).hash
    assert dataset(tmp_path, {**GOOD, "tags": ["t"]}).hash == first
    assert dataset(tmp_path, {**GOOD, "expected_facts": []}).hash != first
    assert dataset(tmp_path, {**GOOD, "expected_importance_score": 4}).hash != first


def predictions(folder: Path, given: Any) -> Any:
    data = dataset(folder, GOOD)
    path = folder / "mine.json"
    path.write_text(json.dumps(given, indent=1), encoding="utf-8")
    return load_predictions(path, data)


def test_predictions_of_one_or_several_systems(tmp_path: Path) -> None:
    one = {"a": {"facts": ["$45"], "memory_type": "factual"}}
    assert [each.system for each in predictions(tmp_path, one)] == ["mine"]
    several = predictions(tmp_path, {"x": one, "y": {"a": {"importance_score": 3}}})
    assert [each.system for each in several] == ["x", "y"]
    assert "extraction" in several[1].lacking


def test_predictions_that_are_nothing_but_errors_failed_and_lack_nothing(tmp_path: Path) -> None:
    (one,) = predictions(tmp_path, {"a": {"error": "boom"}})
    assert not one.lacking
    assert one.failures["extraction", "a"] == "boom"


def test_every_problem_of_predictions(tmp_path: Path) -> None:
    given = {"x": {"a": {"facts": "one", "mood": 1, "cluster": [], "importance_score": "7"}, "b": {}}}
    with pytest.raises(SuiteError) as caught:
        predictions(tmp_path, given)
    assert [one.field for one in caught.value.problems] == [
        "x.a.facts", "x.a.mood", "x.a.cluster", "x.a.importance_score", "x.b",
    ]  # fmt: skip
    with pytest.raises(SuiteError, match="holds no predictions"):
        predictions(tmp_path, [1])
