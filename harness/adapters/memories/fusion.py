"""Reciprocal rank fusion: several rankings made into one, by ranks alone."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

Id = TypeVar("Id", bound=Hashable)

K = 60
"""The constant of the paper: how little the first ranks stand out from those after them."""


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[Id]], k: float = K, weights: Sequence[float] | None = None
) -> list[tuple[Id, float]]:
    """Return every id of the rankings with its fused score, best first.

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods", SIGIR 2009: the score of d is Σ w / (k + rank of d), over the rankings that hold d.

    - Ranks count from 1. An id that a ranking holds twice counts there by its first place.
    - Ties go to the better of the best ranks, then to whichever appears first.

    Args:
        rankings: ids, best first.
        k: above -1, so that no rank divides by zero.
        weights: one for each ranking, not negative; 1 for all when left out.

    Raises:
        ValueError: for a k or weights that have no meaning.
    """
    given = [list(dict.fromkeys(ranking)) for ranking in rankings]
    shares = [1.0] * len(given) if weights is None else list(weights)
    if len(shares) != len(given):
        raise ValueError(f"{len(shares)} weights for {len(given)} rankings")
    if k <= -1 or any(not share >= 0 for share in shares):
        raise ValueError("k is above -1, and no weight is negative")
    parts: dict[Id, list[float]] = {}
    best: dict[Id, int] = {}
    for ranking, share in zip(given, shares, strict=True):
        for rank, item in enumerate(ranking, start=1):
            parts.setdefault(item, []).append(share / (k + rank))
            best[item] = min(best.get(item, rank), rank)
    # Summed exactly, so that the same ranks in another order of rankings are a tie.
    scores = {item: math.fsum(each) for item, each in parts.items()}
    # `sorted` keeps the order of appearance among equals.
    return sorted(scores.items(), key=lambda scored: (-scored[1], best[scored[0]]))
