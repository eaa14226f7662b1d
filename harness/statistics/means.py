"""Intervals of a mean of figures in [0, 1], such as rewards: three of them, and the error they rest on.

`score_interval` is the one that reports show: at 20 cases it covers the true mean in 95 of 100
samples even where nearly all rewards are 0 or 1, where t and bootstrap fall to 60 to 90 (the
figures are in docs/statistics.md, `tests/benchmarks/test_statistics.py` makes them anew).

Every function takes `clusters`, one name for each figure: the figures of a cluster, such as cases
about one persona, vary together, and it is clusters that are resampled or counted.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

from harness.statistics.clusters import Clusters, partition
from harness.statistics.intervals import Interval
from harness.statistics.paired import RESAMPLES, SEED
from harness.statistics.quantiles import Z_95, normal_cdf, normal_quantile, t_quantile

UNIT = Interval(0.0, 1.0)
_DRAWN_AT_ONCE = 200_000


def clustered_se(values: Sequence[float], clusters: Clusters) -> float:
    """Return the standard error of the mean of figures that vary together within clusters.

        SE = √( Σ over clusters of (Σ in the cluster of (x - mean))² ) / n

    In the unit of the figures. With every figure its own cluster it is √(Σ(x - mean)²)/n, which is
    the usual error but for the factor √((n-1)/n).

    Source: E. Miller, Adding error bars to evals, arXiv:2411.00640 (2024).

    Raises:
        ValueError: for no figure, one that is not finite, or a wrong number of clusters.
    """
    n = _checked(values)
    mean = math.fsum(values) / n
    parts = partition(n, clusters)
    return math.sqrt(math.fsum(math.fsum(values[at] - mean for at in part) ** 2 for part in parts)) / n


def t_interval(
    values: Sequence[float], clusters: Clusters = None, *, bounds: Interval | None = UNIT
) -> Interval | None:
    """Return the 95% interval mean ± t · SE, cut to `bounds`; None for a single cluster.

    SE is `clustered_se` times √(G/(G-1)) for G clusters, and t the 97.5% point for G - 1 degrees of
    freedom; with every figure its own cluster that is Student's interval. It shrinks to a point where
    all figures are equal, so a few cases that all pass would look certain.

    Raises:
        ValueError: for no figure, one that is not finite, or a wrong number of clusters.
    """
    groups = len(partition(_checked(values), clusters))
    if groups < 2:
        return None
    mean = math.fsum(values) / len(values)
    reach = t_quantile(0.975, groups - 1) * clustered_se(values, clusters) * math.sqrt(groups / (groups - 1))
    low, high = mean - reach, mean + reach
    return Interval(low, high) if bounds is None else Interval(max(bounds.low, low), min(bounds.high, high))


def score_interval(
    values: Sequence[float], clusters: Clusters = None, *, bounds: Interval = UNIT
) -> Interval:
    """Return the 95% score interval of the mean of figures that lie within `bounds`.

    Wilson's interval with an effective number of figures in place of n. For figures in [0, 1]:

        φ  = n · SE² · G/(G-1) / (mean · (1 - mean)), at most φ₀
        φ₀ = Σ over clusters of size² / n
        n' = n / ((G · φ + z² · φ₀) / (G + z²))

    - φ is how much the mean varies, as a share of what a mean of noughts and ones would; SE is
      `clustered_se` of G clusters. For noughts and ones without clusters φ = 1, n' = n, and the
      interval is Wilson's.
    - φ₀ is the most it can be: noughts and ones, all alike within a cluster. It enters with the
      weight of z² = 3.84 clusters, the weight that Wilson's interval gives its own centre, so that
      equal figures make a narrow interval and never a point.

    Sources: E. B. Wilson, Probable inference, JASA 22 (1927); P. Kott and D. Carr, Developing an
    estimation strategy for a pesticide data program, J. Official Statistics 13 (1997), for the
    effective number; the weight of φ₀ is ours, chosen by simulation (docs/statistics.md).

    Raises:
        ValueError: for no figure, one outside the bounds, bounds without width, or a wrong number of clusters.
    """
    width = bounds.high - bounds.low
    mean, effective = _effective(_shares(values, bounds), clusters)
    z2 = Z_95 * Z_95
    centre = (effective * mean + z2 / 2) / (effective + z2)
    reach = Z_95 / (effective + z2) * math.sqrt(effective * mean * (1 - mean) + z2 / 4)
    # The ends are exactly the bounds there; floats leave a rest of 1e-17.
    low = max(0.0, min(mean, centre - reach)) if mean > 0 else 0.0
    high = min(1.0, max(mean, centre + reach)) if mean < 1 else 1.0
    return Interval(bounds.low + width * low, bounds.low + width * high)


def smoothed_se(values: Sequence[float], clusters: Clusters = None, *, bounds: Interval = UNIT) -> float:
    """Return the standard error of the mean that `score_interval` rests on: √(mean · (1 - mean) / n').

    In the unit of the figures; above 0 unless the mean is at a bound.

    Raises:
        ValueError: for no figure, one outside the bounds, bounds without width, or a wrong number of clusters.
    """
    width = bounds.high - bounds.low
    mean, effective = _effective(_shares(values, bounds), clusters)
    return width * math.sqrt(mean * (1 - mean) / effective)


def bca_interval(
    values: Sequence[float],
    clusters: Clusters = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval:
    """Return the 95% bias-corrected and accelerated bootstrap interval of the mean.

    Clusters are drawn with replacement; a resample's mean is the sum of its figures by their number.
    Its ends are the resamples' quantiles at Φ(z₀ + (z₀ ± z)/(1 - a·(z₀ ± z))), with z₀ from the share
    of resamples below the mean (those equal to it count half) and a from the jackknife over clusters.
    It is a point where all figures are equal.

    Source: B. Efron, Better bootstrap confidence intervals, JASA 82 (1987).

    Raises:
        ValueError: for no figure, one that is not finite, no resample, or a wrong number of clusters.
    """
    n = _checked(values)
    if resamples < 1:
        raise ValueError(f"a bootstrap has 1 resample or more, not {resamples}")
    mean = math.fsum(values) / n
    parts = partition(n, clusters)
    totals = [math.fsum(values[at] for at in part) for part in parts]
    sizes = [len(part) for part in parts]
    drawn = sorted(_resampled(totals, sizes, resamples, random.Random(seed)))
    same = 1e-12 * max(1.0, abs(mean))  # means that are equal but for rounding
    if drawn[-1] - drawn[0] <= same:
        return Interval(mean, mean)
    below = sum(value < mean - same for value in drawn)
    equal = sum(abs(value - mean) <= same for value in drawn)
    share = min(max((below + equal / 2) / resamples, 0.5 / resamples), 1 - 0.5 / resamples)
    bias, bend = normal_quantile(share), _acceleration(totals, sizes)

    def at(z: float) -> float:
        shift = bias + z
        p = normal_cdf(bias + shift / (1 - bend * shift))
        return drawn[min(resamples - 1, max(0, math.ceil(p * resamples) - 1))]

    return Interval(min(at(-Z_95), mean), max(at(Z_95), mean))


def _shares(values: Sequence[float], bounds: Interval) -> list[float]:
    """Return where figures lie between their bounds, from 0 to 1."""
    _checked(values)
    if not bounds.low < bounds.high:
        raise ValueError(f"[{bounds.low:g}, {bounds.high:g}] has no width")
    if min(values) < bounds.low or max(values) > bounds.high:
        raise ValueError(f"a figure is outside [{bounds.low:g}, {bounds.high:g}]")
    width = bounds.high - bounds.low
    return [(value - bounds.low) / width for value in values]


def _effective(shares: Sequence[float], clusters: Clusters) -> tuple[float, float]:
    """Return the mean of figures in [0, 1] and their effective number; see `score_interval`."""
    n = len(shares)
    mean = min(1.0, max(0.0, math.fsum(shares) / n))
    parts = partition(n, clusters)
    groups = len(parts)
    most = sum(len(part) ** 2 for part in parts) / n
    spread = mean * (1 - mean)
    varies = most
    if groups > 1 and spread > 0:
        varies = min(most, n * clustered_se(shares, clusters) ** 2 * groups / (groups - 1) / spread)
    z2 = Z_95 * Z_95
    return mean, n * (groups + z2) / (groups * varies + z2 * most)


def _resampled(
    totals: Sequence[float], sizes: Sequence[int], resamples: int, draw: random.Random
) -> Iterator[float]:
    """Yield the means of so many draws of as many clusters as there are."""
    groups = len(totals)
    at_once = max(1, _DRAWN_AT_ONCE // groups)
    for start in range(0, resamples, at_once):
        chosen = draw.choices(range(groups), k=groups * min(at_once, resamples - start))
        sums = map(sum, zip(*[map(totals.__getitem__, chosen)] * groups, strict=True))
        counts = map(sum, zip(*[map(sizes.__getitem__, chosen)] * groups, strict=True))
        yield from (total / count for total, count in zip(sums, counts, strict=True))


def _acceleration(totals: Sequence[float], sizes: Sequence[int]) -> float:
    if len(totals) < 2:
        return 0.0
    total, size = math.fsum(totals), sum(sizes)
    left = [(total - one) / (size - count) for one, count in zip(totals, sizes, strict=True)]
    middle = math.fsum(left) / len(left)
    squares = math.fsum((middle - one) ** 2 for one in left)
    cubes = math.fsum((middle - one) ** 3 for one in left)
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0


def _checked(values: Sequence[float]) -> int:
    if not values:
        raise ValueError("nothing has no mean")
    if not all(map(math.isfinite, values)):
        raise ValueError("a figure is not finite")
    return len(values)
