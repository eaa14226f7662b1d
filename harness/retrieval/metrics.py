"""Retrieval metrics, by the definitions of trec_eval (https://github.com/usnistgov/trec_eval).

A ranking is a sequence of ids, best first, and is authoritative as it stands. Judgements are
grades by id; an id without one has grade 0, and a grade of 0 or below is not relevant and gains
nothing. Where a `level` is given, only grades from it on are relevant; gains stay what they are. A repeated id counts once, at its first place; those after it move up. R is the number of
relevant ids of the query, retrieved or not; a query with R = 0 has no value (None).

    hit@k     1 if one of the first k is relevant, else 0              (trec_eval: success)
    all@k     1 if every relevant id is among the first k, else 0
    recall@k  relevant among the first k ÷ R
    precision@k  relevant among the first k ÷ k, also where fewer were retrieved
    rr, rr@k  1 ÷ rank of the first relevant id, 0 where there is none (among the first k)
    ap, ap@k  Σ over relevant ranks i (≤ k) of precision@i, ÷ R
    ndcg@k    DCG@k ÷ DCG@k of the judged ids in their best order; DCG@k = Σ gain_i ÷ log2(i + 1),
              gain = grade (linear); ndcg_exp@k with gain = 2^grade - 1
    rprec     precision@R

Means over queries are hit@k, recall@k, precision@k, MRR, MAP, nDCG: see `means`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate

from harness.errors import InputError

Grades = Mapping[str, float]
LARGEST_K = 1_000_000
KS = (5, 10)
"""The cutoffs when none are asked for."""

AT_K = ("hit", "all", "recall", "precision", "rr", "ap", "ndcg", "ndcg_exp")
WHOLE = ("rr", "ap", "rprec")
_LARGEST_POWER = 1000.0


def names(ks: Sequence[int] = KS) -> tuple[str, ...]:
    """Return the names of all metrics at these cutoffs, those of the whole ranking last."""
    return (*(f"{name}@{k}" for k in ks for name in AT_K), *WHOLE)


def relevant_of(grades: Grades, level: float | None = None) -> frozenset[str]:
    """Return the ids with a grade above 0, and from a level on where one is given."""
    return frozenset(name for name, grade in grades.items() if _is_relevant(grade, level))


def measure(
    ranking: Iterable[str], grades: Grades, ks: Sequence[int] = KS, *, level: float | None = None
) -> dict[str, float | None]:
    """Return every metric of one ranking, by name.

    Args:
        ranking: ids, best first.
        grades: judged ids of the query with their grades.
        ks: cutoffs, each at least 1.
        level: the grade from which an id is relevant; any above 0 when left out.

    Returns:
        values in [0, 1]; None where no id is relevant (nDCG: where none has a grade above 0).

    Raises:
        InputError: for a cutoff below 1 or a grade that is not finite.
    """
    check_cutoffs(ks)
    if not all(map(math.isfinite, grades.values())):
        raise InputError("a grade has to be a finite number")
    retrieved = list(dict.fromkeys(ranking))
    relevant = relevant_of(grades, level)
    ranks = [rank for rank, name in enumerate(retrieved, start=1) if name in relevant]
    gains = [max(0.0, grades.get(name, 0.0)) for name in retrieved[: max(ks)]]
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    return {**_binary(ranks, len(relevant), ks), **_graded(gains, ideal, ks)}


def _binary(ranks: Sequence[int], total: int, ks: Sequence[int]) -> dict[str, float | None]:
    """Return the metrics that only ask whether an id is relevant, from the ranks of those that are."""
    if not total:
        binary = [f"{name}@{k}" for k in ks for name in AT_K if not name.startswith("ndcg")]
        return dict.fromkeys((*binary, *WHOLE))
    found: dict[str, float | None] = {}
    sums = [0.0, *accumulate(place / rank for place, rank in enumerate(ranks, start=1))]
    first = ranks[0] if ranks else math.inf
    for k in ks:
        hits = bisect_right(ranks, k)
        found[f"hit@{k}"] = float(hits > 0)
        found[f"all@{k}"] = float(hits == total)
        found[f"recall@{k}"] = hits / total
        found[f"precision@{k}"] = hits / k
        found[f"rr@{k}"] = 1 / first if first <= k else 0.0
        found[f"ap@{k}"] = min(1.0, sums[hits] / total)
    found["rr"] = 1 / first
    found["ap"] = min(1.0, sums[-1] / total)
    found["rprec"] = bisect_right(ranks, total) / total
    return found


def _graded(gains: Sequence[float], ideal: Sequence[float], ks: Sequence[int]) -> dict[str, float | None]:
    """Return nDCG with linear and with exponential gain."""
    found: dict[str, float | None] = {}
    # A power of 2 beyond 2^1023 is no float; the same factor taken from both sums changes no quotient.
    shift = max(0.0, max(ideal, default=0.0) - _LARGEST_POWER)
    for name, gain in (("ndcg", float), ("ndcg_exp", partial(_exponential, shift=shift))):
        for k in ks:
            best = _dcg(map(gain, ideal[:k]))
            found[f"{name}@{k}"] = min(1.0, _dcg(map(gain, gains[:k])) / best) if best else None
    return found


def check_cutoffs(ks: Sequence[int]) -> None:
    """Refuse a cutoff below 1 or beyond a million, and one that is given twice."""
    if not ks or any(not 1 <= k <= LARGEST_K for k in ks) or len(set(ks)) < len(ks):
        raise InputError(
            f"cutoffs are different whole numbers from 1 to {LARGEST_K:,}, not {', '.join(map(str, ks))}"
        )


def means(rows: Iterable[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Average each metric over the queries that have a value, None where none has one."""
    columns: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, [])
            if value is not None:
                columns[name].append(value)
    return {name: math.fsum(values) / len(values) if values else None for name, values in columns.items()}


def by_trec_order(scores: Mapping[str, float]) -> list[str]:
    """Rank ids by score as trec_eval does: ties by id, descending."""
    return sorted(scores, key=lambda name: (scores[name], name), reverse=True)


def chance_of_a_hit(corpus: int, relevant: int, k: int) -> float:
    """Return the probability that k ids drawn blindly from a corpus hold a relevant one.

    1 - C(N - R, k) / C(N, k), the hypergeometric distribution's probability of at least one.
    """
    drawn = min(k, corpus)
    if relevant <= 0 or corpus <= 0:
        return 0.0
    if drawn > corpus - relevant:
        return 1.0
    return 1.0 - math.comb(corpus - relevant, drawn) / math.comb(corpus, drawn)


def _dcg(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(rank) for rank, gain in enumerate(gains, start=2) if gain)


def _exponential(grade: float, shift: float) -> float:
    return math.pow(2.0, grade - shift) - math.pow(2.0, -shift)


def _is_relevant(grade: float, level: float | None) -> bool:
    return grade > 0 and (level is None or grade >= level)
