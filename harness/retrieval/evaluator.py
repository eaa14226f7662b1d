"""The evaluator of retrieval: one search a query, every metric at every cutoff, an Evaluation."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from typing import NamedTuple

from harness.adapters.memories.rankers import Ranked
from harness.adapters.protocol import AgentFailure
from harness.errors import InputError
from harness.evaluation import Evaluation, Item, MetricDefinition, Value, mean_metric
from harness.retrieval import metrics
from harness.retrieval.comparing import RELEVANT_FROM
from harness.retrieval.dataset import Query, RetrievalSet
from harness.retrieval.streams.base import Retriever

EVALUATOR = "retrieval"
DEPTH = 50
"""Results asked for where no cutoff asks for more: what thresholds and MAP are computed over."""
FLOORS = 11

_MEANS = {"rr": "mrr", "ap": "map"}
_FORMULAS = {
    "hit": "share of queries with a relevant id among the first k",
    "all": "share of queries with every relevant id among the first k",
    "recall": "relevant among the first k ÷ relevant",
    "precision": "relevant among the first k ÷ k",
    "mrr": "1 ÷ rank of the first relevant id (among the first k), 0 without one",
    "map": "Σ precision at each relevant rank (among the first k) ÷ relevant",
    "ndcg": "DCG@k ÷ DCG@k of the best order, gain = grade",
    "ndcg_exp": "DCG@k ÷ DCG@k of the best order, gain = 2^grade - 1",
    "rprec": "precision at as many results as are relevant",
}


class Found(NamedTuple):
    """What one search gave.

    Attributes:
        results: best first, each id once.
        seconds: how long it took.
        failure: why there are no results, or an empty text.
    """

    results: tuple[Ranked, ...]
    seconds: float
    failure: str = ""


_NOT_ASKED = Found((), 0.0, "was not asked")


@dataclass(frozen=True)
class Searched:
    """A corpus, and what one system found in it.

    Attributes:
        data: the corpus and its queries.
        found: what was found, by query id; a query without an entry failed.
        system: label of what searched.
        version: library and model behind it.
        lexical: whether it only finds what shares words or spelling.
        scored: whether its results have scores that mean something beside their order.
    """

    data: RetrievalSet
    found: Mapping[str, Found]
    system: str
    version: str = ""
    lexical: bool = False
    scored: bool = True

    @cached_property
    def known(self) -> frozenset[str]:
        """The ids of the corpus."""
        return frozenset(memory.id for memory in self.data.memories)


@dataclass(frozen=True)
class RetrievalEvaluator:
    """Measures rankings.

    Attributes:
        ks: cutoffs side by side; the first decides what passes and what was missed.
        level: grade from which an id is relevant; any above 0 when None.
    """

    ks: tuple[int, ...] = metrics.KS
    level: float | None = None
    name: str = EVALUATOR

    def __post_init__(self) -> None:
        metrics.check_cutoffs(self.ks)
        if self.level is not None and not math.isfinite(self.level):
            raise InputError(f"the least grade that is relevant is a finite number, not {self.level}.")

    @property
    def depth(self) -> int:
        """How many results a search is asked for."""
        return max(DEPTH, *self.ks)

    def metrics(self) -> tuple[MetricDefinition, ...]:
        """Return what is measured, in the order in which it is shown."""
        names = [_MEANS.get(base, base) + at for base, at in map(_cut, metrics.names(self.ks))]
        return tuple(MetricDefinition(name, _FORMULAS[name.partition("@")[0]]) for name in names)

    def evaluate(self, dataset: Searched) -> Evaluation:
        """Measure what was found on one data set."""
        return self.measure([dataset], dataset.data.id)

    def measure(self, searched: Sequence[Searched], name: str) -> Evaluation:
        """Return the figures of one retriever over one or several corpora, a query counting once.

        Args:
            searched: at least one; a suite has a corpus for each of its cases.
            name: what the whole is called.
        """
        items = tuple(
            self._item(query, one.found.get(query.id, _NOT_ASKED))
            for one in searched
            for query in one.data.queries
        )
        judged = [
            (query, len(one.data.memories))
            for one in searched
            for query in one.data.queries
            if metrics.relevant_of(query.grades, self.level)
        ]
        failed = sum(bool(item.failure) for item in items if item.detail["relevant"])
        undefined = "every search failed" if judged else "no query has a relevant memory"
        figures = []
        for definition in self.metrics():
            shown = definition.name
            values = [item.values[shown] for item in items if not item.failure and item.detail["relevant"]]
            chance = self._chance(shown, judged)
            figures.append(mean_metric(shown, values, failed=failed, chance=chance, undefined=undefined))
        first = searched[0]
        return Evaluation(
            evaluator=self.name,
            system=first.system,
            dataset=name,
            metrics=tuple(figures),
            items=items,
            errors=tuple(f"{item.id}: {item.failure}" for item in items if item.failure),
            warnings=tuple(self._warnings(searched, [query for query, _ in judged])),
            at=datetime.now(UTC),
            provenance={
                "dataset_hash": _hash_of(searched),
                "memories": str(sum(len(one.data.memories) for one in searched)),
                "queries": str(len(items)),
                "retriever": first.version,
                "ks": ", ".join(map(str, self.ks)),
                "depth": str(self.depth),
                **({} if self.level is None else {RELEVANT_FROM: f"{self.level:g}"}),
                "recallbench": version("recallbench"),
            },
            sections={
                "tags": self._tags(items),
                "misses": self._misses(items),
                "thresholds": self._thresholds(searched),
            },
        )

    def _item(self, query: Query, found: Found) -> Item:
        ids = list(dict.fromkeys(result.id for result in found.results))
        relevant = metrics.relevant_of(query.grades, self.level)
        at = {k: query.k or k for k in self.ks}
        measured = metrics.measure(ids, query.grades, sorted(set(at.values())), level=self.level)
        values: dict[str, Value] = {}
        for base, cut in map(_cut, metrics.names(self.ks)):
            own = f"@{at[int(cut[1:])]}" if cut else ""
            values[_MEANS.get(base, base) + cut] = None if found.failure else measured[base + own]
        first = ids[: at[self.ks[0]]]
        intruders = [id for id in first if id in query.unwanted]
        wanted = [id for id in first if id in relevant]
        counts = bool(relevant) or query.negative
        passed = None if found.failure or not counts else (bool(wanted) or not relevant) and not intruders
        return Item(
            id=query.id,
            label=query.text,
            values=values,
            passed=passed,
            tags=query.tags,
            failure=found.failure,
            detail={
                "relevant": sorted(relevant),
                "negative": query.negative,
                "results": ids,
                "missed": sorted(relevant - set(first)),
                "intruders": intruders,
                "instead": [id for id in first if id not in relevant],
                "k": query.k,
                "seconds": found.seconds,
            },
        )

    def _chance(self, name: str, judged: Sequence[tuple[Query, int]]) -> float | None:
        if not name.startswith("hit@") or not judged:
            return None
        k = int(name.partition("@")[2])
        chances = (
            metrics.chance_of_a_hit(corpus, len(metrics.relevant_of(query.grades, self.level)), query.k or k)
            for query, corpus in judged
        )
        return math.fsum(chances) / len(judged)

    def _warnings(self, searched: Sequence[Searched], judged: Sequence[Query]) -> Iterable[str]:
        smallest = min(len(one.data.memories) for one in searched)
        for k in self.ks:
            if k > smallest:
                yield f"k = {k} is more than the {smallest} memories there are: hit@{k} and recall@{k} mean little."
        deeper = [
            query.id
            for one in searched
            for query in one.data.queries
            if (query.k or 0) > len(one.data.memories)
        ]
        if deeper:
            yield (
                f"{len(deeper)} of the queries' own cutoffs are more than the memories there are, such as that of "
                f"{deeper[0]}."
            )
        first = searched[0]
        # A label of the user's own hides what it is; that there are dimensions, it can't hide.
        told = f"{first.system} {first.version}".casefold()
        if first.lexical and any(word in told for word in ("vector", "hybrid", "semantic", "dimensions")):
            yield f"stands for more than keyword search, and what stands behind it is lexical: {first.version}."
        queries = [query for one in searched for query in one.data.queries]
        if undefined := len(queries) - len(judged):
            noun, verb = ("query has", "counts") if undefined == 1 else ("queries have", "count")
            yield f"{undefined} {noun} no relevant memory and {verb} in no mean."
        unsaid = [
            query.id
            for query in queries
            if not query.negative and not metrics.relevant_of(query.grades, self.level)
        ]
        if unsaid:
            noun = "does not say that it is" if len(unsaid) == 1 else "do not say that they are"
            yield f"{len(unsaid)} of these {noun} negative, and can neither pass nor fail, such as {unsaid[0]}."
        if own := sum(query.k is not None for query in queries):
            noun = "query has a cutoff of its" if own == 1 else "queries have cutoffs of their"
            yield f"{own} {noun} own, at which every @k of them is measured."
        strange = {
            result.id
            for one in searched
            for found in one.found.values()
            for result in found.results
            if result.id not in one.known
        }
        if strange:
            yield f"{len(strange)} results are no memory of the data set and count as wrong, such as {min(strange)}."

    def _tags(self, items: Sequence[Item]) -> tuple[tuple[str, ...], ...]:
        tags = sorted({tag for item in items for tag in item.tags})
        k = self.ks[0]
        shown = [f"{name}@{k}" for name in ("hit", "recall", "mrr", "ndcg")]
        rows = []
        for tag in tags:
            group = [item for item in items if tag in item.tags and item.detail["relevant"]]
            values = [_mean(item.values[name] for item in group) for name in shown]
            rows.append(
                (tag, str(len(group)), *("–" if value is None else f"{value:.3f}" for value in values))
            )
        return (("Tag", "Queries", *shown), *rows) if rows else ()

    def _misses(self, items: Sequence[Item]) -> tuple[tuple[str, ...], ...]:
        rows = [
            (
                item.id,
                item.label,
                ", ".join(item.detail["missed"]) or "–",
                ", ".join(item.detail["intruders"]) or "–",
                ", ".join(item.detail["instead"][:3]) or "nothing",
            )
            for item in items
            if not item.failure and (item.detail["missed"] or item.detail["intruders"])
        ]
        return (("Query", "Text", "Missed", "Unwanted", "Came instead"), *rows) if rows else ()

    def _thresholds(self, searched: Sequence[Searched]) -> tuple[tuple[str, ...], ...]:
        """Sweep a floor under the scores: what is handed back, and how right it is, over all queries."""
        header = ("Floor", "Precision", "Recall", "F1", "Results a query")
        if not all(one.scored for one in searched):
            return (header, ("results without scores", *(["–"] * 4)))
        kept = [
            (found.results, metrics.relevant_of(query.grades, self.level))
            for one in searched
            for query in one.data.queries
            if not (found := one.found.get(query.id, _NOT_ASKED)).failure
        ]
        scores = [result.score for results, _ in kept for result in results]
        total = sum(len(relevant) for _, relevant in kept)
        if not scores or not total or min(scores) == max(scores):
            return ()
        low, high = min(scores), max(scores)
        rows = []
        for step in range(FLOORS):
            floor = min(high, low + (high - low) * step / (FLOORS - 1))
            handed = [(r.id in relevant) for results, relevant in kept for r in results if r.score >= floor]
            right = sum(handed)
            precision = right / len(handed) if handed else None
            recall = right / total
            f1 = 2 * right / (len(handed) + total)
            rows.append(
                (
                    f"{floor:.4g}",
                    "–" if precision is None else f"{precision:.3f}",
                    f"{recall:.3f}",
                    f"{f1:.3f}",
                    f"{len(handed) / len(kept):.1f}",
                )
            )
        return (header, *rows)


async def search_all(
    data: RetrievalSet,
    retriever: Retriever,
    depth: int,
    tick: Callable[[], None] = lambda: None,
) -> Searched:
    """Fill a retriever and search every query once; a search that fails is named, and the rest go on.

    Args:
        data: corpus and queries.
        retriever: not filled yet; it is closed at the end.
        depth: results asked for, or a query's own cutoff where that is more.
        tick: called after each query.

    Raises:
        AgentFailure: when it fails to take the corpus in.
    """
    found: dict[str, Found] = {}
    try:
        await retriever.fill(data.memories)
        for query in data.queries:
            began = time.perf_counter()
            try:
                results = await retriever.search(query.text, max(depth, query.k or 0))
            except AgentFailure as failure:
                found[query.id] = Found((), time.perf_counter() - began, str(failure))
            else:
                found[query.id] = Found(_once(results), time.perf_counter() - began)
            tick()
    finally:
        await retriever.close()
    return Searched(
        data, found, retriever.name, retriever.version, retriever.lexical, scored=retriever.scored
    )


def _once(results: Sequence[Ranked]) -> tuple[Ranked, ...]:
    first: dict[str, Ranked] = {}
    for result in results:
        first.setdefault(result.id, result)
    return tuple(first.values())


def _hash_of(searched: Sequence[Searched]) -> str:
    hashes = [one.data.hash for one in searched]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def _cut(name: str) -> tuple[str, str]:
    base, at, k = name.partition("@")
    return base, at + k


def _mean(values: Iterable[Value]) -> Value:
    found = [value for value in values if value is not None]
    return math.fsum(found) / len(found) if found else None
