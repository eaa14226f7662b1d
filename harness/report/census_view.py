"""A census of a suite, as tables: its figures by layer, its cases, its abilities and domains."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from harness.report import boxes, markdown, numbers
from harness.report.layout import Grid
from harness.validation.census import (
    MIN_CORRECTIONS,
    MIN_RIVALS,
    CaseFigures,
    Census,
    ConversationFigures,
)

_Figure = Callable[[Sequence[CaseFigures]], str]


def by_layer(census: Census) -> Grid:
    """Rows are figures, columns are layers and the whole suite."""
    groups = [cases for _, cases in census.layers()]
    header = ("", *(layer for layer, _ in census.layers()), "All")
    rows = (
        (name, *(figure(cases) for cases in (*groups, census.cases))) for name, figure in _FIGURES.items()
    )
    return Grid(header, tuple(rows))


def by_case(census: Census) -> Grid:
    """Rows are cases: id, title, domain, abilities, conversations (talks), rounds, words."""
    rows = (
        (
            it.case.id,
            it.case.title,
            it.case.domain,
            ", ".join(it.case.abilities),
            str(len(it.conversations)),
            str(it.rounds),
            f"{it.words:,}",
        )
        for it in census.cases
    )
    return Grid(("Case", "Title", "Domain", "Abilities", "Talks", "Rounds", "Words"), tuple(rows))


def abilities(census: Census) -> Grid:
    """Rows are abilities, columns are layers and the whole suite."""
    header = ("Ability", *(layer for layer, _ in census.layers()), "All")
    groups = [cases for _, cases in census.layers()]
    rows = (
        (
            name,
            *(str(sum(name in it.case.abilities for it in cases)) for cases in (*groups, census.cases)),
        )
        for name, _ in census.counted(lambda case: case.abilities)
    )
    return Grid(header, tuple(rows))


def tables(census: Census, *, per_case: bool = False) -> RenderableType:
    """Return the tables for a terminal; `notes` go below them."""
    grids = [by_layer(census), abilities(census), *([by_case(census)] if per_case else [])]
    return Group(*(_drawn(grid) for grid in grids if grid.rows))


def as_markdown(census: Census, *, per_case: bool = False) -> str:
    """Return the tables as Markdown."""
    grids = [by_layer(census), abilities(census), *([by_case(census)] if per_case else [])]
    tables = [markdown.table(grid.header, grid.rows) for grid in grids if grid.rows]
    return "\n\n".join([*tables, "\n".join(f"- {markdown.escape(note)}" for note in notes(census))]) + "\n"


def as_csv(census: Census) -> str:
    """Return one line a case."""
    out = io.StringIO()
    grid = by_case(census)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(name.lower() for name in grid.header)
    for it, row in zip(census.cases, grid.rows, strict=True):
        writer.writerow((*row[:-1], it.words))
    return out.getvalue()


def as_json(census: Census) -> str:
    """Return every figure, those of each conversation too."""
    data: dict[str, Any] = {
        "suite_hash": census.suite.hash,
        "held": census.held,
        "cases": [_case_data(it) for it in census.cases],
        "abilities": dict(census.counted(lambda case: case.abilities)),
        "domains": dict(census.counted(lambda case: (case.domain,) if case.domain else ())),
        "locales": dict(census.counted(lambda case: (case.locale,))),
        "messages_with_shared_wording": census.shared_wording,
        "shared_names": {word: list(cases) for word, cases in census.shared_names.items()},
        "problems": [str(problem) for problem in census.problems],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _case_data(figures: CaseFigures) -> dict[str, Any]:
    case = figures.case
    return {
        "test_id": case.id,
        "category": case.category,
        "domain": case.domain,
        "abilities": list(case.abilities),
        "criteria": len(case.criteria),
        "required_facts": len(case.gold.required),
        "forbidden_facts": len(case.gold.forbidden),
        "conversations": [
            {
                "conversation_id": it.id,
                "rounds": it.rounds,
                "words": it.words,
                "messages_under_4_words": it.terse,
                "messages_with_correction_words": it.corrections,
                "values": it.values,
                "rivals_of_the_gold": it.rivals,
                "weekdays_with_a_date": it.weekdays,
            }
            for it in figures.conversations
        ],
    }


def notes(census: Census) -> list[str]:
    """Return what stands below the tables: what the figures are, what was counted, the limits."""
    domains = census.counted(lambda case: (case.domain,) if case.domain else ())
    locales = census.counted(lambda case: (case.locale,))
    lines = [
        "Cells with three figures: least, median, most of a conversation or of a case.",
        "Corrections are messages with words of correcting, a figure of the wording; rivals are distinct values of "
        "the types of the gold said in the same conversation that are not the gold.",
        f"{len(domains)} domains: {_listed(domains)}.",
        f"Locales: {_listed(locales)}.",
        f"Suite {census.suite.hash[:12]}.",
    ]
    lines.append(f"Eight words in a row that two conversations say: {census.shared_wording}.")
    if census.shared_names:
        shared = (f"{word} ({', '.join(cases)})" for word, cases in census.shared_names.items())
        lines.append(f"Names in two cases: {'; '.join(shared)}.")
    kept = (
        f"Limits kept: at least {MIN_CORRECTIONS} corrections and {MIN_RIVALS} rivals a conversation, criteria and "
        "facts enough, no value at the end of a talk, no two talks that begin or end alike, no real contact, no "
        "name in two cases."
    )
    broken = len(census.problems) + len(census.shared_names)
    lines.append(kept if census.held else f"{broken} {'limit is' if broken == 1 else 'limits are'} not kept.")
    return lines


def _drawn(grid: Grid) -> Table:
    table = Table(header_style="bold")
    words = {"Title", "Domain", "Abilities"}
    for at, name in enumerate(grid.header):
        table.add_column(
            name, overflow="fold", no_wrap=at == 0, justify="left" if at == 0 or name in words else "right"
        )
    for row in grid.rows:
        table.add_row(*(Text(boxes.visible(cell)) for cell in row))
    return table


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" if count > 1 else name for name, count in counts)


def _talks(cases: Sequence[CaseFigures]) -> list[ConversationFigures]:
    return [talk for it in cases for talk in it.conversations]


def _spread(values: Iterable[float]) -> str:
    found = list(values)
    if not found:
        return numbers.NOTHING
    return "·".join(f"{value:.0f}" for value in (min(found), median(found), max(found)))


def _terse(cases: Sequence[CaseFigures]) -> str:
    messages = sum(talk.messages for talk in _talks(cases))
    return f"{sum(talk.terse for talk in _talks(cases)) / messages:.1%}" if messages else numbers.NOTHING


_FIGURES: dict[str, _Figure] = {
    "Cases": lambda cases: f"{len(cases)}",
    "Conversations": lambda cases: f"{len(_talks(cases)):,}",
    "Rounds": lambda cases: f"{sum(it.rounds for it in cases):,}",
    "Words": lambda cases: f"{sum(it.words for it in cases):,}",
    "Rounds a conversation": lambda cases: _spread(talk.rounds for talk in _talks(cases)),
    "Words a conversation": lambda cases: _spread(talk.words for talk in _talks(cases)),
    "Messages under 4 words": _terse,
    "Corrections a conversation": lambda cases: _spread(talk.corrections for talk in _talks(cases)),
    "Values a conversation": lambda cases: _spread(talk.values for talk in _talks(cases)),
    "Rivals of the gold": lambda cases: _spread(
        talk.rivals for talk in _talks(cases) if talk.rivals is not None
    ),
    "Weekdays with a date": lambda cases: f"{sum(talk.weekdays for talk in _talks(cases)):,}",
    "Criteria a case": lambda cases: _spread(len(it.case.criteria) for it in cases),
    "Required facts a case": lambda cases: _spread(len(it.case.gold.required) for it in cases),
    "Forbidden facts a case": lambda cases: _spread(len(it.case.gold.forbidden) for it in cases),
}
