"""Which questions are put to one agent: those of a haystack, where all of them are given the same of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from harness.adapters.registry import AdapterInfo
from harness.suite import Case


def haystack_of(case: Case) -> Hashable:
    """Return what two cases have in common when their conversations are the same."""
    return case.haystack or case.id


def haystacks(cases: Iterable[Case]) -> list[tuple[Case, ...]]:
    """Return the cases of each haystack together, in the order in which the haystacks come first."""
    found: dict[Hashable, list[Case]] = {}
    for case in cases:
        found.setdefault(haystack_of(case), []).append(case)
    return list(map(tuple, found.values()))


def sittings(info: AdapterInfo, cases: tuple[Case, ...]) -> list[tuple[Case, ...]]:
    """Return the cases of a haystack as an agent of a system is asked them.

    The oracle is given what each case cites, so that it needs an agent for each.
    """
    if info.name == "oracle" and info.source == "built-in":
        return [(case,) for case in cases]
    return [cases]
