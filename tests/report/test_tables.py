"""Tables as they are printed: snapshots at two widths, names never cut, hostile names harmless.

`UPDATE_SNAPSHOTS=1 pytest tests/report` writes the snapshots anew; look at the diff.
"""

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
from harness.errors import InputError
from harness.report import layout, render
from harness.scoring import CaseScore, JudgeFailed, Missing, Outcome, Scored, SystemScores

SNAPSHOTS = Path(__file__).with_name("snapshots")
LONG = "contextual-cards-with-hybrid-retrieval-2"
CJK = "記憶システム東京"
NAMES = ("full_context", LONG, CJK, "bm25(k=8)", "json_cards", "simple_notes", "mem0", "no_memory")
assert len(LONG) == 40


def made(systems: int, *, gaps: bool = False) -> Comparison:
    """Return a comparison of 12 made-up cases whose rewards differ by system."""
    cases = tuple(
        CaseLabel(f"layer{n}_{at:02}_case", f"layer{n}", f"Case {at}")
        for n in (1, 2, 3)
        for at in range(1, 5)
    )
    columns = []
    for rank, name in enumerate(NAMES[:systems]):
        scores = []
        for at, case in enumerate(cases):
            outcome: Outcome = Scored(max(0.0, 1 - rank * at / 40))
            if gaps and rank == 1 and at % 5 == 0:
                outcome = Missing() if at else JudgeFailed("refusal")
            scores.append(CaseScore(case.id, case.category, "keyword-recall", outcome, mention=None))
        columns.append(SystemScores(name, tuple(scores)))
    return Comparison(
        cases, tuple(columns), "keyword-recall", "Keyword recall does not see behaviour.", True, 0.6,
        "test_cases", "0123456789abcdef", "answers.json", ("Made up.",),
    )  # fmt: skip


def check(name: str, text: str) -> None:
    path = SNAPSHOTS / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("systems", [2, 8])
@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
def test_snapshot(columns: int, systems: int, gaps: bool) -> None:
    text = render(made(systems, gaps=gaps), "table", width=columns, per_case=gaps)
    suffix = "_gaps" if gaps else ""
    check(f"table_{systems}_systems_{columns}_columns{suffix}.txt", text)


@pytest.mark.parametrize("format", ["md", "csv", "json"])
def test_snapshot_of_a_format(format: str) -> None:
    ending = "json.txt" if format == "json" else format
    check(f"two_systems.{ending}", render(made(2, gaps=True), format, per_case=format == "md"))  # type: ignore[arg-type]


@pytest.mark.parametrize("columns", [48, 60, 80, 100, 120, 160, 200, 300])
@pytest.mark.parametrize("systems", range(1, 9))
def test_no_line_is_too_long_and_no_name_or_figure_is_cut(columns: int, systems: int) -> None:
    result = made(systems, gaps=True)
    text = render(result, "table", width=columns, per_case=True)
    assert max(cell_len(line) for line in text.splitlines()) <= columns
    assert "…" not in text
    tables = text.split("┏")[1:]
    summary = "".join(_cells(table) for table in tables if "┃ Case" not in table)
    matrix = "".join(_cells(table) for table in tables if "┃ Case" in table)
    for system in result.systems:
        assert system.system in summary
        assert system.system in matrix
    assert summary.count("n=12") + summary.count("9/12") == systems


def _cells(table: str) -> str:
    """Return the text of a table column by column, so that folded cells are whole again."""
    rows = [re.split("[│┃]", line)[1:-1] for line in table.splitlines() if line[:1] in ("│", "┃")]
    return "".join(cell.strip() for column in zip(*rows, strict=True) for cell in column)


def test_wide_tables_have_systems_as_columns_and_narrow_ones_as_rows() -> None:
    wide, narrow = (render(made(8), "table", width=width).splitlines() for width in (200, 80))
    assert all(name in wide[1] for name in NAMES)
    assert [line.split("│")[1].strip() for line in narrow if line.startswith("│ full")] == ["full_context"]


HOSTILE = "[bold red]x[/] \x1b[31m|\u202eevil\n| <script>"


def test_a_hostile_name_is_shown_and_not_obeyed() -> None:
    case = CaseLabel("layer1_01_x", "layer1", HOSTILE)
    score = CaseScore("layer1_01_x", "layer1", "k", Scored(1.0))
    result = Comparison(
        (case,), (SystemScores(HOSTILE, (score,)),), "k", "", True, 0.6, ".", "0" * 12, "a", ()
    )
    text = render(result, "table")
    assert "[bold red]x[/]" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    markdown = render(result, "md")
    assert len({line.count(" | ") for line in markdown.splitlines() if line.startswith("|")}) == 1
    assert "<script>" not in markdown


