"""What a terminal shows of a comparison, and the same as plain text.

No name is ever cut: when the systems do not fit side by side, the table is turned so that
they stand as rows, and a name longer than its column goes on in the next line.
"""

from __future__ import annotations

from harness.comparison import Comparison
from harness.report import boxes, footers, layout
from harness.report.layout import Grid


def comparison(result: Comparison, width: int, *, per_case: bool = False, styled: bool = False) -> str:
    """Return the layer-by-system table with its footer, for a terminal of `width` columns."""
    tables, legend = _fitted(result, width, styled)
    if result.judge is not None:
        from harness.report import judged

        if dimensions := judged.dimensions(result):
            tables += [boxes.draw(part, width, styled=styled) for part in _panels(dimensions, width)]
        if differing := judged.disagreements(result):
            tables += [boxes.draw(part, width, styled=styled) for part in _panels(differing, width)]
    if per_case:
        matrix = layout.by_case(result)
        tables += [boxes.draw(part, width, styled=styled) for part in _panels(matrix, width)]
    notes = [legend, *footers.lines(result)]
    return "\n".join([*tables, *(line for note in notes for line in boxes.wrap(note, width))]) + "\n"


def _fitted(result: Comparison, width: int, styled: bool) -> tuple[list[str], str]:
    """Return the summary as one table, or as several where not even one system a row fits."""
    grid = layout.by_layer(result)
    if boxes.natural_width(grid) <= width:
        return [boxes.draw(grid, styled=styled)], ""
    turned = grid.turned()
    turned = Grid(("System", *turned.header[1:]), turned.rows)
    if boxes.natural_width(turned) <= width:
        return [boxes.draw(turned, styled=styled)], ""
    short, legend = layout.short_titles(result)
    turned = Grid(("System", *short), turned.rows)
    if boxes.natural_width(turned) <= width:
        return [boxes.draw(turned, styled=styled)], legend
    parts = _stacks(turned, len(result.groups) + 1, width)
    return [boxes.draw(part, width, styled=styled) for part in parts], legend


def _panels(grid: Grid, width: int, *, fold: bool = False) -> list[Grid]:
    """Split a table that is too wide into tables of as many columns as fit, one at least.

    With `fold` the first column may fold, so that it asks for little.
    """
    panels: list[Grid] = []
    at = 1
    while at < len(grid.header):
        end = at + 1
        while end < len(grid.header) and boxes.natural_width(_columns(grid, at, end + 1), fold=fold) <= width:
            end += 1
        panels.append(_columns(grid, at, end))
        at = end
    return panels


def _stacks(grid: Grid, layers: int, width: int) -> list[Grid]:
    """Stack the cells of a table; where it is still too wide, intervals and ranks get a table of their own.

    Args:
        grid: the systems as rows.
        layers: columns up to the overall mean.
        width: columns there are.
    """
    stacked = _stacked(_columns(grid, 1, layers))
    standing = _columns(grid, layers, len(grid.header))
    whole = Grid(
        (*stacked.header, *standing.header[1:]),
        tuple((*left, *right[1:]) for left, right in zip(stacked.rows, standing.rows, strict=True)),
    )
    if boxes.natural_width(whole, fold=True) <= width:
        return [whole]
    return [part for grid in (stacked, standing) for part in _panels(grid, width, fold=True)]


def _columns(grid: Grid, start: int, end: int) -> Grid:
    """Return the first column and those from `start` to before `end`."""
    cut = [(row[0], *row[start:end]) for row in (grid.header, *grid.rows)]
    return Grid(cut[0], tuple(cut[1:]))


def _stacked(grid: Grid) -> Grid:
    """Write mean, count and bounds below one another, which is as narrow as a cell gets."""
    return Grid(
        grid.header, tuple((row[0], *(cell.replace(" ", "\n") for cell in row[1:])) for row in grid.rows)
    )
