"""Two evaluations compared: how each metric changed, and the queries that rose and fell."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.report import boxes, markdown
from harness.report.layout import Grid
from harness.retrieval.comparing import Change

_LISTED = 20


def by_metric(changes: Sequence[Change]) -> Grid:
    """Rows are metrics: both means, the difference, p, and how many queries rose and fell."""
    rows = (
        (
            it.metric,
            f"{it.first:.4f}",
            f"{it.second:.4f}",
            f"{it.difference:+.4f}",
            f"{it.p:.3g}",
            str(len(it.rose)),
            str(len(it.fell)),
            str(it.n),
        )
        for it in changes
    )
    return Grid(("Metric", "First", "Second", "Difference", "p", "Rose", "Fell", "n"), tuple(rows))


def by_query(changes: Sequence[Change]) -> Grid:
    """Rows are queries that changed by the metric that changed for most of them."""
    most = max(changes, key=lambda it: len(it.rose) + len(it.fell))
    listed = sorted((*most.fell, *most.rose), key=lambda row: row[3] - row[2])
    if len(listed) > _LISTED:
        half = _LISTED // 2
        listed = [*listed[:half], *listed[-half:]]
    rows = tuple((id, text, f"{a:.3f}", f"{b:.3f}") for id, text, a, b in listed)
    return Grid(("Query", "Text", f"First {most.metric}", "Second"), rows)


def tables(changes: Sequence[Change]) -> RenderableType:
    """Return the tables for a terminal."""
    return Group(*(_drawn(grid) for grid in (by_metric(changes), by_query(changes)) if grid.rows))


def notes(changes: Sequence[Change]) -> list[str]:
    """Return what stands below the tables."""
    told = [
        "p is two-sided, of a paired sign-flip test over the queries; it is not corrected for many metrics."
    ]
    most = max(changes, key=lambda it: len(it.rose) + len(it.fell))
    changed = len(most.rose) + len(most.fell)
    if changed > _LISTED:
        told.append(f"{_LISTED} of the {changed} queries that changed are listed, those that changed most.")
    if not changed:
        told.append("No query changed.")
    if failed := list(dict.fromkeys(id for it in changes for id in it.failed)):
        noun = "query" if len(failed) == 1 else "queries"
        told.append(
            f"Left out: {len(failed)} {noun} without a value in one of the two, where the search failed: "
            f"{', '.join(failed[:_LISTED])}{'…' if len(failed) > _LISTED else ''}."
        )
    return told


def as_markdown(changes: Sequence[Change]) -> str:
    """Return the tables as Markdown."""
    grids = [grid for grid in (by_metric(changes), by_query(changes)) if grid.rows]
    parts = [markdown.table(*grid) for grid in grids]
    parts.append("\n".join(f"- {markdown.escape(note)}" for note in notes(changes)))
    return "\n\n".join(parts) + "\n"


def as_csv(changes: Sequence[Change]) -> str:
    """Return one line a metric."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("metric", "first", "second", "difference", "p", "rose", "fell", "n"))
    for it in changes:
        writer.writerow(
            (it.metric, it.first, it.second, it.difference, it.p, len(it.rose), len(it.fell), it.n)
        )
    return out.getvalue()


def as_json(changes: Sequence[Change]) -> str:
    """Return everything, each query that changed too."""
    data = [
        {
            "metric": it.metric,
            "first": it.first,
            "second": it.second,
            "difference": it.difference,
            "p": it.p,
            "n": it.n,
            "rose": [_row(row) for row in it.rose],
            "fell": [_row(row) for row in it.fell],
            "failed": list(it.failed),
        }
        for it in changes
    ]
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _row(row: tuple[str, str, float, float]) -> dict[str, str | float]:
    return {"id": row[0], "text": row[1], "first": row[2], "second": row[3]}


def _drawn(grid: Grid) -> Table:
    table = Table(header_style="bold")
    for at, name in enumerate(grid.header):
        left = at == 0 or name == "Text"
        table.add_column(Text(boxes.visible(name)), overflow="fold", justify="left" if left else "right")
    for row in grid.rows:
        table.add_row(*(Text(boxes.visible(cell)) for cell in row))
    return table
