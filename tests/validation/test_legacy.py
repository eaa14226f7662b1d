"""Suites that are not ours: the basic profile looks at them too."""

import json
from pathlib import Path

import pytest

from harness.validation import validate

CASE = """\
test_id: layer1_01_bank
category: layer1
title: Bank account
description: Recall
conversation_histories:
- id: bank_001
  timestamp: '2024-11-15 10:30:00'
  conversation:
  - user: I'd like to open an account.
  - representative: 'Done: it is 4429853327.'
  - user: When does it begin?
  - representative: On Friday, November 15th.
user_question: What was my account number?
evaluation_criteria: Gives the number.
"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    path = tmp_path / "layer1" / "01_bank_account.yaml"
    path.parent.mkdir()
    path.write_text(CASE)
    return path


def test_a_sound_one(tmp_path: Path, case: Path) -> None:
    report = validate(tmp_path, profile="basic")
    assert report.sound
    assert (report.cases, report.conversations, report.rounds, report.words) == (1, 1, 2, 18)


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "rule"),
    [
        ("Friday, November", "Monday, November", 12, "bank_001#4", "weekday"),
        ("  - user: When", "  - agent: When", 11, "bank_001#3", "alternation"),
        ("category: layer1", "category: layer2", 2, "category", "wrong-directory"),
    ],
)
def test_places(case: Path, old: str, new: str, line: int, field: str, rule: str) -> None:
    case.write_text(CASE.replace(old, new))
    found = [(problem.line, problem.field, problem.rule) for problem in validate(case).problems]
    assert (line, field, rule) in found


@pytest.mark.parametrize("histories", ["none", "[none]"])
def test_broken_conversations_are_reported_once(case: Path, histories: str) -> None:
    begin, end = CASE.index("conversation_histories:"), CASE.index("user_question:")
    case.write_text(f"{CASE[:begin]}conversation_histories: {histories}\n{CASE[end:]}")
    assert [(it.line, it.rule) for it in validate(case).problems] == [(5, "bad-value")]


def test_facts_of_a_gold_file_are_placed_there(tmp_path: Path, case: Path) -> None:
    gold = tmp_path / "gold.json"
    facts = [
        "account number",
        {"fact": "4429853327", "type": "id", "evidence": ["bank_001#2"]},
        {"fact": "8839201746", "type": "id", "evidence": ["bank_001#2"]},
    ]
    gold.write_text(json.dumps({"layer1_01_bank": {"required_facts": facts}}, indent=1))
    problems = validate(tmp_path, gold=gold).problems
    lines = gold.read_text().splitlines()
    cited = [number for number, line in enumerate(lines, 1) if '"evidence"' in line]
    assert [(it.path.name, it.line, it.field, it.rule) for it in problems] == [
        ("gold.json", cited[1], "layer1_01_bank.required_facts[2].evidence", "fact-not-in-evidence"),
        ("01_bank_account.yaml", 13, "user_question", "fact-in-question"),
    ]


def test_problems_of_the_gold_file_are_reported(tmp_path: Path, case: Path) -> None:
    gold = tmp_path / "gold.json"
    gold.write_text('{"layer1_01_bank": [""')
    assert [problem.rule for problem in validate(tmp_path, gold=gold).problems] == ["yaml"]
