"""An evaluation as tables: the metrics of one or several systems side by side, then one row an item."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from harness.errors import InputError
from harness.evaluation import Evaluation, Item, Metric
from harness.json_file import strict_json
from harness.report import PLAIN_WIDTH, columns, format_of, markdown, numbers
from harness.report.layout import Grid
from harness.report.terminal import as_text

SCHEMA = "recallbench.evaluation/1"
GROUPS = "groups"
_MEND = "Name the JSON file that -o wrote."
MOST_ITEMS = 40
"""Rows of the table of items that a terminal shows; files have them all."""


def side_by_side(evaluations: Sequence[Evaluation]) -> Grid:
    """Rows are metrics, columns are systems, with counts, bounds and chance levels where they matter."""
    names = list(dict.fromkeys(metric.name for one in evaluations for metric in one.metrics))
    rows: list[tuple[str, ...]] = []
    for name in names:
        found = [one.metric(name) for one in evaluations]
        rows.append((name, *(cell(metric) for metric in found), _chance(found)))
    passed = (f"{one.passed}/{one.total}" for one in evaluations)
    rows.append(("passed", *passed, ""))
    grid = Grid(("Metric", *(one.system for one in evaluations), "Chance"), tuple(rows))
    if any(row[-1] for row in rows):
        return grid
    return Grid(grid.header[:-1], tuple(row[:-1] for row in rows))


def cell(metric: Metric | None) -> str:
    """Write a figure with its count, and its bounds where they say more than the figure."""
    if metric is None:
        return numbers.NOTHING
    if metric.value is None:
        return f"{numbers.NOTHING} ({metric.reason})" if metric.reason else numbers.NOTHING
    shown = f"{metric.value:.3f}"
    count = f"n={metric.n}" if metric.complete else f"{metric.n}/{metric.of}"
    bounds = [f"{bound:.3f}" for bound in (metric.low, metric.high) if bound is not None]
    # Parts that failed leave bounds even where all that was asked has a figure, such as the overall score.
    wide = len(bounds) == 2 and (not metric.complete or bounds != [shown, shown])
    return f"{shown} {count} [{'–'.join(bounds)}]" if wide else f"{shown} {count}"


def per_item(evaluations: Sequence[Evaluation], names: Sequence[str]) -> Grid:
    """Rows are items, columns are the metrics named, for each system."""
    header = ["Item", "Text"]
    header += [
        f"{one.system} {name}" if len(evaluations) > 1 else name for one in evaluations for name in names
    ]
    by_id = [{item.id: item for item in one.items} for one in evaluations]
    rows = []
    for item in evaluations[0].items:
        cells = [item.id, item.label]
        for items in by_id:
            cells += [_value(items.get(item.id), name) for name in names]
        rows.append(tuple(cells))
    return Grid(tuple(header), tuple(rows))


def by_group(evaluations: Sequence[Evaluation], metric: str = "recall") -> Grid:
    """Rows are the first tags of items, columns a metric at every cutoff, for each system, and how many count."""
    items = [[item for item in one.items if not item.failure] for one in evaluations]
    shown = [it.name for it in evaluations[0].metrics if it.name.partition("@")[0] == metric]
    tags = sorted({item.tags[0] for item in evaluations[0].items if item.tags})
    rows = []
    for tag in (*tags, None):
        cells = []
        count = 0
        for found in items:
            for name in shown:
                values = [
                    value
                    for item in found
                    if (tag is None or tag in item.tags[:1]) and item.detail.get("relevant")
                    and (value := item.values.get(name)) is not None
                ]  # fmt: skip
                count = max(count, len(values))
                cells.append(f"{sum(values) / len(values):.3f}" if values else numbers.NOTHING)
        rows.append((tag or "all", str(count), *cells))
    header = (f"{one.system} {name}" for one in evaluations for name in shown)
    return Grid(("Group", "Queries", *header), tuple(rows))


def tables(
    evaluations: Sequence[Evaluation], names: Sequence[str], width: int, *, sections: Sequence[str] = ()
) -> RenderableType:
    """Return the tables for a terminal of `width` columns; that of the items only where a person would read it.

    A table that is too wide is split between systems; the text of an item stands in the first part only.
    """
    drawn: list[Table] = []
    if evaluations[0].items and len(evaluations[0].items) <= MOST_ITEMS:
        drawn += columns.tables(None, per_item(evaluations, names), width, lead=2, group=len(names))
    figures = side_by_side(evaluations)
    drawn += columns.tables(None, figures, width, trail=len(figures.header) - 1 - len(evaluations))
    if GROUPS in sections:
        groups = by_group(evaluations)
        of_one = (len(groups.header) - 2) // len(evaluations)
        drawn += columns.tables(GROUPS, groups, width, lead=2, group=max(1, of_one))
    for one in evaluations:
        drawn += [
            columns.drawn(f"{one.system}: {name}", _section(one, name), width)
            for name in sections
            if one.sections.get(name)
        ]
    return Group(*drawn)


def notes(evaluations: Sequence[Evaluation]) -> list[str]:
    """Return what stands below the tables: on what it was measured, what to beware of, what failed."""
    lines = []
    for one in evaluations:
        lines += [f"{one.system}: {warning}" for warning in one.warnings]
        lines += [f"{one.system}: failed: {error}" for error in one.errors]
    first = evaluations[0]
    told = first.provenance
    lines.append(
        f"{first.dataset}: {told.get('memories', '?')} memories, {told.get('queries', '?')} queries, "
        f"hash {told.get('dataset_hash', '?')[:12]}"
        + (f", relevant from grade {told['relevant_from']} on." if "relevant_from" in told else ".")
    )
    lines += [
        f"{one.system}: {one.provenance['retriever']}."
        for one in evaluations
        if one.provenance.get("retriever")
    ]
    return list(dict.fromkeys(lines))


def as_markdown(evaluations: Sequence[Evaluation], names: Sequence[str], sections: Sequence[str] = ()) -> str:
    """Return the tables as Markdown."""
    parts = [markdown.table(*grid) for grid in (side_by_side(evaluations), per_item(evaluations, names))]
    if GROUPS in sections:
        parts.append(f"### {GROUPS}\n\n{markdown.table(*by_group(evaluations))}")
    for one in evaluations:
        for name in sections:
            if one.sections.get(name):
                parts.append(
                    f"### {markdown.escape(one.system)}: {name}\n\n{markdown.table(*_section(one, name))}"
                )
    parts.append("\n".join(f"- {markdown.escape(note)}" for note in notes(evaluations)))
    return "\n\n".join(parts) + "\n"


def written(
    found: Sequence[Sequence[Evaluation]], names: Sequence[str], sections: Sequence[str], path: Path
) -> str:
    """Return what goes into a file, by its ending: one part a data set, JSON and CSV of all together.

    Raises:
        InputError: for an ending that says nothing.
    """
    every = [one for evaluations in found for one in evaluations]
    match format_of(path):
        case "json":
            return as_json(every)
        case "csv":
            return as_csv(every)
        case "md":
            return "\n".join(as_markdown(evaluations, names, sections) for evaluations in found)
        case _:
            shown = ((tables(each, names, PLAIN_WIDTH, sections=sections), notes(each)) for each in found)
            drawn = (f"{as_text(table, PLAIN_WIDTH)}{chr(10).join(told)}\n" for table, told in shown)
            return "\n".join(drawn)


def as_csv(evaluations: Sequence[Evaluation]) -> str:
    """Return one line a system and metric."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("dataset", "system", "metric", "value", "n", "of", "low", "high", "chance"))
    for one in evaluations:
        for metric in one.metrics:
            figures = (metric.value, metric.n, metric.of, metric.low, metric.high, metric.chance)
            writer.writerow(
                (one.dataset, one.system, metric.name, *("" if f is None else f for f in figures))
            )
    return out.getvalue()


