"""Tests between two systems that were asked the same cases, and the correction for many of them.

Pure functions on sequences. What is random has a seed, so that the same figures give the same p.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

from harness.statistics.clusters import Clusters, sums

EXACT_UP_TO = 20
"""Differences of any size up to which every pattern of signs is counted."""
_UNITS = (1, 4, 12, 60, 100, 420, 840, 1000, 2520)
"""Denominators tried: those of rewards that are a share of one to ten facts, or have few decimals."""
_MOST_BITS = 2_000_000
_ROUNDING = 1e-12
"""Sums of figures that are equal but for rounding differ by less."""
_SMALLEST = math.ulp(0.0)
"""What a p-value below every float is written as, since none is 0."""
_FOR_A_TEST = 80
"""Patterns drawn for each of many tests at least: the smallest p times the tests is then 1/80, below 0.05."""
_FEW = 20
"""Patterns beyond the observed one up to which drawing more can change what is said."""
RESAMPLES = 10_000
SEED = 20_240_611


def sign_flip(
    a: Sequence[float],
    b: Sequence[float],
    *,
    clusters: Clusters = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    tests: int = 1,
) -> float:
    """Return the two-sided p of a paired sign-flip permutation test of the mean difference.

    Under the null hypothesis each difference (with `clusters`, the sum of each cluster's) is as
    likely to have the other sign. p is the share of sign patterns whose sum is at least as far
    from 0 as the one observed: of all patterns for up to 20 differences other than 0, or for any
    number of them that are whole multiples of a common fraction, as shares of few facts are; and else
    of a sample, with the observed one counted in it. p is never 0: what is below every float is the
    smallest one.

    Sources: R. A. Fisher, The design of experiments (1935); B. Phipson and G. K. Smyth,
    Permutation p-values should never be zero (2010).

    Args:
        a: figures of one system.
        b: figures of the other one for the same cases, in the same order.
        clusters: what belongs together, one for each case; each case by itself when left out.
        resamples: patterns drawn where not all are counted.
        seed: of the draw.
        tests: how many pairs are tested with this one. From 126 on, 80 patterns for each are drawn where
            p is small, since a correction for so many would leave the smallest p of fewer above 0.05.

    Raises:
        ValueError: when the lengths differ or a figure is not finite.
    """
    differences = [d for d in sums(_differences(a, b), clusters) if abs(d) > _ROUNDING]
    if not differences:
        return 1.0
    steps = _steps(differences)
    if steps is not None:
        return _counted(steps)
    # Sums that are equal but for rounding count.
    observed = max(0.0, abs(math.fsum(differences)) - 1e-12 * math.fsum(map(abs, differences)))
    if len(differences) <= EXACT_UP_TO:
        return _exact(differences, observed)
    draw = random.Random(seed)

    def beyond_of(times: int) -> int:
        return sum(abs(total) >= observed for total in _sampled(differences, times, draw))

    beyond, more = beyond_of(resamples), _FOR_A_TEST * tests - resamples
    if more <= 0 or beyond > _FEW:
        return (beyond + 1) / (resamples + 1)
    return (beyond + beyond_of(more) + 1) / (resamples + more + 1)


def mcnemar(b: int, c: int) -> float:
    """Return the two-sided p of the exact McNemar test.

    Of the b + c cases that only one of two systems passed, either is as likely to have passed
    each: p = min(1, 2 · P(X ≤ min(b, c))) with X binomial of b + c and 1/2. 1 where none differs, and never 0:
    what is below every float is the smallest one.

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
    ways = tail = 1  # n over k, from n over k - 1
    for k in range(1, min(b, c) + 1):
        ways = ways * (n - k + 1) // k
        tail += ways
    return min(1.0, max(float(2 * tail / 2**n), _SMALLEST))


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


def _steps(differences: Sequence[float]) -> list[int] | None:
    """Return the differences as whole multiples of a fraction, None where there is none or it is too fine."""
    for unit in _UNITS:
        steps = [round(d * unit) for d in differences]
        # A difference that would be no step is finer than the fraction.
        if all(step and abs(d * unit - step) < 1e-6 for d, step in zip(differences, steps, strict=True)):
            fits = sum(map(abs, steps)) * (len(steps) + 1) <= _MOST_BITS
            return steps if fits else None
    return None


def _counted(steps: Sequence[int]) -> float:
    """Count all patterns by the sum of the steps that they make positive.

    One whole number holds the counts of all sums side by side, so many bits each that none runs
    over: a step more is a shift and an addition. The remainder by 2^bits - 1 is the sum of its digits.
    """
    span, bits = sum(map(abs, steps)), len(steps) + 1
    counts = 1
    for step in steps:
        counts += counts << abs(step) * bits
    lowest = (span - abs(sum(steps))) // 2
    tail = (counts & ((1 << (lowest + 1) * bits) - 1)) % ((1 << bits) - 1)
    # Each pattern this far below 0 has its mirror above; a sum of 0 is its own, and p is 1.
    return min(1.0, max(float(2 * tail / 2 ** len(steps)), _SMALLEST))


def _exact(differences: Sequence[float], observed: float) -> float:
    """Count all patterns by meeting in the middle: the sums of one half against those of the other."""
    from bisect import bisect_left, bisect_right

    half = len(differences) // 2
    left, right = _patterns(differences[:half]), sorted(_patterns(differences[half:]))
    beyond = 0
    for total in left:
        # A pattern is beyond where total + other >= observed, or <= -observed.
        beyond += len(right) - bisect_left(right, observed - total)
        beyond += bisect_right(right, -observed - total)
    return min(1.0, float(beyond / 2 ** len(differences)))


def _sampled(differences: Sequence[float], resamples: int, draw: random.Random) -> Iterator[float]:
    """Return the sums of patterns drawn at random: a random byte looks up the sum of eight differences."""
    columns = []
    for start in range(0, len(differences), 8):
        part = differences[start : start + 8]
        table = _patterns([*part, *[0.0] * (8 - len(part))])
        columns.append(map(table.__getitem__, draw.randbytes(resamples)))
    return map(sum, zip(*columns, strict=True))


def _patterns(differences: Sequence[float]) -> list[float]:
    """Return the sum of every pattern of signs."""
    found = [0.0]
    for difference in differences:
        found = [total + sign * difference for total in found for sign in (1, -1)]
    return found
