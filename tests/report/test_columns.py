"""Tables of figures at the widths of terminals: no figure is folded, and nothing is lost between the parts."""

from __future__ import annotations

import re

import pytest
from rich.console import Group

from harness.evaluation import Evaluation, Item, Metric
from harness.report.columns import drawn, panels, tables, widths
from harness.report.evaluation_view import by_group, per_item, side_by_side
from harness.report.evaluation_view import tables as evaluation_tables
from harness.report.layout import Grid
from harness.report.terminal import as_text

NAMES = ("hit@5", "recall@5", "mrr")
LABELS = {
    "names": ("fts5", "hybrid", "raw", "entities"),
    "sweep": ("hybrid(k=1)", "hybrid(k=10)", "hybrid(k=60)"),
    "long": ("hybrid(streams='fts5,entities,raw')", "hybrid(streams='fts5,entities,links', seeds=3)"),
    "one": ("fts5",),
    "many": tuple(f"system{at}" for at in range(9)),
}


def evaluation(system: str, at: int) -> Evaluation:
    """Return an evaluation whose figures are found nowhere else."""
    items = tuple(
        Item(
            f"query-with-a-name-{row}",
            "Which of our cars needs an inspection in the spring, and what did the last one cost?",
            {name: at / 10 + row / 100 + k / 1000 for k, name in enumerate(NAMES)},
            True,
            ("tag",),
            "",
            {"relevant": ["a"]},
        )
        for row in range(3)
    )
    value = at / 10 + 0.05
    metrics = tuple(
        Metric(name, value, 22, 24, low=value - 0.01, high=value + 0.01, chance=0.1) for name in NAMES
    )
    return Evaluation("retrieval", system, "set", metrics, items, provenance={"dataset_hash": "x"})


@pytest.mark.parametrize("width", [60, 72, 80, 100, 140])
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_tables_keep_to_the_width_and_every_figure_is_whole(labels: tuple[str, ...], width: int) -> None:
    found = [evaluation(label, at) for at, label in enumerate(labels)]
    shown = as_text(evaluation_tables(found, NAMES, width, sections=["groups"]), width)
    assert max(map(len, shown.splitlines())) <= width
    figures = re.findall(r"(?<= )\d\.\d{3}(?= )", shown)
    items = {f"{value:.3f}" for one in found for item in one.items for value in item.values.values()}
    assert set(figures) >= {*items, "0.100"}
    for one in found:
        mean = one.metrics[0]
        assert f" {mean.value:.3f} 22/24 [{mean.low:.3f}–{mean.high:.3f}] " in shown


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_headers_stay_readable_at_eighty_columns(labels: tuple[str, ...]) -> None:
    found = [evaluation(label, at) for at, label in enumerate(labels)]
    lines = as_text(evaluation_tables(found, NAMES, 80), 80).splitlines()
    heights = [end - start - 1 for start, end in zip(_at(lines, "┏"), _at(lines, "┡"), strict=True)]
    assert max(heights) <= 6


def _at(lines: list[str], corner: str) -> list[int]:
    return [at for at, line in enumerate(lines) if line.startswith(corner)]


def test_systems_stay_whole_and_a_text_stands_once() -> None:
    found = [evaluation(label, at) for at, label in enumerate(LABELS["names"])]
    parts = panels(per_item(found, NAMES), 80, lead=2, group=3)
    assert [part.header[:2] for part in parts] == [
        ("Item", "Text"),
        ("Item", "hybrid hit@5"),
        ("Item", "entities hit@5"),
    ]
    whole = per_item(found, NAMES)
    assert [name for part in parts for name in part.header if name not in ("Item", "Text")] == list(
        whole.header[2:]
    )
    rows = [[cell for part in parts for cell in part.rows[at][1:]] for at in range(3)]
    assert rows == [list(row[1:]) for row in whole.rows]


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (80, [["hybrid(k=1)"], ["hybrid(k=10)"], ["hybrid(k=60)"]]),
        (114, [["hybrid(k=1)"], ["hybrid(k=10)", "hybrid(k=60)"]]),
        (46, [["hybrid(k=1)"]] * 2 + [["hybrid(k=10)"]] * 2 + [["hybrid(k=60)"]] * 2),
    ],
)
def test_a_table_ends_with_a_system(width: int, expected: list[list[str]]) -> None:
    found = [evaluation(label, at) for at, label in enumerate(LABELS["sweep"])]
    parts = panels(per_item(found, NAMES), width, lead=2, group=3)
    labels = [[name.partition(" ")[0] for name in part.header if " " in name] for part in parts]
    assert [list(dict.fromkeys(each)) for each in labels] == expected


def test_one_table_where_it_fits() -> None:
    found = [evaluation(label, at) for at, label in enumerate(LABELS["names"])]
    for grid, lead, group in ((per_item(found, NAMES), 2, 3), (by_group(found), 2, 1)):
        assert panels(grid, 300, lead=lead, group=group) == [grid]


def test_the_chance_level_stands_in_every_part() -> None:
    found = [evaluation(label, at) for at, label in enumerate(LABELS["many"])]
    parts = panels(side_by_side(found), 80, trail=1)
    assert len(parts) > 1
    assert {part.header[-1] for part in parts} == {"Chance"}
    assert [name for part in parts for name in part.header[1:-1]] == list(LABELS["many"])


@pytest.mark.parametrize(
    ("grid", "width", "expected"),
    [
        (Grid(("A", "B"), (("one", "0.500"),)), 80, [3, 5]),
        (Grid(("Item", "one two"), (("x", "0.500"),)), 14, [4, 5]),
        (Grid(("Item", "B"), (("x" * 30, "0.500 n=22 [0.400–0.600]"),)), 60, [29, 24]),
        (Grid(("Item", "B"), (("x" * 30, "0.500 n=22 [0.400–0.600]"),)), 50, [19, 24]),
        (Grid(("Item", "B"), (("x", "– (every search failed)"),)), 21, [4, 10]),
    ],
    ids=["natural", "header", "name", "narrow", "words"],
)  # fmt: skip
def test_what_gives_way(grid: Grid, width: int, expected: list[int]) -> None:
    assert widths(grid, width) == expected


def test_an_empty_table() -> None:
    grid = Grid(("Metric",), ())
    assert panels(grid, 80) == [grid]
    assert "Metric" in as_text(Group(*tables("t", grid, 80), drawn(None, grid, 80)), 80)
