"""What a rate or a mean is once the errors of the judge that measured it are taken out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Estimate(NamedTuple):
    """A figure and its standard error, both in the unit of what was measured."""

    value: float
    se: float


def rogan_gladen(observed: float, sensitivity: float, specificity: float) -> float:
    """Return the true share behind the share that a judge of known error rates sees.

        (observed + specificity - 1) / (sensitivity + specificity - 1), cut to [0, 1]

    Source: W. J. Rogan and B. Gladen, Estimating prevalence from the results of a screening test,
    American J. Epidemiology 107 (1978).

    Args:
        observed: share that the judge passed, in [0, 1].
        sensitivity: share of right answers that it passes.
        specificity: share of wrong answers that it does not pass.

    Raises:
        ValueError: for what is no share, or a judge that does no better than guessing.
    """
    if not all(0 <= share <= 1 for share in (observed, sensitivity, specificity)):
        raise ValueError("shares are in [0, 1]")
    better = sensitivity + specificity - 1
    if better <= 0:
        raise ValueError(
            f"a judge of sensitivity {sensitivity:g} and specificity {specificity:g} guesses: nothing to correct by"
        )
    return min(1.0, max(0.0, (observed + specificity - 1) / better))


def ppi_mean(
    human: Sequence[float], judge_on_labelled: Sequence[float], judge_on_others: Sequence[float]
) -> Estimate:
    """Return the mean that people would give, from a few of their labels and many of a judge's.

        value = mean(judge on others) + mean(human - judge on labelled)
        SE²   = var(judge on others)/N + var(human - judge on labelled)/n, variances with N - 1 and n - 1

    Prediction-powered inference: the judge's mean, moved by how far it was off where people looked.
    The value is in the unit of the labels and is not cut to their range.

    Source: A. Angelopoulos et al., Prediction-powered inference, Science 382 (2023), algorithm 1.

    Args:
        human: the labels of n things, in an order.
        judge_on_labelled: the judge's figures of the same things, in that order.
        judge_on_others: the judge's figures of N other things.

    Raises:
        ValueError: when the first two differ in length, or fewer than two figures are there.
    """
    if len(human) != len(judge_on_labelled):
        raise ValueError(f"{len(human)} labels cannot be paired with {len(judge_on_labelled)}")
    if len(human) < 2 or len(judge_on_others) < 2:
        raise ValueError("two labelled and two other things are the least")
    off, spread_off = _moments([one - other for one, other in zip(human, judge_on_labelled, strict=True)])
    seen, spread_seen = _moments(judge_on_others)
    return Estimate(seen + off, math.sqrt(spread_seen / len(judge_on_others) + spread_off / len(human)))


def _moments(values: Sequence[float]) -> tuple[float, float]:
    if not all(map(math.isfinite, values)):
        raise ValueError("a figure is not finite")
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
