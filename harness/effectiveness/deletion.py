"""Deletion: whether what was deleted stays out of recall, and what else goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.effectiveness.dataset import Entry, ExpectedFact
from harness.effectiveness.matching import read
from harness.effectiveness.observed import Observed, evaluation, not_applicable, row
from harness.evaluation import Evaluation, Item, MetricDefinition, Value, mean_metric
from harness.facts import AnswerText

NAME = "deletion"


@dataclass(frozen=True)
class Deletion:
    """Compares the recalls for an entry's question before and after the deletions, fact by fact.

    A fact that was not recalled before and is not recalled afterwards has no value: that it is
    missing proves nothing. A deleted one that is recalled afterwards is not gone in any case.
    """

    name: str = field(default=NAME, init=False)

    def metrics(self) -> tuple[MetricDefinition, ...]:
        """Return what is measured."""
        return (
            MetricDefinition(
                "deletion.gone", "deleted facts no longer recalled ÷ deleted facts recalled before or after"
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
            mine = [pair for pair in zip(entries, items, strict=True) if pair[0].deleted is deleted]
            values = [
                value for _, item in mine if not item.failure for value in item.detail["facts"].values()
            ]
            unseen += values.count(None)
            what = "deleted" if deleted else "kept"
            metrics.append(
                mean_metric(
                    f"deletion.{name}",
                    values,
                    failed=sum(len(entry.facts or ()) for entry, item in mine if item.failure),
                    undefined=f"nothing of what was {what} was recalled before"
                    if mine
                    else f"nothing is {what}",
                )
            )
        warnings = (
            [f"{unseen} facts were not recalled before the deletions and count in no mean."] if unseen else []
        )
        return evaluation(
            observed, self.name, metrics, items, warnings=warnings, sections={"exposed": _exposed(items)}
        )

    def _item(self, observed: Observed, entry: Entry) -> Item:
        failure = observed.failure(self.name, entry, "recalled_before_deletion", "recalled_after_deletion")
        if failure:
            return row(entry, {}, failure=failure)
        known = observed.prediction(entry)
        before = [read(text) for text in known.recalled_before_deletion or ()]
        after = [read(text) for text in known.recalled_after_deletion or ()]
        facts = {
            f"{number} {fact.shown}": _value(fact, before, after, deleted=bool(entry.deleted))
            for number, fact in enumerate(entry.facts or (), start=1)
        }
        measured = [value for value in facts.values() if value is not None]
        name, what = ("gone", "still recalled") if entry.deleted else ("kept", "went with the deleted")
        return row(
            entry,
            {"gone": None, "kept": None, name: sum(measured) / len(measured) if measured else None},
            passed=all(measured) if measured else None,
            deleted=entry.deleted,
            facts=facts,
            exposed=[text.raw for text in after if entry.deleted and _states_any(text, entry)],
            missed=[f"{what}: {fact.partition(' ')[2]}" for fact, value in facts.items() if value == 0.0],
        )


def _value(
    fact: ExpectedFact, before: Sequence[AnswerText], after: Sequence[AnswerText], *, deleted: bool
) -> Value:
    """Return whether a fact is where it belongs after the deletions; None where that cannot be told.

    A deleted fact that is recalled afterwards is not gone, whether or not it was recalled before.
    """
    was, still = (any(fact.stated_in(text) for text in texts) for texts in (before, after))
    if deleted:
        return float(not still) if was or still else None
    return float(still) if was else None


def _states_any(text: AnswerText, entry: Entry) -> bool:
    return any(fact.stated_in(text) for fact in entry.facts or ())


def _exposed(items: Sequence[Item]) -> tuple[tuple[str, ...], ...]:
    rows = [(item.id, text) for item in items if not item.failure for text in item.detail["exposed"][:1]]
    return (("Item", "Recalled, and deleted"), *rows)
