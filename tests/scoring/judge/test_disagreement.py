"""Where a judge and keyword recall see the same facts differently."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.scoring import Answer, CaseScore, JudgeFailed, Missing, Scored, SystemScores
from harness.scoring.judge.disagreement import Disagreement, disagreements
from harness.scoring.judge.record import Judged
from harness.scoring.judge.verdicts import Judgement, Ruling, Verdict, WrongValue
from harness.suite.models import Criterion

from .conftest import CRITERIA, RIGHT, build

CASE = build(criteria=(*CRITERIA, Criterion("kind", "Is polite.", kind="behaviour")))


def scored(
    fee: Verdict = "met", due: Verdict = "met", *, stated: bool = False, kind: Verdict = "met"
) -> CaseScore:
    rulings = (Ruling("fee", fee, "fee words"), Ruling("due", due, "day words"), Ruling("kind", kind, ""))
    judgement = Judgement("", rulings, (WrongValue("old_fee", stated, "it is $30" if stated else ""),))
    return CaseScore(CASE.id, "layer1", "llm-judge", Scored(1.0), judged=Judged(judgement, ()))


def found(score: CaseScore, text: str) -> list[tuple[str, str, str, str]]:
    made = disagreements([CASE], [SystemScores("mine", (score,))], {"mine": {CASE.id: Answer(text)}})
    assert {(item.system, item.case_id) for item in made} <= {("mine", CASE.id)}
    return [(item.id, item.judge, item.keyword, item.quote) for item in made]


@pytest.mark.parametrize(
    ("score", "text", "expected"),
    [
        (scored(), RIGHT, []),
        (scored("not_met", "not_met", kind="not_met"), "Nothing.", []),
        (scored(), "It is due on March 24, 2025.", [("fee", "met", "fee not stated", "fee words")]),
        (scored("not_met"), RIGHT, [("fee", "not met", "stated", "fee words")]),
        (scored("contradicted"), RIGHT, [("fee", "contradicted", "stated", "fee words")]),
        (scored(kind="contradicted"), RIGHT, []),
        (
            scored("contradicted", stated=False),
            "The fee is $30, due on March 24, 2025.",
            [("old_fee", "wrong value not stated", "stated", "")],
        ),
        (scored("contradicted", stated=True), "The fee is $30, due on March 24, 2025.", []),
        (scored(stated=True), RIGHT, [("old_fee", "wrong value stated", "not stated", "it is $30")]),
    ],
)
def test_disagreements(score: CaseScore, text: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert found(score, text) == expected


def test_a_criterion_on_several_facts_needs_them_all() -> None:
    both = build(criteria=(Criterion("both", "Fee and day.", ("fee", "due")),))
    judgement = Judgement("", (Ruling("both", "met", "fee is $45"),), (WrongValue("old_fee", False, ""),))
    score = CaseScore(both.id, "layer1", "llm-judge", Scored(1.0), judged=Judged(judgement, ()))
    for text, expected in (
        (RIGHT, None),
        ("The fee is $45.", "due not stated"),
        ("Well.", "fee, due not stated"),
    ):
        made = disagreements([both], [SystemScores("mine", (score,))], {"mine": {both.id: Answer(text)}})
        assert [item.keyword for item in made] == ([expected] if expected else [])


def test_a_fact_that_the_case_does_not_have_is_not_compared() -> None:
    odd = build(criteria=(Criterion("odd", "Something else.", ("nowhere",)),))
    judgement = Judgement("", (Ruling("odd", "met", "x"),), (WrongValue("old_fee", False, ""),))
    score = CaseScore(odd.id, "layer1", "llm-judge", Scored(1.0), judged=Judged(judgement, ()))
    assert disagreements([odd], [SystemScores("mine", (score,))], {"mine": {odd.id: Answer("x")}}) == ()


def test_only_what_a_judge_ruled_on_is_compared() -> None:
    without = (
        CaseScore(CASE.id, "layer1", "llm-judge", Missing()),
        CaseScore(CASE.id, "layer1", "llm-judge", JudgeFailed("refusal"), judged=Judged(None, ())),
        CaseScore(CASE.id, "layer1", "llm-judge", Scored(0.0), flags=("empty",)),
    )
    for score in without:
        assert found(score, RIGHT) == []


def test_they_are_listed_by_system_and_case() -> None:
    other = replace(CASE, id="layer1_02_fee", path=Path("layer1/02_fee.yaml"))
    scores = (scored("not_met"), replace(scored("not_met"), case_id=other.id))
    systems = [SystemScores(name, scores) for name in ("b", "a")]
    answers = {name: {case.id: Answer(RIGHT) for case in (CASE, other)} for name in ("a", "b")}
    made = disagreements([CASE, other], systems, answers)
    assert [(item.system, item.case_id) for item in made] == [
        ("b", CASE.id), ("b", other.id), ("a", CASE.id), ("a", other.id),
    ]  # fmt: skip
    assert isinstance(made[0], Disagreement)
