"""Times of requests in an HDR histogram, and how they grow with size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

PERCENTILES = (50, 90, 95, 99)
_HIGHEST_NS = 3_600_000_000_000
_DIGITS = 3
_FEWEST_POINTS = 2


class Summary(NamedTuple):
    """What a report shows of times, in milliseconds; `min` and `max` are exact, the rest to 0.1%."""

    n: int
    min: float
    p50: float
    p90: float
    p95: float
    p99: float
    max: float


class Latencies:
    """Times of one kind of request: from 1 ns to an hour, three significant digits.

    A percentile is the time within which so many of the requests were done: of fewer than 100
    requests, p99 is the slowest.
    """

    def __init__(self) -> None:
        from hdrh.histogram import HdrHistogram

        self._histogram = HdrHistogram(1, _HIGHEST_NS, _DIGITS)
        self._least = math.inf
        self._most = 0.0

    def record(self, seconds: float) -> None:
        """Take in one time."""
        self._histogram.record_value(min(_HIGHEST_NS, max(1, round(seconds * 1e9))))
        self._least, self._most = min(self._least, seconds), max(self._most, seconds)

    @property
    def n(self) -> int:
        """How many times were taken in."""
        return int(self._histogram.get_total_count())

    def summary(self) -> Summary | None:
        """Return the percentiles, or None where no time was taken in."""
        if not self.n:
            return None
        # The histogram rounds a rank to the nearest; the time within which so many were done is never below it.
        n = self.n
        found = {
            each: self._histogram.get_value_at_percentile(100 * -(-each * n // 100) / n)
            for each in PERCENTILES
        }
        # A bucket's upper end may lie above every time in it.
        p50, p90, p95, p99 = (
            min(self._most, max(self._least, found[each] / 1e9)) * 1e3 for each in PERCENTILES
        )
        return Summary(self.n, self._least * 1e3, p50, p90, p95, p99, self._most * 1e3)


def ms(value: float | None) -> str:
    """Write milliseconds with three digits: 0.123, 1.23, 12.3, 1,230."""
    if value is None:
        return "–"
    digits = 3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f}"


class Growth(NamedTuple):
    """How a time grows with size: time = c · size^exponent.

    Attributes:
        exponent: 0 where size does not matter, 1 where twice the size takes twice the time.
        points: number of sizes that it is fitted to.
        r2: share of the variance of log time that it explains; None for two points or no variance.
    """

    exponent: float
    points: int
    r2: float | None


def growth(points: Sequence[tuple[float, float]]) -> Growth | None:
    """Fit an exponent by least squares of log time on log size.

    Args:
        points: pairs of size and time, both above 0.

    Returns:
        None for fewer than two different sizes.
    """
    logs = [(math.log(size), math.log(time)) for size, time in points if size > 0 and time > 0]
    if len({x for x, _ in logs}) < _FEWEST_POINTS:
        return None
    mean_x = math.fsum(x for x, _ in logs) / len(logs)
    mean_y = math.fsum(y for _, y in logs) / len(logs)
    across = math.fsum((x - mean_x) ** 2 for x, _ in logs)
    both = math.fsum((x - mean_x) * (y - mean_y) for x, y in logs)
    up = math.fsum((y - mean_y) ** 2 for _, y in logs)
    told = len(logs) > _FEWEST_POINTS and up > 0
    return Growth(both / across, len(logs), both * both / (across * up) if told else None)
