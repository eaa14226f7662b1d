"""The evaluators by name, and a system measured by several of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.effectiveness.classification import Classification
from harness.effectiveness.dataset import EffectivenessSet
from harness.effectiveness.deduplication import Deduplication
from harness.effectiveness.deletion import Deletion
from harness.effectiveness.extraction import Extraction, Rulings
from harness.effectiveness.importance import Importance
from harness.effectiveness.isolation import Isolation
from harness.effectiveness.observed import Observed
from harness.effectiveness.overall import Overall
from harness.effectiveness.update import Update
from harness.errors import InputError
from harness.evaluation import Evaluation, Evaluator, MetricDefinition

NAMES = ("extraction", "classification", "importance", "deduplication", "update", "isolation", "deletion")


def make_evaluators(
    *, tolerance: float = 1.0, rulings: Mapping[str, Rulings] | None = None, judge: str = ""
) -> dict[str, Evaluator]:
    """Return every evaluator by its name.

    Args:
        tolerance: of importance.
        rulings: a judge's on extraction, instead of typed matching.
        judge: who ruled.
    """
    made: Sequence[Evaluator] = (
        Extraction(rulings, judge),
        Classification(),
        Importance(tolerance),
        Deduplication(),
        Update(),
        Isolation(),
        Deletion(),
    )
    return {one.name: one for one in made}


def served_by(data: EffectivenessSet, wanted: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the evaluators that a data set has entries for, those wanted only where any are named.

    Raises:
        InputError: for an unknown one, one without entries, or a data set without labels.
    """
    served = tuple(name for name in NAMES if getattr(data, f"for_{name}")())
    asked = tuple(dict.fromkeys(wanted))
    for name in asked:
        if name not in NAMES:
            raise InputError(f"--only {name}: no such evaluator. Known: {', '.join(NAMES)}.")
        if name not in served:
            raise InputError(f"--only {name}: {data.id} has no test case for it ({', '.join(served)}).")
    if not served:
        raise InputError(
            f"{data.id}: no test case has a label to measure against; see docs/effectiveness.md."
        )
    return tuple(name for name in NAMES if name in asked) or served


def measure(
    observed: Observed, names: Sequence[str], evaluators: Mapping[str, Evaluator], overall: Overall
) -> list[Evaluation]:
    """Return the evaluations of one system, the overall score last where several were made."""
    found = [evaluators[name].evaluate(observed) for name in names]
    return [*found, overall.evaluate(found)] if len(found) > 1 else found


def definitions() -> tuple[MetricDefinition, ...]:
    """Return every metric there is."""
    every = [one for evaluator in make_evaluators().values() for one in evaluator.metrics()]
    return (*every, *Overall().metrics())


def measured_by(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the metrics that `measure` returns for these evaluators, in its order."""
    evaluators = make_evaluators()
    found = [metric.name for name in names for metric in evaluators[name].metrics()]
    return (*found, *(one.name for one in Overall().metrics())) if len(names) > 1 else tuple(found)
