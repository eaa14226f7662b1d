"""Corrections of the gold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.suite import Suite, load_suite
from harness.suite.importers import import_files, read_overlay, write_suite
from tests.suite.importers.synthetic import locomo_sample, written


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    write_suite(import_files([written(tmp_path / "talks.json", [locomo_sample()])]), tmp_path / "suite")
    return load_suite(tmp_path / "suite")


def test_corrections_are_keyed_by_either_id(suite: Suite, tmp_path: Path) -> None:
    data = {
        "_note": "by hand",
        "talk-1_q002": {"answer": 4, "accept": ["four years"], "reason": "said later"},
        "temporal_talk-1_q001": {"answerable": False},
        "talk-1_q003": {"exclude": True},
    }
    overlay = read_overlay(written(tmp_path / "o.json", data), suite)
    fixed = overlay.corrected(suite.get("single-hop_talk-1_q002"))
    assert fixed is not None
    assert [fact.forms for fact in fixed.gold.required] == [("4", "four years")]
    assert fixed.expected_behavior == "4"
    nothing = overlay.corrected(suite.get("temporal_talk-1_q001"))
    assert nothing is not None
    assert not nothing.answerable
    assert overlay.corrected(suite.get("multi-hop_talk-1_q003")) is None
    untouched = suite.get("open-domain_talk-1_q004")
    assert overlay.corrected(untouched) is untouched
    assert overlay.told() == "3 corrections: 1 other answers, 1 without an answer, 1 questions excluded"


def test_a_list_of_corrections_will_do(suite: Suite, tmp_path: Path) -> None:
    path = written(tmp_path / "o.json", [{"question_id": "talk-1_q002", "answer": "4"}])
    assert list(read_overlay(path, suite).corrections) == ["single-hop_talk-1_q002"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"talk-1_q02": "x"}, "no such question; nearest: talk-1_q002"),
        ({"talk-1_q002": {}}, "corrects nothing"),
        ({"talk-1_q002": {"anwser": "x"}}, "nearest: answer"),
        ({"talk-1_q002": {"answer": "…"}}, "no letter or digit"),
        ({"talk-1_q002": {"exclude": "yes"}}, "true or false"),
        ({"talk-1_q002": "x", "single-hop_talk-1_q002": "y"}, "twice"),
        ([{"answer": "x"}], "names no question"),
        ({}, "holds no correction"),
    ],
)
def test_what_corrects_nothing_is_told(suite: Suite, tmp_path: Path, data: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_overlay(written(tmp_path / "o.json", data), suite)
