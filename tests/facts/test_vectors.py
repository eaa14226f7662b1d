"""Worked examples with right verdicts: every `must`, nearly every `should` and `policy`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import FactError
from harness.facts import match_fact

FOLDER = Path(__file__).with_name("vectors")
SHARED = Path(__file__).parents[3] / "shared" / "vectors" / "match_cases.json"
FILES = ("match_cases.json", "more_cases.json", "own_cases.json")
GATES = {"must": 1.0, "should": 0.95, "policy": 0.9}


def load(path: Path) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return cases


def verdict(case: dict[str, Any]) -> str:
    try:
        match = match_fact(case["answer"], case)
    except FactError:
        return "error"
    if match.asserted:
        assert match.mentioned
    if match.span is not None:
        start, end = match.span
        assert 0 <= start < end <= len(case["answer"])
    return "match" if match.asserted else "no_match"


CASES = {f"{name}:{case['id']}": case for name in FILES for case in load(FOLDER / name)}


@pytest.mark.parametrize("key", [key for key, case in CASES.items() if case["tier"] == "must"])
def test_must(key: str) -> None:
    case = CASES[key]
    assert verdict(case) == case["expect"], case


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("tier", ["should", "policy"])
def test_share_of_a_tier(name: str, tier: str) -> None:
    cases = [case for case in load(FOLDER / name) if case["tier"] == tier]
    wrong = [f"{case['id']}: {case['answer']!r}" for case in cases if verdict(case) != case["expect"]]
    assert len(wrong) <= (1 - GATES[tier]) * len(cases) + 1e-9, wrong


def test_the_limits_are_reported() -> None:
    limits = [case for case in CASES.values() if case["tier"] == "limit"]
    right = sum(verdict(case) == case["expect"] for case in limits)
    print(f"limits: {right} of {len(limits)} decided rightly all the same")
    assert limits


def test_no_id_stands_twice() -> None:
    for name in FILES:
        ids = [case["id"] for case in load(FOLDER / name)]
        assert len(set(ids)) == len(ids)


def test_the_published_samples_are_copied_whole() -> None:
    if not SHARED.exists():
        pytest.skip("the shared vectors are not beside this checkout")
    assert load(SHARED) == load(FOLDER / "match_cases.json")
