"""Tables of figures that keep to a width: which columns stand together, and how wide each of them is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from harness.report.boxes import visible
from harness.report.layout import Grid

_ROOM = ((24, 24, 12), (24, 16, 12), (24, 12, 12), (16, 12, 8))
"""To what a name, a text in front and a word of a header are folded, from comfortable to tight.

The label of a system can be a word of any length, and the text of a query a line of any.
"""
_SIDE_BY_SIDE = _ROOM[:2]  # with less room than this, systems are parted
_FIGURE = re.compile(r"(?:n=|[\W\d_])*")
_LEFT = ("Text", "Missed", "Unwanted", "Came instead")


def panels(grid: Grid, width: int, *, lead: int = 1, group: int = 1, trail: int = 0) -> list[Grid]:
    """Split a table that is too wide into tables of as many groups of columns as fit, one column at least.

    Args:
        grid: the table.
        width: columns of the terminal.
        lead: columns in front of the groups; the first of them names the row and stands in every table,
            the others in the first table only.
        group: columns that belong together; they are parted only where not even one group fits.
        trail: columns behind the groups, which stand in every table.
    """
    end = len(grid.header) - trail
    trailing = range(end, len(grid.header))
    found: list[Grid] = []
    at = lead
    while at < end:
        leading = range(1 if found else lead)

        def part(count: int, at: int = at, leading: range = leading) -> Grid:
            return _columns(grid, [*leading, *range(at, min(at + count, end)), *trailing])

        whole = group - (at - lead) % group
        fitting = any(_fits(part(whole), width, len(leading), room) for room in _ROOM)
        count, step, limit = (whole, group, end) if fitting else (1, 1, at + whole)
        while at + count < limit and any(
            _fits(part(count + step), width, len(leading), room) for room in _SIDE_BY_SIDE
        ):
            count += step
        found.append(part(count))
        at += count
    return found or [grid]


def tables(
    title: str | None,
    grid: Grid,
    width: int,
    *,
    lead: int = 1,
    group: int = 1,
    trail: int = 0,
    figures: bool = False,
) -> list[Table]:
    """Return the tables that `panels` makes of one, drawn."""
    parts = panels(grid, width, lead=lead, group=group, trail=trail)
    leads = (lead, *[1] * len(parts))
    return [
        drawn(title, part, width, lead=names, figures=figures)
        for part, names in zip(parts, leads, strict=False)
    ]


def drawn(title: str | None, grid: Grid, width: int, *, lead: int = 1, figures: bool = False) -> Table:
    """Return a table for a terminal; no figure goes on in the next line while there is room for it.

    Args:
        title: what stands above it.
        grid: the table.
        width: columns of the terminal.
        lead: columns in front that are names and texts.
        figures: set only those columns to the right that hold nothing but figures.
    """
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    for at, (name, columns) in enumerate(zip(grid.header, widths(grid, width, lead), strict=True)):
        left = at == 0 or (
            not all(_is_to_the_right(row[at]) for row in grid.rows) if figures else name in _LEFT
        )
        justify: Literal["left", "right"] = "left" if left else "right"
        table.add_column(Text(visible(name)), overflow="fold", justify=justify, width=columns)
    for row in grid.rows:
        table.add_row(*(Text(visible(value)) for value in row))
    return table


def widths(grid: Grid, width: int, lead: int = 1) -> list[int]:
    """Return how wide each column is: as its widest cell, or in their proportion what there is."""
    natural = [max(map(_width, column)) for column in _cells(grid)]
    spare = width - _frame(natural) - sum(natural)
    if spare >= 0:
        return natural
    room = next((room for room in _ROOM if _fits(grid, width, lead, room)), _ROOM[-1])
    least = _least(grid, lead, room)
    spare = max(0, width - _frame(least) - sum(least))
    wanted = max(1, sum(natural) - sum(least))
    return [low + (high - low) * spare // wanted for low, high in zip(least, natural, strict=True)]


def _fits(grid: Grid, width: int, lead: int, room: tuple[int, int, int] = _ROOM[0]) -> bool:
    least = _least(grid, lead, room)
    return sum(least) + _frame(least) <= width


def _least(grid: Grid, lead: int, room: tuple[int, int, int]) -> list[int]:
    """Return the columns below which a name, a text, a word or a figure would have too little."""
    name, text, word = room
    return [
        min(max(map(_width, column)), text if at else name)
        if at < lead
        else max(min(_longest_word(column[0]), word), *(_least_of(cell, word) for cell in column[1:]), 1)
        for at, column in enumerate(_cells(grid))
    ]


def _least_of(cell: str, word: int) -> int:
    return _width(cell) if _FIGURE.fullmatch(cell) else min(_longest_word(cell), word)


def _is_to_the_right(cell: str) -> bool:
    return cell[:1].isdigit() or cell[:1] in "-–·" or cell in ("n/a", "failed")


def _cells(grid: Grid) -> Iterator[Sequence[str]]:
    return zip(grid.header, *grid.rows, strict=True)


def _width(cell: str) -> int:
    return max(cell_len(line) for line in visible(cell).split("\n"))


def _longest_word(cell: str) -> int:
    return max(map(cell_len, visible(cell).split()), default=0)


def _frame(columns: Sequence[int]) -> int:
    """Return what the lines between columns and the spaces beside them take."""
    return 3 * len(columns) + 1


def _columns(grid: Grid, chosen: Sequence[int]) -> Grid:
    header, *rows = (tuple(row[at] for at in chosen) for row in (grid.header, *grid.rows))
    return Grid(header, tuple(rows))
