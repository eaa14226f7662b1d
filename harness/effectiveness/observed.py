"""What one system made of a data set: a prediction for each entry, from the system or from a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, NamedTuple

from harness.effectiveness.dataset import EffectivenessSet, Entry
from harness.evaluation import Evaluation, Item, Metric, MetricDefinition

NO_PREDICTION = "no prediction"


class Prediction(NamedTuple):
    """What a system made of an entry; None for what is not known.

    Attributes:
        facts: the texts that it stored of it.
        memory_type: the type that it gave.
        importance: the importance that it gave.
        cluster: name of the memory that holds the entry; entries with one name were merged.
        kept_as: text of that memory.
        stored_after_update: texts in the store after the entry and those it supersedes.
        recalled_after_update: texts recalled for its question, best first.
        recalled: texts recalled by its own user for its question.
        recalled_by_others: texts recalled by another user for its question.
        recalled_before_deletion: texts recalled before anything was deleted.
        recalled_after_deletion: the same afterwards.
    """

    facts: tuple[str, ...] | None = None
    memory_type: str | None = None
    importance: float | None = None
    cluster: str | None = None
    kept_as: str | None = None
    stored_after_update: tuple[str, ...] | None = None
    recalled_after_update: tuple[str, ...] | None = None
    recalled: tuple[str, ...] | None = None
    recalled_by_others: tuple[str, ...] | None = None
    recalled_before_deletion: tuple[str, ...] | None = None
    recalled_after_deletion: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Observed:
    """A data set, and what one system made of it.

    Attributes:
        data: the data set.
        system: label of the system.
        predictions: by entry.
        failures: why nothing is known, by evaluator and entry.
        lacking: why a system cannot be measured by an evaluator at all.
        version: what was under test.
        depth: memories that a recall was asked for, None where that is not known.
        source: `adapter`, or the file of the predictions.
    """

    data: EffectivenessSet
    system: str
    predictions: Mapping[str, Prediction]
    failures: Mapping[tuple[str, str], str] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    depth: int | None = None
    source: str = "adapter"

    def prediction(self, entry: Entry) -> Prediction:
        """Return the prediction for an entry, one without anything where there is none."""
        return self.predictions.get(entry.id, Prediction())

    def failure(self, evaluator: str, entry: Entry, *needed: str) -> str:
        """Return why an entry cannot be measured, empty where it can.

        Args:
            evaluator: which one asks.
            entry: the entry.
            needed: fields of the prediction, each of which has to be there.
        """
        found = self.failures.get((evaluator, entry.id), "")
        if found:
            return found
        known = self.predictions.get(entry.id)
        if known is None:
            return NO_PREDICTION
        missing = [name for name in needed if getattr(known, name) is None]
        return f"no prediction of {', '.join(missing)}" if missing else ""


def evaluation(
    observed: Observed,
    evaluator: str,
    metrics: Sequence[Metric],
    items: Sequence[Item],
    *,
    warnings: Sequence[str] = (),
    sections: Mapping[str, tuple[tuple[str, ...], ...]] | None = None,
    options: Mapping[str, str] | None = None,
) -> Evaluation:
    """Return what was measured with all that has to stand beside it."""
    told = {
        "dataset_hash": observed.data.hash,
        "items": str(len(items)),
        "system": observed.version,
        "source": observed.source,
        "recallbench": version("recallbench"),
        **({"depth": str(observed.depth)} if observed.depth is not None else {}),
        **(options or {}),
    }
    return Evaluation(
        evaluator=evaluator,
        system=observed.system,
        dataset=observed.data.id,
        metrics=tuple(metrics),
        items=tuple(_named(evaluator, item) for item in items),
        errors=tuple(f"{item.id}: {item.failure}" for item in items if item.failure),
        warnings=tuple(warnings),
        at=datetime.now(UTC),
        provenance=told,
        sections={name: rows for name, rows in (sections or {}).items() if len(rows) > 1},
    )


def _named(evaluator: str, item: Item) -> Item:
    """Return a row whose figures are called as the metrics are."""
    return replace(item, values={f"{evaluator}.{name}": value for name, value in item.values.items()})


def not_applicable(
    observed: Observed, evaluator: str, definitions: Sequence[MetricDefinition], reason: str
) -> Evaluation:
    """Return the evaluation of a system that does not offer what is measured."""
    metrics = [Metric(one.name, None, 0, 0, reason=f"n/a: {reason}") for one in definitions]
    return evaluation(observed, evaluator, metrics, ())


def row(
    entry: Entry,
    values: Mapping[str, float | None],
    *,
    passed: bool | None = None,
    failure: str = "",
    **detail: Any,
) -> Item:
    """Return the row of an entry; gates count every one."""
    return Item(
        id=entry.id,
        label=entry.label,
        values=values,
        passed=None if failure else passed,
        tags=entry.tags,
        failure=failure,
        detail={"relevant": True, **detail},
    )


Tick = Callable[[], None]
