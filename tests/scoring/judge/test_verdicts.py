"""The reward that follows from verdicts, the votes of repeats, and what makes a reply no verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.comparison import summarise
from harness.llm.replies import RawReply, ReplyError, read_reply
from harness.scoring import CaseScore, Scored
from harness.scoring.judge import verdicts
from harness.scoring.judge.quotes import said
from harness.scoring.judge.verdicts import (
    VERDICTS,
    Claim,
    Judgement,
    Ruling,
    Verdict,
    WrongValue,
    majority,
    median,
    read_judgement,
    reward_of,
    schema_of,
    unanimous,
)
from harness.suite import Case
from harness.suite.models import Criterion, GoldFacts

from .conftest import DUE, FEE, OLD, build

VERDICT = st.sampled_from(VERDICTS)
WEIGHT = st.floats(1e-6, 1e6)  # further apart, a share rounds to 1
CLAIM = Claim("owns a boat", "your boat")


def case_of(*weights: float) -> Case:
    return build(criteria=tuple(Criterion(f"c{at}", "Text.", weight=one) for at, one in enumerate(weights)))


def judged(*given: Verdict, stated: bool = False, claims: int = 0) -> Judgement:
    rulings = tuple(Ruling(f"c{at}", verdict, "", (verdict,)) for at, verdict in enumerate(given))
    quote = "it is $30" if stated else ""
    return Judgement("", rulings, (WrongValue("old_fee", stated, quote),), (CLAIM,) * claims)


# --- the reward ---


@pytest.mark.parametrize(
    ("weights", "given", "share"),
    [
        ((1, 1), ("met", "met"), 1.0),
        ((1, 1), ("met", "not_met"), 0.5),
        ((1, 1), ("not_met", "not_met"), 0.0),
        ((2, 3), ("not_met", "met"), 0.6),
        ((3, 1), ("met", "not_met"), 0.75),
        ((1, 1, 2), ("met", "met", "not_met"), 0.5),
        ((0.7,) * 5, ("met", "met", "met", "not_met", "not_met"), 0.6),
        ((0.1, 0.2, 0.3, 0.4), ("not_met", "met", "not_met", "met"), 0.6),
    ],
)
def test_the_reward_is_the_share_met_by_weight(
    weights: tuple[float, ...], given: tuple[Verdict, ...], share: float
) -> None:
    assert reward_of(judged(*given), case_of(*weights)) == (share, ())


@given(st.data(), st.lists(WEIGHT, min_size=1, max_size=12), st.booleans(), st.integers(0, 2))
def test_a_reward_is_in_the_unit_interval_and_a_veto_is_a_veto(
    data: st.DataObject, weights: list[float], stated: bool, claims: int
) -> None:
    given: list[Verdict] = data.draw(st.lists(VERDICT, min_size=len(weights), max_size=len(weights)))
    reward, vetoes = reward_of(judged(*given, stated=stated, claims=claims), case_of(*weights))
    assert 0.0 <= reward <= 1.0
    assert ("contradicted" in vetoes) == ("contradicted" in given)
    assert ("forbidden_stated" in vetoes) == stated
    assert ("hallucination" in vetoes) == (claims > 0)
    score = CaseScore("layer1_01_fee", "layer1", "llm-judge", Scored(reward), flags=vetoes)
    threshold = data.draw(st.floats(0, 1))
    if vetoes:
        assert reward <= 0.5
        assert score.passed(threshold) is False
        assert summarise([score], threshold=threshold).passed == 0
    else:
        assert score.passed(threshold) is (reward >= threshold)
        assert (reward == 1.0) == (set(given) == {"met"})


@given(st.data(), st.lists(st.floats(0.001, 1000), min_size=1, max_size=8))
def test_meeting_one_more_criterion_never_costs(data: st.DataObject, weights: list[float]) -> None:
    given: list[Verdict] = data.draw(
        st.lists(st.sampled_from(["met", "not_met"]), min_size=len(weights), max_size=len(weights))  # type: ignore[arg-type]
    )
    at = data.draw(st.integers(0, len(weights) - 1))
    better: list[Verdict] = [*given[:at], "met", *given[at + 1 :]]
    case = case_of(*weights)
    assert reward_of(judged(*better), case)[0] >= reward_of(judged(*given), case)[0]


# --- from a reply to a judgement ---

ANSWER = "The fee is $45, or was it $30? It's due on March 24, 2025, says your boat."
CASE = build()


def reply(**changes: Any) -> dict[str, Any]:
    value: dict[str, Any] = {
        "reasoning": "Both are there.",
        "criteria": [
            {"id": "fee", "quote": "The fee is $45", "verdict": "met"},
            {"id": "due", "quote": "due on March 24, 2025", "verdict": "met"},
        ],
        "wrong_values": [{"id": "old_fee", "quote": "", "stated": False}],
    }
    return value | changes


def read(value: dict[str, Any], case: Case = CASE, *, with_transcript: bool = False) -> Judgement:
    body = {
        "choices": [{"message": {"role": "assistant", "content": json.dumps(value)}, "finish_reason": "stop"}]
    }
    parsed = read_reply(RawReply(200, {}, body), schema_of(case, with_transcript=with_transcript))
    return read_judgement(parsed.value, case, said(ANSWER))


def criterion(**changes: Any) -> list[dict[str, Any]]:
    first, second = reply()["criteria"]
    return [first | changes, second]


def test_a_judgement_follows_the_case_in_whatever_order_the_reply_is() -> None:
    made = read(reply(criteria=reply()["criteria"][::-1]))
    assert [(ruling.id, ruling.verdict, ruling.votes) for ruling in made.rulings] == [
        ("fee", "met", ("met",)),
        ("due", "met", ("met",)),
    ]
    assert made.wrong_values == (WrongValue("old_fee", False, ""),)
    assert made.reasoning == "Both are there."


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (reply(criteria=criterion(verdict="partially met")), "bad_type"),
        (reply(criteria=criterion(verdict="MET, mostly")), "bad_type"),
        (reply(criteria=criterion(verdict=1)), "bad_type"),
        (reply(criteria=criterion(verdict=None)), "incomplete"),
        (reply(criteria=[reply()["criteria"][0]]), "incomplete"),
        (reply(criteria=[]), "incomplete"),
        ({"reasoning": "Fine.", "wrong_values": []}, "missing_criteria"),
        (reply(criteria=[*criterion(), {"id": "fee", "quote": "", "verdict": "not_met"}]), "ambiguous"),
        (reply(wrong_values=[]), "incomplete"),
        (reply(wrong_values=[{"id": "old_fee", "quote": "", "stated": "perhaps"}]), "bad_type"),
        (reply(criteria=criterion(quote="The fee is $46")), "unsupported_quote"),
        (reply(criteria=criterion(quote="")), "unsupported_quote"),
        (reply(criteria=criterion(verdict="contradicted", quote="it is $46")), "unsupported_quote"),
        (reply(wrong_values=[{"id": "old_fee", "quote": "it's $30", "stated": True}]), "unsupported_quote"),
    ],
)
def test_what_is_no_verdict_is_an_error_and_asked_for_again(value: dict[str, Any], kind: str) -> None:
    with pytest.raises(ReplyError) as caught:
        read(value)
    assert caught.value.kind == kind
    assert caught.value.retry
    assert caught.value.arrived


def test_what_is_not_met_needs_no_quote_and_keeps_none_that_nobody_said() -> None:
    made = read(reply(criteria=criterion(verdict="not_met", quote="nothing of the kind")))
    assert made.rulings[0] == Ruling("fee", "not_met", "", ("not_met",))


def test_behaviour_may_be_met_without_words_that_show_it() -> None:
    case = build(criteria=(Criterion("fee", "Is polite.", kind="behaviour"), CASE.criteria[1]))
    assert read(reply(criteria=criterion(quote="")), case).rulings[0].verdict == "met"
    with pytest.raises(ReplyError, match="fee"):
        read(reply(criteria=criterion(verdict="contradicted", quote="")), case)


def test_a_claim_has_to_stand_in_the_answer_too() -> None:
    claims = [{"claim": "The user has a boat.", "quote": "your boat"}]
    made = read(reply(unsupported=claims), with_transcript=True)
    assert made.unsupported == (Claim("The user has a boat.", "your boat"),)
    assert reward_of(made, CASE) == (0.5, ("hallucination",))
    assert reward_of(read(reply(unsupported=[]), with_transcript=True), CASE) == (1.0, ())
    with pytest.raises(ReplyError) as caught:
        read(reply(unsupported=[{"claim": "A car.", "quote": "your car"}]), with_transcript=True)
    assert caught.value.kind == "unsupported_quote"


def test_a_case_without_wrong_values_is_not_asked_about_any() -> None:
    names = schema_of(build(gold=GoldFacts((FEE, DUE)))).json_schema()["properties"]
    assert set(names) == {"reasoning", "criteria"}
    assert "wrong_values" in schema_of(build(gold=GoldFacts((FEE,), (), (OLD,)))).json_schema()["properties"]
    assert "unsupported" in schema_of(CASE, with_transcript=True).json_schema()["properties"]


def test_a_ruling_on_one_criterion_is_held_against_the_answer_too() -> None:
    answer = said(ANSWER)
    good = {"verdict": "met", "quote": "fee is $45"}
    assert verdicts.check_ruling(good, CASE.criteria[0], answer) == good
    assert verdicts.check_stated({"verdict": "met", "quote": "it $30"}, OLD, answer) == {
        "quote": "it $30",
        "stated": True,
    }
    assert not verdicts.check_stated({"verdict": "contradicted", "quote": ""}, OLD, answer)["stated"]
    for check, of in ((verdicts.check_ruling, CASE.criteria[0]), (verdicts.check_stated, OLD)):
        with pytest.raises(ReplyError) as caught:
            check({"verdict": "met", "quote": "fee is $46"}, of, answer)  # type: ignore[operator]
        assert caught.value.kind == "unsupported_quote"


# --- repeats ---


@pytest.mark.parametrize(
    ("votes", "verdict"),
    [
        (("met",), "met"),
        (("met", "met", "not_met"), "met"),
        (("met", "contradicted", "not_met"), "not_met"),
        (("contradicted", "met", "contradicted"), "contradicted"),
        (("met", "not_met"), "not_met"),
        (("met", "contradicted"), "contradicted"),
        (("met", "met", "not_met", "contradicted"), "not_met"),
        (("met", "met", "met", "contradicted"), "met"),
    ],
)
def test_the_median_verdict_counts_and_the_lower_of_two_middle_ones(
    votes: tuple[Verdict, ...], verdict: Verdict
) -> None:
    made = median([judged(vote) for vote in votes])
    assert made.rulings[0].verdict == verdict
    assert made.rulings[0].votes == votes


@pytest.mark.parametrize(
    ("votes", "counts"),
    [
        ((1,), True),
        ((0,), False),
        ((1, 0), True),
        ((1, 0, 0), False),
        ((1, 1, 0), True),
        ((1, 1, 0, 0), True),
    ],
)
def test_wrong_values_and_claims_go_by_the_same_rule(votes: tuple[int, ...], counts: bool) -> None:
    made = median([judged("met", stated=bool(vote), claims=vote) for vote in votes])
    assert made.wrong_values[0].stated is counts
    assert bool(made.unsupported) is counts
    assert made.wrong_values[0].quote == ("it is $30" if counts else "")


@given(st.lists(st.lists(VERDICT, min_size=2, max_size=2), min_size=1, max_size=7))
def test_the_order_of_repeats_does_not_matter(votes: list[list[Verdict]]) -> None:
    forth, back = (median([judged(*vote) for vote in way]) for way in (votes, votes[::-1]))
    assert [ruling.verdict for ruling in forth.rulings] == [ruling.verdict for ruling in back.rulings]
    rewards = [reward_of(judged(*vote), case_of(1, 1))[0] for vote in votes]
    assert 0 <= reward_of(forth, case_of(1, 1))[0] <= 1
    if len(set(map(tuple, votes))) == 1:
        assert reward_of(forth, case_of(1, 1))[0] == rewards[0]


def test_the_quote_is_one_that_goes_with_the_verdict() -> None:
    given = [
        Judgement("", (Ruling("c0", "not_met", "wrong words", ("not_met",)),)),
        Judgement("", (Ruling("c0", "met", "right words", ("met",)),)),
        Judgement("", (Ruling("c0", "met", "", ("met",)),)),
    ]
    assert median(given).rulings == (Ruling("c0", "met", "right words", ("not_met", "met", "met")),)


def test_agreement_is_counted_by_criterion() -> None:
    assert unanimous([]) == unanimous([judged("met", "met")]) == (0, 0)
    assert unanimous([judged("met", "met"), judged("met", "not_met"), judged("met", "met")]) == (1, 2)


# --- panels ---


@pytest.mark.parametrize(
    ("votes", "judges", "verdict"),
    [
        (("met", "met"), 2, "met"),
        (("met", "met", "not_met"), 3, "met"),
        (("contradicted", "met", "contradicted"), 3, "contradicted"),
        (("met", "met"), 3, "met"),
        (("met", "met", "met", "not_met"), 5, "met"),
    ],
)
def test_a_panel_rules_by_more_than_half_of_it(
    votes: tuple[Verdict, ...], judges: int, verdict: Verdict
) -> None:
    assert majority([judged(vote) for vote in votes], judges).rulings[0].verdict == verdict


@pytest.mark.parametrize(
    ("votes", "judges"),
    [
        (("met", "not_met"), 2),
        (("met", "not_met", "contradicted"), 3),
        (("met", "not_met"), 3),
        (("met", "met", "not_met", "not_met"), 4),
        (("met", "met"), 4),
    ],
)
def test_a_split_panel_rules_nothing(votes: tuple[Verdict, ...], judges: int) -> None:
    with pytest.raises(ReplyError, match="c0") as caught:
        majority([judged(vote) for vote in votes], judges)
    assert caught.value.kind == "no_majority"
    assert not caught.value.retry


def test_a_panel_can_be_split_on_wrong_values_and_claims() -> None:
    with pytest.raises(ReplyError, match="old_fee"):
        majority([judged("met", stated=True), judged("met")], 2)
    with pytest.raises(ReplyError, match="every claim is supported"):
        majority([judged("met", claims=1), judged("met")], 2)
    made = majority(
        [judged("met", stated=True, claims=1), judged("met", stated=True), judged("met", claims=2)], 3
    )
    assert made.wrong_values[0].stated
    assert made.unsupported == (CLAIM,)
    lone = majority([judged("met", stated=True, claims=1), judged("met"), judged("met")], 3)
    assert not lone.wrong_values[0].stated
    assert not lone.unsupported
