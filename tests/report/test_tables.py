"""Tables as they are printed: snapshots at two widths, names never cut, hostile names harmless.

`UPDATE_SNAPSHOTS=1 pytest tests/report` writes the snapshots anew; look at the diff.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from harness.comparison import CaseLabel, Comparison
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
