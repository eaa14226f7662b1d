"""What changed between two suites, down to the message."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.authoring import SuiteDiff, diff_suites, export_suite
from harness.authoring.diff_view import diff_lines
from harness.suite import load_suite

NAME = "layer1_01_fee"


@pytest.fixture
def changed(write_suite: Any, tmp_path: Path) -> Any:
    root = write_suite(NAME, "layer2_01_fee")

    def change(old: str = "", new: str = "", *, case: str = "layer1/01_fee.yaml") -> SuiteDiff:
        shutil.copytree(root, tmp_path / "new")
        path = tmp_path / "new" / case
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
        return diff_suites(load_suite(root), load_suite(tmp_path / "new"))

    return change


def test_a_copy_is_the_same(changed: Any) -> None:
    diff = changed()
    assert diff.empty
    assert list(diff_lines(diff)) == ["2 the same"]


@pytest.mark.parametrize(
    ("old", "new", "place", "before", "after"),
    [
        (f"Title of {NAME}", "Fees", "title", f"Title of {NAME}", "Fees"),
        ("domain: banking\n", "", "domain", "banking", None),
        (
            "the fee of $45",
            "the fee of $46",
            "evaluation_criteria.fee",
            "text: States the fee of $45., facts: fee, dimension: accuracy",
            "text: States the fee of $46., facts: fee, dimension: accuracy",
        ),
        (
            "fact: $45",
            "fact: $46",
            "gold_facts.required.fee",
            "fact: $45, type: money, evidence: conv_001#1",
            "fact: $46, type: money, evidence: conv_001#1",
        ),
        ("business: Harbor", "business: Pier", "conv_001.metadata", "business: Harbor", "business: Pier"),
        ("it was $30 last", "it was $31 last", "conv_001#2", "assistant: Yes, it was $30 last year.", "assistant: Yes, it was $31 last year."),
        ("- assistant: Right. The $99 is for the other account.\n", "", "conv_001#4", "assistant: Right. The $99 is for the other account.", None),
        ("- user: So the fee", "- user: Hello?\n- user: So the fee", "conv_001#1", None, "user: Hello?"),
        ("user_question: What is the fee, and", "user_question: What is the fee,  and", "user_question", "What is the fee, and when is it due?", "What is the fee,  and when is it due?"),
    ],
    ids=["field", "field gone", "criterion", "fact", "label", "message", "message gone", "message new", "space"],
)  # fmt: skip
def test_what_differs_in_a_case(
    changed: Any, old: str, new: str, place: str, before: str | None, after: str | None
) -> None:
    if "  and" in new:
        new = 'user_question: "What is the fee,  and'
        old, new = "user_question: What is the fee, and when is it due?", f'{new} when is it due?"'
    diff = changed(old, new)
    assert [case.id for case in diff.changed] == [NAME]
    (change,) = diff.changed[0].changes
    assert (change.place, change.before, change.after) == (place, before, after)
    lines = list(diff_lines(diff))
    assert lines[0] == f"~ {NAME}"
    assert lines[-1] == "1 changed, 1 the same"


def test_a_file_written_in_another_way_is_the_same_case(write_suite: Any, tmp_path: Path) -> None:
    suite = load_suite(write_suite(NAME))
    list(export_suite(suite, "legacy", tmp_path / "old"))
    assert diff_suites(suite, load_suite(tmp_path / "old")).empty


def test_cases_added_removed_and_renamed(write_suite: Any, tmp_path: Path) -> None:
    older = load_suite(write_suite("layer1_01_fee", "layer1_02_rent", folder="older"))
    root = write_suite("layer1_03_new", folder="newer")
    text = (tmp_path / "older" / "layer1" / "01_fee.yaml").read_text()
    (root / "layer1" / "09_fee.yaml").write_text(
        text.replace("test_id: layer1_01_fee", "test_id: layer1_09_fee")
    )
    diff = diff_suites(older, load_suite(root))
    assert (diff.added, diff.removed, diff.renamed) == (
        ("layer1_03_new",),
        ("layer1_02_rent",),
        (("layer1_01_fee", "layer1_09_fee"),),
    )
    assert list(diff_lines(diff)) == [
        "- layer1_02_rent",
        "+ layer1_03_new",
        "> layer1_01_fee is now layer1_09_fee",
        "1 added, 1 removed, 1 renamed, 0 the same",
    ]


def test_long_texts_are_cut_to_where_they_differ(changed: Any) -> None:
    diff = changed("So the fee is $45 now?", "So the fee is $45 now? " + "word " * 100 + "end")
    lines = list(diff_lines(diff))
    assert max(map(len, lines)) < 220
    assert lines[3].endswith("…")
