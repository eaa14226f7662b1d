"""Two evaluations of the same queries: what rose, what fell, and whether that can be chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from harness.errors import InputError
from harness.evaluation import Evaluation, Item
from harness.statistics import sign_flip

_SAME = 1e-9
RELEVANT_FROM = "relevant_from"
"""Where the provenance says from which grade an id is relevant; it is left out where any above 0 is."""


class Change(NamedTuple):
    """One metric of two evaluations.

    Attributes:
        metric: its name.
        first: mean of the first, over the queries that both have a value for.
        second: mean of the second.
        n: those queries.
        p: two-sided, of a paired sign-flip test.
        rose: queries whose value is higher in the second: id, text, first, second.
        fell: those whose value is lower.
        failed: queries with a value in one of the two only, as the search failed in the other.
    """

    metric: str
    first: float
    second: float
    n: int
    p: float
    rose: tuple[tuple[str, str, float, float], ...]
    fell: tuple[tuple[str, str, float, float], ...]
    failed: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """How much higher the second is."""
        return self.second - self.first


def compare(first: Evaluation, second: Evaluation, names: Sequence[str] = ()) -> tuple[Change, ...]:
    """Return how each metric changed from the first evaluation to the second.

    Args:
        first: the one that is the measure.
        second: the one in question.
        names: metrics; all that both have when left out.

    Raises:
        InputError: when they were measured on different data, or share no query with a value.
    """
    check_alike(first, second, f"{first.system} and {second.system} were")
    items = {item.id: item for item in second.items}
    pairs = [(item, items[item.id]) for item in first.items if item.id in items]
    shared = [metric.name for metric in first.metrics if second.metric(metric.name) is not None]
    unknown = [name for name in names if name not in shared]
    if unknown:
        raise InputError(f"{', '.join(unknown)}: not measured in both. Measured: {', '.join(shared)}.")
    changes = [change for name in names or shared if (change := _change(name, pairs)) is not None]
    if not changes:
        raise InputError(f"{first.system} and {second.system} share no query with a value.")
    return tuple(changes)


def check_alike(first: Evaluation, second: Evaluation, told: str) -> None:
    """Refuse two evaluations whose figures do not mean the same.

    Args:
        first: the one.
        second: the other.
        told: the beginning of the message, such as `a and b were`.

    Raises:
        InputError: when they were measured on different data, or with another grade from which an id is relevant.
    """
    one, other = (each.provenance.get("dataset_hash") for each in (first, second))
    if one != other:
        raise InputError(
            f"{told} measured on different data ({str(one)[:12]} and {str(other)[:12]}): not comparable."
        )
    one, other = (each.provenance.get(RELEVANT_FROM, "any above 0") for each in (first, second))
    if one != other:
        raise InputError(
            f"{told} measured with different grades that are relevant (from {one} and from {other}): "
            "not comparable."
        )


def _change(name: str, pairs: Sequence[tuple[Item, Item]]) -> Change | None:
    rows = [
        (a.id, a.label, x, y)
        for a, b in pairs
        if (x := a.values.get(name)) is not None and (y := b.values.get(name)) is not None
    ]
    if not rows:
        return None
    before, after = [x for *_, x, _ in rows], [y for *_, y in rows]
    return Change(
        metric=name,
        first=math.fsum(before) / len(rows),
        second=math.fsum(after) / len(rows),
        n=len(rows),
        p=sign_flip(after, before),
        rose=tuple(row for row in rows if row[3] > row[2] + _SAME),
        fell=tuple(row for row in rows if row[3] < row[2] - _SAME),
        failed=tuple(
            a.id for a, b in pairs if len([it for it in (a, b) if it.values.get(name) is not None]) == 1
        ),
    )
