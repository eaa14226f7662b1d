"""The weighted overall score, over what was measured, with its weights shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.errors import InputError
from harness.evaluation import Evaluation, Item, Metric, MetricDefinition

NAME = "overall"
HEADLINES: Mapping[str, str] = {
    "extraction": "extraction.f1",
    "classification": "classification.macro_f1",
    "importance": "importance.within",
    "deduplication": "deduplication.bcubed_f1",
    "update": "update.updated",
    "isolation": "isolation.isolated",
    "deletion": "deletion.gone",
}
"""The figure of each evaluator that goes into the score: a share, more is better."""
WEIGHTS: Mapping[str, float] = {
    "extraction": 0.25,
    "classification": 0.10,
    "importance": 0.10,
    "deduplication": 0.15,
    "update": 0.20,
    "isolation": 0.10,
    "deletion": 0.10,
}


def parse_weights(texts: Sequence[str]) -> dict[str, float]:
    """Read `extraction=2` and the like; evaluators that are not named keep their weight.

    Raises:
        InputError: for an unknown evaluator, or a weight that is no number from 0 on.
    """
    found = dict(WEIGHTS)
    for text in texts:
        name, _, figure = text.partition("=")
        try:
            weight = float(figure)
        except ValueError:
            weight = -1.0
        if name not in WEIGHTS or not 0 <= weight < math.inf:
            known = ", ".join(WEIGHTS)
            raise InputError(f"--weight {text}: write EVALUATOR=NUMBER with one of {known}.")
        found[name] = weight
    if not any(found.values()):
        raise InputError("--weight: every weight is 0. Leave one above it.")
    return found


@dataclass(frozen=True)
class Overall:
    """Adds the evaluations of one system up.

        score = Σ weight · headline ÷ Σ weight, over the evaluators that have a headline figure

    Attributes:
        weights: by evaluator.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    name: str = field(default=NAME, init=False)

    def metrics(self) -> tuple[MetricDefinition, ...]:
        """Return what is measured."""
        return (
            MetricDefinition("overall.score", "weighted mean of the headline figures that were measured"),
        )

    def evaluate(self, dataset: Sequence[Evaluation]) -> Evaluation:
        """Return the score of one system, the bounds taking what was not measured as 0 and as 1."""
        parts = [(one, one.metric(HEADLINES[one.evaluator])) for one in dataset if one.evaluator in HEADLINES]
        whole = math.fsum(self.weights[one.evaluator] for one, _ in parts)
        known = [(self.weights[one.evaluator], metric) for one, metric in parts if _has_value(metric)]
        held = math.fsum(weight for weight, _ in known)
        rows = [_row(one.evaluator, self.weights[one.evaluator], metric, held) for one, metric in parts]
        first = dataset[0]
        items = [
            Item(
                id=one.evaluator,
                label=HEADLINES[one.evaluator],
                values={"overall.score": metric.value if metric else None},
                failure="" if _has_value(metric) else (metric.reason if metric else "not measured"),
                detail={"relevant": True, "weight": self.weights[one.evaluator]},
            )
            for one, metric in parts
        ]
        return Evaluation(
            evaluator=self.name,
            system=first.system,
            dataset=first.dataset,
            metrics=(_score(known, held, whole, len(parts)),),
            items=tuple(items),
            at=first.at,
            provenance=first.provenance,
            sections={"weights": (("Evaluator", "Figure", "Value", "Weight", "Share"), *rows)},
        )


def _has_value(metric: Metric | None) -> bool:
    return metric is not None and metric.value is not None


def _score(known: Sequence[tuple[float, Metric | None]], held: float, whole: float, of: int) -> Metric:
    if held <= 0:
        return Metric("overall.score", None, 0, of, reason="nothing with a weight was measured")
    value, low, high = (
        math.fsum(weight * float(getattr(metric, part)) for weight, metric in known)
        for part in ("value", "low", "high")
    )
    missing = whole - held
    return Metric(
        "overall.score",
        _share(value / held),
        len(known),
        of,
        low=_share(low / whole),
        high=_share((high + missing) / whole),
    )


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


def _row(name: str, weight: float, metric: Metric | None, held: float) -> tuple[str, ...]:
    if metric is None or metric.value is None:
        reason = metric.reason if metric else "not measured"
        return (name, HEADLINES[name], f"– ({reason})", f"{weight:g}", "–")
    return (
        name,
        HEADLINES[name],
        f"{metric.value:.3f}",
        f"{weight:g}",
        f"{weight / held:.3f}" if held else "–",
    )
