"""Extraction: the facts that a system stored, against those that were said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from harness.effectiveness import figures
from harness.effectiveness.dataset import Entry
from harness.effectiveness.matching import assignment, edges_of, is_supported
from harness.effectiveness.observed import Observed, evaluation, not_applicable, row
from harness.evaluation import Evaluation, Item, MetricDefinition, mean_metric

NAME = "extraction"


class Rulings(NamedTuple):
    """What holds of the texts stored of one entry.

    Attributes:
        edges: one row a stored text, one column a gold fact: whether they say the same.
        supported: whether what was said supports the text, one a stored text.
        failure: why there is no ruling.
    """

    edges: Sequence[Sequence[bool]]
    supported: Sequence[bool]
    failure: str = ""


@dataclass(frozen=True)
class Extraction:
    """Matches stored texts and gold facts one to one, by their typed values or by a judge's rulings.

    Attributes:
        rulings: a judge's, by entry; typed matching where there are none.
        judge: who ruled.
    """

    rulings: Mapping[str, Rulings] | None = None
    judge: str = ""
    name: str = field(default=NAME, init=False)

    def metrics(self) -> tuple[MetricDefinition, ...]:
        """Return what is measured."""
        return (
            MetricDefinition("extraction.precision", "stored texts matched to a gold fact ÷ stored texts"),
            MetricDefinition("extraction.recall", "gold facts matched to a stored text ÷ gold facts"),
            MetricDefinition("extraction.f1", "2 · matched ÷ (stored texts + gold facts)"),
            MetricDefinition("extraction.item_f1", "mean F1 of the items that have one"),
            MetricDefinition("extraction.coverage", "gold facts stated by any stored text ÷ gold facts"),
            MetricDefinition(
                "extraction.supported", "stored texts that what was said supports ÷ stored texts"
            ),
        )

    def evaluate(self, dataset: Observed) -> Evaluation:
        """Measure what was stored."""
        observed = dataset
        if self.name in observed.lacking:
            return not_applicable(observed, self.name, self.metrics(), observed.lacking[self.name])
        entries = observed.data.for_extraction()
        items = [self._item(observed, entry) for entry in entries]
        good = [item for item in items if not item.failure]
        open = sum(len(entry.facts or ()) for entry, item in zip(entries, items, strict=True) if item.failure)
        right, stored, gold, covered, supported = (
            sum(int(item.detail[name]) for item in good)
            for name in ("matched", "stored_count", "gold_count", "covered", "supported_count")
        )
        n, of = len(good), len(items)
        counted = figures.count_metrics(
            "extraction.", right, stored, gold, open=open, n=n, of=of, what="fact"
        )
        coverage = figures.count_metrics("", covered, covered, gold, open=open, n=n, of=of, what="fact")[1]
        support = figures.count_metrics("", supported, stored, supported, open=open, n=n, of=of, what="fact")[
            0
        ]
        item_f1 = mean_metric(
            "extraction.item_f1",
            [item.values["item_f1"] for item in good],
            failed=of - n,
            undefined="no item has a fact",
        )
        return evaluation(
            observed,
            self.name,
            (
                *counted,
                item_f1,
                replace(coverage, name="extraction.coverage"),
                replace(support, name="extraction.supported"),
            ),
            items,
            warnings=list(self._warnings(good)),
            sections={"hallucinated": _hallucinated(items), "missed": _missed(items)},
            options={"matching": self.judge or "typed values, one to one"},
        )

    def _item(self, observed: Observed, entry: Entry) -> Item:
        failure = observed.failure(self.name, entry, "facts")
        if failure:
            return row(entry, {}, failure=failure)
        stored = observed.prediction(entry).facts or ()
        facts = entry.facts or ()
        ruled = self._ruled(entry, stored)
        if ruled.failure:
            return row(entry, {}, failure=ruled.failure)
        pairs = assignment(ruled.edges)
        found = figures.scores(len(pairs), len(stored), len(facts))
        taken = set(pairs.values())
        covered = [any(line[at] for line in ruled.edges) for at in range(len(facts))]
        return row(
            entry,
            {**found._asdict(), "item_f1": found.f1},
            passed=len(pairs) == len(facts) == len(stored),
            matched=len(pairs),
            stored_count=len(stored),
            gold_count=len(facts),
            covered=sum(covered),
            supported_count=sum(ruled.supported),
            stored=list(stored),
            pairs=[[stored[at], facts[column].shown] for at, column in sorted(pairs.items())],
            missed=[fact.shown for at, fact in enumerate(facts) if at not in taken],
            hallucinated=[text for text, ok in zip(stored, ruled.supported, strict=True) if not ok],
        )

    def _ruled(self, entry: Entry, stored: Sequence[str]) -> Rulings:
        if self.rulings is not None:
            return self.rulings.get(entry.id, Rulings((), (), "the judge did not rule"))
        return Rulings(edges_of(stored, entry.facts or ()), [is_supported(text, entry) for text in stored])

    def _warnings(self, good: Sequence[Item]) -> list[str]:
        if self.rulings is not None:
            return []
        told = ["Stored texts count as supported by a rule on their words and values, not by their meaning."]
        several = sum(item.detail["covered"] > item.detail["matched"] for item in good)
        if several:
            told.append(
                f"{several} of {len(good)} items have a stored text that states several gold facts; one to one, "
                "it counts for one of them (extraction.coverage counts all)."
            )
        return told


def _hallucinated(items: Sequence[Item]) -> tuple[tuple[str, ...], ...]:
    rows = [(item.id, text) for item in items for text in item.detail.get("hallucinated", ())]
    return (("Item", "Stored, and supported by no message"), *rows)


def _missed(items: Sequence[Item]) -> tuple[tuple[str, ...], ...]:
    rows = [(item.id, text) for item in items for text in item.detail.get("missed", ())]
    return (("Item", "Said, and not stored as a fact of its own"), *rows)
