"""Classification: the type that a system gave a memory, against the one it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.effectiveness import figures
from harness.effectiveness.dataset import Entry
from harness.effectiveness.figures import ClassScores
from harness.effectiveness.observed import Observed, evaluation, not_applicable, row
from harness.evaluation import Evaluation, Item, Metric, MetricDefinition, Value, mean_metric
from harness.statistics import cohen_kappa

NAME = "classification"
_PARTS = ("precision", "recall", "f1")


@dataclass(frozen=True)
class Classification:
    """Each entry is predicted once; labels are compared without regard to case."""

    name: str = field(default=NAME, init=False)

    def metrics(self) -> tuple[MetricDefinition, ...]:
        """Return what is measured."""
        mean = "mean over the labels, predicted or gold, for which it is defined"
        weighted = "mean over the gold labels, weighted by support, where it is defined"
        return (
            MetricDefinition("classification.accuracy", "right labels ÷ labels"),
            *(MetricDefinition(f"classification.macro_{part}", f"{part}: {mean}") for part in _PARTS),
            *(MetricDefinition(f"classification.weighted_{part}", f"{part}: {weighted}") for part in _PARTS),
            MetricDefinition("classification.kappa", "Cohen's kappa", unit="kappa"),
        )

    def evaluate(self, dataset: Observed) -> Evaluation:
        """Measure the types."""
        observed = dataset
        if self.name in observed.lacking:
            return not_applicable(observed, self.name, self.metrics(), observed.lacking[self.name])
        items = [self._item(observed, entry) for entry in observed.data.for_classification()]
        good = [item for item in items if not item.failure]
        failed = len(items) - len(good)
        gold = [str(item.detail["gold"]) for item in good]
        predicted = [str(item.detail["predicted"]) for item in good]
        classes = figures.by_class(gold, predicted)
        metrics = [
            mean_metric(
                "classification.accuracy",
                [item.values["accuracy"] for item in good],
                failed=failed,
                undefined="nothing was predicted",
            )
        ]
        n, of = len(good), len(items)
        labels = [1.0] * len(classes)
        support = [float(one.support) for one in classes]
        for kind, weights in (("macro", labels), ("weighted", support)):
            for at, part in enumerate(_PARTS):
                value = figures.weighted_mean([one.scores[at] for one in classes], weights)
                reason = "it is undefined for every label" if gold else "nothing was predicted"
                metrics.append(_over(f"classification.{kind}_{part}", value, reason, n, of))
        reason = "there is only one label" if gold else "nothing was predicted"
        metrics.append(_over("classification.kappa", cohen_kappa(gold, predicted), reason, n, of))
        return evaluation(
            observed,
            self.name,
            metrics,
            items,
            warnings=_warnings(classes),
            sections={"classes": _class_rows(classes), "confusion": _confusion(gold, predicted)},
        )

    def _item(self, observed: Observed, entry: Entry) -> Item:
        failure = observed.failure(self.name, entry, "memory_type")
        if failure:
            return row(entry, {}, failure=failure)
        gold, found = _folded(entry.memory_type), _folded(observed.prediction(entry).memory_type)
        right = gold == found
        return row(
            entry,
            {"accuracy": float(right)},
            passed=right,
            gold=gold,
            predicted=found,
            missed=[] if right else [f"{gold}, not {found}"],
        )


def _folded(label: str | None) -> str:
    return " ".join((label or "").split()).casefold()


def _over(name: str, value: Value, reason: str, n: int, of: int) -> Metric:
    """Return a figure over all items; one without a prediction can move any label, so bounds are all there is."""
    if value is None:
        return Metric(name, None, 0, of, reason=reason)
    whole = n == of
    least = -1.0 if name.endswith("kappa") else 0.0
    return Metric(name, value, n, of, low=value if whole else least, high=value if whole else 1.0)


def _warnings(classes: Sequence[ClassScores]) -> list[str]:
    never = [one.label for one in classes if one.support and not one.predicted]
    unknown = [one.label for one in classes if one.predicted and not one.support]
    told = []
    if never:
        told.append(f"never predicted, so without a precision: {', '.join(never)}.")
    if unknown:
        told.append(f"predicted and nowhere gold, so without a recall: {', '.join(unknown)}.")
    return told


def _class_rows(classes: Sequence[ClassScores]) -> tuple[tuple[str, ...], ...]:
    rows = [
        (
            one.label,
            *("–" if value is None else f"{value:.3f}" for value in one.scores),
            str(one.support),
            str(one.predicted),
        )
        for one in classes
    ]
    return (("Label", "Precision", "Recall", "F1", "Support", "Predicted"), *rows)


def _confusion(gold: Sequence[str], predicted: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    counts = Counter(zip(gold, predicted, strict=True))
    labels = sorted({*gold, *predicted})
    rows = [
        (label, *(str(counts[label, other]) if counts[label, other] else "·" for other in labels))
        for label in labels
    ]
    return (("Gold ↓ predicted →", *labels), *rows)
