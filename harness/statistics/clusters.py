"""Which cases belong together; every statistic here takes its clusters from this one place."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

Clusters = Sequence[Hashable] | None
"""One name for each figure; the figures with the same name belong together. None: each by itself."""


def partition(count: int, clusters: Clusters) -> list[list[int]]:
    """Return the places of `count` figures by cluster, clusters in the order in which they come first.

    Raises:
        ValueError: when there are not as many names as figures.
    """
    if clusters is None:
        return [[at] for at in range(count)]
    if len(clusters) != count:
        raise ValueError(f"{len(clusters)} clusters for {count} figures")
    parts: dict[Hashable, list[int]] = {}
    for at, cluster in enumerate(clusters):
        parts.setdefault(cluster, []).append(at)
    return list(parts.values())


def sums(values: Sequence[float], clusters: Clusters) -> list[float]:
    """Return the sum of each cluster's figures.

    Raises:
        ValueError: when there are not as many names as figures.
    """
    if clusters is None:
        return list(values)
    return [math.fsum(values[at] for at in part) for part in partition(len(values), clusters)]
