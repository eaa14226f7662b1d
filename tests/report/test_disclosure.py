"""The disclosure card: what is known is on it, and what is not is said so."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.comparison import Comparison, compare_scores
from harness.llm.usage import Spent
from harness.report import disclosure
from harness.report.disclosure import NOT_RECORDED, Card
from harness.report.provenance import provenance
from harness.runs.folder import RunFolder
from harness.runs.scoring import score_run
from harness.scoring import Answer, CaseScore, Scored, find_scorer
from harness.scoring.judge.record import Count, JudgeSummary, JudgeUse
from harness.suite import Case, Suite, load_suite
from tests.conftest import WriteSuite
from tests.runs.made import FAILED, RIGHT, made_run, record

SERVED = {"read_by": {"model": "reader-7b-0613", "cost_usd": 0.0125}}


@pytest.fixture
def suite(write_suite: WriteSuite) -> Suite:
    return load_suite(write_suite("layer1_01_fee", "layer2_01_fee"))


@pytest.fixture
def runs(suite: Suite, tmp_path: Path) -> list[RunFolder]:
    made = made_run(
        tmp_path,
        suite,
        record("layer1_01_fee", answer="old", failure=FAILED),
        record("layer1_01_fee", answer=RIGHT, memories=["fee is $45"], tokens=120, report={"calls": 3}),
        record("layer2_01_fee", answer="No.", memories=["x"], report=SERVED),
        label="notes",
        model="local/reader-7b",
        prompt="c0ffee" * 10,
    )
    begun, answers = made.journals()
    with begun, answers:
        for case, space in (("layer1_01_fee", "a"), ("layer1_01_fee", "b"), ("layer2_01_fee", "c")):
            begun.append({"case": case, "repeat": 0, "namespace": space})
    return [
        made,
        made_run(tmp_path, suite, record("layer1_01_fee", answer=RIGHT), label="bare", reader="own"),
    ]


def compared(suite: Suite, runs: list[RunFolder]) -> Comparison:
    scorer = find_scorer("keyword-recall")
    return compare_scores(suite, [score_run(run, suite.cases, scorer).scores for run in runs], scorer)


def texts(card: Card, system: str = "") -> dict[str, str]:
    rows = card.rows if not system else next(part.rows for part in card.systems if part.system == system)
    return {row.key: row.text for row in rows}


def test_it_says_what_was_run_on_what_and_how_it_went(suite: Suite, runs: list[RunFolder]) -> None:
    card = disclosure.card(compared(suite, runs), runs)
    whole, notes = texts(card), texts(card, "notes")
    assert whole["suite_hash"] == suite.hash
    assert whole["cases"] == "2 (layer1 1, layer2 1)"
    assert whole["judge"] == "none: scored without a model"
    assert whole["seed"].isdigit()
    assert notes["reader"] == "local/reader-7b"
    assert notes["reader_prompt"] == "c0ffee" * 10
    assert notes["budget"] == "500"
    assert notes["attempts"] == (
        "3 for 2 answers; begun again: layer1_01_fee 2 times; 1 replaced by a later one"
    )
    assert notes["tokens"] == "120 (1 of 2 say)"
    assert notes["tokens_written"] == "3 calls"
    assert notes["model_answered"] == "reader-7b-0613"
    assert notes["cost_usd"] == "$0.0125 for 1 of 2 replies"
    assert texts(card, "bare")["cost_usd"] == "none: no model reads"
    assert whole["scorer"] == "keyword-recall(dump_factor=5.0)"
    assert notes["coverage"] == "2 of 2"
    assert texts(card, "bare")["coverage"] == "1 of 2, 1 missing"
    assert texts(card, "bare")["failures"] == "none"


def test_what_is_not_known_is_said_and_never_left_out(suite: Suite, runs: list[RunFolder]) -> None:
    with_runs = disclosure.card(compared(suite, runs), runs)
    without = disclosure.card(compared(suite, runs))
    for card in (with_runs, without):
        for part in card.systems:
            assert [row.key for row in part.rows] == [row.key for row in with_runs.systems[0].rows]
            assert all(row.text for row in part.rows)
            assert all((row.text == NOT_RECORDED) is (row.value is None) for row in part.rows)
    unknown = texts(without, "notes")
    for key in ("version", "options", "reader", "budget", "attempts", "begun", "cost_usd", "model_answered"):
        assert unknown[key] == NOT_RECORDED
    assert texts(without)["dates"] == NOT_RECORDED
    assert texts(without)["suite_version"] == "none beside the hash"
    assert unknown["coverage"] == "2 of 2"  # the scores know it


@pytest.mark.parametrize(
    "served", [None, "x", {}, {"model": 3, "cost_usd": "2"}, {"cost_usd": -1}, {"cost_usd": True}]
)
def test_a_journal_that_does_not_say_who_read_is_read_all_the_same(
    suite: Suite, tmp_path: Path, served: object
) -> None:
    one = record("layer1_01_fee", answer=RIGHT, report={"read_by": served} if served is not None else {})
    run = made_run(tmp_path, suite, one, label="old", model="local/reader-7b")
    rows = texts(disclosure.card(compared(suite, [run]), [run]), "old")
    assert rows["model_answered"] == rows["cost_usd"] == NOT_RECORDED


def test_options_of_a_foreign_scorer_are_not_shown(suite: Suite, runs: list[RunFolder]) -> None:
    @dataclass(frozen=True)
    class Own:
        secret: str = "key-123"
        name: str = "own:Own"
        has_pass: bool = False
        footnote: str = ""

        def score(self, case: Case, answer: Answer) -> CaseScore:
            return CaseScore(case.id, case.category, self.name, Scored(1.0))

    scores = [score_run(run, suite.cases, Own()).scores for run in runs]
    card = disclosure.card(compare_scores(suite, scores, Own()), runs)
    assert texts(card)["scorer"] == "own:Own (options not recorded)"
    assert "key-123" not in disclosure.as_text(card)


def test_a_judge_is_named_as_asked_and_as_it_answered(suite: Suite, runs: list[RunFolder]) -> None:
    spent = Spent(4, 1000, 200, 4, 0.0123, 3)
    use = JudgeUse("openai/gpt-x", ("gpt-x-0613",), ("temperature 0.0",), spent, "stands in", "gpt", 4, {})
    judge = JudgeSummary((use,), "ab" * 32, False, True, 1, {"refusal": 2}, Count(0, 0), Count(0, 0), None)
    rows = texts(disclosure.card(replace(compared(suite, runs), judge=judge), runs))
    assert rows["judge"] == "openai/gpt-x"
    assert rows["judge_answered"] == "gpt-x-0613"
    assert rows["judge_tokens"] == "1,200"
    assert rows["judge_cost"] == "$0.0123 for 3 of 4 replies"
    assert rows["judge_prompts"] == "ab" * 32
    assert rows["judge_calibration"].startswith("none for this judge")
    assert rows["judge_errors"] == "refusal 2"
    assert rows["judge_substitution"] == "stands in"
    silent = judge._replace(judges=(use._replace(models=(), spent=Spent()), use._replace(label="b/c")))
    rows = texts(disclosure.card(replace(compared(suite, runs), judge=silent), runs))
    assert rows["judge_answered_1"] == rows["judge_tokens_1"] == rows["judge_cost_1"] == NOT_RECORDED
    assert rows["judge_2"] == "b/c"


def test_it_goes_through_json_and_comes_back(suite: Suite, runs: list[RunFolder]) -> None:
    card = disclosure.card(compared(suite, runs), runs)
    assert disclosure.from_data(json.loads(json.dumps(disclosure.as_data(card)))) == card


def test_for_people_what_is_the_same_for_all_stands_once(suite: Suite, runs: list[RunFolder]) -> None:
    text = disclosure.as_text(disclosure.card(compared(suite, runs), runs), 60)
    assert max(map(len, text.splitlines())) <= 60
    assert text.count("memories asked for") == 1
    assert text.count("attempts ") == 2
    lines = text.splitlines()
    assert lines[0] == "Disclosure"
    assert "notes" in lines
    assert "bare" in lines


def test_markdown_shows_names_as_they_are(suite: Suite, tmp_path: Path) -> None:
    run = made_run(tmp_path, suite, record("layer1_01_fee", answer=RIGHT), label="a|b<script>\x1b[2J")
    text = disclosure.as_markdown(disclosure.card(compared(suite, [run]), [run]))
    assert r"**a\|b\<script\>" in text
    assert "\x1b" not in text
    assert text.startswith("<details>")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.replace(r"\|", "").count("|") == 3 for line in rows)


def test_the_hash_of_the_answers_is_of_their_content_alone(suite: Suite, tmp_path: Path) -> None:
    def of(folder: str, *records: object) -> object:
        return provenance(made_run(tmp_path / folder, suite, *records), ["layer1_01_fee", "layer2_01_fee"])  # type: ignore[arg-type]

    first, second = record("layer1_01_fee", answer=RIGHT), record("layer2_01_fee", answer="No.")
    one = of("a", first, second)
    same = of("b", replace(second, timings={"read": 9.0}), replace(first, attempt=4, namespace="other"))
    other = of("c", first, replace(second, answer="No!"))
    assert one.digest == same.digest != other.digest  # type: ignore[attr-defined]
    changed = [case for case in one.digests if one.digests[case] != other.digests[case]]  # type: ignore[attr-defined]
    assert changed == ["layer2_01_fee"]
