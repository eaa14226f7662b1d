"""One header, one table of what is wrong with it."""

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from harness.errors import Problem, SuiteError
from harness.facts.model import FactType, GoldFact
from harness.suite import Criterion, load_suite, read_suite

from .conftest import WriteCase

HEADER = """\
test_id: layer2_07_tablets
category: layer2
title: Two sets of tablets
description: >-
  Two members of a family
  take tablets.
domain: pharmacy
abilities: [correction, temporal]
locale: en_GB
cluster: family
entities: [Orla Brandt, Alder & Finch]
question_time: 2025-03-20T09:00:00-05:00
user_question: Which tablets?
evaluation_criteria:
  - id: both
    text: Names both.
    facts: [hers]
    dimension: accuracy
    weight: 2
  - id: asks
    text: Asks which.
    kind: behaviour
expected_behavior: Hers are Panthrel.
gold_facts:
  required:
    - {id: hers, fact: Panthrel, evidence: [conv_001#2]}
    - {fact: 010, type: number, accept: [ten], derived_from: [conv_001#1]}
  optional:
    - {id: when, fact: "12:30", type: time}
  forbidden:
    - {id: old, fact: Cardexon, why: taken back, replaces: hers, stale: [Ozetra]}
"""


def problems_of(path: Path) -> list[Problem]:
    return read_suite(path)[1]


def test_every_field_arrives(write_case: WriteCase) -> None:
    path = write_case("layer2", "07_tablets", text=HEADER)
    (case,) = load_suite(path)
    assert case.id == "layer2_07_tablets"
    assert (case.category, case.title, case.domain) == ("layer2", "Two sets of tablets", "pharmacy")
    assert case.description == "Two members of a family take tablets."
    assert case.abilities == ("correction", "temporal")
    assert (case.locale, case.cluster) == ("en_GB", "family")
    assert case.entities == ("Orla Brandt", "Alder & Finch")
    assert case.question_time == datetime(2025, 3, 20, 9, tzinfo=timezone(-timedelta(hours=5)))
    assert (case.question, case.expected_behavior) == ("Which tablets?", "Hers are Panthrel.")
    assert case.criteria == (
        Criterion("both", "Names both.", ("hers",), "accuracy", 2.0, "fact"),
        Criterion("asks", "Asks which.", (), None, 1.0, "behaviour"),
    )
    assert case.gold.required == (
        GoldFact("Panthrel", id="hers", evidence=("conv_001#2",)),
        GoldFact("010", FactType.NUMBER, ("ten",), id="required_2", derived_from=("conv_001#1",)),
    )
    assert case.gold.optional == (GoldFact("12:30", FactType.TIME, id="when"),)
    assert case.gold.forbidden == (
        GoldFact("Cardexon", stale=("Ozetra",), id="old", why="taken back", replaces="hers"),
    )
    assert [fact.id for fact in case.gold] == ["hers", "required_2", "when", "old"]
    assert case.gold.annotated
    assert case.answerable
    assert (case.path, case.form, case.gold_path) == (path, "documents", None)


def test_what_a_header_may_leave_out(write_case: WriteCase) -> None:
    text = "test_id: layer1_01_account\ncategory: layer1\ntitle: T\nuser_question: Q?\n"
    (case,) = load_suite(write_case(text=text))
    assert (case.description, case.domain, case.abilities, case.entities) == ("", "", (), ())
    assert (case.locale, case.cluster, case.question_time) == ("en-US", None, None)
    assert (case.criteria, case.expected_behavior, case.answerable) == ((), "", True)
    assert not case.gold.annotated


def test_an_unanswerable_case(write_case: WriteCase) -> None:
    facts = {"required": [{"id": "unsaid", "fact": "__ABSTAIN__", "type": "abstain"}]}
    (case,) = load_suite(write_case(answerable="no", gold_facts=facts, evaluation_criteria=None))
    assert not case.answerable


