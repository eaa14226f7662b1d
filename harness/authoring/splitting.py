"""A suite cut into parts, and a part drawn from a suite: stratified, and the same for the same seed.

What decides between cases is a hash of seed and id, never the order of files or of a random generator,
so a case that is added moves as few others as can be.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction
from hashlib import sha256

from harness.errors import InputError
from harness.suite import Case, Suite

STRATA: Mapping[str, Callable[[Case], str]] = {
    "layer": lambda case: case.category,
    "domain": lambda case: case.domain,
    "cluster": lambda case: case.cluster or case.id,
}


def split_suite(suite: Suite, shares: Mapping[str, Fraction], seed: int = 0) -> dict[str, tuple[Case, ...]]:
    """Cut a suite into parts, each with its share of every layer; cases of a cluster stay together.

    Args:
        suite: what to cut.
        shares: the share of each part, by name; they are taken relative to their sum.
        seed: another one gives another split.

    Returns:
        the cases of each part, in the order of the suite.

    Raises:
        InputError: when there are fewer clusters than parts, so that one would be empty.
    """
    units: dict[str, list[Case]] = defaultdict(list)
    for case in suite:
        units[f"cluster {case.cluster}" if case.cluster else f"case {case.id}"].append(case)
    if len(units) < len(shares):
        raise InputError(
            f"{suite.root}: {len(units)} clusters and single cases can't fill {len(shares)} parts. "
            "Ask for fewer parts."
        )
    whole = sum(shares.values())
    sizes: Counter[str] = Counter(case.category for case in suite)
    lacking = {
        name: {layer: share / whole * count for layer, count in sizes.items()}
        for name, share in shares.items()
    }
    # The large ones first: they are the hardest to place.
    order = sorted(units, key=lambda name: (-len(units[name]), units[name][0].category, _drawn(seed, name)))
    part_of: dict[str, str] = {}
    filled: set[str] = set()
    for left, unit in zip(range(len(order), 0, -1), order, strict=True):
        layers: Counter[str] = Counter(case.category for case in units[unit])
        empty = [name for name in shares if name not in filled]
        open_to = empty if len(empty) >= left else list(shares)

        def need(name: str, layers: Counter[str] = layers) -> tuple[Fraction, Fraction]:
            of_these = sum((count * lacking[name][layer] for layer, count in layers.items()), Fraction())
            return of_these, sum(lacking[name].values(), Fraction())

        chosen = max(open_to, key=need)
        part_of[unit] = chosen
        filled.add(chosen)
        for layer, count in layers.items():
            lacking[chosen][layer] -= count
    placed = {case.id: part_of[unit] for unit, cases in units.items() for case in cases}
    return {name: tuple(case for case in suite if placed[case.id] == name) for name in shares}


def sample_suite(suite: Suite, size: int, seed: int = 0, by: str = "layer") -> tuple[Case, ...]:
    """Draw cases, as many of each stratum as its share of the suite gives it.

    Args:
        suite: what to draw from.
        size: how many cases.
        seed: another one draws others.
        by: one of `STRATA`.

    Raises:
        InputError: when the suite has fewer cases.
    """
    if size > len(suite):
        raise InputError(f"--size {size}: {suite.root} has {len(suite)} cases.")
    strata: dict[str, list[Case]] = defaultdict(list)
    for case in suite:
        strata[STRATA[by](case)].append(case)
    counts = _apportioned({name: len(cases) for name, cases in strata.items()}, size, seed)
    drawn = {
        case.id
        for name, cases in strata.items()
        for case in sorted(cases, key=lambda case: _drawn(seed, case.id))[: counts[name]]
    }
    return tuple(case for case in suite if case.id in drawn)


def _apportioned(sizes: Mapping[str, int], size: int, seed: int) -> dict[str, int]:
    """Return how many to draw of each stratum: its share, rounded so that they add up (largest remainder)."""
    whole = sum(sizes.values())
    exact = {name: Fraction(count * size, whole) for name, count in sizes.items()}
    counts = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(sizes, key=lambda name: (counts[name] - exact[name], _drawn(seed, name)))
    for name in by_remainder[: size - sum(counts.values())]:
        counts[name] += 1
    return counts


def parse_parts(text: str) -> dict[str, Fraction]:
    """Read `train=60,dev=20,test=20`, or a number of equal parts.

    Raises:
        InputError: for anything else, a part of no name or no share, or a name that stands twice.
    """
    mend = "Write shares such as train=60,dev=20,test=20, or a number of equal parts from 2 on."
    if text.strip().isdecimal():
        count = int(text) if len(text) <= 20 else 0
        if not 2 <= count <= 1000:
            raise InputError(f"--parts {text}: is no number of parts. {mend}")
        return {f"part{number:0{len(str(count))}}": Fraction(1) for number in range(1, count + 1)}
    shares: dict[str, Fraction] = {}
    for item in text.split(","):
        name, _, share = (part.strip() for part in item.partition("="))
        try:
            value = Fraction(0) if "e" in share.lower() else Fraction(share)  # 1e99999999 would be worked out
        except (ValueError, ZeroDivisionError):
            value = Fraction(0)
        plain = name.replace("-", "").replace("_", "").isalnum()
        if not plain or value <= 0 or name in shares:
            raise InputError(f"--parts {text}: {item.strip()!r} is no part. {mend}")
        shares[name] = value
    if len(shares) < 2:
        raise InputError(f"--parts {text}: is one part. {mend}")
    return shares


def _drawn(seed: int, name: str) -> bytes:
    return sha256(f"{seed}\n{name}".encode()).digest()
