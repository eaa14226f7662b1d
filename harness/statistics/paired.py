"""Tests between two systems that were asked the same cases, and the correction for many of them.

Pure functions on sequences. What is random has a seed, so that the same figures give the same p.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Sequence

EXACT_UP_TO = 20
"""Differences up to which every pattern of signs is counted; more are sampled."""
RESAMPLES = 10_000
SEED = 20_240_611


def sign_flip(
    a: Sequence[float],
    b: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> float:
    """Return the two-sided p of a paired sign-flip permutation test of the mean difference.

    Under the null hypothesis each difference (with `clusters`, the sum of each cluster's) is as
    likely to have the other sign. p is the share of sign patterns whose sum is at least as far
    from 0 as the one observed: of all patterns for up to 20 differences other than 0, and else of
    a sample, with the observed one counted in it, so that p is never 0.

    Sources: R. A. Fisher, The design of experiments (1935); B. Phipson and G. K. Smyth,
    Permutation p-values should never be zero (2010).

    Args:
        a: figures of one system.
        b: figures of the other one for the same cases, in the same order.
        clusters: what belongs together, one for each case; each case by itself when left out.
        resamples: patterns drawn where not all are counted.
        seed: of the draw.

    Raises:
        ValueError: when the lengths differ or a figure is not finite.
    """
    differences = [d for d in _by_cluster(_differences(a, b), clusters) if d != 0]
    if not differences:
        return 1.0
    observed = abs(math.fsum(differences)) * (1 - 1e-12)  # sums that are equal but for rounding count
    if len(differences) <= EXACT_UP_TO:
        return _exact(differences, observed)
    draw = random.Random(seed)
    size = len(differences)
    beyond = 0
    for _ in range(resamples):
        signs = draw.getrandbits(size)
        total = sum(d if signs >> at & 1 else -d for at, d in enumerate(differences))
        beyond += abs(total) >= observed
    return (beyond + 1) / (resamples + 1)


def mcnemar(b: int, c: int) -> float:
    """Return the two-sided p of the exact McNemar test.

    Of the b + c cases that only one of two systems passed, either is as likely to have passed
    each: p = min(1, 2 · P(X ≤ min(b, c))) with X binomial of b + c and 1/2. 1 where none differs.

    Source: Q. McNemar, Note on the sampling error of the difference between correlated
    proportions or percentages (1947).

    Args:
        b: cases that only the one system passed.
        c: cases that only the other one passed.

    Raises:
        ValueError: for a negative count.
    """
    if b < 0 or c < 0:
        raise ValueError(f"counts are not negative: {b}, {c}")
    n = b + c
    tail = sum(math.comb(n, k) for k in range(min(b, c) + 1))
    return min(1.0, float(2 * tail / 2**n))


def holm(ps: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's step-down procedure, in their order.

    The i-th smallest of m is multiplied by m - i + 1; none falls below one before it, or above 1.

    Source: S. Holm, A simple sequentially rejective multiple test procedure (1979).

    Raises:
        ValueError: for what is no probability.
    """
    if not all(0 <= p <= 1 for p in ps):
        raise ValueError("a p-value is in [0, 1]")
    adjusted = [0.0] * len(ps)
    least = 0.0
    for place, at in enumerate(sorted(range(len(ps)), key=lambda at: ps[at])):
        least = max(least, min(1.0, (len(ps) - place) * ps[at]))
        adjusted[at] = least
    return adjusted


def _differences(a: Sequence[float], b: Sequence[float]) -> list[float]:
    if len(a) != len(b):
        raise ValueError(f"{len(a)} figures cannot be paired with {len(b)}")
    differences = [x - y for x, y in zip(a, b, strict=True)]
    if not all(map(math.isfinite, differences)):
        raise ValueError("a figure is not finite")
    return differences


def _by_cluster(differences: Sequence[float], clusters: Sequence[Hashable] | None) -> list[float]:
    if clusters is None:
        return list(differences)
    if len(clusters) != len(differences):
        raise ValueError(f"{len(clusters)} clusters for {len(differences)} differences")
    parts: dict[Hashable, list[float]] = {}
    for cluster, difference in zip(clusters, differences, strict=True):
        parts.setdefault(cluster, []).append(difference)
    return [math.fsum(part) for part in parts.values()]


def _exact(differences: Sequence[float], observed: float) -> float:
    """Count all patterns by meeting in the middle: the sums of one half against those of the other."""
    from bisect import bisect_left, bisect_right

    half = len(differences) // 2
    left, right = _sums(differences[:half]), sorted(_sums(differences[half:]))
    beyond = 0
    for total in left:
        # A pattern is beyond where total + other >= observed, or <= -observed.
        beyond += len(right) - bisect_left(right, observed - total)
        beyond += bisect_right(right, -observed - total)
    return min(1.0, float(beyond / 2 ** len(differences)))


def _sums(differences: Sequence[float]) -> list[float]:
    sums = [0.0]
    for difference in differences:
        sums = [total + sign * difference for total in sums for sign in (1, -1)]
    return sums