def test_figures_never_round_up_to_a_full_score() -> None:
    from harness.report import numbers

    shown = [numbers.reward(value) for value in (1.0, 0.9999, 0.0, 0.0001, 0.5, 0.625, None)]
    assert shown == ["1.00", "0.99", "0.00", "0.01", "0.50", "0.62", "–"]


def test_turning_a_grid_twice_gives_it_back() -> None:
    grid = layout.by_layer(made(3))
    assert grid.turned().turned() == grid


# --- statistics ---

ROOT = Path(__file__).parents[2]


def of(*systems: list[float], clusters: int | None = None) -> Comparison:
    """Return systems `a`, `b`, … with these rewards, in so many clusters."""
    cases = tuple(
        CaseLabel(f"layer1_{at:02}", "layer1", "", None if clusters is None else f"p{at % clusters}")
        for at in range(len(systems[0]))
    )
    columns = tuple(
        SystemScores(
            name,
            tuple(
                CaseScore(case.id, "layer1", "k", Scored(r)) for case, r in zip(cases, rewards, strict=True)
            ),
        )
        for name, rewards in zip("abcdefgh", systems, strict=False)
    )
    return Comparison(cases, columns, "k", "", True, 0.6, ".", "0" * 64, "a")


def rows_of(text: str) -> dict[str, list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]
    return {row[0]: row[1:] for row in cells}


def footer(result: Comparison) -> str:
    text = render(result, "table", width=1000)
    return "\n".join(line for line in text.splitlines() if line[:1].isalnum())


@pytest.mark.parametrize("format", ["table", "md"])
def test_interval_and_rank_stand_under_overall(format: str) -> None:
    text = render(of([1.0] * 12, [0.0] * 12, [1.0, 0.0] * 6), format, width=200)  # type: ignore[arg-type]
    rows = rows_of(text.replace("|", "│"))
    at = list(rows).index("Overall (mean over cases)")
    assert list(rows)[at : at + 3] == ["Overall (mean over cases)", "95% interval", "Rank"]
    assert rows["95% interval"] == ["0.76–1.00", "0.00–0.24", "0.25–0.75"]
    assert rows["Rank"] == ["1", "2", "1–2"]


def test_the_footer_says_who_can_be_told_apart() -> None:
    assert (
        "Told apart (sign-flip test, Holm over 3 pairs, p < 0.05): a above b (p 0.001). No other two can be told apart."
        in footer(of([1.0] * 12, [0.0] * 12, [1.0, 0.0] * 6))
    )
    assert "Told apart (sign-flip test, p < 0.05): b above a (p < 0.001)." in footer(
        of([0.0] * 20, [1.0] * 20)
    )
    three = footer(of([1.0] * 20, [0.0] * 20, [0.0] * 20))
    assert "a above b, c (p < 0.001). No other" in three


def test_the_footer_has_the_intervals_of_passes_and_who_passes_more() -> None:
    right, wrong = [1.0] * 12, [0.0] * 12
    text = footer(of(right, wrong, [*[1.0] * 10, 0.0, 0.0]))
    assert "Passed (reward ≥ 0.6) [95% interval]: a 12/12 [0.76–1.00], b 0/12 [0.00–0.24], c 10/12" in text
    assert (
        "By cases that only one of two passed (exact McNemar test, Holm over 3 pairs, p < 0.05): "
        "a above b 12:0 (p 0.001); c above b 10:0 (p 0.004)."
    ) in text
    none = footer(of(right, [*[1.0] * 11, 0.0], right))
    assert (
        "By cases passed no two can be told apart (exact McNemar test, Holm over 3 pairs; smallest p 1.000)."
        in none
    )
    two = footer(of([*[1.0] * 4, 0.0], [0.0] * 4 + [1.0]))
    assert "Cases that only one of them passed: a 4, b 1 (exact McNemar test, p 0.375)." in two
    shared = footer(of(right, wrong, clusters=4))
    assert "Cases that only one of them passed: a 12, b 0 (sign-flip test by cluster, p 0.125)." in shared
    recalled = footer(replace(of(right, wrong), has_pass=False))
    assert "passed" not in recalled.lower()
    assert "McNemar" not in recalled


