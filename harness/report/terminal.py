"""Tables for a terminal, and the same as plain text.

No name is ever cut: when the systems do not fit side by side, the table is turned so that
they stand as rows, and a name longer than its column goes on in the next line.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.comparison import Comparison
from harness.report import evidence, footers, layout, numbers
from harness.report.layout import Grid
from harness.scoring import CaseScore

PLAIN_WIDTH = 100
_NARROWEST_NAME = 12
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_MARKS = {
    "found": ("✓", "green"),
    "missing": ("✗", "red"),
    "wrong": ("!", "bold red"),
    "optional": ("+", "cyan"),
}


def visible(text: str) -> str:
    """Show control and direction-override characters instead of obeying them."""
    return _CONTROL.sub("\ufffd", text)


def comparison(result: Comparison, width: int, *, per_case: bool = False) -> RenderableType:
    """Return the layer-by-system table with its footer, for a console of `width` columns."""
    tables, legend = _fitted(result, width)
    parts: list[RenderableType] = [*tables]
    if per_case:
        parts += [_table(part, width) for part in _panels(layout.by_case(result), width)]
    foot = [legend, *footers.lines(result)]
    parts.append(Text("\n".join(visible(line) for line in foot if line), style="dim"))
    return Group(*parts)


def batch(result: Comparison, width: int) -> RenderableType:
    """Return every case with its evidence, then the summary per layer."""
    parts: list[RenderableType] = []
    for system in result.systems:
        for case, score in zip(result.cases, system.scores, strict=True):
            parts.append(
                case_score(score, threshold=result.threshold, title=case.title, has_pass=result.has_pass)
            )
    parts.append(comparison(result, width))
    return Group(*parts)


def case_score(
    score: CaseScore, *, threshold: float, title: str = "", has_pass: bool = True
) -> RenderableType:
    """Return one answer's reward with what was found, what is missing and what is wrong."""
    head = Text(score.case_id, style="bold")
    if title:
        head.append(f"  {visible(title)}", style="dim")
    parts: list[RenderableType] = [head]
    if score.reward is None:
        parts.append(Padding(Text(visible(evidence.outcome_words(score)), style="yellow"), (0, 0, 0, 2)))
        return Group(*parts, Text(""))
    parts.append(Padding(_verdict_line(score, threshold, has_pass), (0, 0, 0, 2)))
    lines = layout.details(score)
    if lines:
        table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
        for column in ("", "name", "value", "remark"):
            table.add_column(column, overflow="fold")
        for line in lines:
            mark, style = _MARKS[line.mark]
            table.add_row(
                Text(mark, style=style),
                Text(visible(line.name)),
                Text(visible(line.value), style="bold"),
                Text(visible(line.remark), style="dim"),
            )
        parts.append(Padding(table, (0, 0, 0, 2)))
    return Group(*parts, Text(""))


def _verdict_line(score: CaseScore, threshold: float, has_pass: bool) -> Text:
    line = Text(f"reward {numbers.reward(score.reward)}")
    if has_pass:
        passed = score.passed(threshold)
        line.append("  passed" if passed else "  not passed", style="green" if passed else "red")
    if score.mention is not None and has_pass:
        line.append(f"  mention {numbers.reward(score.mention)}", style="dim")
    for flag in score.flags:
        line.append(f"  flagged as {flag}", style="bold yellow")
    return line


def _fitted(result: Comparison, width: int) -> tuple[list[Table], str]:
    """Return the summary as one table, or as several where not even one system a row fits."""
    grid = layout.by_layer(result)
    if _natural_width(grid) <= width:
        return [_table(grid)], ""
    turned = grid.turned()
    turned = Grid(("System", *turned.header[1:]), turned.rows)
    if _natural_width(turned) <= width:
        return [_table(turned)], ""
    short, legend = layout.short_titles(result)
    turned = Grid(("System", *short), turned.rows)
    if _natural_width(turned) <= width:
        return [_table(turned)], legend
    return [_table(part, width) for part in _panels(_stacked(turned), width, fold=True)], legend


def _panels(grid: Grid, width: int, *, fold: bool = False) -> list[Grid]:
    """Split a table that is too wide into tables of as many columns as fit, one at least.

    With `fold` the first column may fold, so that it asks for little.
    """
    panels: list[Grid] = []
    at = 1
    while at < len(grid.header):
        end = at + 1
        while end < len(grid.header) and _natural_width(_columns(grid, at, end + 1), fold=fold) <= width:
            end += 1
        panels.append(_columns(grid, at, end))
        at = end
    return panels


def _columns(grid: Grid, start: int, end: int) -> Grid:
    """Return the first column and those from `start` to before `end`."""
    cut = [(row[0], *row[start:end]) for row in (grid.header, *grid.rows)]
    return Grid(cut[0], tuple(cut[1:]))


def _stacked(grid: Grid) -> Grid:
    """Write mean, count and bounds below one another, which is as narrow as a cell gets."""
    return Grid(
        grid.header, tuple((row[0], *(cell.replace(" ", "\n") for cell in row[1:])) for row in grid.rows)
    )


def _natural_width(grid: Grid, *, fold: bool = False) -> int:
    columns = zip(grid.header, *grid.rows, strict=True)
    widths = [max(_line_len(cell) for cell in column) for column in columns]
    if fold:
        widths[0] = min(widths[0], _NARROWEST_NAME)
    return sum(widths) + 3 * len(widths) + 1


def _line_len(text: str) -> int:
    return max((cell_len(line) for line in visible(text).split("\n")), default=0)


def _table(grid: Grid, width: int | None = None) -> Table:
    """Build a rich table; with `width`, first columns and headers may fold, figures never."""
    folds = width is not None and _natural_width(grid) > width
    table = Table(header_style="bold", width=width if folds else None, show_lines=folds)
    for at, title in enumerate(grid.header):
        figures = at > 0
        widest = max((_line_len(row[at]) for row in grid.rows), default=0)
        table.add_column(
            Text(visible(title)),
            justify="right" if figures else "left",
            overflow="fold",
            min_width=widest if figures else min(_NARROWEST_NAME, max(widest, _line_len(title))),
        )
    last = len(grid.rows) - 1
    for at, row in enumerate(grid.rows):
        overall = row[0].startswith("Overall") and at == last
        table.add_row(*(Text(visible(cell)) for cell in row), style="bold" if overall else None)
    return table


def as_text(renderable: RenderableType, width: int = PLAIN_WIDTH) -> str:
    """Render without colour to a string, lines without trailing space."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, no_color=True, force_terminal=False, legacy_windows=False, highlight=False
    )
    console.print(renderable)
    return _rstrip(out.getvalue().splitlines())


def _rstrip(lines: Iterable[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).rstrip("\n") + "\n"
