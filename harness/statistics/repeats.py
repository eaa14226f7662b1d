"""Several runs of one system over the same cases: one figure a case, and how much the runs differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class RunSpread(NamedTuple):
    """How far the means of repeated runs lie from one another.

    Attributes:
        runs: how many there are.
        lowest: the lowest mean of a run.
        highest: the highest one.
        sd: standard deviation of the runs' means (with runs - 1); 0 for a single run.
        within: standard deviation of a case's figures between runs, over all cases:
            √(mean over cases of their variance, with runs - 1); 0 for a single run.
        changed: cases whose figure is not the same in every run.
        cases: cases there are.
    """

    runs: int
    lowest: float
    highest: float
    sd: float
    within: float
    changed: int
    cases: int


def averaged(runs: Sequence[Sequence[float]]) -> list[float]:
    """Return each case's mean over the runs: repeats are no further cases, and are averaged first.

    Raises:
        ValueError: for no run, or runs over different numbers of cases.
    """
    _check(runs)
    return [math.fsum(figures) / len(runs) for figures in zip(*runs, strict=True)]


def run_spread(runs: Sequence[Sequence[float]]) -> RunSpread:
    """Return how much repeated runs differ; all figures in the unit of what was measured.

    Source: E. Miller, Adding error bars to evals, arXiv:2411.00640 (2024).

    Args:
        runs: one for each run, with a figure for each case, in the same order.

    Raises:
        ValueError: for no run, runs over different numbers of cases, or none.
    """
    _check(runs)
    if not runs[0]:
        raise ValueError("nothing has no mean")
    means = [math.fsum(run) / len(run) for run in runs]
    by_case = list(zip(*runs, strict=True))
    within = math.fsum(_variance(figures) for figures in by_case) / len(by_case)
    return RunSpread(
        runs=len(runs),
        lowest=min(means),
        highest=max(means),
        sd=math.sqrt(_variance(means)),
        within=math.sqrt(within),
        changed=sum(max(figures) - min(figures) > 1e-9 for figures in by_case),
        cases=len(by_case),
    )


def _check(runs: Sequence[Sequence[float]]) -> None:
    if not runs:
        raise ValueError("there is no run")
    if len({len(run) for run in runs}) != 1:
        raise ValueError("repeated runs have a figure for each case, all for the same ones")


def _variance(values: Sequence[float]) -> float:
    if len(values) < 2:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
