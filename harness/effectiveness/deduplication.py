"""Deduplication: which entries a system keeps as one memory, against which say the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.effectiveness import figures
from harness.effectiveness.dataset import Entry
from harness.effectiveness.matching import read
from harness.effectiveness.observed import Observed, evaluation, not_applicable, row
from harness.evaluation import Evaluation, Item, Metric, MetricDefinition, Value, mean_metric

NAME = "deduplication"


@dataclass(frozen=True)
class Deduplication:
    """Compares clusters by pairs and by items, and looks whether a merge lost a fact."""

    name: str = field(default=NAME, init=False)

    def metrics(self) -> tuple[MetricDefinition, ...]:
        """Return what is measured."""
        return (
            MetricDefinition("deduplication.precision", "pairs rightly merged ÷ pairs merged"),
            MetricDefinition("deduplication.recall", "pairs rightly merged ÷ pairs that say the same"),
            MetricDefinition("deduplication.f1", "2 · pairs rightly merged ÷ (merged + same)"),
            MetricDefinition(
                "deduplication.bcubed_precision", "mean share of an item's memory that says the same"
            ),
            MetricDefinition(
                "deduplication.bcubed_recall", "mean share of what says the same in an item's memory"
            ),
            MetricDefinition("deduplication.bcubed_f1", "harmonic mean of the two"),
            MetricDefinition(
                "deduplication.merge_correct", "merged items whose memory states all their facts ÷ merged"
            ),
            MetricDefinition("deduplication.kept", "items whose facts some memory states ÷ items with facts"),
        )

    def evaluate(self, dataset: Observed) -> Evaluation:
        """Measure the clusters."""
        observed = dataset
        if self.name in observed.lacking:
            return not_applicable(observed, self.name, self.metrics(), observed.lacking[self.name])
        entries = observed.data.for_deduplication()
        gold = observed.data.clusters()
        failures = {entry.id: observed.failure(self.name, entry, "cluster") for entry in entries}
        predicted = {
            entry.id: cluster
            for entry in entries
            if not failures[entry.id] and (cluster := observed.prediction(entry).cluster)
        }
        by_item = figures.b_cubed(gold, predicted)
        sizes: dict[str, list[str]] = defaultdict(list)
        for id, cluster in predicted.items():
            sizes[cluster].append(id)
        texts = {text for entry in entries if (text := observed.prediction(entry).kept_as) is not None}
        items = []
        for entry in entries:
            if failures[entry.id]:
                items.append(row(entry, {}, failure=failures[entry.id]))
                continue
            if entry.id not in predicted:
                items.append(_in_no_memory(entry))
                continue
            together = sizes[predicted[entry.id]]
            items.append(self._item(observed, entry, gold, together, by_item[entry.id], texts))
        metrics = self._figures(gold, predicted, items)
        return evaluation(
            observed, self.name, metrics, items, sections={"clusters": _wrong(items), "lost": _lost(items)}
        )

    def _item(
        self,
        observed: Observed,
        entry: Entry,
        gold: Mapping[str, str],
        together: Sequence[str],
        bcubed: tuple[float, float],
        texts: set[str],
    ) -> Item:
        own = observed.prediction(entry).kept_as
        merged: Value = None
        if len(together) > 1 and entry.facts and own is not None:
            merged = float(entry.states(read(own)))
        kept = float(_kept(entry, texts)) if entry.facts and texts else None
        same = {id for id, cluster in gold.items() if cluster == gold[entry.id]}
        right = bcubed == (1.0, 1.0) and merged != 0.0
        extra = sorted(set(together) - same)
        apart = sorted(same - set(together))
        return row(
            entry,
            {
                "bcubed_precision": bcubed[0],
                "bcubed_recall": bcubed[1],
                "merge_correct": merged,
                "kept": kept,
            },
            passed=right,
            with_wrong=extra,
            apart_from=apart,
            missed=[*(f"merged with {id}" for id in extra), *(f"apart from {id}" for id in apart)],
        )

    def _figures(
        self, gold: Mapping[str, str], predicted: Mapping[str, str], items: Sequence[Item]
    ) -> list[Metric]:
        good = [item for item in items if item.id in predicted]
        failed = len(items) - len(good)
        counts = figures.pair_counts(gold, predicted)
        every = figures.pair_counts(gold, gold).gold
        pairs = figures.count_metrics(
            "deduplication.",
            *counts,
            open=every - counts.gold,
            n=len(good),
            of=len(items),
            what="pair of duplicates",
        )
        values = {
            name: [item.values[name] for item in good]
            for name in ("bcubed_precision", "bcubed_recall", "merge_correct")
        }
        nothing = "nothing was predicted"
        precision, recall = (
            mean_metric(f"deduplication.{name}", values[name], failed=failed, undefined=nothing)
            for name in ("bcubed_precision", "bcubed_recall")
        )
        f1 = figures.harmonic(precision.value, recall.value)
        low, high = (
            figures.harmonic(one, other)
            for one, other in ((precision.low, recall.low), (precision.high, recall.high))
        )
        name = "deduplication.bcubed_f1"
        missing = Metric(name, None, 0, len(items), reason=nothing)
        return [
            *pairs,
            precision,
            recall,
            missing if f1 is None else Metric(name, f1, precision.n, precision.of, low=low, high=high),
            mean_metric(
                "deduplication.merge_correct",
                values["merge_correct"],
                undefined="no two items were merged, or the memories' texts are not known",
            ),
            mean_metric(
                "deduplication.kept",
                [item.values["kept"] for item in items if not item.failure],
                failed=sum(bool(item.failure) for item in items),
                undefined="no item has facts, or the memories' texts are not known",
            ),
        ]


def _in_no_memory(entry: Entry) -> Item:
    """Return the row of an entry that no memory holds: it is in no cluster, and its facts are lost."""
    none = dict.fromkeys(("bcubed_precision", "bcubed_recall", "merge_correct"))
    kept = 0.0 if entry.facts else None
    return row(
        entry, {**none, "kept": kept}, passed=False, with_wrong=[], apart_from=[], missed=["in no memory"]
    )


def _kept(entry: Entry, texts: set[str]) -> bool:
    """Say whether every fact of an entry stands in some memory."""
    return all(any(fact.stated_in(read(text)) for text in texts) for fact in entry.facts or ())


def _wrong(items: Sequence[Item]) -> tuple[tuple[str, ...], ...]:
    rows = [
        (
            item.id,
            item.label,
            ", ".join(item.detail["with_wrong"]) or "–",
            ", ".join(item.detail["apart_from"]) or "–",
        )
        for item in items
        if not item.failure and (item.detail["with_wrong"] or item.detail["apart_from"])
    ]
    return (("Item", "Text", "Merged with, wrongly", "Kept apart from, wrongly"), *rows)


def _lost(items: Sequence[Item]) -> tuple[tuple[str, ...], ...]:
    rows = [
        (item.id, item.label, "merged away" if item.values["merge_correct"] == 0.0 else "in no memory")
        for item in items
        if not item.failure and 0.0 in (item.values["merge_correct"], item.values["kept"])
    ]
    return (("Item", "Text", "Its facts"), *rows)
