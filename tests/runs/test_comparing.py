"""Comparing runs: over which cases, and with which notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.runs.comparing import by_suite, common_cases, default_scorer, notes_on
from harness.runs.folder import RunFolder
from harness.runs.record import Record
from harness.runs.scoring import score_run
from harness.scoring import find_scorer
from harness.suite import Suite, load_suite
from tests.runs.conftest import Go
from tests.runs.made import FAILED, RIGHT, TIMED_OUT, made_run, record
from tests.runs.probe import WHEN, built_in

Fees = Callable[..., Suite]
KEYWORDS = find_scorer("keyword-recall")
EVIDENCE = find_scorer("evidence-recall")
A, B, C = "layer1_01_fee", "layer1_02_fee", "layer1_03_fee"


def notes(suite: Suite, *runs: RunFolder, scorer: Any = KEYWORDS) -> str:
    return "\n".join(notes_on([score_run(run, suite.cases, scorer) for run in runs], suite.cases, scorer))


def test_runs_over_the_same_cases_are_compared_over_all(fees: Fees, tmp_path: Path) -> None:
    suite = fees(3)
    runs = [made_run(tmp_path, suite, label="one"), made_run(tmp_path, suite, label="two")]
    assert common_cases(suite, runs) == (suite, ())


def test_runs_over_different_cases_are_compared_over_the_common_ones(fees: Fees, tmp_path: Path) -> None:
    suite = fees(3)
    first = made_run(tmp_path, Suite(suite.root, suite.cases[:2]), label="one")
    second = made_run(tmp_path, Suite(suite.root, suite.cases[1:]), label="two")
    common = common_cases(suite, [first, second])
    assert common.suite.ids == (B,)
    assert common.notes == (
        "1 of the 3 cases asked were asked of all; the others are left out: layer1_01_fee, layer1_03_fee.",
    )


def test_a_case_that_has_changed_is_left_out_and_named(fees: Fees, tmp_path: Path) -> None:
    suite = fees(3)
    runs = [made_run(tmp_path, suite, label="one"), made_run(tmp_path, suite, label="two")]
    path = suite.get(B).path
    path.write_text(path.read_text(encoding="utf-8").replace("Monday", "Tuesday"), encoding="utf-8")
    common = common_cases(load_suite(suite.root), runs)
    assert common.suite.ids == (A, C)
    assert common.notes == (f"Not comparable and left out, since the case has changed since a run: {B}.",)


def test_runs_of_two_states_of_a_case_are_not_compared_over_it(fees: Fees, tmp_path: Path) -> None:
    suite = fees(2)
    old = made_run(tmp_path, suite, label="old")
    path = suite.get(A).path
    path.write_text(path.read_text(encoding="utf-8").replace("$45 now", "$45 today"), encoding="utf-8")
    now = load_suite(suite.root)
    new = made_run(tmp_path, now, label="new")
    common = common_cases(now, [old, new])
    assert common.suite.ids == (B,)
    assert A in common.notes[0]
    assert common_cases(now, [new]).suite.ids == (A, B)


@pytest.mark.parametrize("what", ["other_suite", "no_common_case"])
def test_nothing_in_common_is_an_error(fees: Fees, tmp_path: Path, what: str) -> None:
    suite = fees(2)
    first = made_run(tmp_path, Suite(suite.root, suite.cases[:1]), label="one")
    second = made_run(tmp_path, Suite(suite.root, suite.cases[1:]), label="two")
    other = fees(2, folder="other", title="Another title")
    given, runs = (other, [first]) if what == "other_suite" else (suite, [first, second])
    with pytest.raises(InputError, match=r"no case that one.* were all asked .*--suite"):
        common_cases(given, runs)


@pytest.mark.parametrize(
    ("reader", "scorer"),
    [("extractive", "evidence-recall"), ("llm", "keyword-recall"), ("own", "keyword-recall")],
)
def test_the_scorer_fits_what_came_back(fees: Fees, tmp_path: Path, reader: str, scorer: str) -> None:
    assert default_scorer(made_run(tmp_path, fees(1), reader=reader)) == scorer


def test_the_same_reader_is_said_once(fees: Fees, tmp_path: Path) -> None:
    suite = fees(1)
    parts = {"model": "openai/reader", "prompt": "cd" * 32}
    said = notes(suite, *(made_run(tmp_path, suite, label=label, **parts) for label in ("one", "two")))
    assert (
        "Reader: openai/reader (prompt cdcdcdcd), the same prompt for every system that it reads for." in said
    )
    assert "memories are cut to 500 words" in said
    assert "Not comparable" not in said


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        ({"model": "openai/a"}, {"model": "openai/b"}, "the reader differs: one openai/a"),
        ({"model": "m", "prompt": "ab" * 32}, {"model": "m", "prompt": "cd" * 32}, "two m (prompt cdcdcdcd)"),
        ({"reader": "extractive"}, {"model": "m"}, "the reader differs: one extractive, two m"),
        ({"budget": 500}, {"budget": 100}, "the budget differs: one 500 words, two 100 words"),
    ],
    ids=["model", "prompt", "kind", "budget"],
)
def test_a_difference_is_flagged(
    fees: Fees, tmp_path: Path, one: dict[str, Any], two: dict[str, Any], said: str
) -> None:
    suite = fees(1)
    found = notes(
        suite, made_run(tmp_path, suite, label="one", **one), made_run(tmp_path, suite, label="two", **two)
    )
    assert "Not comparable, since" in found
    assert said in found


def test_systems_that_answer_by_themselves_have_no_reader_to_differ_in(fees: Fees, tmp_path: Path) -> None:
    suite = fees(1)
    runs = [
        made_run(tmp_path, suite, label="one", model="m"),
        made_run(tmp_path, suite, label="two", reader="own", budget=9),
        made_run(tmp_path, suite, label="full", kind="control", budget=None, model="m"),
    ]
    assert "Not comparable" not in notes(suite, *runs)


def test_lost_timestamps_are_flagged(fees: Fees, tmp_path: Path) -> None:
    suite = fees(2)
    lost = made_run(tmp_path, suite, record(A, memories=["$45"]), record(B, memories=["x"]), label="lost")
    partly = made_run(
        tmp_path, suite, record(A, memories=["$45"]), record(B, memories=["x"], when=WHEN), label="partly"
    )
    nothing = made_run(tmp_path, suite, record(A, memories=[]), label="nothing")
    found = notes(suite, lost, partly, nothing, scorer=EVIDENCE)
    assert (
        "Timestamps lost (no recalled memory carries a date, though each conversation had one): lost."
        in found
    )


def test_failures_are_counted_by_kind(fees: Fees, tmp_path: Path) -> None:
    suite = fees(3)
    bad = made_run(
        tmp_path,
        suite,
        record(A, failure=TIMED_OUT),
        record(B, failure=FAILED),
        record(C, failure=FAILED),
        label="bad",
    )
    good = made_run(tmp_path, suite, record(A, answer=RIGHT), label="good")
    found = notes(suite, bad, good)
    assert "System errors by kind (never a score): bad 2 raised, 1 timeout." in found


def test_repeats_are_told(fees: Fees, tmp_path: Path) -> None:
    suite = fees(1)
    assert "asked 3 times" in notes(suite, made_run(tmp_path, suite, repeats=3))
    assert "times" not in notes(suite, made_run(tmp_path, suite))


def test_repeats_that_differ_say_by_how_much(fees: Fees, tmp_path: Path) -> None:
    suite = fees(2)
    records = [
        replace(record(case, answer=answer), repeat=repeat)
        for repeat, answers in enumerate(((RIGHT, RIGHT), (RIGHT, "I don't know.")))
        for case, answer in zip((A, B), answers, strict=True)
    ]
    told = notes(suite, made_run(tmp_path, suite, *records, repeats=2))
    assert "From run to run: probe means 0.50–1.00, sd 0.354, 1 of 2 cases differ." in told


def test_controls_that_hand_over_more_than_the_others_may_are_named(fees: Fees, tmp_path: Path) -> None:
    suite = fees(1)
    full = made_run(
        tmp_path,
        suite,
        record(A, memories=["word " * 200]),
        label="full_context",
        kind="control",
        budget=None,
    )
    assert "Controls, not cut to the budget: full_context." in notes(
        suite, full, made_run(tmp_path, suite, budget=100)
    )
    assert "Controls" not in notes(suite, full, made_run(tmp_path, suite, label="other", budget=400))


def answered(*texts: str) -> list[Record]:
    return [record(name, answer=text) for name, text in zip((A, B), texts, strict=True)]


def test_worse_than_remembering_nothing_is_a_warning(fees: Fees, tmp_path: Path) -> None:
    suite = fees(2)
    nothing = made_run(
        tmp_path, suite, *answered(RIGHT, "No."), label="base", name="no_memory", kind="control"
    )
    worse = made_run(tmp_path, suite, *answered("No.", "No."), label="worse")
    same = made_run(tmp_path, suite, *answered("No.", RIGHT), label="same")
    cheater = made_run(tmp_path, suite, *answered("No.", "No."), label="echo", kind="cheater")
    broken = made_run(tmp_path, suite, record(A, failure=FAILED), label="broken")
    found = notes(suite, nothing, worse, same, cheater, broken)
    assert "WARNING: below no_memory (0.50): worse." in found
    assert "WARNING: below" not in notes(suite, nothing, same)
    assert "WARNING: below" not in notes(suite, worse, same)


def test_a_cheater_that_passes_is_a_warning(fees: Fees, tmp_path: Path) -> None:
    suite = fees(2)
    cheater = made_run(tmp_path, suite, *answered(RIGHT, "No."), label="bluffer", kind="cheater")
    assert "WARNING: a cheater passes answerable cases: bluffer 1/2." in notes(suite, cheater)
    honest = made_run(tmp_path, suite, *answered(RIGHT, RIGHT), label="good")
    fails = made_run(tmp_path, suite, *answered("No.", "No."), label="echo", kind="cheater")
    assert "WARNING" not in notes(suite, honest, fails)
    assert "WARNING" not in notes(suite, cheater, scorer=EVIDENCE)


def test_gold_that_stands_in_the_question_is_found_out(fees: Fees, go: Go) -> None:
    """A case whose gold is in its question, as `echo` shows."""
    leaky = {"gold_facts": {"required": [{"id": "fee", "fact": "fee", "evidence": ["conv_001#1"]}]}}
    suite = fees(2, evaluation_criteria=[], **leaky)
    path = suite.get(A).path
    text = path.read_text(encoding="utf-8").replace(f"What is the fee in {A}?", "The fee is $45.")
    path.write_text(text, encoding="utf-8")
    done = go(load_suite(suite.root), built_in("echo", "abstain"))
    found = notes(load_suite(suite.root), *done.folders)
    assert "WARNING: a cheater passes answerable cases: echo" in found
    assert "abstain" not in found


def test_declining_where_nothing_was_said_is_no_cheating(fees: Fees, go: Go) -> None:
    unsaid = {"required": [{"id": "none", "fact": "__ABSTAIN__", "type": "abstain"}]}
    suite = fees(1, answerable=False, gold_facts=unsaid, evaluation_criteria=[])
    done = go(suite, built_in("abstain"))
    assert score_run(done.folders[0], suite.cases, KEYWORDS).scores.scores[0].reward == 1.0
    assert "WARNING" not in notes(suite, *done.folders)


def test_no_cheater_passes_on_the_bundled_cases(go: Go) -> None:
    suite = load_suite()
    done = go(suite, built_in("echo", "abstain", "bluffer", "dump"))
    assert done.failed == 0
    assert "WARNING" not in notes(suite, *done.folders)


def test_runs_are_of_one_suite_by_its_folder_or_by_a_case(fees: Fees, tmp_path: Path) -> None:
    suite, moved = fees(3), fees(3, folder="moved")
    start = made_run(tmp_path, Suite(suite.root, suite.cases[:1]), label="start")
    end = made_run(tmp_path, Suite(suite.root, suite.cases[2:]), label="end")
    elsewhere = made_run(tmp_path, moved, label="elsewhere")
    other = made_run(tmp_path, suite, label="other", cases={"q1": "0"})
    foreign = made_run(tmp_path, Suite(tmp_path / "foreign", suite.cases), label="foreign", cases={"q1": "1"})
    last = made_run(tmp_path, Suite(tmp_path / "last", suite.cases), label="last", cases={"q9": "1"})
    assert by_suite([start, end]) == [[start, end]], "two parts of one suite"
    assert by_suite([start, elsewhere]) == [[start, elsewhere]], "one suite that was moved"
    assert by_suite([last, start, foreign]) == [[last], [start], [foreign]]
    assert by_suite([foreign, start, other]) == [[foreign, start, other]], (
        "what joins two groups makes one of them"
    )
    assert by_suite([]) == []
