"""The scorer `llm-judge` against a real server: outcomes, repeats, transcripts, one criterion a call."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from harness.comparison import compare
from harness.errors import HarnessError
from harness.gates import below_floors, parse_floor
from harness.report import render
from harness.scoring import (
    Answer,
    CaseScore,
    JudgeFailed,
    Missing,
    NotAnnotated,
    Scored,
    SystemFailed,
    find_scorer,
)
from harness.scoring.judge import LLMJudge, Tally
from harness.scoring.judge.record import Count, dimensions_of
from harness.suite import Case, Suite, load_suite
from harness.suite.models import Criterion
from tests.conftest import WriteSuite, case_header
from tests.model_server import Server

from .conftest import RIGHT, MakeJudge, Rules, build

CASE = build()
STALE = "The fee is $30 and it is due on March 24, 2025."


def one(judge: LLMJudge, text: str | None, case: Case = CASE, **answer: Any) -> CaseScore:
    return judge.score(case, Answer(text, **answer))


def verdicts(score: CaseScore) -> dict[str, str]:
    assert score.judged is not None
    assert score.judged.judgement is not None
    return {ruling.id: ruling.verdict for ruling in score.judged.judgement.rulings}


# --- rewards ---


@pytest.mark.parametrize(
    ("text", "reward", "flags"),
    [
        (RIGHT, 1.0, ()),
        ("The fee is $45.", 0.4, ()),
        ("It is due on March 24, 2025.", 0.6, ()),
        ("There is a fee, and a day on which it is due.", 0.0, ()),
        (STALE, 0.5, ("contradicted", "forbidden_stated")),
        ("The fee is $30.", 0.0, ("contradicted", "forbidden_stated")),
    ],
)
@pytest.mark.parametrize("per_criterion", [False, True], ids=["at once", "one by one"])
def test_rewards(
    make_judge: MakeJudge, text: str, reward: float, flags: tuple[str, ...], per_criterion: bool
) -> None:
    score = one(make_judge(per_criterion=per_criterion), text)
    if per_criterion and flags:  # asked about one criterion alone, the rule judge knows no wrong values
        flags = ("forbidden_stated",)
    assert (score.reward, score.flags) == (reward, flags)
    assert score.words == len(text.replace("$", "").split())
    assert score.passed() is (reward >= 0.6)


def test_one_criterion_a_call_gives_the_same_kind_of_judgement(make_judge: MakeJudge, server: Server) -> None:
    server.reset()
    whole = one(make_judge(), "The fee is $45.")
    assert server.stats()["chat"] == 1
    single = one(make_judge(per_criterion=True), "The fee is $45.")
    assert server.stats()["chat"] == 1 + 3  # two criteria, one wrong value
    assert verdicts(whole) == verdicts(single) == {"fee": "met", "due": "not_met"}
    for score in (whole, single):
        assert score.judged is not None
        assert score.judged.judgement is not None
        assert [ruling.votes for ruling in score.judged.judgement.rulings] == [("met",), ("not_met",)]
        assert [value.id for value in score.judged.judgement.wrong_values] == ["old_fee"]
    assert single.judged is not None
    assert (single.judged.traces[0].asked, single.judged.traces[0].spent.calls) == (3, 3)


def test_one_bad_reply_of_several_is_an_error_of_the_whole(
    make_judge: MakeJudge, rules: Rules, asked_once: None
) -> None:
    rules([{"when": {"contains": "Criterion: Gives as right"}, "do": "garbage"}])
    score = one(make_judge(per_criterion=True), RIGHT)
    assert isinstance(score.outcome, JudgeFailed)
    assert score.outcome.kind == "no_json"
    assert score.judged is not None
    assert score.judged.traces[0].spent.calls == 3  # the use of what failed counts too


# --- a veto never passes ---


@pytest.fixture
def two(write_suite: WriteSuite) -> Suite:
    """Return two cases on disk, for what needs files: a hash, conversations."""
    return load_suite(write_suite("layer1_01_fee", "layer1_02_fee"))


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 0.6, 1.0])
def test_a_vetoed_answer_passes_at_no_threshold(make_judge: MakeJudge, two: Suite, threshold: float) -> None:
    account = f"{RIGHT} It is the checking account."
    answers = {"right": dict.fromkeys(two.ids, account), "stale": dict.fromkeys(two.ids, STALE)}
    result = compare(two, answers, scorer=make_judge(), threshold=threshold)
    right, stale = json.loads(render(result, "json"))["systems"]
    assert right["summary"]["overall"]["passed"] == 2
    assert stale["summary"]["overall"]["passed"] == stale["summary"]["layer1"]["passed"] == 0
    assert [case["passed"] for case in right["cases"]] == [True, True]
    assert [case["passed"] for case in stale["cases"]] == [False, False]
    assert all(case["reward"] <= 0.5 for case in stale["cases"])
    rows = render(result, "csv", per_case=True).splitlines()
    assert [",False," in row for row in rows if row.startswith("stale,")] == [True, True]
    shown = render(result, "table", width=200)
    assert re.search(r"right 2/2 \[[^]]*\], stale 0/2 \[", shown)


def test_a_gate_sees_the_vetoed_reward(make_judge: MakeJudge, two: Suite) -> None:
    result = compare(two, {"stale": dict.fromkeys(two.ids, STALE)}, scorer=make_judge("yes_man"))
    assert not below_floors(
        [result], [parse_floor("0.5")]
    )  # a judge that says yes to all gives full rewards …
    result = compare(two, {"stale": dict.fromkeys(two.ids, STALE)}, scorer=make_judge())
    (breach,) = below_floors([result], [parse_floor("0.51")])  # … and a veto cuts them to a half at most
    assert "stale" in breach.message


# --- what is not judged ---


def test_what_needs_no_judge_is_not_asked_about(make_judge: MakeJudge, server: Server) -> None:
    bare = build(id="layer1_02_bare", criteria=())
    server.reset()
    judge = make_judge()
    scores = judge.score_many(
        [
            (CASE, Answer("")),
            (CASE, Answer(" \n – … **")),
            (CASE, Answer(None)),
            (CASE, Answer(None, error="timed out")),
            (bare, Answer(RIGHT)),
            (CASE, Answer(None, memory=("The fee is $45.",))),
        ]
    )
    assert [score.outcome for score in scores] == [
        Scored(0.0),
        Scored(0.0),
        Missing(),
        SystemFailed("reported", "timed out"),
        NotAnnotated("criteria"),
        Missing(),
    ]
    assert [score.flags for score in scores] == [("empty",), ("empty",), (), (), (), ()]
    assert server.stats()["requests"] == 0
    assert judge.summary(scores).errors == {}


def test_an_empty_answer_counts_in_the_dimensions(make_judge: MakeJudge) -> None:
    scores = make_judge().score_many([(CASE, Answer("")), (CASE, Answer(RIGHT))])
    assert {met.dimension: (met.met, met.weight) for met in dimensions_of(scores)} == {
        "accuracy": (2.0, 4.0),
        "completeness": (3.0, 6.0),
    }


def test_an_empty_answer_is_0_where_abstaining_is_right_too(make_judge: MakeJudge) -> None:
    assert one(make_judge(), "  ", build(answerable=False)).reward == 0.0


# --- the five dimensions ---


def test_dimensions_are_shares_by_weight_over_scored_answers(make_judge: MakeJudge) -> None:
    names = ("proactivity", "accuracy", "context", "completeness", "information_retrieval")
    criteria = tuple(Criterion(f"c{at}", "Fee.", ("fee",), name, at + 1.0) for at, name in enumerate(names))  # type: ignore[arg-type]
    criteria += (Criterion("day", "Day.", ("due",), "accuracy", 5.0), Criterion("none", "Fee.", ("fee",)))
    judge = make_judge()
    case = build(criteria=criteria)
    scores = [judge.score(case, Answer("The fee is $45.")), judge.score(case, Answer(None))]
    assert [tuple(met) for met in dimensions_of(scores)] == [
        ("information_retrieval", 5.0, 5.0, 1),
        ("completeness", 4.0, 4.0, 1),
        ("accuracy", 2.0, 7.0, 2),
        ("context", 3.0, 3.0, 1),
        ("proactivity", 1.0, 1.0, 1),
    ]


# --- judges that are no good ---


@pytest.mark.parametrize(
    ("persona", "kind", "asked"),
    [
        ("off_menu", "bad_type", 3),
        ("missing_criterion", "incomplete", 3),
        ("duplicate_criterion", "ambiguous", 3),
        ("fabricated_quote", "unsupported_quote", 3),
        ("garbage", "no_json", 3),
        ("garbage_json", "missing_criteria", 3),
        ("null_content", "empty", 3),
        ("truncated", "truncated", 3),
        ("refusal", "refusal", 1),
        ("content_filter", "content_filter", 1),
    ],
)
def test_an_unusable_verdict_is_a_judge_error(
    make_judge: MakeJudge, server: Server, persona: str, kind: str, asked: int
) -> None:
    server.reset()
    judge = make_judge(persona)
    score = one(judge, RIGHT)
    assert isinstance(score.outcome, JudgeFailed)
    assert score.outcome.kind == kind
    assert (score.status, score.reward, score.passed()) == ("judge_error", None, None)
    assert server.stats()["chat"] == asked
    assert judge.summary([score]).errors == {kind: 1}
    assert score.judged is not None
    assert (score.judged.judgement, score.judged.traces[0].error) == (None, kind)


def test_a_fabricated_quote_is_asked_about_again_and_told_what_is_wrong(
    make_judge: MakeJudge, server: Server, rules: Rules
) -> None:
    rules([{"do": "fabricated_quote", "times": 1}])
    score = one(make_judge(), RIGHT)
    first, second = server.requests()
    assert score.reward == 1.0
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert "do not stand in the answer" in second["messages"][-1]["content"]


@pytest.mark.parametrize("persona", ["think", "fenced", "prose", "bom", "parts", "unknown_criterion"])
def test_a_reply_that_is_only_odd_is_read(make_judge: MakeJudge, persona: str) -> None:
    assert one(make_judge(persona), RIGHT).reward == 1.0


# --- garbage for 30% of calls ---

MANY = tuple(
    build(id=f"layer1_{at:02}_fee", question=f"What is fee {at}, and when is it due?") for at in range(1, 41)
)


def test_garbage_for_a_part_of_the_calls_costs_those_answers_only(
    make_judge: MakeJudge, rules: Rules, write_suite: WriteSuite, asked_once: None
) -> None:
    suite = load_suite(write_suite(*(f"layer1_{at:02}_fee" for at in range(1, 41))))
    struck = {f"layer1_{at:02}_fee" for at in range(1, 41) if at % 10 in (1, 4, 7)}
    answers = {case: f"This is {case}. {RIGHT if at % 2 else STALE}" for at, case in enumerate(suite.ids)}
    rules([{"when": {"contains": f"This is {case}."}, "do": "garbage"} for case in struck])
    judge = make_judge()
    result = compare(suite, {"mine": answers}, scorer=judge)
    scores = {score.case_id: score for score in result.systems[0].scores}
    assert {case for case, score in scores.items() if score.status == "judge_error"} == struck
    assert all(score.reward is None for case, score in scores.items() if case in struck)
    assert all(score.status == "scored" for case, score in scores.items() if case not in struck)
    rewards = [score.reward for score in scores.values() if score.reward is not None]
    cell = result.cell("overall", result.systems[0])
    assert (cell.scored, cell.asked, cell.errors) == (28, 40, 12)
    assert cell.mean == pytest.approx(sum(rewards) / 28)
    assert cell.low == pytest.approx(sum(rewards) / 40)
    assert cell.high == pytest.approx((sum(rewards) + 12) / 40)
    assert 0 < cell.low < cell.mean < cell.high < 1
    assert result.judge is not None
    assert result.judge.errors == {"no_json": 12}
    text = render(result, "table", width=160)
    assert "28/40" in text
    assert "mine: 28 of 40 scored (12 errors); not to be ranked." in text
    assert "Judge errors (never a score): no_json 12." in text


def test_too_many_errors_stop_the_run(make_judge: MakeJudge, server: Server) -> None:
    server.reset()
    judge = make_judge("garbage", max_errors=0.1, concurrency=2)
    scores = judge.score_many([(case, Answer(RIGHT)) for case in MANY])
    summary = judge.summary(scores)
    assert {score.status for score in scores} == {"judge_error"}
    assert summary.errors["not_asked"] >= 30
    assert server.stats()["chat"] <= 3 * 7
    assert summary.stopped is not None
    assert "more than --max-errors 0.1 of 40" in summary.stopped


# --- repeats ---


@pytest.mark.parametrize(
    ("repeats", "kind_ones", "reward", "flips"),
    [
        (3, 1, 0.0, Count(2, 2)),
        (3, 2, 1.0, Count(2, 2)),
        (2, 1, 0.0, Count(2, 2)),
        (4, 2, 0.0, Count(2, 2)),
        (3, 3, 1.0, Count(0, 2)),
    ],
)
def test_the_median_of_repeats_counts_and_flips_are_counted(
    make_judge: MakeJudge,
    server: Server,
    rules: Rules,
    repeats: int,
    kind_ones: int,
    reward: float,
    flips: Count,
) -> None:
    rules([{"when": {"first": kind_ones}, "do": "yes_man"}])
    judge = make_judge(repeats=repeats)
    score = one(judge, "There is a fee, and a day on which it is due.")
    asked = server.stats()["chat"]
    assert asked == repeats
    assert score.reward == reward
    summary = judge.summary([score])
    assert (summary.repeats, summary.flips) == (repeats, flips)
    assert score.judged is not None
    assert (
        sorted(repeat.reward for repeat in score.judged.traces[0].repeats)
        == [0.0] * (repeats - kind_ones) + [1.0] * kind_ones
    )


@pytest.mark.parametrize(("bad", "status"), [(1, "scored"), (2, "judge_error")])
def test_repeats_need_more_than_half_of_their_replies(
    make_judge: MakeJudge, rules: Rules, bad: int, status: str
) -> None:
    rules([{"when": {"first": bad}, "do": "refusal"}])
    score = one(make_judge(repeats=3), RIGHT)
    assert score.status == status


# --- the transcript ---


def with_talk(write_suite: WriteSuite) -> Case:
    return load_suite(write_suite("layer1_01_fee")).cases[0]


def test_a_claim_that_no_conversation_supports_vetoes(
    make_judge: MakeJudge, server: Server, write_suite: WriteSuite
) -> None:
    case = with_talk(write_suite)
    made_up = f"{RIGHT} It is the checking account, and you also pay $7,777 for the boat."
    server.reset()
    blind = one(make_judge(), made_up, case)
    seeing = make_judge(with_transcript=True)
    score = one(seeing, made_up, case)
    without, shown = (request["messages"][-1]["content"] for request in server.requests())
    assert "The $99 is for the other account." not in without
    assert "The $99 is for the other account." in shown
    assert "hallucination" not in blind.flags
    assert score.flags == ("hallucination",)
    assert score.reward is not None
    assert score.reward <= 0.5
    assert score.passed(0.0) is False
    assert score.judged is not None
    assert score.judged.judgement is not None
    assert [claim.claim for claim in score.judged.judgement.unsupported] == ["states $7,777"]
    assert seeing.summary([score]).with_transcript
    assert one(seeing, f"{RIGHT} It was $30 last year.", case).flags == ()


# --- a case of abstention ---


def test_abstention(make_judge: MakeJudge, write_suite: WriteSuite) -> None:
    header = case_header(
        "layer1_05_never",
        answerable=False,
        user_question="What is the balance of the boat account?",
        expected_behavior="You never told me the balance of the boat account.",
        evaluation_criteria=[{"id": "never", "text": "Says that it was never given.", "facts": ["never"]}],
        gold_facts={"required": [{"id": "never", "fact": "__ABSTAIN__", "type": "abstain"}]},
    )
    case = load_suite(write_suite(yaml.safe_load(yaml.safe_dump(header)))).cases[0]
    judge = make_judge()
    assert one(judge, "You never told me the balance of the boat account.", case).reward == 1.0
    assert one(judge, "The balance of the boat account is $5,000.", case).reward == 0.0


# --- the scorer itself ---


def test_results_stand_in_the_order_of_the_answers(
    make_judge: MakeJudge, server: Server, rules: Rules
) -> None:
    rules([{"when": {"every": 3}, "do": {"delay": 60}}])
    tallies: list[Tally] = []
    judge = make_judge(concurrency=8, progress=tallies.append)
    answers = [RIGHT if at % 2 else "The fee is $45." for at in range(len(MANY))]
    scores = judge.score_many([(case, Answer(text)) for case, text in zip(MANY, answers, strict=True)])
    stats = server.stats()
    assert [score.case_id for score in scores] == [case.id for case in MANY]
    assert [score.reward for score in scores] == [1.0 if at % 2 else 0.4 for at in range(len(MANY))]
    assert stats["max_in_flight"] <= 8
    assert [tally.done for tally in tallies] == list(range(1, 41))
    assert {tally.of for tally in tallies} == {40}
    assert tallies[-1].fresh.calls == 40


def test_it_works_where_a_loop_runs_already(make_judge: MakeJudge) -> None:
    import asyncio

    async def cell_of_a_notebook() -> CaseScore:
        return one(make_judge(), RIGHT)

    assert asyncio.run(cell_of_a_notebook()).reward == 1.0


@pytest.mark.parametrize(
    "options",
    [
        {"repeats": 0},
        {"concurrency": 0},
        {"max_tokens": 0},
        {"timeout_s": 0},
        {"timeout_s": float("nan")},
        {"max_errors": 1.5},
        {"max_errors": float("nan")},
        {"max_cost": -1},
        {"max_cost": float("nan")},
        {"per_criterion": True, "with_transcript": True},
    ],
    ids=str,
)
def test_an_option_out_of_its_bounds(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="|".join(options)):
        LLMJudge(**options)
    with pytest.raises(HarnessError, match="|".join(options)):
        find_scorer("llm-judge", **options)


def test_the_judge_is_found_by_name() -> None:
    found = find_scorer("llm-judge(repeats=3)", judges=("openai:gpt-5", "kimi:kimi-k2"))
    assert isinstance(found, LLMJudge)
    assert (found.repeats, found.judges, found.name) == (3, ("openai:gpt-5", "kimi:kimi-k2"), "llm-judge")
