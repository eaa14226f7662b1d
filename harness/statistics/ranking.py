"""Ranks that the tests bear out, and how far places move when the cases are drawn anew."""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from harness.statistics.clusters import Clusters, partition
from harness.statistics.paired import RESAMPLES, SEED

_WHOLE = 27_720_000
"""Figures are counted in parts of this size, of which halves to twelfths and thousandths are whole
numbers, so that sums that are equal stay equal."""
_DRAWN_AT_ONCE = 200_000


class Places(NamedTuple):
    """The first and the last place that a system takes; 1 is the best."""

    first: int
    last: int


def shared_ranks(means: Sequence[float], apart: Collection[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Return the ranks of each system: two of them share one exactly when they cannot be told apart.

    A rank is a largest set of systems no two of which are told apart; the ranks are numbered from the
    best mean down. Where a and b, and b and c, cannot be told apart but a and c can, b holds ranks 1 and
    2, a rank 1 and c rank 2.

    Source: H.-P. Piepho, An algorithm for a letter-based representation of all-pairwise comparisons,
    J. Computational and Graphical Statistics 13 (2004); ranks stand for the letters.

    Args:
        means: one for each system; more is better.
        apart: the pairs of places in `means` that are told apart, in either order.
    """
    order = sorted(range(len(means)), key=lambda at: -means[at])
    place = {at: number for number, at in enumerate(order)}
    told = {frozenset(pair) for pair in apart}
    alike = {
        at: {other for other in order if other != at and frozenset((at, other)) not in told} for at in order
    }
    sets = sorted(sorted(place[at] for at in found) for found in _largest(alike))
    held: list[list[int]] = [[] for _ in means]
    for rank, members in enumerate(sets, start=1):
        for member in members:
            held[order[member]].append(rank)
    return [tuple(ranks) for ranks in held]


def place_intervals(
    columns: Sequence[Sequence[float]],
    clusters: Clusters = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[Places]:
    """Return the places that each system takes in 95% of resamples of the cases.

    The cases (with `clusters`, the clusters) are drawn with replacement, the same for all systems. In
    each resample a system's place is 1 and the number of systems with a higher sum; a tie leaves all
    its places open. The interval runs from the 2.5% point of the first place to the 97.5% point of the last.

    Source: H. Goldstein and D. Spiegelhalter, League tables and their limitations, JRSS A 159 (1996);
    joint resampling as in P. Hall and H. Miller, Annals of Statistics 37 (2009).

    Args:
        columns: one for each system, with a figure in [0, 1] for each case, in the same order.
        clusters: what belongs together, one name for each case.
        resamples: how often the cases are drawn.
        seed: of the draw.

    Raises:
        ValueError: for columns of different lengths or none, a figure outside [0, 1], or a wrong number of clusters.
    """
    if not columns or not columns[0] or len({len(column) for column in columns}) != 1:
        raise ValueError("every system has a figure for each case, of which there is one at least")
    if not all(0 <= figure <= 1 for column in columns for figure in column):
        raise ValueError("a figure is outside [0, 1]")
    parts = partition(len(columns[0]), clusters)
    # One whole number a cluster holds the sums of all systems side by side, so that one addition adds
    # them all; the sums of a resample are far below 2^64.
    packed = [
        sum(round(column[at] * _WHOLE) << 64 * slot for slot, column in enumerate(columns) for at in part)
        for part in parts
    ]
    sums_of = struct.Struct(f"<{len(columns)}Q")
    below: Counter[tuple[int, ...]] = Counter()
    for total, times in _totals(packed, resamples, random.Random(seed)).items():
        sums = sums_of.unpack(total.to_bytes(sums_of.size, "little"))
        below[tuple(map(sorted(sums).index, sums))] += times
    firsts, lasts = ([Counter[int]() for _ in columns] for _ in range(2))
    for pattern, times in below.items():  # how many systems have a lower sum than each
        for first, last, lower in zip(firsts, lasts, pattern, strict=True):
            first[1 + sum(other > lower for other in pattern)] += times
            last[lower - len(columns)] += times
    tail = 0.025 * resamples
    return [
        Places(_point(first, tail), -_point(last, tail)) for first, last in zip(firsts, lasts, strict=True)
    ]


def _totals(packed: Sequence[int], resamples: int, draw: random.Random) -> Counter[int]:
    """Count the sums of so many draws of as many clusters as there are."""
    groups = len(packed)
    at_once = max(1, _DRAWN_AT_ONCE // groups)
    totals: Counter[int] = Counter()
    for start in range(0, resamples, at_once):
        times = min(at_once, resamples - start)
        columns = _pairwise(packed, times, draw) if groups <= 256 else _one_by_one(packed, times, draw)
        totals.update(map(sum, zip(*columns, strict=True)))
    return totals


def _one_by_one(packed: Sequence[int], times: int, draw: random.Random) -> list[Iterator[int]]:
    """Return iterators that give a resample's clusters, so many times."""
    return [iter(draw.choices(packed, k=len(packed) * times))] * len(packed)


def _pairwise(packed: Sequence[int], times: int, draw: random.Random) -> list[Iterator[int]]:
    """Return iterators that give a resample's clusters, two at a time, and so many times.

    A random byte is a cluster, and two of them the place of two clusters' sum in a table, which is
    three times as fast as `choices`.
    """
    groups = len(packed)
    pairs, rest = divmod(groups, 2)
    table = [0] * (256 * groups)
    for one, other in product(range(groups), repeat=2):
        table[one + 256 * other] = packed[one] + packed[other]
    both = memoryview(_drawn(groups, 2 * pairs * times, draw)).cast("H")
    columns: list[Iterator[int]] = [map(table.__getitem__, both)] * pairs
    if rest:
        columns.append(map(packed.__getitem__, _drawn(groups, times, draw)))
    return columns


def _drawn(groups: int, count: int, draw: random.Random) -> bytes:
    """Return so many bytes, each a number below `groups`, all as likely."""
    fair = 256 - 256 % groups
    fold, beyond = bytes(byte % groups for byte in range(256)), bytes(range(fair, 256))
    found = b""
    while len(found) < count:
        found += draw.randbytes((count - len(found)) * 256 // fair + 64).translate(fold, beyond)
    return found[:count]


def _point(counts: Counter[int], tail: float) -> int:
    """Return the smallest value that more than `tail` of the counts do not exceed."""
    seen = 0
    for value in sorted(counts):
        seen += counts[value]
        if seen > tail:
            return value
    raise ValueError("nothing was counted")


def _largest(alike: dict[int, set[int]]) -> list[set[int]]:
    """Return the largest sets of systems that are all alike (Bron and Kerbosch, with a pivot)."""
    found: list[set[int]] = []

    def grow(chosen: set[int], open_: set[int], done: set[int]) -> None:
        if not open_ and not done:
            found.append(chosen)
            return
        pivot = max(open_ | done, key=lambda at: len(alike[at] & open_))
        for at in sorted(open_ - alike[pivot]):
            grow(chosen | {at}, open_ & alike[at], done & alike[at])
            open_, done = open_ - {at}, done | {at}

    if alike:
        grow(set(), set(alike), set())
    return found
