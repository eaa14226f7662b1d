"""Where things stand in the plots, in percent of their width and height; drawing is the template's work."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log10
from typing import NamedTuple

from harness.report.html.overview import SystemRow

_WIDE = 20  # from this ratio of the largest to the smallest figure on, the axis is logarithmic
_ROUND = (1, 2, 5)


class Tick(NamedTuple):
    """A mark on an axis."""

    at: float
    label: str


class Dot(NamedTuple):
    """A system in a plot: place, figures as written, and whether no other is both better and cheaper."""

    letter: str
    name: str
    x: float
    y: float
    reward: str
    cost: str
    best: bool


class Line(NamedTuple):
    """A piece of the frontier."""

    x1: float
    y1: float
    x2: float
    y2: float


class Frontier(NamedTuple):
    """Mean reward against one cost.

    Attributes:
        cost: what it costs, such as `words handed over`.
        note: how the axis runs.
        dots: one a system of which both are known, the cheapest first.
        lines: through those that no other one beats in both.
        ticks: of the cost axis.
    """

    cost: str
    note: str
    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    ticks: tuple[Tick, ...]


def frontiers(rows: Sequence[SystemRow]) -> tuple[Frontier, ...]:
    """Return a plot for each cost that is known of two systems at least."""
    made = (
        _frontier(rows, "words handed over a case", [row.words for row in rows], "{:,.0f}"),
        _frontier(rows, *_times([row.latency for row in rows])),
        _frontier(rows, "tokens an answer", [row.tokens for row in rows], "{:,.0f}"),
    )
    return tuple(plot for plot in made if plot is not None)


def _times(seconds: Sequence[float | None]) -> tuple[str, list[float | None], str]:
    """Return the times in a unit that needs no exponents."""
    if max((one for one in seconds if one is not None), default=0) < 1:
        return "milliseconds an answer", [None if one is None else 1000 * one for one in seconds], "{:,.3g}"
    return "seconds an answer", list(seconds), "{:,.3g}"


def _frontier(
    rows: Sequence[SystemRow], what: str, figures: Sequence[float | None], form: str
) -> Frontier | None:
    known = sorted(
        (
            (figure, row.overall.mean, row)
            for row, figure in zip(rows, figures, strict=True)
            if figure is not None and row.overall.mean is not None
        ),
        key=lambda item: (item[0], -item[1]),
    )
    if len(known) < 2 or known[-1][0] <= 0:
        return None
    most = known[-1][0]
    least = min((figure for figure, _, _ in known if figure > 0), default=most)
    wide = most / least > _WIDE
    # Below the smallest figure the axis is linear, so that 0 has a place on it.
    scale = (lambda x: log10(1 + x / least)) if wide else (lambda x: x)
    reach = scale(most) * 1.05
    dots: list[Dot] = []
    for figure, mean, row in known:
        best = not any(
            cost <= figure and other >= mean and (cost, other) != (figure, mean) for cost, other, _ in known
        )
        at = 100 * scale(figure) / reach
        dots.append(
            Dot(row.letter, row.name, at, 100 * (1 - mean), row.overall.shown, form.format(figure), best)
        )
    front = [dot for dot in dots if dot.best]
    lines = tuple(Line(a.x, a.y, b.x, b.y) for a, b in pairwise(front))
    ticks = tuple(
        Tick(100 * scale(value) / reach, f"{value:,g}") for value in _ticks(least if wide else 0, most)
    )
    return Frontier(what, "logarithmic" if wide else "linear", tuple(dots), lines, ticks)


def _ticks(least: float, most: float) -> list[float]:
    """Return round values from 0 to the most: even steps, or (from a least above 0 on) powers of ten."""
    if least > 0:
        low, high = int(log10(least) // 1), int(log10(most) // 1)
        return [0.0, *(10.0**power for power in range(low, high + 1) if least / 2 <= 10.0**power <= most)]
    size = 10.0 ** int(log10(most / 4) // 1)
    step = next((size * factor for factor in (*_ROUND, 10) if most / (size * factor) <= 5), size * 10)
    return [step * count for count in range(int(most / step) + 1)]
