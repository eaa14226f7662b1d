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


INTERVAL_TITLE = "95% interval"
RANK_TITLE = "Rank"


def by_layer(comparison: Comparison) -> Grid:
    """Rows are layers and overall, its 95% interval and the ranks; columns are systems."""
    header = ("Layer", *(system.system for system in comparison.systems))
    rows = tuple(
        (
            comparison.title(group),
            *(numbers.cell(comparison.cell(group, system)) for system in comparison.systems),
        )
        for group in comparison.groups
    )
    return Grid(header, (*rows, *standing_rows(comparison)))


def standing_rows(comparison: Comparison) -> tuple[tuple[str, ...], ...]:
    """Return the rows that say where the systems stand; none where there is nothing to say."""
    found = [comparison.statistics.standing(system.system) for system in comparison.systems]
    rows = []
    if any(one.mean is not None for one in found):
        rows.append((INTERVAL_TITLE, *(numbers.interval(one.low95, one.high95) for one in found)))
    ranks = tuple(numbers.ranks(one.ranks) for one in found)
    if (
        comparison.statistics.ranked and len(set(ranks)) > 1
    ):  # else the footer says that none can be told apart
        rows.append((RANK_TITLE, *ranks))
    return tuple(rows)


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
    """Return short names of the rows of `by_layer` for a narrow table, and the line that explains them."""
    groups = [
        "Overall" if group == OVERALL else comparison.title(group).partition(" · ")[0]
        for group in comparison.groups
    ]
    long = (comparison.title(group) for group in comparison.groups)
    explained = [title for name, title in zip(groups, long, strict=True) if name != title]
    standing = ["95%" if row[0] == INTERVAL_TITLE else row[0] for row in standing_rows(comparison)]
    if "95%" in standing:
        explained.append("95%: interval of the overall mean")
    return (*groups, *standing), "; ".join(explained)
