"""A suite's evidence as relevance, at three levels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.retrieval.from_suite import LEVELS, Level, evidence_of, ranking_of, set_of, units_of
from harness.suite import Case, load_suite

SUITE = load_suite()
CASE = SUITE.get("layer3_12_solar_and_roof")


@pytest.mark.parametrize("level", LEVELS)
def test_a_case_is_a_corpus_with_its_question(level: Level) -> None:
    made = set_of(CASE, level)
    talks = CASE.conversations()
    size = {
        "message": sum(len(talk.messages) for talk in talks),
        "round": sum(talk.rounds for talk in talks),
        "conversation": len(talks),
    }[level]
    assert len(made.memories) == size
    (query,) = made.queries
    assert (query.id, query.text, query.negative) == (CASE.id, CASE.question, False)
    units = units_of(talks, level)
    assert set(query.grades) == {units[ref] for ref in evidence_of(CASE)}
    texts = {memory.id: memory.text for memory in made.memories}
    assert any("SLR-24-71862" in texts[unit] for unit in query.grades)


@pytest.mark.parametrize("case", list(SUITE), ids=lambda case: case.id)
def test_every_case_can_be_measured(case: Case) -> None:
    made = set_of(case)
    ids = {memory.id for memory in made.memories}
    assert set(made.queries[0].grades) <= ids
    assert made.queries[0].negative == (not evidence_of(case))


def test_only_what_cannot_be_answered_is_negative() -> None:
    bare = replace(CASE, evidence=(), gold=replace(CASE.gold, required=()))
    assert [set_of(replace(bare, answerable=can)).queries[0].negative for can in (True, False)] == [
        False,
        True,
    ]
    assert not set_of(replace(CASE, answerable=False)).queries[0].negative, "it cites evidence"


def test_memories_of_several_messages_bring_them_in_order() -> None:
    units = {"c#1": "c#1", "c#2": "c#2", "c#3": "c#3"}
    assert ranking_of([("c#2", "c#3"), ("x#9",), (), ("c#3", "c#1")], units) == [
        "c#2",
        "c#3",
        "?1",
        "?2",
        "c#1",
    ]
    rounds = {"c#1": "c/1", "c#2": "c/1", "c#3": "c/2"}
    assert ranking_of([("c#1", "c#2"), ("c#3",)], rounds) == ["c/1", "c/2"]