def test_one_or_two_differing_cases_are_not_distinguishable() -> None:
    text = footer(of([1.0] * 9, [0.0, 0.0, *[1.0] * 7]))
    assert (
        "Not distinguishable: a and b, whose rewards differ on 2 of 9 cases (sign-flip test, p 0.500)."
        in text
    )
    assert "Told apart" not in text
    alike = rows_of(render(of([1.0] * 9, [0.0, *[1.0] * 8]), "table", width=200))
    assert "Rank" not in alike, "a rank that all share says nothing"
    many = footer(of([1.0] * 9, [0.0, *[1.0] * 8], [1.0] * 9))
    assert "Not distinguishable: no two systems can be told apart" in many


def test_the_footer_says_on_what_the_statistics_rest() -> None:
    text = footer(of([1.0, 0.5] * 10, [0.5, 0.5] * 10))
    assert "20 independent cases asked" in text
    assert re.search(r"Smallest true difference that 4 of 5 such tables would show: 0\.\d\d", text)
    assert "10,000 resamples of the cases (seed 20240611): a 1, b 2." in text
    assert "20 cases in 5 clusters" in footer(of([1.0, 0.5] * 10, [0.5, 0.5] * 10, clusters=5))
    few = footer(of([1.0] * 4, [0.0] * 4))
    assert "Whatever the rewards, 4 independent cases cannot tell any two of these systems apart." in few


def test_one_system_has_an_interval_and_no_rank() -> None:
    text = render(of([1.0] * 5), "table", width=100)
    assert "95% interval" in text
    assert "Rank" not in text
    assert "distinguishable" not in text


@pytest.mark.parametrize(
    ("held", "shown"), [((), "–"), ((2,), "2"), ((1, 2, 3), "1–3"), ((1, 3), "1, 3"), ((1, 2, 5), "1–2, 5")]
)
def test_ranks_are_written(held: tuple[int, ...], shown: str) -> None:
    from harness.report import numbers

    assert numbers.ranks(held) == shown


@pytest.mark.parametrize(
    ("p", "shown"),
    [(0.0004, "p < 0.001"), (0.001, "p 0.001"), (0.0499, "p 0.049"), (0.05, "p 0.050"), (1.0, "p 1.000")],
)
def test_p_values_are_written(p: float, shown: str) -> None:
    from harness.report import numbers

    assert numbers.p_value(p) == shown


def test_csv_has_intervals_for_all_groups_and_ranks_overall() -> None:
    rows = list(csv.DictReader(io.StringIO(render(of([1.0] * 12, [0.0] * 12, [1.0, 0.0] * 6), "csv"))))
    assert [row["rank"] for row in rows] == ["", "1", "", "2", "", "1–2"]
    assert all(float(row["low95"]) <= float(row["mean"]) <= float(row["high95"]) for row in rows)
    passed = [[f"{float(row[name]):.2f}" for name in ("pass_low95", "pass_high95")] for row in rows]
    assert passed == [["0.76", "1.00"]] * 2 + [["0.00", "0.24"]] * 2 + [["0.25", "0.75"]] * 2


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("systems", [1, 2, 5])
def test_statistics_come_back_from_json(systems: int, gaps: bool) -> None:
    from harness.report.json_report import read_statistics

    result = made(systems, gaps=gaps)
    cases = tuple(case._replace(cluster="p" if at < 3 else None) for at, case in enumerate(result.cases))
    result = replace(result, cases=cases)
    data = json.loads(render(result, "json"))["statistics"]
    assert read_statistics(data) == result.statistics
    assert data["cluster_of"] == dict.fromkeys([case.id for case in cases[:3]], "p")


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "recallbench.statistics/2"},
        {"standings": [{"system": "a"}]},
        {"pairs": [{"more": 1}]},
        {"pairs": 3},
    ],
)
def test_statistics_of_another_shape_are_refused(change: dict[str, Any]) -> None:
    from harness.report.json_report import read_statistics

    data = json.loads(render(made(2), "json"))["statistics"]
    with pytest.raises(InputError, match=r"recallbench\.statistics/1"):
        read_statistics({**data, **change})


def test_every_field_of_the_statistics_is_documented() -> None:
    text = (ROOT / "docs" / "report-json.md").read_text(encoding="utf-8")
    found = json.loads(render(made(2), "json"))["statistics"]
    keys = {"statistics", *found, *found["standings"][0], *found["pairs"][0]}
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", text))))
    assert keys - named == set()
