"""Where a missed fact was lost, as far as the journal of a run shows it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.comparison import compare, compare_scores
from harness.report.attribution import Fate, as_data, attribute, grid, misses, run_of, trail_of
from harness.runs.comparing import default_scorer
from harness.runs.manifest import SystemPart
from harness.runs.record import Delivered, Record
from harness.runs.scoring import score_run
from harness.scoring import Answer, JudgeFailed, Scored, find_scorer, score_case
from harness.scoring.judge.record import Judged
from harness.scoring.judge.verdicts import Judgement, Ruling
from harness.suite import Case, Suite, load_suite
from tests.conftest import WriteSuite, case_header
from tests.runs.made import FAILED, GIVEN, RIGHT, made_run, record

OWN = SystemPart("mine", "mine", "mine", "own", {})
FEE, DUE = "So the fee is $45 now?", "I pay it on Monday, March 24, 2025."

UNLINKED = [{"id": "right", "text": "Is right."}]


def system(kind: str) -> SystemPart:
    return replace(OWN, kind=kind)


def case_of(write_suite: WriteSuite, **changes: Any) -> Case:
    return load_suite(write_suite(case_header("layer1_01_fee", **changes))).cases[0]


@pytest.fixture
def case(write_suite: WriteSuite) -> Case:
    return case_of(write_suite)


def lost(case: Case, one: Record, part: SystemPart = OWN, scorer: str = "keyword-recall") -> dict[str, Fate]:
    score = score_case(case, one.as_answer(), find_scorer(scorer))
    return {miss.fact.id: miss.fate for miss in misses(case, score, trail_of(one, part))}


@pytest.mark.parametrize(
    ("answer", "memories", "fates"),
    [
        pytest.param(RIGHT, [], {}, id="nothing is missed"),
        pytest.param("I do not know.", [FEE, DUE], {"fee": Fate.NOT_USED, "due": Fate.NOT_USED}, id="recalled, not used"),
        pytest.param("I do not know.", [FEE], {"fee": Fate.NOT_USED, "due": Fate.STORE_UNSEEN}, id="not recalled"),
        pytest.param("Not $45. Due March 24.", [FEE], {"fee": Fate.JUDGED_WRONG}, id="negated in the answer"),
        pytest.param("It was $45, it is $30; due March 24.", [FEE], {"fee": Fate.JUDGED_WRONG}, id="voided"),
        pytest.param("The fee is $30. Due March 24.", [FEE], {"fee": Fate.NOT_USED}, id="the stale one instead"),
        pytest.param("Forty-five dollars, on 24 March 2025.", [], {}, id="in other words"),
    ],
)  # fmt: skip
def test_a_fact_is_followed_from_the_answer_back(
    case: Case, answer: str, memories: list[str], fates: dict[str, Fate]
) -> None:
    assert lost(case, record(case.id, answer=answer, memories=memories)) == fates


def test_what_the_budget_cut_was_recalled(case: Case) -> None:
    one = replace(record(case.id, answer="No idea.", memories=["small talk", FEE]), kept=("small talk",))
    assert lost(case, one) == {"fee": Fate.CUT, "due": Fate.STORE_UNSEEN}
    # A memory that was cut in the middle, before the value.
    half = replace(record(case.id, memories=[f"We met. {FEE}"]), kept=("We met.",))
    assert lost(case, half, scorer="evidence-recall")["fee"] is Fate.CUT


@pytest.mark.parametrize(
    ("kind", "report", "fate"),
    [
        ("own", {}, Fate.STORE_UNSEEN),
        ("connector", {}, Fate.STORE_UNSEEN),
        ("own", {"stored": [FEE]}, Fate.NOT_RECALLED),
        ("own", {"stored": ["weather"]}, Fate.NEVER_STORED),
        ("own", {"stored": "no list"}, Fate.STORE_UNSEEN),
        ("retrieval", {}, Fate.NOT_RECALLED),  # it keeps every message word for word
        ("strategy", {}, Fate.NEVER_STORED),  # it hands back its whole memory
        ("strategy", {"over_limit": 300}, Fate.STORE_UNSEEN),
        ("control", {}, Fate.NEVER_STORED),
    ],
)
@pytest.mark.parametrize("scorer", ["keyword-recall", "evidence-recall"])
def test_never_stored_is_said_only_where_the_store_is_seen(
    case: Case, kind: str, report: dict[str, Any], fate: Fate, scorer: str
) -> None:
    one = record(case.id, answer="Due March 24.", memories=["small talk", DUE], report=report)
    assert lost(case, one, system(kind), scorer) == {"fee": fate}


def test_a_system_that_answers_by_itself_and_does_not_say_what_it_recalled(case: Case) -> None:
    silent = record(case.id, answer="I do not know.")
    assert set(lost(case, silent).values()) == {Fate.UNSEEN}
    telling = replace(silent, kept=(FEE,))
    assert lost(case, telling) == {"fee": Fate.NOT_USED, "due": Fate.STORE_UNSEEN}
    # A store that is told settles what recall cannot.
    assert set(lost(case, replace(silent, report={"stored": []})).values()) == {Fate.NEVER_STORED}


def test_a_conversation_that_was_not_handed_over(case: Case) -> None:
    other = Delivered("conv_009", *GIVEN[0][1:])
    one = replace(record(case.id, answer="No idea.", memories=[]), delivered=(other,))
    assert set(lost(case, one).values()) == {Fate.NOT_DELIVERED}


def test_what_was_never_said_is_answered_and_not_lost(write_suite: WriteSuite) -> None:
    gold = {"required": [{"id": "none", "fact": "__ABSTAIN__", "type": "abstain"}]}
    case = case_of(write_suite, gold_facts=gold, answerable=False, evaluation_criteria=UNLINKED)
    assert lost(case, record(case.id, answer="It is $45.", memories=[])) == {"none": Fate.NOT_DECLINED}
    assert lost(case, record(case.id, answer="You never told me that.", memories=[])) == {}


def test_a_sum_need_not_stand_in_any_memory(write_suite: WriteSuite) -> None:
    summed = {"id": "sum", "fact": "$75", "type": "money", "derived_from": ["conv_001#1", "conv_001#2"]}
    case = case_of(write_suite, gold_facts={"required": [summed]}, evaluation_criteria=UNLINKED)
    assert lost(case, record(case.id, answer="No idea.", memories=[FEE]), system("retrieval")) == {
        "sum": Fate.UNSEEN
    }
    told = record(case.id, answer="No idea.", memories=["Together they make $75."])
    assert lost(case, told) == {"sum": Fate.NOT_USED}


def test_a_dump_states_everything_and_is_judged_wrong(case: Case) -> None:
    text = f"{RIGHT} It was $30, or $99, or $12, or $13, or $14. " + "And so on and on. " * 100
    found = lost(case, record(case.id, answer=text, memories=[]))
    assert found == {"fee": Fate.JUDGED_WRONG, "due": Fate.JUDGED_WRONG}


@pytest.mark.parametrize(
    ("answer", "verdict", "fate"),
    [
        ("It is $45, due March 24.", "met", None),
        ("It is $45, due March 24.", "not_met", Fate.JUDGED_WRONG),
        ("It is $30, due March 24.", "contradicted", Fate.NOT_USED),
    ],
)
def test_a_judge_s_rulings_say_what_is_missed(
    case: Case, answer: str, verdict: Any, fate: Fate | None
) -> None:
    judgement = Judgement("so", (Ruling("fee", verdict, ""), Ruling("asks", "not_met", "")), (), ())
    one = record(case.id, answer=answer, memories=[FEE, DUE])
    bare = score_case(case, answer)
    score = replace(bare, scorer="llm-judge", outcome=Scored(0.5), verdicts=(), judged=Judged(judgement, ()))
    found = misses(case, score, trail_of(one, OWN))
    assert [(miss.fact.id, miss.fate) for miss in found] == ([] if fate is None else [("fee", fate)])
    failed = replace(score, outcome=JudgeFailed("refusal"))
    assert misses(case, failed, trail_of(one, OWN)) == ()


# ---- summed ---------------------------------------------------------------------------


@pytest.fixture
def suite(write_suite: WriteSuite) -> Suite:
    return load_suite(write_suite("layer1_01_fee", "layer1_02_fee", "layer2_01_fee", "layer2_02_fee"))


def test_the_sums_are_by_layer_and_leave_out_what_has_no_score(suite: Suite, tmp_path: Path) -> None:
    run = made_run(
        tmp_path,
        suite,
        record("layer1_01_fee", answer=RIGHT, memories=[FEE, DUE]),
        record("layer1_02_fee", answer="No idea.", memories=[FEE]),
        record("layer2_01_fee", answer="No idea.", memories=[]),
        record("layer2_02_fee", failure=FAILED),
        label="notes",
    )
    scorer = find_scorer(default_scorer(run))
    result = compare_scores(suite, [score_run(run, suite.cases, scorer).scores], scorer)
    (found,) = attribute(result, suite, [run])
    assert [
        (tally.group, tally.facts, tally.met, dict(tally.fates), tally.unscored) for tally in found.tallies
    ] == [
        ("layer1", 4, 2, {Fate.STORE_UNSEEN: 1, Fate.NOT_USED: 1}, 0),
        ("layer2", 2, 0, {Fate.STORE_UNSEEN: 2}, 1),
        ("overall", 6, 2, {Fate.STORE_UNSEEN: 3, Fate.NOT_USED: 1}, 1),
    ]
    for tally in found.tallies:
        assert tally.met + sum(tally.fates.values()) == tally.facts
    table = grid([found])
    assert table is not None
    assert table.header == ("Missed facts", "met", "not recalled, store unseen", "recalled, not used")
    assert table.rows == (("notes", "2/6", "3", "1"),)
    (data,) = as_data([found])
    assert data["groups"][0]["lost"] == {"store_unseen": 1, "not_used": 1}
    assert {"test_id": "layer1_02_fee", "fact": "fee", "lost": "not_used", "why": None} in data["missed"]


def test_answers_from_a_file_are_followed_as_far_as_they_go(suite: Suite) -> None:
    answers = {
        "a": {case.id: Answer("No idea.", memory=(FEE,)) for case in suite},
        "b": {"layer1_01_fee": Answer("?")},
    }
    result = compare(suite, answers)
    one, other = attribute(result, suite, answers=answers)
    assert dict(one.overall.fates) == {Fate.NOT_USED: 4, Fate.STORE_UNSEEN: 4}
    assert dict(other.overall.fates) == {Fate.UNSEEN: 2}
    assert grid(attribute(compare(suite, {"a": {case.id: RIGHT for case in suite}}), suite)) is None


def test_a_run_is_told_by_label_and_where_two_share_one_by_folder(suite: Suite, tmp_path: Path) -> None:
    one = made_run(tmp_path, suite, label="notes", budget=1)
    two = made_run(tmp_path, suite, label="notes", budget=2)
    assert run_of("notes", [one]) is one
    assert run_of("notes", [one, two]) is None
    assert run_of(two.path.name, [one, two]) is two
