"""How large a difference has to be before so many cases show it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.statistics.clusters import Clusters, partition
from harness.statistics.intervals import Interval
from harness.statistics.means import smoothed_se
from harness.statistics.quantiles import normal_quantile

ALPHA = 0.05
POWER = 0.8
DIFFERENCES = Interval(-1.0, 1.0)
"""Where the difference of two rewards lies."""


def smallest_detectable(
    differences: Sequence[float],
    clusters: Clusters = None,
    *,
    tests: int = 1,
    alpha: float = ALPHA,
    power: float = POWER,
) -> float | None:
    """Return the true mean difference that a paired test finds with probability `power`.

        (z at 1 - alpha / (2 · tests)  +  z at power) · SE, at most 1

    In the unit of the rewards. SE is `smoothed_se` of the differences that were seen, by cluster;
    alpha / tests is the first step of Holm's procedure, which the largest difference has to pass.
    None where nothing can be found: the smallest p of a sign-flip test over G clusters is 2 / 2^G, and
    that has to be at most alpha / tests.

    Sources: E. Miller, Adding error bars to evals, arXiv:2411.00640 (2024); J. Cohen, Statistical power
    analysis for the behavioral sciences (1988).

    Args:
        differences: of the rewards of two systems on the same cases, in [-1, 1].
        clusters: what belongs together, one name for each case.
        tests: how many pairs are tested with this one.
        alpha: the chance of a false alarm over all of them, two-sided.
        power: the chance to find it.

    Raises:
        ValueError: for no difference, one that is not finite, or a wrong number of clusters.
    """
    groups = len(partition(len(differences), clusters))
    if differences and not can_be_found(groups, tests=tests, alpha=alpha):
        return None
    error = smoothed_se(differences, clusters, bounds=DIFFERENCES)
    return min(1.0, (normal_quantile(1 - alpha / (2 * tests)) + normal_quantile(power)) * error)


def can_be_found(groups: int, *, tests: int = 1, alpha: float = ALPHA) -> bool:
    """Say whether the smallest p of a sign-flip test over so many clusters passes the first step of Holm's."""
    return bool(2.0 ** (1 - groups) * tests < alpha)
