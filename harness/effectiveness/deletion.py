"""Deletion: whether what was deleted stays out of recall, and what else goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.effectiveness.dataset import Entry
from harness.effectiveness.matching import read
from harness.effectiveness.observed import Observed, evaluation, not_applicable, row
from harness.evaluation import Evaluation, Item, MetricDefinition, Value, mean_metric

NAME = "deletion"


@dataclass(frozen=True)
class Deletion:
    """Compares the recalls for an entry's question before and after the deletions.

    What was not recalled before has no value: that it is not recalled afterwards proves nothing.
    """

    name: str = field(default=NAME, init=False)

    def metrics(self) -> tuple[MetricDefinition, ...]:
        """Return what is measured."""
        return (
            MetricDefinition(
                "deletion.gone", "deleted facts no longer recalled ÷ deleted facts recalled before"
            ),
            MetricDefinition("deletion.kept", "other facts still recalled ÷ other facts recalled before"),
        )

    def evaluate(self, dataset: Observed) -> Evaluation:
        """Measure the recalls."""
        observed = dataset
        if self.name in observed.lacking:
            return not_applicable(observed, self.name, self.metrics(), observed.lacking[self.name])
        entries = observed.data.for_deletion()
        items = [self._item(observed, entry) for entry in entries]
        metrics = []
        unseen = 0
        for name, deleted in (("gone", True), ("kept", False)):
            mine = [item for entry, item in zip(entries, items, strict=True) if entry.deleted is deleted]
            good = [item for item in mine if not item.failure]
            unseen += sum(item.values[name] is None for item in good)
            what = "deleted" if deleted else "kept"
            metrics.append(
                mean_metric(
                    f"deletion.{name}",
                    [item.values[name] for item in good],
                    failed=len(mine) - len(good),
                    undefined=f"nothing of what was {what} was recalled before"
                    if mine
                    else f"nothing is {what}",
                )
            )
        warnings = (
            [f"{unseen} items were not recalled before the deletions and count in no mean."] if unseen else []
        )
        return evaluation(
            observed, self.name, metrics, items, warnings=warnings, sections={"exposed": _exposed(items)}
        )

    def _item(self, observed: Observed, entry: Entry) -> Item:
        failure = observed.failure(self.name, entry, "recalled_before_deletion", "recalled_after_deletion")
        if failure:
            return row(entry, {}, failure=failure)
        known = observed.prediction(entry)
        before = _stating(entry, known.recalled_before_deletion or ())
        after = _stating(entry, known.recalled_after_deletion or ())
        name = "gone" if entry.deleted else "kept"
        value: Value = None
        if before:
            value = float(bool(after) is not entry.deleted)
        return row(
            entry,
            {"gone": None, "kept": None, name: value},
            passed=None if value is None else value == 1.0,
            deleted=entry.deleted,
            exposed=after if entry.deleted else [],
            missed=[("still recalled" if entry.deleted else "went with the deleted")] if value == 0.0 else [],
        )


def _stating(entry: Entry, texts: Sequence[str]) -> list[str]:
    """Return the texts that state any of an entry's facts."""
    return [text for text in texts if any(fact.stated_in(read(text)) for fact in entry.facts or ())]


def _exposed(items: Sequence[Item]) -> tuple[tuple[str, ...], ...]:
    rows = [(item.id, text) for item in items if not item.failure for text in item.detail["exposed"][:1]]
    return (("Item", "Recalled, and deleted"), *rows)
