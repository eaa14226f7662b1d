"""Draw a table with box characters, and wrap the lines under it.

rich draws better tables; it also takes two thirds of the time in which `compare` reads,
scores and prints a suite, so the one table that has to be instant is drawn here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, chop_cells

from harness.report.layout import Grid

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
NARROWEST_NAME = 12
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def visible(text: str) -> str:
    """Show control and direction-override characters instead of obeying them."""
    return _CONTROL.sub("\ufffd", text.replace("\t", " "))


def natural_width(grid: Grid, *, fold: bool = False) -> int:
    """Return the columns a table takes when nothing folds (with `fold`: when the names do)."""
    widths = _widths(grid)
    if fold:
        widths[0] = min(widths[0], NARROWEST_NAME)
    return sum(widths) + 3 * len(widths) + 1


def draw(grid: Grid, width: int | None = None, *, styled: bool = False) -> str:
    """Draw a table; figures stand to the right, and no text is ever cut.

    Args:
        grid: what stands in it; a row that begins with `Overall` is set off.
        width: columns to keep to, by folding the first column, then headers, over several lines.
        styled: write headers and the overall row bold, for a terminal.
    """
    widths = _widths(grid)
    folded = width is not None and natural_width(grid) > width
    if folded and width is not None:
        widths = _squeezed(grid, widths, width)
    lines = [_rule("┏━┳┓", widths), *_row(grid.header, widths, "┃", bold=styled), _rule("┡━╇┩", widths)]
    for at, row in enumerate(grid.rows):
        if folded and at:
            lines.append(_rule("├─┼┤", widths))
        bold = styled and row[0].startswith("Overall")
        lines += _row(row, widths, "│", bold=bold)
    lines.append(_rule("└─┴┘", widths))
    return "\n".join(lines)


def wrap(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a paragraph; a word longer than a line is broken."""
    line = ""
    for word in visible(text).split():
        for piece in _pieces(word, width):
            longer = f"{line} {piece}" if line else piece
            if cell_len(longer) > width:
                yield line
                line = piece
            else:
                line = longer
    if line:
        yield line


def _widths(grid: Grid) -> list[int]:
    columns = zip(grid.header, *grid.rows, strict=True)
    return [max(_width(cell) for cell in column) for column in columns]


def _width(cell: str) -> int:
    return max(cell_len(line) for line in visible(cell).split("\n"))


def _squeezed(grid: Grid, widths: list[int], width: int) -> list[int]:
    """Return narrower columns: the first one gives way, then the headers; figures stay whole."""
    frame = 3 * len(widths) + 1
    if sum(widths[1:]) + frame + NARROWEST_NAME > width:
        spare = (width - frame - min(widths[0], NARROWEST_NAME)) // max(len(widths) - 1, 1)
        figures = [max(_width(row[at]) for row in grid.rows) for at in range(1, len(widths))]
        widths[1:] = [max(figure, min(old, spare)) for figure, old in zip(figures, widths[1:], strict=True)]
    widths[0] = max(min(widths[0], NARROWEST_NAME), width - frame - sum(widths[1:]))
    return widths


def _rule(corners: str, widths: Sequence[int]) -> str:
    left, line, cross, right = tuple(corners)
    return left + cross.join(line * (width + 2) for width in widths) + right


def _row(cells: Iterable[str], widths: Sequence[int], bar: str, *, bold: bool) -> Iterator[str]:
    columns = [
        [piece for line in visible(cell).split("\n") for piece in _pieces(line, width)]
        for cell, width in zip(cells, widths, strict=True)
    ]
    on, off = (_BOLD, _PLAIN) if bold else ("", "")
    for at in range(max(map(len, columns))):
        texts = [column[at] if at < len(column) else "" for column in columns]
        padded = (
            f" {on}{text}{off}{' ' * (width - cell_len(text))} "
            if column == 0
            else f" {' ' * (width - cell_len(text))}{on}{text}{off} "
            for column, (text, width) in enumerate(zip(texts, widths, strict=True))
        )
        yield bar + bar.join(padded) + bar


def _pieces(text: str, width: int) -> list[str]:
    return [text] if cell_len(text) <= width else chop_cells(text, width)
