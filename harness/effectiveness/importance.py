"""Importance: the weight from 1 to 10 that a system gave a memory, against the one people gave it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from harness.effectiveness import figures
from harness.effectiveness.dataset import Entry
from harness.effectiveness.observed import Observed, evaluation, not_applicable, row
from harness.evaluation import Evaluation, Item, Metric, MetricDefinition, Value, mean_metric

NAME = "importance"
LOW, HIGH = 1.0, 10.0
_WORST = HIGH - LOW


@dataclass(frozen=True)
class Importance:
    """Compares numbers.

    Attributes:
        tolerance: how far off still counts as right.
    """

    tolerance: float = 1.0
    name: str = field(default=NAME, init=False)

    def metrics(self) -> tuple[MetricDefinition, ...]:
        """Return what is measured."""
        return (
            MetricDefinition("importance.within", f"share at most {self.tolerance:g} off"),
            MetricDefinition("importance.mae", "mean of |predicted - gold|", False, "points"),
            MetricDefinition("importance.rmse", "√ mean of (predicted - gold)²", False, "points"),
            MetricDefinition("importance.spearman", "Spearman's rank correlation", unit="correlation"),
            MetricDefinition("importance.pearson", "Pearson's correlation", unit="correlation"),
        )

    def evaluate(self, dataset: Observed) -> Evaluation:
        """Measure the numbers."""
        observed = dataset
        if self.name in observed.lacking:
            return not_applicable(observed, self.name, self.metrics(), observed.lacking[self.name])
        items = [self._item(observed, entry) for entry in observed.data.for_importance()]
        good = [item for item in items if not item.failure]
        failed = len(items) - len(good)
        errors: list[Value] = [item.values["mae"] for item in good]
        within: list[Value] = [item.values["within"] for item in good]
        nothing = "nothing was predicted"
        squares = mean_metric(
            "importance.rmse",
            [error * error for error in errors if error is not None],
            failed=failed,
            worst=_WORST**2,
            best=0.0,
            undefined=nothing,
        )
        gold = [float(item.detail["gold"]) for item in good]
        predicted = [float(item.detail["predicted"]) for item in good]
        metrics = (
            mean_metric("importance.within", within, failed=failed, undefined=nothing),
            mean_metric("importance.mae", errors, failed=failed, worst=_WORST, best=0.0, undefined=nothing),
            _root(squares),
            _correlation("importance.spearman", figures.spearman(gold, predicted), len(good), len(items)),
            _correlation("importance.pearson", figures.pearson(gold, predicted), len(good), len(items)),
        )
        return evaluation(observed, self.name, metrics, items, options={"tolerance": f"{self.tolerance:g}"})

    def _item(self, observed: Observed, entry: Entry) -> Item:
        failure = observed.failure(self.name, entry, "importance")
        gold, found = entry.importance, observed.prediction(entry).importance
        if not failure and found is not None and not LOW <= found <= HIGH:
            failure = f"the importance {found:g} is not between {LOW:g} and {HIGH:g}"
        if failure or gold is None or found is None:
            return row(entry, {}, failure=failure)
        error = abs(found - gold)
        right = error <= self.tolerance + 1e-9
        return row(
            entry,
            {"mae": error, "within": float(right)},
            passed=right,
            gold=gold,
            predicted=found,
            missed=[] if right else [f"{gold:g}, not {found:g}"],
        )


def _root(metric: Metric) -> Metric:
    if metric.value is None:
        return metric
    low, high = metric.low or 0.0, metric.high or 0.0
    return Metric(metric.name, math.sqrt(metric.value), metric.n, metric.of, math.sqrt(low), math.sqrt(high))


def _correlation(name: str, value: Value, n: int, of: int) -> Metric:
    if value is None:
        reason = "fewer than two items have a value" if n < 2 else "one of the two sides is always the same"
        return Metric(name, None, 0, of, reason=reason)
    return Metric(name, value, n, of, low=value if n == of else -1.0, high=value if n == of else 1.0)
