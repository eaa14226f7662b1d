"""The one result shape that every evaluator returns, and what an evaluator is.

An `Evaluation` is what was measured and on what: its metrics with their counts and bounds, one
row an item, what failed, what to beware of, and where it all came from. Renderers take it as it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

Value = float | None


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """What a metric is.

    Attributes:
        name: such as `recall@5`.
        formula: how it is computed, in a line.
        higher_is_better: False for errors and times.
        unit: `share` for values in [0, 1], or the unit.
    """

    name: str
    formula: str
    higher_is_better: bool = True
    unit: str = "share"


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure that was measured.

    Attributes:
        name: of its definition.
        value: the mean over the items that have one; None where none has.
        n: items that the mean is over.
        of: items that it was asked of; the rest failed.
        low: the mean with every item that failed as 0, or as the worst value.
        high: the same with 1, or the best value.
        chance: what blind guessing would reach; None where nobody worked it out.
        reason: why there is no value.

    Raises:
        ValueError: for a value that is not finite.
    """

    name: str
    value: Value
    n: int
    of: int
    low: Value = None
    high: Value = None
    chance: Value = None
    reason: str = ""

    def __post_init__(self) -> None:
        for figure in (self.value, self.low, self.high, self.chance):
            if figure is not None and not math.isfinite(figure):
                raise ValueError(f"{self.name} is not finite: {figure!r}")

    @property
    def complete(self) -> bool:
        """Whether every item that was asked has a value."""
        return self.n == self.of


@dataclass(frozen=True, slots=True)
class Item:
    """One row of an evaluation: a query, a fact, an operation.

    Attributes:
        id: name inside the data set.
        label: what a person reads, such as the query's text.
        values: the item's own figures by metric; None where the metric is undefined for it.
        passed: whether it counts as passed; None where it can't.
        tags: groups that it belongs to.
        failure: why nothing was measured, or an empty text.
        detail: whatever else a report may show.
    """

    id: str
    label: str
    values: Mapping[str, Value] = field(default_factory=dict)
    passed: bool | None = None
    tags: tuple[str, ...] = ()
    failure: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluator measured of one system on one data set.

    Attributes:
        evaluator: its name.
        system: label of what was measured.
        dataset: name of what it was measured on.
        metrics: the figures, in the order in which they are shown.
        items: one row for everything that was asked, failures among them.
        errors: what failed, with its cause.
        warnings: what a reader has to know before believing the figures.
        at: when it was measured.
        provenance: hashes, versions, options: what it takes to measure it again.
        sections: further tables by name, as rows of cells with a header first.
    """

    evaluator: str
    system: str
    dataset: str
    metrics: tuple[Metric, ...]
    items: tuple[Item, ...] = ()
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    at: datetime | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Items that can pass or fail."""
        return sum(item.passed is not None for item in self.items)

    @property
    def passed(self) -> int:
        """Items that passed."""
        return sum(item.passed is True for item in self.items)

    def metric(self, name: str) -> Metric | None:
        """Return a metric by its name, or None."""
        return next((one for one in self.metrics if one.name == name), None)


class Evaluator(Protocol):
    """Measures one aspect of a system on a data set."""

    @property
    def name(self) -> str:
        """What it is called in reports."""
        ...

    def metrics(self) -> tuple[MetricDefinition, ...]:
        """Return the definitions of what it measures."""
        ...

    def evaluate(self, dataset: Any) -> Evaluation:
        """Measure on a data set."""
        ...


def mean_metric(
    name: str,
    values: list[Value],
    *,
    failed: int = 0,
    chance: Value = None,
    worst: float = 0.0,
    best: float = 1.0,
    undefined: str = "no item has a value",
) -> Metric:
    """Average the values of the items that have one, with bounds for those that failed.

    Args:
        name: of the metric.
        values: one for each item that was measured; None where the metric is undefined for it.
        failed: items that were asked and have none.
        chance: what guessing would reach.
        worst: what a failed item counts as in the lower bound.
        best: the same in the upper one.
        undefined: the reason given where no item has a value.
    """
    found = [value for value in values if value is not None]
    asked = len(found) + failed
    if not found:
        return Metric(name, None, 0, asked, chance=chance, reason=undefined)
    total = math.fsum(found)
    return Metric(
        name,
        total / len(found),
        len(found),
        asked,
        low=(total + failed * worst) / asked,
        high=(total + failed * best) / asked,
        chance=chance,
    )
