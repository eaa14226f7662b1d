"""Keyword recall: the reward's arithmetic, voiding, violations, dumps, and what is no score."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.facts import FactType, GoldFact
from harness.scoring import (
    Answer,
    Missing,
    NotAnnotated,
    Scored,
    SystemFailed,
    find_scorer,
    score_batch,
    score_case,
)
from harness.scoring.keyword_recall import KeywordRecall
from harness.suite import Case, GoldFacts, load_suite


@pytest.fixture
def case(write_suite: object) -> Case:
    """Return a case with a fee of $45 (once $30), a due date, and another account's $99."""
    root = write_suite("layer1_01_fee")  # type: ignore[operator]
    return load_suite(root).get("layer1_01_fee")


@pytest.mark.parametrize(
    ("answer", "reward", "mention"),
    [
        ("The fee is $45, due March 24.", 1.0, 1.0),
        ("45 dollars, on 2025-03-24", 1.0, 1.0),
        ("The fee is $45.", 0.5, 0.5),
        ("The fee is not $45; it is due March 24.", 0.5, 1.0),
        ("The fee is $30, due March 24.", 0.5, 0.5),
        ("The fee is $45, due March 24. The fee is $30.", 0.5, 1.0),
        ("The fee is $45 (it was $30 last year), due March 24.", 1.0, 1.0),
        ("The fee is $99, due March 24.", 0.0, 0.5),
        ("The fee is $45, due March 24, and you pay $99.", 0.5, 1.0),
        ("You pay $99 and $30.", 0.0, 0.0),
        ("Is it $45, due March 24?", 0.0, 1.0),
        ("", 0.0, 0.0),
        ("What is the fee, and when is it due?", 0.0, 0.0),
        ("I don't know.", 0.0, 0.0),
    ],
)
def test_reward(case: Case, answer: str, reward: float, mention: float) -> None:
    score = score_case(case, answer)
    assert (score.reward, score.mention) == (reward, mention)


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("The fee is $45, due March 24.", True),
        ("The fee is $45 (it was $30 last year), due March 24.", True),
        ("The fee is not $99. It is $45, due March 24.", True),
        ("The fee is $45, due March 24, and you pay $99.", False),
        ("The fee is $45, due March 24. The fee is $30.", False),
    ],
)
def test_a_forbidden_value_stated_as_true_never_passes(case: Case, answer: str, passed: bool) -> None:
    score = score_case(case, answer)
    assert score.passed(threshold=0.1) is passed
    assert ("forbidden_stated" in score.flags) is not passed


def test_evidence_names_form_span_and_clause(case: Case) -> None:
    answer = "Hello. The fee comes to 45 dollars. Bye."
    verdict = score_case(case, answer).verdicts[0]
    assert verdict.match.span is not None
    assert answer[slice(*verdict.match.span)] == "45 dollars"
    assert verdict.match.form == "$45"
    assert verdict.match.clause == "The fee comes to 45 dollars."


def test_a_transcript_is_a_dump_and_no_answer(case: Case) -> None:
    filler = " ".join(["So, as I was saying, the garden needs water every day."] * 40)
    told = "The fee is $45 now, due March 24."
    assert score_case(case, f"{told} {filler}").reward == 1.0, "length alone is no dump"
    dumped = score_case(case, f"{told} It was $30. The $99 is for the other account. {filler}")
    assert (dumped.flags, dumped.reward, dumped.passed()) == (("dump", "forbidden_stated"), 0.0, False)
    lenient = KeywordRecall(dump_factor=50).score(case, Answer(f"{told} It was $30. {filler}"))
    assert "dump" not in lenient.flags


def test_an_unanswerable_case_wants_an_abstention(case: Case) -> None:
    gold = GoldFacts(
        required=(GoldFact("__ABSTAIN__", FactType.ABSTAIN, id="none"),), forbidden=case.gold.forbidden
    )
    unanswerable = replace(case, gold=gold, answerable=False)
    assert score_case(unanswerable, "I don't know; you never told me.").reward == 1.0
    for wrong in ("", "It is $45.", "I don't know, probably $99.", "The fee is $99."):
        assert score_case(unanswerable, wrong).reward == 0.0, wrong


def test_what_is_no_score(case: Case) -> None:
    assert score_case(case, Answer(None)).outcome == Missing()
    assert score_case(case, Answer(None, error="timed out")).outcome == SystemFailed("reported", "timed out")
    bare = replace(case, gold=GoldFacts())
    for answer in (Answer(None), Answer("The fee is $45.")):
        assert score_case(bare, answer).outcome == NotAnnotated()
        assert score_case(bare, answer).reward is None
        assert score_case(bare, answer).passed() is None


def test_batch_asks_every_case_once_and_in_order(case: Case) -> None:
    twin = replace(case, id="layer1_02_fee")
    scores = score_batch([case, twin], {twin.id: "The fee is $45, due March 24."}, system="mine")
    assert scores.system == "mine"
    assert [(score.case_id, score.status) for score in scores.scores] == [
        ("layer1_01_fee", "missing"),
        ("layer1_02_fee", "scored"),
    ]


@given(st.text(max_size=400))
def test_every_reward_is_finite_and_in_range(answer: str) -> None:
    case = _made_case()
    for name in ("keyword-recall", "exact-match", "token-f1", "evidence-recall"):
        score = find_scorer(name).score(case, Answer(answer, memory=(answer,)))
        assert isinstance(score.outcome, Scored)
        assert 0.0 <= score.outcome.reward <= 1.0


def _made_case() -> Case:
    facts = (GoldFact("$5", FactType.MONEY, id="m"), GoldFact("Emma", id="e"))
    return Case(
        id="layer1_01_x",
        category="layer1",
        title="",
        description="",
        domain="",
        abilities=(),
        locale="en-US",
        cluster=None,
        entities=(),
        question_time=None,
        question="?",
        criteria=(),
        expected_behavior="It is $5.",
        gold=GoldFacts(required=facts),
        answerable=True,
        path=Path("x.yaml"),
    )


@pytest.mark.parametrize("reward", [-0.1, 1.1, float("nan"), float("inf")])
def test_no_other_number_can_be_a_reward(reward: float) -> None:
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        Scored(reward)


def test_evidence_recall_does_not_look_for_what_follows_from_other_facts(case: Case) -> None:
    derived = GoldFact("$540", FactType.MONEY, id="a_year", derived_from=("conv_001#2",))
    gold = replace(case.gold, required=(*case.gold.required, derived))
    scorer = find_scorer("evidence-recall")
    answer = Answer("", memory=("The fee is $45.",))
    assert scorer.score(replace(case, gold=gold), answer).reward == 0.5
    alone = replace(case, gold=GoldFacts(required=(derived,)))
    assert scorer.score(alone, answer).outcome == NotAnnotated("a fact to be recalled")