WRONG_LINES = [
    # line of HEADER to replace, what with, line and field of the problem, its rule, and words of it
    (1, "test_id: layer2_07_tablet", 1, "test_id", "id-not-file-name", "Call the case layer2_07_tablets"),
    (1, "test_id: layer2 07", 1, "test_id", "bad-id", "'layer2 07'"),
    (1, "test_id:", 1, "test_id", "bad-value", "is empty"),
    (1, "test_name: layer2_07_tablets", 1, "test_name", "unknown-key", "nearest: test_id"),
    (2, "category: layer4", 2, "category", "bad-value", "'layer1', 'layer2' or 'layer3'"),
    (3, "title: ' '", 3, "title", "bad-value", "is empty"),
    (3, "title: [a, b]", 3, "title", "bad-value", "must be text"),
    (3, "titel: T", 3, "titel", "unknown-key", "nearest: title"),
    (8, "abilities: correction", 8, "abilities", "bad-value", "must be a list"),
    (8, "abilities: [correction, ~]", 8, "abilities[1]", "bad-value", "is empty"),
    (9, "locale: english", 9, "locale", "bad-locale", "en-US"),
    (9, "locale: en-us", 9, "locale", "bad-locale", "'en-us'"),
    (12, "question_time: 2025-02-30", 12, "question_time", "bad-timestamp", "'2025-02-30'"),
    (12, "question_time: 20 March 2025", 12, "question_time", "bad-timestamp", "ISO 8601"),
    (12, "question_time: 20250320", 12, "question_time", "bad-timestamp", "ISO 8601"),
    (12, "question_time: [2025-02-03]", 12, "question_time", "bad-timestamp", "ISO 8601"),
    (13, "user_question:", 13, "user_question", "bad-value", "is empty"),
    (15, "  - id: asks", 20, "evaluation_criteria[1].id", "duplicate-id", "'asks'"),
    (16, "    txt: Names both.", 15, "evaluation_criteria[0].text", "missing-key", "Add `text: …`"),
    (17, "    facts: [his]", 17, "evaluation_criteria[0].facts", "unknown-fact", "nearest: hers"),
    (18, "    dimension: style", 18, "evaluation_criteria[0].dimension", "bad-value", "proactivity"),
    (19, "    weight: 0", 19, "evaluation_criteria[0].weight", "bad-value", "above 0"),
    (19, "    weight: -1", 19, "evaluation_criteria[0].weight", "bad-value", "above 0"),
    (19, "    weight: .nan", 19, "evaluation_criteria[0].weight", "bad-value", "above 0"),
    (19, "    weight: inf", 19, "evaluation_criteria[0].weight", "bad-value", "above 0"),
    (19, "    weight: heavy", 19, "evaluation_criteria[0].weight", "bad-value", "'heavy'"),
    (22, "    kind: judged", 22, "evaluation_criteria[1].kind", "bad-value", "'behaviour'"),
    (23, "answerable: perhaps", 23, "answerable", "bad-value", "true or false"),
    (23, "answerable: false", 23, "answerable", "abstain", "exactly one"),
    (24, "gold_fact:", 24, "gold_fact", "unknown-key", "nearest: gold_facts"),
    (25, "  needed:", 25, "gold_facts.needed", "unknown-key", "known: required, optional, forbidden"),
    (26, "    - {id: hers, fact: ''}", 26, "gold_facts.required[0].fact", "empty-fact", "letter or a digit"),
    (26, "    - {id: hers, fact: ' — '}", 26, "gold_facts.required[0].fact", "empty-fact", "every answer"),
    (26, "    - {id: hers, fact: }", 26, "gold_facts.required[0].fact", "empty-fact", "empty form"),
    (26, "    - {id: hers, fact: x, stale: ['?']}", 26, "gold_facts.required[0].stale[0]", "empty-fact", ""),
    (26, "    - {id: hers, fact: x, accept: x}", 26, "gold_facts.required[0].accept", "bad-value", "a list"),
    (26, "    - {id: hers}", 26, "gold_facts.required[0].fact", "missing-key", "Add `fact: …`"),
    (26, "    - hers", 26, "gold_facts.required[0]", "bad-value", "must be a mapping"),
    (26, "    - {id: hers, fact: x, typ: id}", 26, "gold_facts.required[0].typ", "unknown-key", "type"),
    (26, "    - {id: hers, fact: x, type: ident}", 26, "gold_facts.required[0].type", "bad-value", "'ident'"),
    (26, "    - {id: hers, fact: x, evidence: [conv_001]}", 26, "gold_facts.required[0].evidence[0]",
     "bad-evidence", "'conv_001'"),
    (26, "    - {id: hers, fact: x, evidence: ['conv_001#0']}", 26, "gold_facts.required[0].evidence[0]",
     "bad-evidence", "from 1"),
    (26, "    - {id: hers, fact: x, evidence: [a#1], derived_from: [a#2]}", 26, "gold_facts.required[0]",
     "evidence-and-derived", "cited and derived"),
    (26, "    - {id: hers, fact: x, replaces: when}", 26, "gold_facts.required[0].replaces", "bad-replaces",
     "only a forbidden one"),
    (26, "    - {id: hers, fact: __ABSTAIN__, type: abstain}", 23, "answerable", "abstain", "is answerable"),
    (29, "    - {id: hers, fact: x}", 29, "gold_facts.optional[0].id", "duplicate-id", "'hers'"),
    (29, "    - {id: when, fact: x, type: abstain}", 29, "gold_facts.optional[0]", "abstain", "required"),
    (31, "    - {id: old, fact: x, replaces: when}", 31, "gold_facts.forbidden[0].replaces", "bad-replaces",
     "no required fact is called 'when'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("at", "line", "where", "field", "rule", "said"),
    [pytest.param(*row, id=f"{row[0]}-{row[1].strip()}") for row in WRONG_LINES],
)
def test_one_wrong_line(
    write_case: WriteCase, at: int, line: str, where: int, field: str, rule: str, said: str
) -> None:
    lines = HEADER.splitlines()
    if line.startswith("answerable"):
        lines.insert(at - 1, line)
    else:
        lines[at - 1] = line
    path = write_case("layer2", "07_tablets", text="\n".join(lines) + "\n")
    found = [problem for problem in problems_of(path) if problem.rule == rule]
    if rule == "abstain" and "__ABSTAIN__" in line:
        where = 1  # the key is not there: the line of the document
    assert [(problem.path, problem.line, problem.field) for problem in found] == [(path, where, field)]
    assert said in str(found[0])
    with pytest.raises(SuiteError):
        load_suite(path)


def test_problems_of_all_kinds_come_together(write_case: WriteCase) -> None:
    changes: dict[str, Any] = {
        "titel": "T",
        "question_time": "2025-02-30",
        "evaluation_criteria": [{"id": "a", "text": "A", "facts": ["gone"], "weight": "0"}],
        "locale": "en",
    }
    path = write_case(**changes)
    rules = sorted(problem.rule for problem in problems_of(path))
    assert rules == ["bad-timestamp", "bad-value", "unknown-fact", "unknown-key"]


def test_a_wrong_directory_is_one_problem(write_case: WriteCase) -> None:
    path = write_case("layer2", "01_account", folder="layer3")
    (problem,) = problems_of(path)
    assert (problem.line, problem.rule) == (2, "wrong-directory")
    assert "layer3/ and the case says layer2" in problem.message


@pytest.mark.parametrize("text", ["just words\n", "- a\n- b\n"])
def test_a_header_that_is_no_mapping(write_case: WriteCase, text: str) -> None:
    (problem,) = problems_of(write_case(text=text))
    assert (problem.line, problem.field, problem.rule) == (1, "", "bad-value")
    assert "must be a mapping" in problem.message


def test_a_message_shows_only_the_beginning_of_a_long_value(write_case: WriteCase) -> None:
    (problem,) = problems_of(write_case(locale="x" * 5000))
    assert len(problem.message) < 100
    assert "xxx..." in problem.message
