"""Tables as plain cells, before any format: what stands where, and when to turn it."""

from __future__ import annotations

from typing import NamedTuple

from harness.comparison import OVERALL, Comparison
from harness.report import numbers
from harness.scoring import CaseScore


class Grid(NamedTuple):
    """A table of strings: one header row, then rows as long as it."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def turned(self) -> Grid:
        """Return the table with rows and columns exchanged."""
        header, *rows = zip(self.header, *self.rows, strict=True)
        return Grid(tuple(header), tuple(rows))


def by_layer(comparison: Comparison) -> Grid:
    """Rows are layers and overall, columns are systems."""
    header = ("Layer", *(system.system for system in comparison.systems))
    rows = tuple(
        (
            comparison.title(group),
            *(numbers.cell(comparison.cell(group, system)) for system in comparison.systems),
        )
        for group in comparison.groups
    )
    return Grid(header, rows)


def by_case(comparison: Comparison) -> Grid:
    """Rows are cases, columns are systems; an answer without a reward shows why."""
    header = ("Case", *(system.system for system in comparison.systems))
    rows = tuple(
        (case.id, *(_outcome(system.scores[at]) for system in comparison.systems))
        for at, case in enumerate(comparison.cases)
    )
    return Grid(header, rows)


def _outcome(score: CaseScore) -> str:
    if score.reward is None:
        return score.status
    return f"{numbers.reward(score.reward)} dump" if "dump" in score.flags else numbers.reward(score.reward)


def short_titles(comparison: Comparison) -> tuple[tuple[str, ...], str]:
    """Return short group names for a narrow table, and the line that explains them."""
    short = tuple(
        "Overall" if group == OVERALL else comparison.title(group).partition(" · ")[0]
        for group in comparison.groups
    )
    long = (comparison.title(group) for group in comparison.groups)
    explained = [title for name, title in zip(short, long, strict=True) if name != title]
    return short, "; ".join(explained)
