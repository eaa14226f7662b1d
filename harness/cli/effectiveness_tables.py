"""The tables of `recallbench effectiveness`: one an evaluator, systems side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from harness.cli import console
from harness.cli.gating import reader_may_leave

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.evaluation import Evaluation
    from harness.report.layout import Grid

_MOST_FAILURES = 5
_ALWAYS = ("weights",)
_ROWS = {
    "extraction": ("item_f1",),
    "classification": ("accuracy",),
    "importance": ("mae",),
    "deduplication": ("bcubed_precision", "bcubed_recall"),
    "update": ("updated", "stale"),
    "isolation": ("isolated",),
    "deletion": ("gone", "kept"),
}
"""The figures of a row a test case; JSON has them all."""
_NOT_APPLICABLE = "n/a"

Found = Sequence[Sequence["Evaluation"]]
"""The evaluations of each system, the same evaluators in the same order."""


class Wanted(NamedTuple):
    """What is shown: rows a test case, further tables, and in which format."""

    per_item: bool
    sections: Sequence[str]
    format: str


def show(found: Found, wanted: Wanted, output: Sequence[Path]) -> None:
    """Write the files that were asked for, by their ending, and print."""
    from harness.report import PLAIN_WIDTH, format_of
    from harness.report.terminal import as_text

    for path in output:
        text = _text(found, wanted._replace(format=format_of(path)))
        if text is None:
            text = as_text(_drawn(found, wanted, PLAIN_WIDTH), PLAIN_WIDTH) + "\n".join(_notes(found)) + "\n"
        console.write_file(path, text)
    text = _text(found, wanted)
    with reader_may_leave():
        if text is not None:
            click.echo(text, nl=False)
            return
        console.show(_drawn(found, wanted, console.width()))
        console.say("\n".join(_notes(found)))


def _text(found: Found, wanted: Wanted) -> str | None:
    """Return the result in a format other than a table."""
    from harness.report import evaluation_view as view
    from harness.report import markdown

    every = [one for each in found for one in each]
    match wanted.format:
        case "json":
            return view.as_json(every)
        case "csv":
            return view.as_csv(every)
        case "md":
            parts = [
                f"### {markdown.escape(one.title)}\n\n{markdown.table(*one.grid)}"
                for one in _grids(found, wanted)
            ]
            parts.append("\n".join(f"- {markdown.escape(note)}" for note in _notes(found)))
            return "\n\n".join(parts) + "\n"
        case _:
            return None


class _Shown(NamedTuple):
    """A table with its title, the columns in front of the figures, and those of a system; 0 where it is of one."""

    title: str
    grid: Grid
    lead: int = 1
    group: int = 0


def _grids(found: Found, wanted: Wanted) -> Iterator[_Shown]:
    """Yield the tables with their titles."""
    from harness.report import evaluation_view as view
    from harness.report.layout import Grid

    for evaluations in zip(*found, strict=True):
        name = evaluations[0].evaluator
        if wanted.per_item and name in _ROWS and (rows := [one for one in evaluations if one.items]):
            grid = view.per_item(rows, [f"{name}.{metric}" for metric in _ROWS[name]])
            header = tuple(cell.replace(f"{name}.", "") for cell in grid.header)
            yield _Shown(f"{name}: items", Grid(header, grid.rows), 2, len(_ROWS[name]))
        yield _Shown(name, _compact(view.side_by_side(evaluations), evaluations), 1, 1)
        for one in evaluations:
            for section in dict.fromkeys((*wanted.sections, *_ALWAYS)):
                if table := one.sections.get(section):
                    yield _Shown(f"{one.system}: {section}", Grid(table[0], tuple(table[1:])))


def _compact(grid: Grid, evaluations: Sequence[Evaluation]) -> Grid:
    """Write `n/a` where a system cannot be measured, whose reason stands below, and no empty last row."""
    from harness.report.layout import Grid

    absent = [bool(_reason(one)) for one in evaluations]
    rows = [
        (row[0], *(_NOT_APPLICABLE if gone else cell for gone, cell in zip(absent, row[1:], strict=True)))
        for row in grid.rows
        if row[0] != "passed" or any(one.total for one in evaluations)
    ]
    return Grid(grid.header, tuple(rows))


def _reason(one: Evaluation) -> str:
    """Return why a system cannot be measured by an evaluator at all, empty where it can."""
    reasons = {metric.reason for metric in one.metrics}
    only = next(iter(reasons)) if len(reasons) == 1 else ""
    return only.removeprefix(f"{_NOT_APPLICABLE}: ") if only.startswith(_NOT_APPLICABLE) else ""


def _drawn(found: Found, wanted: Wanted, width: int) -> RenderableType:
    """Return the tables for a terminal; what does not fit beside each other is split between systems."""
    from rich.console import Group

    from harness.report import columns

    drawn = []
    for title, grid, lead, group in _grids(found, wanted):
        if group:
            drawn += columns.tables(title, grid, width, lead=lead, group=group, figures=True)
        else:
            drawn.append(columns.drawn(title, grid, width, figures=True))
    return Group(*drawn)


def _notes(found: Found) -> list[str]:
    """Return what stands below: what is n/a, what to beware of, what failed, on what it was measured."""
    lines = []
    for evaluations in found:
        reasons: dict[str, list[str]] = {}
        for one in evaluations:
            about = f"{one.system}, {one.evaluator}"
            if reason := _reason(one):
                reasons.setdefault(reason, []).append(one.evaluator)
            lines += [f"{about}: {warning}" for warning in one.warnings]
            lines += [f"{about}: failed: {error}" for error in one.errors[:_MOST_FAILURES]]
            if (more := len(one.errors) - _MOST_FAILURES) > 0:
                lines.append(f"{about}: {more} more failed; --format json has them all.")
        lines += [
            f"{evaluations[0].system}: n/a: {', '.join(names)}: {reason}."
            for reason, names in reasons.items()
        ]
    lines += [f"{each[0].system}: {told}." for each in found if (told := each[0].provenance.get("system"))]
    lines += _unlike(found)
    first = found[0][0]
    lines.append(f"{first.dataset}: hash {first.provenance['dataset_hash'][:12]}.")
    return lines


def _unlike(found: Found) -> list[str]:
    """Return the warning under overall scores that do not stand on the same aspects."""
    measured = {
        evaluations[-1].system: tuple(item.id for item in evaluations[-1].items if not item.failure)
        for evaluations in found
        if evaluations[-1].evaluator == "overall"
    }
    if len(set(measured.values())) < 2:
        return []
    told = "; ".join(f"{system}: {', '.join(names) or 'nothing'}" for system, names in measured.items())
    return [
        f"overall.score is not comparable between these systems, of which other aspects were measured ({told})."
    ]
