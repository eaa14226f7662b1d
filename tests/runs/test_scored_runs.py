"""Runs scored: repeats, failures, what is missing, and the rows that are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.runs.scoring import averaged, narrowed, rows, score_run
from harness.scoring import CaseScore, Scored, find_scorer, outcome_name
from harness.scoring.outcome import Missing, SystemFailed
from harness.suite import Suite
from tests.runs.conftest import Go
from tests.runs.made import FAILED, RIGHT, TIMED_OUT, made_run, record
from tests.runs.probe import WHEN, Watch, entrant

Fees = Callable[..., Suite]
KEYWORDS = find_scorer("keyword-recall")
EVIDENCE = find_scorer("evidence-recall")
A, B, C = "layer1_01_fee", "layer1_02_fee", "layer1_03_fee"
HALF = "The fee is $45."


def test_answers_are_scored_in_the_suites_order(fees: Fees, tmp_path: Path) -> None:
    suite = fees(3)
    run = made_run(
        tmp_path, suite, record(C, answer=HALF), record(A, answer=RIGHT), record(B, answer="No idea.")
    )
    found = score_run(run, suite.cases, KEYWORDS)
    assert found.scores.system == "probe"
    assert [(score.case_id, score.reward) for score in found.scores.scores] == [(A, 1.0), (B, 0.0), (C, 0.5)]


def test_what_failed_and_what_is_missing_has_no_reward(fees: Fees, tmp_path: Path) -> None:
    suite = fees(3)
    run = made_run(tmp_path, suite, record(A, answer=RIGHT), record(B, failure=TIMED_OUT))
    found = score_run(run, suite.cases, KEYWORDS)
    assert [score.status for score in found.scores.scores] == ["scored", "system_error", "missing"]
    assert [score.reward for score in found.scores.scores] == [1.0, None, None]
    assert found.failures == {"timeout": 1}


def test_a_run_that_has_not_begun_is_missing_everything(fees: Fees, tmp_path: Path) -> None:
    suite = fees(2)
    found = score_run(made_run(tmp_path, suite), suite.cases, KEYWORDS)
    assert {score.status for score in found.scores.scores} == {"missing"}
    assert (found.failures, found.dated, found.dateless) == ({}, 0, 0)


def test_repeats_are_averaged_and_one_that_failed_leaves_the_case_without_a_score(
    fees: Fees, tmp_path: Path
) -> None:
    suite = fees(3)
    run = made_run(
        tmp_path,
        suite,
        record(A, 0, RIGHT),
        record(A, 1, HALF),
        record(A, 2, "No idea."),
        record(B, 0, failure=FAILED),
        record(B, 1, HALF),
        record(C, 2, failure=FAILED),
        record(C, 0, failure=TIMED_OUT),
        repeats=3,
    )
    found = score_run(run, suite.cases, KEYWORDS)
    assert [score.reward for score in found.scores.scores] == [0.5, None, None]
    assert found.scores.scores[1].outcome == SystemFailed(FAILED.kind, FAILED.cause)
    assert found.scores.scores[2].outcome == SystemFailed(TIMED_OUT.kind, TIMED_OUT.cause)
    assert found.failures == {"raised": 2, "timeout": 1}
    told = [[outcome_name(one) for one in answers] for answers in found.scores.repeats]
    assert told == [
        ["scored", "scored", "scored"],
        ["system_error", "scored", "missing"],
        ["system_error", "missing", "system_error"],
    ]
    assert narrowed(found, Suite(suite.root, suite.cases[2:])).scores.repeats == found.scores.repeats[2:]


def test_the_order_in_the_journal_changes_nothing(fees: Fees, tmp_path: Path) -> None:
    suite = fees(1)
    each = [record(A, 0, HALF, tokens=1), record(A, 1, RIGHT, tokens=2), record(A, 2, "It is $30.", tokens=3)]
    first = made_run(tmp_path / "one", suite, *each, repeats=3)
    second = made_run(tmp_path / "two", suite, *reversed(each), repeats=3)
    one, two = (score_run(run, suite.cases, KEYWORDS).scores for run in (first, second))
    assert one == two
    assert one.scores[0].tokens == 1
    kept = [list(rows(score_run(run, suite.cases, KEYWORDS), KEYWORDS)) for run in (first, second)]
    assert kept[0] == kept[1]


def test_repeats_that_the_run_does_not_have_and_other_cases_are_left_out(fees: Fees, tmp_path: Path) -> None:
    suite = fees(2)
    run = made_run(tmp_path, suite, record(A, 0, HALF), record(A, 1, RIGHT), record(B, 0, RIGHT))
    found = score_run(run, suite.cases[:1], KEYWORDS)
    assert [(score.case_id, score.reward) for score in found.scores.scores] == [(A, 0.5)]


def score(outcome: object, flags: tuple[str, ...] = (), mention: float | None = None) -> CaseScore:
    return CaseScore("a", "layer1", "x", outcome, mention, (), flags)  # type: ignore[arg-type]


def test_a_flag_stays_when_half_of_the_repeats_have_it() -> None:
    found = averaged(
        [
            score(Scored(0.4), ("most", "half", "third"), 0.5),
            score(Scored(0.2), ("most", "half", "third")),
            score(Scored(0.0), ("most", "half"), 1.0),
            score(Scored(0.2), ("most",)),
            score(Scored(0.2)),
            score(Scored(0.2)),
        ]
    )
    assert found.reward == pytest.approx(0.2)
    assert (found.flags, found.mention) == (("half", "most"), 0.75)


def test_without_a_score_it_is_the_first_outcome() -> None:
    assert averaged([score(SystemFailed("a")), score(Missing())]).outcome == SystemFailed("a")
    alone = score(Scored(0.3), ("dump",))
    assert averaged([alone]) is alone


def test_evidence_is_scored_on_what_was_read_not_on_what_was_recalled(fees: Fees, go: Go) -> None:
    suite = fees(1)
    few = go(suite, [entrant(Watch())], budget=6).folders[0]
    all_of_it = go(suite, [entrant(Watch())], budget=60).folders[0]
    assert [score_run(run, suite.cases, EVIDENCE).scores.scores[0].reward for run in (few, all_of_it)] == [
        0.5,
        1.0,
    ]
    assert score_run(few, suite.cases, EVIDENCE).scores.scores[0].memory_words == 6


def test_dates_kept_and_lost_are_counted(fees: Fees, tmp_path: Path) -> None:
    suite = fees(3)
    run = made_run(
        tmp_path,
        suite,
        record(A, memories=["$45"], when=WHEN),
        record(B, memories=["$45"]),
        record(C, memories=[]),
    )
    found = score_run(run, suite.cases, EVIDENCE)
    assert (found.dated, found.dateless) == (1, 1)


def test_the_rows_say_what_came_of_each_case(fees: Fees, tmp_path: Path) -> None:
    suite = fees(3)
    run = made_run(
        tmp_path, suite, record(A, answer=HALF, memories=["one two three"]), record(B, failure=TIMED_OUT)
    )
    found = score_run(run, suite.cases, KEYWORDS)
    path = run.write_scores(KEYWORDS.name, rows(found, KEYWORDS))
    assert path.name == "scores.keyword-recall.jsonl"
    kept = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert kept[0] == {
        "case": A, "scorer": "keyword-recall", "options": {"dump_factor": 5.0}, "threshold": 0.6, "outcome": "scored", "kind": None, "reason": None, "reward": 0.5,
        "mention": 0.5, "passed": False, "flags": [], "facts": {"fee": True, "due": False}, "memory_words": 3,
    }  # fmt: skip
    assert [kept[1][name] for name in ("outcome", "kind", "reason", "reward", "passed")] == [
        "system_error", "timeout", "in wait: wait took longer than 2 s", None, None,
    ]  # fmt: skip
    assert (kept[2]["outcome"], kept[2]["reason"], kept[2]["reward"]) == ("missing", None, None)


def test_a_scorer_without_a_pass_says_none(fees: Fees, tmp_path: Path) -> None:
    suite = fees(1)
    run = made_run(tmp_path, suite, record(A, memories=["$45"]))
    (row,) = rows(score_run(run, suite.cases, EVIDENCE), EVIDENCE)
    assert (row["passed"], row["reward"]) == (None, 0.5)


def test_a_thousand_answers_are_scored_in_parts_and_in_place(fees: Fees, tmp_path: Path) -> None:
    suite = fees(3)
    each = [
        record(name, repeat, RIGHT if repeat % 2 else HALF) for repeat in range(200) for name in suite.ids
    ]
    found = score_run(made_run(tmp_path, suite, *each, repeats=200), suite.cases, KEYWORDS)
    assert [one.reward for one in found.scores.scores] == [pytest.approx(0.75)] * 3