def as_json(evaluations: Sequence[Evaluation]) -> str:
    """Return everything; `read_json` reads it back."""
    return (
        json.dumps(
            {"schema": SCHEMA, "evaluations": [_data(one) for one in evaluations]},
            ensure_ascii=False,
            indent=2,
        )
        + "\n"
    )


def read_json(path: Path) -> tuple[Evaluation, ...]:
    """Read what `as_json` wrote.

    Raises:
        InputError: for a file that is something else.
    """
    from pydantic import TypeAdapter, ValidationError

    foreign = f"{path}: is no result that --format json wrote"
    try:
        data = strict_json(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{foreign}: it is no sound JSON: {error}. {_MEND}") from None
    if not isinstance(data, dict) or "schema" not in data:
        raise InputError(f"{foreign}: it has no schema. {_MEND}")
    if data["schema"] != SCHEMA:
        told = f"its schema is {data['schema']!r}, and this version reads {SCHEMA!r}"
        raise InputError(f"{foreign}: {told}. {_MEND}")
    try:
        return TypeAdapter(tuple[Evaluation, ...]).validate_json(
            json.dumps(data.get("evaluations")), strict=True
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
        told = "is missing" if first["type"] == "missing" else str(first["msg"]).removeprefix("Value error, ")
        raise InputError(f"{foreign}: evaluations{place}: {told[:1].lower()}{told[1:]}. {_MEND}") from None


def _data(one: Evaluation) -> dict[str, Any]:
    return {
        "evaluator": one.evaluator,
        "system": one.system,
        "dataset": one.dataset,
        "at": one.at.isoformat() if one.at else None,
        "passed": one.passed,
        "total": one.total,
        "metrics": [
            {
                "name": it.name,
                "value": it.value,
                "n": it.n,
                "of": it.of,
                "low": it.low,
                "high": it.high,
                "chance": it.chance,
                "reason": it.reason,
            }
            for it in one.metrics
        ],
        "items": [
            {
                "id": it.id,
                "label": it.label,
                "values": dict(it.values),
                "passed": it.passed,
                "tags": list(it.tags),
                "failure": it.failure,
                "detail": dict(it.detail),
            }
            for it in one.items
        ],
        "errors": list(one.errors),
        "warnings": list(one.warnings),
        "provenance": dict(one.provenance),
        "sections": {name: [list(row) for row in rows] for name, rows in one.sections.items()},
    }


def _value(item: Item | None, name: str) -> str:
    if item is None:
        return numbers.NOTHING
    if item.failure:
        return "failed"
    value = item.values.get(name)
    return numbers.NOTHING if value is None else f"{value:.3f}"


def _chance(found: Sequence[Metric | None]) -> str:
    chances = [metric.chance for metric in found if metric is not None and metric.chance is not None]
    return f"{chances[0]:.3f}" if chances else ""


def _section(one: Evaluation, name: str) -> Grid:
    header, *rows = one.sections[name]
    return Grid(header, tuple(rows))
