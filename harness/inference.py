"""Works out the statistics of a comparison: purely from its scores, with a fixed seed where draws are needed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from harness.comparison import OVERALL, Cell, Comparison
from harness.scoring import CaseScore, SystemScores
from harness.standing import Pair, Standing, Statistics
from harness.statistics import (
    Places,
    holm,
    mcnemar,
    place_intervals,
    score_interval,
    shared_ranks,
    sign_flip,
    smallest_detectable,
)
from harness.statistics.clusters import sums
from harness.statistics.power import DIFFERENCES, can_be_found


def statistics_of(comparison: Comparison) -> Statistics:
    """Return the statistics of a comparison.

    - A mean and its interval are over the cases that were scored.
    - A pair is over the cases scored for both; one or two differing cases never tell systems apart,
      as the smallest p of five is 0.0625.
    - A system without full coverage is listed and not ranked.
    """
    clusters = [("cluster", case.cluster) if case.cluster else ("case", case.id) for case in comparison.cases]
    whole = [cell.complete and cell.scored > 0 for cell in _overall(comparison)]
    complete = [system for system, ranked in zip(comparison.systems, whole, strict=True) if ranked]
    pairs = _pairs(comparison, clusters)
    standings = [
        _standing(comparison, group, system, clusters)
        for system in comparison.systems
        for group in comparison.groups
    ]
    if len(complete) > 1:
        ranked = _ranked(complete, pairs, clusters)
        standings = [
            one._replace(**ranked[one.system]) if one.group == OVERALL and one.system in ranked else one
            for one in standings
        ]
    asked = [
        at for at in range(len(clusters)) if any(_annotated(system, at) for system in comparison.systems)
    ]
    names = {system.system for system in complete}
    between = [pair.detectable for pair in pairs if {pair.first, pair.second} <= names]
    return Statistics(
        standings=tuple(standings),
        pairs=tuple(pairs),
        cases=len(asked),
        clusters=len({clusters[at] for at in asked}),
        detectable=_median(between),
    )


_Clusters = Sequence[tuple[str, str]]
_ROUNDING = 1e-12


def _overall(comparison: Comparison) -> list[Cell]:
    return [comparison.cell(OVERALL, system) for system in comparison.systems]


def _annotated(system: SystemScores, at: int) -> bool:
    return system.scores[at].status != "not_annotated"


def _standing(comparison: Comparison, group: str, system: SystemScores, clusters: _Clusters) -> Standing:
    held = [
        (score, cluster)
        for score, cluster in zip(system.scores, clusters, strict=True)
        if score.reward is not None and group in (OVERALL, score.category)
    ]
    if not held:
        passed = 0 if comparison.has_pass else None
        return Standing(system.system, group, 0, 0, None, None, None, passed, None, None)
    belongs = [cluster for _, cluster in held]
    rewards = [score.reward for score, _ in held if score.reward is not None]
    low, high = score_interval(rewards, belongs)
    made = Standing(
        system.system, group, len(held), len(set(belongs)), sum(rewards) / len(rewards), low, high, None, None, None
    )  # fmt: skip
    if not comparison.has_pass:
        return made
    passes = [_passed(score, comparison) for score, _ in held]
    low, high = score_interval(passes, belongs)
    return made._replace(passed=int(sum(passes)), pass_low95=low, pass_high95=high)


def _pairs(comparison: Comparison, clusters: _Clusters) -> list[Pair]:
    """Return every two systems that share a scored case, adjusted over all of them."""
    shared = []
    for first, second in combinations(comparison.systems, 2):
        both = [
            at
            for at, (one, other) in enumerate(zip(first.scores, second.scores, strict=True))
            if one.reward is not None and other.reward is not None
        ]
        if both:
            shared.append((first, second, both))
    made = [_pair(comparison, first, second, both, clusters, len(shared)) for first, second, both in shared]
    adjusted = holm([pair.p for pair in made])
    by_pass: list[float | None] = [None] * len(made)
    if comparison.has_pass:
        by_pass = [*holm([pair.pass_p for pair in made if pair.pass_p is not None])]
    return [
        pair._replace(p_holm=p, pass_p_holm=pass_p)
        for pair, p, pass_p in zip(made, adjusted, by_pass, strict=True)
    ]


def _pair(
    comparison: Comparison,
    first: SystemScores,
    second: SystemScores,
    both: Sequence[int],
    clusters: _Clusters,
    tests: int,
) -> Pair:
    belongs = [clusters[at] for at in both]
    rewards = [[system.scores[at].reward or 0.0 for at in both] for system in (first, second)]
    differences = [one - other for one, other in zip(*rewards, strict=True)]
    low, high = score_interval(differences, belongs, bounds=DIFFERENCES)
    p = sign_flip(*rewards, clusters=belongs, tests=tests)
    made = Pair(
        first=first.system,
        second=second.system,
        n=len(both),
        clusters=len(set(belongs)),
        difference=sum(differences) / len(both),
        low95=low,
        high95=high,
        differing=sum(difference != 0 for difference in differences),
        p=p,
        p_holm=p,
        only_first=None,
        only_second=None,
        pass_p=None,
        pass_p_holm=None,
        detectable=smallest_detectable(differences, belongs, tests=tests),
    )
    if not comparison.has_pass:
        return made
    passes = [[_passed(system.scores[at], comparison) for at in both] for system in (first, second)]
    only_first, only_second = (
        sum(one > other for one, other in zip(*sides, strict=True)) for sides in (passes, passes[::-1])
    )
    alone = len(set(belongs)) == len(both)
    pass_p = mcnemar(only_first, only_second) if alone else sign_flip(*passes, clusters=belongs, tests=tests)
    return made._replace(only_first=only_first, only_second=only_second, pass_p=pass_p)


def _ranked(
    complete: Sequence[SystemScores], pairs: Sequence[Pair], clusters: _Clusters
) -> dict[str, dict[str, Any]]:
    """Return the ranks and places of complete systems by label, as fields of `Standing`."""
    place = {system.system: at for at, system in enumerate(complete)}
    both = [
        at for at in range(len(clusters)) if all(system.scores[at].reward is not None for system in complete)
    ]
    columns = [[system.scores[at].reward or 0.0 for at in both] for system in complete]
    apart = {
        (place[pair.first], place[pair.second])
        for pair in pairs
        if pair.apart and pair.first in place and pair.second in place
    }
    ranks = shared_ranks([sum(column) for column in columns], apart)
    belongs = [clusters[at] for at in both]
    places = _shared_places(columns, belongs, apart, len(pairs))
    return {
        system.system: {"ranks": held, "first_place": taken.first, "last_place": taken.last}
        for system, held, taken in zip(complete, ranks, places, strict=True)
    }


def _shared_places(
    columns: Sequence[Sequence[float]], belongs: _Clusters, apart: set[tuple[int, int]], tests: int
) -> list[Places]:
    """Return the places that systems take in resamples of the cases.

    Two that differ on too few clusters for any test to tell them apart take each other's places as
    well: resamples of so few cases hardly vary, and would name a winner where the tests cannot.
    """
    drawn = place_intervals(columns, belongs)
    places = list(drawn)
    for pair in combinations(range(len(columns)), 2):
        one, other = pair
        differences = [a - b for a, b in zip(columns[one], columns[other], strict=True)]
        differing = sum(abs(total) > _ROUNDING for total in sums(differences, belongs))
        if pair in apart or pair[::-1] in apart or can_be_found(differing, tests=tests):
            continue
        for at in pair:
            first = min(places[at].first, drawn[one].first, drawn[other].first)
            places[at] = Places(first, max(places[at].last, drawn[one].last, drawn[other].last))
    return places


def _passed(score: CaseScore, comparison: Comparison) -> float:
    return float(bool(score.passed(comparison.threshold)))


def _median(figures: Sequence[float | None]) -> float | None:
    """Return the median, the upper of two middle ones; None of nothing, or where one is missing."""
    known = sorted(figure for figure in figures if figure is not None)
    return known[len(known) // 2] if known and len(known) == len(figures) else None
