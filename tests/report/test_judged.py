"""Judged tables as they are printed; `UPDATE_SNAPSHOTS=1 pytest tests/report` writes the snapshots anew."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from harness.comparison import CaseLabel, Comparison
from harness.llm.usage import Spent
from harness.report import render
from harness.report.judged import UNCALIBRATED
from harness.scoring import CaseScore, JudgeFailed, Missing, Outcome, Scored, SystemScores
from harness.scoring.calibration import Ruling as ProbeRuling
from harness.scoring.calibration import measure
from harness.scoring.judge.disagreement import Disagreement
from harness.scoring.judge.record import Count, Judged, JudgeSummary, JudgeUse, Met, Trace
from harness.scoring.judge.verdicts import Claim, Judgement, Ruling, Verdict, WrongValue
from harness.scoring.probes import Label, Probe

SNAPSHOTS = Path(__file__).with_name("snapshots") / "judged"
ROOT = Path(__file__).parents[2]
SENT = "max_tokens 1024, response_format json_schema, temperature 0"
KNOWN = Spent(4, 5200, 610, 4, 0.0123, 4)
PARTLY = Spent(5, 4100, 480, 4, 0.0045, 3)
UNKNOWN = Spent(4)
USE = JudgeUse("openai/gpt-5", ("gpt-5-2025-08-07",), (SENT,), KNOWN, None, "gpt", 4, {})
SECOND = JudgeUse(
    "openrouter/moonshotai/kimi-k2",
    ("moonshotai/kimi-k2",),
    (SENT, "max_completion_tokens 1024"),
    PARTLY,
    "kimi-k2: no KIMI_API_KEY or MOONSHOT_API_KEY; OpenRouter stands in with moonshotai/kimi-k2",
    "kimi",
    4,
    {"refusal": 1},
)
SUMMARY = JudgeSummary(
    (USE,), "0123456789ab" * 5 + "cdef", False, False, 1, {}, Count(0, 0), Count(0, 0), None
)
DIFFERENT = (
    Disagreement("cards", "layer1_01_fee", "day", "met", "day not stated", "due soon"),
    Disagreement("notes", "layer2_01_cars", "old_fee", "wrong value stated", "not stated", "it is $30"),
)


def calibration() -> dict[str, Any]:
    def ruled(kind: str, label: Label, reward: float) -> ProbeRuling:
        score = CaseScore("layer1_01_fee", "layer1", "llm-judge", Scored(reward))
        return ProbeRuling(Probe("layer1_01_fee", f"{kind}_{reward}", kind, label, "An answer."), (score,))

    rulings = [
        ruled("verbatim", "accept", 1.0),
        ruled("paraphrase", "accept", 0.2),
        ruled("stale", "reject", 0.1),
    ]
    return dict(measure(rulings, scorer="llm-judge", suite_hash="ab" * 32, of="gpt-5").as_data())


def judged(
    case: str, *given: Verdict, flags: tuple[str, ...] = (), claim: str = "", spent: Spent = KNOWN
) -> CaseScore:
    """Return a score of a case with a criterion of accuracy and one of proactivity."""
    names = ("day", "asks")
    rulings = tuple(
        Ruling(name, verdict, f"words on {name}" if verdict != "not_met" else "", (verdict,))
        for name, verdict in zip(names, given, strict=True)
    )
    wrong = (
        WrongValue(
            "old_fee", "forbidden_stated" in flags, "it is $30" if "forbidden_stated" in flags else ""
        ),
    )
    claims = (Claim(claim, "your boat"),) if claim else ()
    dimensions = tuple(
        Met(name, weight if verdict == "met" else 0.0, weight, 1)
        for name, weight, verdict in zip(("accuracy", "proactivity"), (3.0, 1.0), given, strict=True)
    )
    share = sum(met.met for met in dimensions) / 4
    reward = min(share, 0.5) if flags else share
    made = Judgement("Reasons.", rulings, wrong, claims, ("fence",))
    trace = Trace("openai/gpt-5", "gpt-5-2025-08-07", "{}", spent, 1)
    category = case.split("_")[0]
    return CaseScore(
        case,
        category,
        "llm-judge",
        Scored(reward),
        flags=flags,
        words=9,
        judged=Judged(made, (trace,), dimensions),
    )


def failed(case: str, kind: str) -> CaseScore:
    trace = Trace("openai/gpt-5", None, "{}", UNKNOWN, 3, error=kind)
    outcome: Outcome = JudgeFailed(kind, "the judge said nothing of use.")
    return CaseScore(case, case.split("_")[0], "llm-judge", outcome, words=9, judged=Judged(None, (trace,)))


CASES = ("layer1_01_fee", "layer1_02_fee", "layer2_01_cars")


def comparison(*, one: bool = False, **changes: Any) -> Comparison:
    """Return a judged comparison of two systems (or one), with every kind of outcome."""
    cards = (
        judged(CASES[0], "met", "met"),
        judged(CASES[1], "contradicted", "met", flags=("contradicted", "forbidden_stated")),
        failed(CASES[2], "no_json"),
    )
    notes = (
        judged(CASES[0], "met", "met", flags=("hallucination",), claim="The user owns a boat."),
        CaseScore(CASES[1], "layer1", "llm-judge", Missing()),
        judged(CASES[2], "not_met", "met"),
    )
    systems = (SystemScores("cards", cards), SystemScores("notes", notes))
    return Comparison(
        cases=tuple(CaseLabel(case, case.split("_")[0], f"Title of {case}") for case in CASES),
        systems=systems[:1] if one else systems,
        scorer="llm-judge",
        footnote="A judge errs.",
        has_pass=True,
        threshold=0.6,
        suite="test_cases",
        suite_hash="fedcba9876543210" * 4,
        source="answers.json",
        notes=(),
        models={"cards": "gpt-5-mini", "notes": "qwen3-8b"},
        judge=SUMMARY._replace(errors={"no_json": 1}, **changes),
    )


PANEL = {
    "judges": (USE, SECOND),
    "repeats": 3,
    "flips": Count(3, 12),
    "agreement": Count(9, 12),
    "calibration": calibration(),
    "disagreements": DIFFERENT,
    "with_transcript": True,
    "stopped": "2 judge errors are more than --max-errors 0.1 of 6",
}


def check(name: str, text: str) -> None:
    path = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [80, 200])
def test_snapshot_of_one_judge(columns: int) -> None:
    check(f"one_{columns}_columns.txt", render(comparison(), "table", width=columns))


@pytest.mark.parametrize("ending", ["txt", "md", "csv", "json.txt"])
def test_snapshot_of_a_panel(ending: str) -> None:
    format = {"txt": "table", "json.txt": "json"}.get(ending, ending)
    text = render(comparison(**PANEL), format, per_case=True, width=120)  # type: ignore[arg-type]
    check(f"panel.{ending}", text)


@pytest.mark.parametrize("ending", ["txt", "md"])
def test_snapshot_of_a_batch_with_evidence(ending: str) -> None:
    format = "table" if ending == "txt" else ending
    result = comparison(one=True, disagreements=DIFFERENT[:1])
    check(f"batch.{ending}", render(result, format, evidence=True, width=100))  # type: ignore[arg-type]


def footer(**changes: Any) -> list[str]:
    """Return the lines under a judged table, each whole."""
    text = render(comparison(**changes), "table", width=1000)
    return [line for line in text.splitlines() if line[:1].isalpha()]


def line(start: str, **changes: Any) -> str:
    found = [one for one in footer(**changes) if one.startswith(start)]
    assert len(found) == 1, found
    return found[0]


# --- the lines under the table ---


def test_a_table_carries_its_calibration_or_says_that_it_has_none() -> None:
    assert line("Calibration") == UNCALIBRATED
    said = line("Calibration", calibration=calibration())
    assert said.startswith("Calibration of this judge: false accepts 0/1")
    assert "false rejects 1/2" in said
    for format in ("table", "md", "json"):
        made = json.dumps(calibration())
        assert "false rejects 1/2" in render(comparison(calibration=json.loads(made)), format, width=1000)  # type: ignore[arg-type]
        assert "Calibration: none" in render(comparison(), format, width=1000)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spent", "said"),
    [
        (KNOWN, "4 replies, 5,200 + 610 tokens, $0.0123."),
        (PARTLY, "5 replies, 4,100 + 480 tokens (4 of 5 replies say), $0.0045 for 3 of 5 replies."),
        (UNKNOWN, "4 replies, tokens unknown, cost unknown."),
        (Spent(1, 10, 2, 1, 0.0, 1), "1 reply, 10 + 2 tokens, $0.0000."),
        (Spent(), "no reply."),
    ],
)
def test_tokens_and_cost_are_said_as_far_as_they_are_known(spent: Spent, said: str) -> None:
    assert line("Judge:", judges=(USE._replace(spent=spent),)).endswith(said)


def test_an_unknown_cost_is_null_and_never_0() -> None:
    def usage(spent: Spent) -> dict[str, Any]:
        data = json.loads(render(comparison(judges=(USE._replace(spent=spent),)), "json"))
        found: dict[str, Any] = data["judge"]["judges"][0]["usage"]
        return found

    assert usage(UNKNOWN) == {
        "replies": 4, "prompt_tokens": None, "completion_tokens": None, "replies_counted": 0, "cost_usd": None,
        "replies_priced": 0,
    }  # fmt: skip
    assert (usage(PARTLY)["cost_usd"], usage(PARTLY)["replies_priced"]) == (0.0045, 3)
    assert usage(Spent(1, 10, 2, 1, 0.0, 1))["cost_usd"] == 0.0


def test_who_judged_and_how_is_said() -> None:
    plain = line("Judge:")
    assert "Judge: openai/gpt-5, served as gpt-5-2025-08-07, prompts 0123456789ab" in plain
    assert f"accepted {SENT}" in plain
    assert "with transcript" not in plain
    assert "with transcript" in line("Judge:", with_transcript=True)
    assert "one criterion a call" in line("Judge:", per_criterion=True)
    assert "served as" not in line("Judge:", judges=(USE._replace(models=("gpt-5",)),))


def test_a_substitution_is_said_in_every_format_that_has_notes() -> None:
    assert SECOND.substitution is not None
    assert SECOND.substitution in footer(judges=(SECOND,))
    data = json.loads(render(comparison(judges=(SECOND,)), "json"))
    assert data["judge"]["judges"][0]["substitution"] == SECOND.substitution
    assert SECOND.substitution in data["notes"]


def test_flips_are_shown_for_repeats_and_agreement_for_panels_only() -> None:
    alone = "\n".join(footer())
    assert "Flip rate" not in alone
    assert "Panel agreement" not in alone
    assert line("Flip rate", repeats=3, flips=Count(3, 12)).startswith("Flip rate: 3/12 (25%)")
    assert line("Flip rate", repeats=3).startswith("Flip rate: 0/0 criteria")
    panel = line("Panel agreement", judges=(USE, SECOND), agreement=Count(9, 12))
    assert panel.startswith("Panel agreement: 9/12 (75%)")


def test_errors_and_an_early_end_are_said() -> None:
    kinds = {"no_json": 2, "refusal": 1}
    data = replace(comparison(), judge=SUMMARY._replace(errors=kinds, stopped="the cost limit is reached"))
    text = render(data, "table", width=1000)
    assert "Judge errors (never a score): no_json 2, refusal 1." in text
    assert "Stopped early: the cost limit is reached." in text
    assert json.loads(render(data, "json"))["judge"]["errors"] == kinds
    assert "Stopped" not in render(comparison(), "table")


def test_vetoes_are_counted_by_system() -> None:
    assert line("Vetoed") == (
        "Vetoed, reward at most 0.5 and never passed: cards (a criterion contradicted 1, a wrong value stated 1), "
        "notes (an unsupported claim 1)."
    )


def test_a_judge_of_the_systems_family_is_named_once_a_system() -> None:
    said = line("Careful", judges=(USE, SECOND))
    assert said.startswith(
        "Careful: openai/gpt-5 and the model of cards (gpt-5-mini) are of one family, gpt;"
    )
    assert not any(one.startswith("Careful") for one in footer(judges=(SECOND,)))


def test_disagreements_are_listed_and_their_absence_is_said() -> None:
    assert "Judge and keyword recall" not in render(comparison(), "table")
    assert line("Judge and keyword recall", disagreements=()) == (
        "Judge and keyword recall agree on every linked criterion and forbidden value."
    )
    text = render(comparison(disagreements=DIFFERENT), "table", width=200)
    for item in DIFFERENT:
        assert f"{item.system} {item.case_id}" in text
        assert item.keyword in text
    assert "differ in 2 places" in text
    data = json.loads(render(comparison(disagreements=DIFFERENT), "json"))
    assert data["judge"]["disagreements"] == [item._asdict() for item in DIFFERENT]


# --- figures ---


def test_dimensions_are_shares_by_weight_over_what_was_scored() -> None:
    data = json.loads(render(comparison(), "json"))
    cards, notes = (system["dimensions"] for system in data["systems"])
    assert cards == {"accuracy": {"met": 0.5, "criteria": 2}, "proactivity": {"met": 1.0, "criteria": 2}}
    assert notes == cards
    text = render(comparison(), "table", width=200)
    assert "│ Accuracy (2)" in text
    assert "│ Proactive assistance (2)" in text
    assert "Completeness" not in text


def test_an_error_is_never_a_figure() -> None:
    data = json.loads(render(comparison(), "json"))
    cards = data["systems"][0]
    assert [case["reward"] for case in cards["cases"]] == [1.0, 0.25, None]
    assert [case["passed"] for case in cards["cases"]] == [True, False, None]
    assert cards["cases"][2]["reason"] == "judge error (no_json): the judge said nothing of use."
    overall = cards["summary"]["overall"]
    assert (overall["mean"], overall["scored"], overall["asked"], overall["errors"]) == (0.625, 2, 3, 1)
    assert (overall["low"], overall["high"]) == (1.25 / 3, 2.25 / 3)
    rows = list(csv.DictReader(io.StringIO(render(comparison(), "csv", per_case=True))))
    assert [row["reward"] for row in rows if row["outcome"] != "scored"] == ["", ""]


def test_the_judgement_of_each_case_is_in_the_json() -> None:
    data = json.loads(render(comparison(), "json"))
    first, _, broken = (case["judged"] for case in data["systems"][0]["cases"])
    assert first["reasoning"] == "Reasons."
    assert first["criteria"][0] == {"id": "day", "verdict": "met", "quote": "words on day", "votes": ["met"]}
    assert first["wrong_values"] == [{"id": "old_fee", "stated": False, "quote": ""}]
    assert first["reply_flags"] == ["fence"]
    assert (broken["reasoning"], broken["criteria"], broken["judges"][0]["error"]) == (None, [], "no_json")
    claims = data["systems"][1]["cases"][0]["judged"]["unsupported"]
    assert claims == [{"claim": "The user owns a boat.", "quote": "your boat"}]
    assert "judged" not in data["systems"][1]["cases"][1]  # nothing was there to judge


def test_every_field_of_the_judged_json_is_documented() -> None:
    text = (ROOT / "docs" / "report-json.md").read_text(encoding="utf-8")
    data = json.loads(render(comparison(**PANEL), "json"))
    judge, system, case = data["judge"], data["systems"][1], data["systems"][1]["cases"][0]
    keys = {"judge", *judge, *judge["judges"][0], *judge["judges"][0]["usage"], *judge["disagreements"][0]}
    keys |= {*system, *case, *case["judged"], *case["judged"]["criteria"][0], *case["judged"]["judges"][0]}
    keys |= {*judge["flips"], *next(iter(system["dimensions"].values()))}
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", text))))
    assert keys - named == set()


def test_an_offline_table_says_nothing_of_judges() -> None:
    result = replace(comparison(), judge=None, models={})
    data = json.loads(render(result, "json"))
    assert "judge" not in data
    assert "dimensions" not in data["systems"][0]
    text = render(result, "table", width=200)
    assert "Calibration" not in text
    assert "Dimension" not in text


# --- layout ---


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_no_line_is_too_long_and_nothing_is_cut(columns: int) -> None:
    text = render(comparison(**PANEL), "table", width=columns, per_case=True)
    assert max(cell_len(one) for one in text.splitlines()) <= columns
    assert "…" not in text


HOSTILE = "[bold red]x[/] \x1b[31m|\u202eevil\n| <script>"


def test_a_hostile_judge_is_shown_and_not_obeyed() -> None:
    bad = judged(CASES[0], "met", "met", flags=("hallucination",), claim=HOSTILE)
    result = comparison(
        one=True,
        disagreements=(Disagreement("cards", CASES[0], HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
        judges=(USE._replace(models=(HOSTILE,), substitution=HOSTILE),),
        stopped=HOSTILE,
    )
    cards = result.systems[0]
    result = replace(result, systems=(SystemScores("cards", (bad, *cards.scores[1:])),))
    for format in ("table", "md"):
        text = render(result, format, evidence=True, width=200)  # type: ignore[arg-type]
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert ("<script>" in text) == (format == "table")
    assert (
        json.loads(render(result, "json"))["systems"][0]["cases"][0]["judged"]["unsupported"][0]["claim"]
        == HOSTILE
    )
