"""Several judges: a majority rules, a split is no score, a judge that fails is outvoted, kin is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.comparison import compare
from harness.errors import InputError
from harness.report import render
from harness.scoring import Answer, CaseScore, JudgeFailed, load_responses
from harness.scoring.judge.record import Count
from harness.suite import load_suite
from tests.conftest import WriteSuite
from tests.model_server import Server

from .conftest import RIGHT, MakeJudge, build

VAGUE = "There is a fee, and a day on which it is due."
JudgeAt = Callable[[str, str], str]


def panel(make_judge: MakeJudge, judge_at: JudgeAt, *personas: str, text: str = RIGHT) -> CaseScore:
    judges = tuple(judge_at(f"judge-{at}", persona) for at, persona in enumerate(personas))
    return make_judge(judges=judges).score(build(), Answer(text))


@pytest.mark.parametrize(
    ("personas", "text", "reward"),
    [
        (("", ""), RIGHT, 1.0),
        (("", "", "grudging"), RIGHT, 1.0),
        (("", "grudging", "grudging"), RIGHT, 0.0),
        (("yes_man", "", ""), VAGUE, 0.0),
        (("yes_man", "yes_man", ""), VAGUE, 1.0),
        (("", "", "garbage"), RIGHT, 1.0),
        (("refusal", "", ""), RIGHT, 1.0),
        (("", "", "grudging", "", "garbage"), RIGHT, 1.0),
    ],
)
def test_more_than_half_of_the_panel_rules(
    make_judge: MakeJudge, judge_at: JudgeAt, personas: tuple[str, ...], text: str, reward: float
) -> None:
    assert panel(make_judge, judge_at, *personas, text=text).reward == reward


@pytest.mark.parametrize(
    ("personas", "kind"),
    [
        (("", "grudging"), "no_majority"),
        (("", "grudging", "refusal"), "no_majority"),
        (("", "refusal"), "refusal"),
        (("", "refusal", "garbage"), "refusal"),
        (("garbage", "garbage", ""), "no_json"),
    ],
)
def test_without_a_majority_there_is_no_score(
    make_judge: MakeJudge, judge_at: JudgeAt, personas: tuple[str, ...], kind: str
) -> None:
    score = panel(make_judge, judge_at, *personas)
    assert isinstance(score.outcome, JudgeFailed)
    assert score.outcome.kind == kind
    assert score.reward is None


def test_votes_agreement_and_each_judges_part_are_kept(make_judge: MakeJudge, judge_at: JudgeAt) -> None:
    judges = tuple(
        judge_at(f"judge-{at}", persona) for at, persona in enumerate(("", "", "grudging", "refusal"))
    )
    judge = make_judge(judges=judges[:3])
    score = judge.score(build(), Answer("The fee is $45."))
    assert score.judged is not None
    assert score.judged.judgement is not None
    fee, due = score.judged.judgement.rulings
    assert (fee.verdict, fee.votes, fee.quote) == ("met", ("met", "met", "not_met"), "The fee is $45.")
    assert (due.verdict, due.votes) == ("not_met", ("not_met",) * 3)
    assert score.judged.agreement == judge.summary([score]).agreement == Count(1, 2)
    judge = make_judge(judges=(*judges[:2], judges[3]))
    summary = judge.summary([judge.score(build(), Answer(RIGHT))])
    # What one judge did not rule on says nothing of how the panel agrees.
    assert summary.agreement == Count(0, 0)
    assert [use.errors for use in summary.judges] == [{}, {}, {"refusal": 1}]
    assert [use.spent.calls for use in summary.judges] == [1, 1, 1]
    assert [use.label.rpartition("/")[2] for use in summary.judges] == ["judge-0", "judge-1", "judge-3"]


def test_a_failed_member_is_in_the_trace_and_not_in_the_errors(
    make_judge: MakeJudge, judge_at: JudgeAt
) -> None:
    judges = tuple(judge_at(f"judge-{at}", persona) for at, persona in enumerate(("", "garbage", "")))
    judge = make_judge(judges=judges)
    score = judge.score(build(), Answer(RIGHT))
    assert score.judged is not None
    assert [trace.error for trace in score.judged.traces] == [None, "no_json", None]
    assert judge.summary([score]).errors == {}


def test_repeats_of_a_panel_are_medians_before_they_are_votes(
    make_judge: MakeJudge, judge_at: JudgeAt, server: Server
) -> None:
    server.reset()
    judge = make_judge(judges=(judge_at("judge-a", ""), judge_at("judge-b", "")), repeats=3)
    score = judge.score(build(), Answer(RIGHT))
    assert server.stats()["chat"] == 6
    assert score.judged is not None
    assert score.judged.judgement is not None
    assert score.judged.judgement.rulings[0].votes == ("met",) * 6
    assert judge.summary([score]).flips == Count(0, 4)


def test_the_same_judge_twice_is_refused(make_judge: MakeJudge, judge_at: JudgeAt, server: Server) -> None:
    server.reset()
    judge = make_judge(judges=(judge_at("judge-a", ""), judge_at("judge-b", ""), judge_at("judge-a", "")))
    with pytest.raises(InputError, match=r"judge-a stands twice on the panel\. A cassette knows"):
        judge.score(build(), Answer(RIGHT))
    assert server.stats()["requests"] == 0


def test_a_judge_of_the_systems_own_family_is_named(
    make_judge: MakeJudge, judge_at: JudgeAt, write_suite: WriteSuite, tmp_path: Path
) -> None:
    suite = load_suite(write_suite("layer1_01_fee"))
    file = tmp_path / "answers.json"
    answer = {"layer1_01_fee": RIGHT}
    models = {"mine": "gpt-5-mini", "other": "qwen3-8b", "third": "some-model"}
    file.write_text(
        json.dumps({"_models": models, "mine": answer, "other": answer, "third": answer}), encoding="utf-8"
    )
    judge = make_judge(judges=(judge_at("openai/gpt-5", ""), judge_at("kimi-k2", "")))
    result = compare(suite, load_responses(file, suite.ids), scorer=judge)
    text = render(result, "table", width=400)
    careful = [line for line in text.splitlines() if line.startswith("Careful:")]
    assert len(careful) == 1
    assert "openai/gpt-5 and the model of mine (gpt-5-mini) are of one family, gpt" in careful[0]
    assert "kimi" not in careful[0]
    stranger = make_judge(judges=(judge_at("kimi-k2", ""), judge_at("claude-x", "")))
    assert "Careful" not in render(compare(suite, load_responses(file, suite.ids), scorer=stranger), "table")
