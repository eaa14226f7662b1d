"""The figures of effectiveness, as pure functions on counts and sequences.

Whatever a definition leaves open (nothing predicted, no support, no spread) is None, never 0 or 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from harness.evaluation import Metric, Value


class Scores(NamedTuple):
    """Precision, recall and F1; each None where it is undefined."""

    precision: Value
    recall: Value
    f1: Value


def scores(right: int, predicted: int, gold: int) -> Scores:
    """Return precision, recall and F1 of counts.

        precision = right ÷ predicted    recall = right ÷ gold    F1 = 2 · right ÷ (predicted + gold)

    F1 is the harmonic mean of the two where both are defined, and 0 where only one of them is.
    """
    return Scores(
        right / predicted if predicted else None,
        right / gold if gold else None,
        2 * right / (predicted + gold) if predicted + gold else None,
    )


def count_metrics(
    prefix: str, right: int, predicted: int, gold: int, *, open: int, n: int, of: int, what: str
) -> tuple[Metric, Metric, Metric]:
    """Return precision, recall and F1 of counts over all items, with bounds for those that failed.

    Args:
        prefix: what the names begin with, such as `extraction.`.
        right: predicted ones that are gold ones.
        predicted: of the items that were measured.
        gold: of the items that were measured.
        open: gold ones of the items that failed. Failed items are taken to predict as many, none
            of them right in the lower bounds and all of them in the upper ones.
        n: items measured.
        of: items asked.
        what: what is counted, for reasons.
    """
    found = scores(right, predicted, gold)
    low = scores(right, predicted + open, gold + open)
    high = scores(right + open, predicted + open, gold + open)
    reasons = (f"no {what} was predicted", f"there is no gold {what}", f"there is no {what} at all")
    if of and not n:  # what failed says nothing of the gold
        reasons = ("no item could be measured",) * 3
    made = []
    for name, value, least, most, reason in zip(Scores._fields, found, low, high, reasons, strict=True):
        if value is None:
            made.append(Metric(f"{prefix}{name}", None, 0, of, reason=reason))
        else:
            made.append(Metric(f"{prefix}{name}", value, n, of, low=least, high=most))
    return made[0], made[1], made[2]


# ---- classes --------------------------------------------------------------------------


class ClassScores(NamedTuple):
    """One class: what was predicted of it."""

    label: str
    scores: Scores
    support: int
    predicted: int


def by_class(gold: Sequence[str], predicted: Sequence[str]) -> tuple[ClassScores, ...]:
    """Return the scores of each label that is predicted or gold, sorted."""
    right = Counter(one for one, other in zip(gold, predicted, strict=True) if one == other)
    support, named = Counter(gold), Counter(predicted)
    return tuple(
        ClassScores(label, scores(right[label], named[label], support[label]), support[label], named[label])
        for label in sorted(support.keys() | named.keys())
    )


def weighted_mean(values: Sequence[Value], weights: Sequence[float]) -> Value:
    """Return Σ weight · value ÷ Σ weight over the values there are, None where they weigh nothing."""
    pairs = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    total = math.fsum(weight for _, weight in pairs)
    return math.fsum(value * weight for value, weight in pairs) / total if total > 0 else None


# ---- numbers --------------------------------------------------------------------------


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value from 1 up; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    start = 0
    for at in range(1, len(order) + 1):
        if at == len(order) or values[order[at]] != values[order[start]]:
            for place in order[start:at]:
                found[place] = (start + 1 + at) / 2
            start = at
    return found


def pearson(xs: Sequence[float], ys: Sequence[float]) -> Value:
    """Return Pearson's r = Σ dx·dy ÷ √(Σ dx² · Σ dy²), None for fewer than two pairs or no spread.

    Source: K. Pearson, Notes on regression and inheritance in the case of two parents, 1895.
    """
    if len(xs) < 2 or len(set(xs)) < 2 or len(set(ys)) < 2:
        return None
    mean_x, mean_y = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    dx, dy = [x - mean_x for x in xs], [y - mean_y for y in ys]
    spread = math.sqrt(math.fsum(d * d for d in dx)) * math.sqrt(math.fsum(d * d for d in dy))
    if spread == 0:
        return None
    r = math.fsum(a * b for a, b in zip(dx, dy, strict=True)) / spread
    return max(-1.0, min(1.0, r))


def spearman(xs: Sequence[float], ys: Sequence[float]) -> Value:
    """Return Spearman's rank correlation: Pearson's r of the ranks.

    Source: C. Spearman, The proof and measurement of association between two things, 1904.
    """
    return pearson(ranks(xs), ranks(ys))


# ---- clusters -------------------------------------------------------------------------


class PairCounts(NamedTuple):
    """Pairs of items: together in both clusterings, in the predicted one, in the gold one."""

    right: int
    predicted: int
    gold: int


def pair_counts(gold: Mapping[str, Hashable], predicted: Mapping[str, Hashable]) -> PairCounts:
    """Count the pairs of items that share a cluster, over the items of both mappings."""
    ids = gold.keys() & predicted.keys()
    both = Counter((gold[id], predicted[id]) for id in ids)
    return PairCounts(
        _pairs(both.values()),
        _pairs(Counter(predicted[id] for id in ids).values()),
        _pairs(Counter(gold[id] for id in ids).values()),
    )


def _pairs(sizes: Iterable[int]) -> int:
    return sum(size * (size - 1) // 2 for size in sizes)


def b_cubed(
    gold: Mapping[str, Hashable], predicted: Mapping[str, Hashable]
) -> dict[str, tuple[float, float]]:
    """Return B-cubed precision and recall of each item of both mappings.

        precision = items of its predicted cluster that share its gold one ÷ its predicted cluster
        recall    = the same items ÷ its gold cluster

    Source: A. Bagga, B. Baldwin, Algorithms for scoring coreference chains, 1998.
    """
    ids = gold.keys() & predicted.keys()
    both = Counter((gold[id], predicted[id]) for id in ids)
    ours, theirs = Counter(predicted[id] for id in ids), Counter(gold[id] for id in ids)
    return {
        id: (
            both[gold[id], predicted[id]] / ours[predicted[id]],
            both[gold[id], predicted[id]] / theirs[gold[id]],
        )
        for id in sorted(ids)
    }


def harmonic(one: Value, other: Value) -> Value:
    """Return the harmonic mean, 0 where either is 0, None where either is undefined."""
    if one is None or other is None:
        return None
    return 2 * one * other / (one + other) if one + other else 0.0
