"""Calibrations as they are printed; `UPDATE_SNAPSHOTS=1 pytest tests/report` writes the snapshots anew."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from harness.errors import InputError
from harness.report.calibration import render
from harness.scoring import CaseScore, JudgeFailed, NotAnnotated, Outcome, Scored, find_scorer
from harness.scoring.calibration import Calibration, Ruling, calibrate, measure
from harness.scoring.probes import Label, Probe
from harness.suite import load_suite

SNAPSHOTS = Path(__file__).with_name("snapshots") / "calibration"
REFUSED, BARE = JudgeFailed("refusal"), NotAnnotated()

# kind, label, then a tuple of outcomes for each probe: one a repeat.
KINDS: tuple[tuple[str, Label, tuple[tuple[Outcome | float, ...], ...]], ...] = (
    ("verbatim", "accept", ((1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (0.9, 1.0, 1.0))),
    ("paraphrase", "accept", ((1.0, 1.0, 0.2), (0.4, 0.2, 0.0), (REFUSED, 1.0, 1.0), (1.0, 1.0, 1.0))),
    ("specific_wrong", "reject", ((0.7, 0.7, 0.7), (0.0, 0.0, 0.0), (REFUSED, REFUSED, JudgeFailed("malformed")))),
    ("stale", "reject", ((0.0, 0.7, 0.0), (0.0, 0.0, 0.0))),
    ("abstain", "reject", ((0.0, 0.0, 0.0),)),
    ("abstain", "accept", ((1.0, 1.0, 1.0),)),
)  # fmt: skip


def judged(scorer: str = "llm-judge", *, repeats: int = 3, errors: bool = True, of: str = "") -> Calibration:
    rulings = []
    for kind, label, answers in KINDS:
        for number, outcomes in enumerate(answers, start=1):
            case = f"layer{number}_01_case"
            probe = Probe(case, f"{kind}_{number}", kind, label, f"An answer, {kind}.")
            scores = (
                CaseScore(case, f"layer{number}", scorer, Scored(outcome) if isinstance(outcome, float) else outcome)
                for outcome in outcomes[:repeats]
                if errors or isinstance(outcome, float)
            )  # fmt: skip
            rulings.append(Ruling(probe, tuple(scores) or (CaseScore(case, "layer1", scorer, Scored(0.0)),)))
    return measure(rulings, scorer=scorer, suite_hash="ab" * 32, of=of)


KEYWORD = judged("keyword-recall", repeats=1, errors=False)
JUDGE = judged(of="kimi-k2 at kimi, prompt 0123456789ab")


def check(name: str, text: str) -> None:
    path = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_snapshot_of_one_scorer() -> None:
    check("keyword.txt", render([KEYWORD], "table", 80))


@pytest.mark.parametrize("ending", ["txt", "md", "csv", "json.txt"])
def test_snapshot_side_by_side(ending: str) -> None:
    format = {"txt": "table", "json.txt": "json"}.get(ending, ending)
    check(f"both.{ending}", render([KEYWORD, JUDGE], format, 80, mistakes=format != "csv"))  # type: ignore[arg-type]


def test_snapshot_of_mistakes_in_csv() -> None:
    check("mistakes.csv", render([KEYWORD, JUDGE], "csv", mistakes=True))


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_no_line_is_too_long_and_no_figure_is_cut(columns: int, count: int) -> None:
    made = [KEYWORD, *(judged(f"judge-{at}") for at in range(1, count))]
    text = render(made, "table", columns, mistakes=True)
    assert max(cell_len(line) for line in text.splitlines()) <= columns
    assert "…" not in text
    tables = text.split("┏")[1:]
    assert sum(table.count("│ False accepts") for table in tables) == sum("All probes" in t for t in tables)
    for one in made:
        assert any(one.scorer in table for table in tables)
        for row in one.kinds:
            assert str(row.wrong) in text


def test_json_holds_what_makes_the_same_calibration_again() -> None:
    data = json.loads(render([KEYWORD, JUDGE], "json"))
    assert [Calibration.from_data(one) for one in data["calibrations"]] == [KEYWORD, JUDGE]
    assert [one["summary"] for one in data["calibrations"]] == [KEYWORD.summary(), JUDGE.summary()]


def test_csv_adds_up() -> None:
    rows = list(csv.DictReader(io.StringIO(render([JUDGE], "csv"))))
    by_label = {row["label"]: row for row in rows if row["kind"] == "all"}
    for label in ("accept", "reject"):
        kinds = [row for row in rows if row["kind"] != "all" and row["label"] == label]
        for column in ("asked", "ruled", "wrong"):
            assert sum(int(row[column]) for row in kinds) == int(by_label[label][column])
    assert int(by_label["all"]["asked"]) == JUDGE.n
    assert float(by_label["all"]["kappa"]) == JUDGE.kappa
    assert by_label["accept"]["kappa"] == ""


def test_only_repeated_calibrations_have_flips_and_only_gaps_are_counted() -> None:
    text = render([KEYWORD])
    assert "flips" not in text
    assert "ruled ┃" not in text
    assert "Flips" not in text
    both = render([KEYWORD, JUDGE], width=120)
    assert both.count("flips ┃") == both.count("ruled ┃") == 2


def test_one_scorer_twice_is_numbered_and_told_apart() -> None:
    text = render([judged(of="model-a"), judged(of="model-b")], width=160)
    assert "llm-judge 1 ┃" in text
    assert "llm-judge 2: model-b." in text


def test_different_probes_are_said_to_be_different() -> None:
    other = replace(JUDGE, probes_hash="cd" * 32)
    assert "not to be compared" in render([KEYWORD, other], width=200)
    assert "not to be compared" not in render([KEYWORD, JUDGE], width=200)


def test_an_undefined_kappa_is_explained() -> None:
    made = replace(KEYWORD, kappa=None)
    assert "κ is undefined" in render([made], width=200)
    assert "nan" not in render([made], "csv").lower()


HOSTILE = "[bold red]x[/] \x1b[31m|\u202eevil\n| <script>"


def test_a_hostile_name_is_shown_and_not_obeyed() -> None:
    probe = Probe("layer1_01_x", HOSTILE, HOSTILE, "accept", "=1+1")
    score = CaseScore("layer1_01_x", "layer1", "k", Scored(0.0))
    made = measure([Ruling(probe, (score,))], scorer="k", suite_hash="0" * 64, of=HOSTILE)
    table, markdown = (render([made], format, mistakes=True) for format in ("table", "md"))  # type: ignore[arg-type]
    for text in (table, markdown):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "[bold red]x[/]" in table
    assert "<script>" not in markdown
    assert "\n=1+1" not in (rows := render([made], "csv", mistakes=True))
    assert ",'=1+1" in rows


def test_an_unknown_format() -> None:
    with pytest.raises(InputError, match="no such format: 'html'"):
        render([KEYWORD], "html")  # type: ignore[arg-type]


def test_keyword_recall_over_a_suite(write_suite: Callable[..., Path]) -> None:
    suite = load_suite(write_suite("layer1_01_fee"))
    probes = [
        Probe("layer1_01_fee", "right", "verbatim", "accept", "The fee is $45, due on March 24, 2025."),
        Probe("layer1_01_fee", "old", "stale", "reject", "The fee is $30, due on March 24, 2025."),
    ]
    text = render([calibrate(probes, suite, find_scorer("keyword-recall"))], width=80)
    assert "│ verbatim        │ 0/1 0% [0–79%] │" in text
    assert "│ stale           │ 0/1 0% [0–79%] │" in text
    assert f"suite {suite.hash[:12]}" in text
