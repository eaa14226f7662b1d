"""Shares of a count, with the interval that their true value lies in."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from harness.statistics.quantiles import Z_95


class Interval(NamedTuple):
    """The two ends of an interval, in the unit of the figure it is about."""

    low: float
    high: float


def wilson(k: int, n: int) -> Interval:
    """Return the 95% Wilson score interval of a share of `k` in `n`.

    It holds its coverage for small `n` and for shares at 0 and 1, where the textbook
    interval p ± 1.96·√(p(1-p)/n) shrinks to a point.

    Source: E. B. Wilson, Probable inference, JASA 22 (1927).

    Raises:
        ValueError: when `n` is 0, or `k` is not between 0 and `n`.
    """
    if not 0 <= k <= n or n == 0:
        raise ValueError(f"a share is k of n with 0 <= k <= n and n > 0, not {k} of {n}")
    z2 = Z_95 * Z_95
    centre = (k + z2 / 2) / (n + z2)
    reach = Z_95 / (n + z2) * sqrt(k * (n - k) / n + z2 / 4)
    # The ends are exactly 0 and 1 there; floats leave a rest of 1e-17.
    return Interval(centre - reach if k else 0.0, centre + reach if k < n else 1.0)


class Rate(NamedTuple):
    """`k` of `n`, such as 12 false accepts in 63 answers; `n` may be 0.

    Written, it is `12/63 19% [11–30%]`. A share that is not whole is never written as 0% or
    100%: 1 of 300 is `<1%`.
    """

    k: int
    n: int

    @property
    def share(self) -> float | None:
        """The share in [0, 1]; None of nothing."""
        return self.k / self.n if self.n else None

    @property
    def interval(self) -> Interval | None:
        """The share's 95% Wilson interval; None of nothing."""
        return wilson(self.k, self.n) if self.n else None

    @property
    def percent(self) -> str:
        """The share as text, such as `19%`; `–` of nothing."""
        share = self.share
        if share is None:
            return "–"
        shown = f"{share:.0%}"
        if shown == "0%" and self.k:
            return "<1%"
        return ">99%" if shown == "100%" and self.k < self.n else shown

    @property
    def span(self) -> str:
        """The interval as text, such as `11–30%`; nothing of nothing."""
        interval = self.interval
        return f"{interval.low * 100:.0f}–{interval.high:.0%}" if interval else ""

    def __str__(self) -> str:
        return f"{self.k}/{self.n} {self.percent} [{self.span}]" if self.n else "–"
