"""Summing up: means over the scored, bounds over the asked; statistics that never name a winner by chance."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.comparison import OVERALL, CaseLabel, Comparison, summarise
from harness.scoring import (
    CaseScore,
    JudgeFailed,
    Missing,
    NotAnnotated,
    Outcome,
    Scored,
    SystemFailed,
    SystemScores,
)
from harness.statistics import mcnemar, score_interval, sign_flip, wilson

REWARDS = st.floats(0, 1).map(Scored)
OUTCOMES = st.one_of(
    REWARDS,
    st.just(Missing()),
    st.just(SystemFailed("x")),
    st.just(JudgeFailed("refusal")),
    st.just(NotAnnotated()),
)


def scores(*outcomes: Outcome) -> list[CaseScore]:
    return [CaseScore(f"layer1_{at:02}", "layer1", "any", outcome) for at, outcome in enumerate(outcomes)]


def test_errors_are_in_the_bounds_and_not_in_the_mean() -> None:
    cell = summarise(scores(Scored(1.0), Scored(0.5), Missing(), JudgeFailed("refusal"), NotAnnotated()))
    assert (cell.mean, cell.scored, cell.asked) == (0.75, 2, 4)
    assert (cell.low, cell.high) == (0.375, 0.875)
    assert (cell.missing, cell.errors, cell.not_annotated, cell.passed) == (1, 1, 1, 1)


def test_nothing_scored_is_no_zero() -> None:
    cell = summarise(scores(Missing(), Missing()))
    assert (cell.mean, cell.low, cell.high) == (None, 0.0, 1.0)
    empty = summarise([])
    assert (empty.mean, empty.low, empty.high, empty.asked) == (None, None, None, 0)


def test_a_scorer_without_a_pass_passes_nothing() -> None:
    assert summarise(scores(Scored(1.0)), has_pass=False).passed is None


@given(st.lists(OUTCOMES, max_size=20))
def test_the_mean_lies_between_its_bounds(outcomes: list[Outcome]) -> None:
    cell = summarise(scores(*outcomes))
    assert cell.scored + cell.missing + cell.errors == cell.asked
    if cell.mean is not None:
        assert cell.low is not None
        assert cell.high is not None
        assert cell.low <= cell.mean + 1e-12
        assert cell.mean <= cell.high + 1e-12
        assert cell.complete == (cell.high - cell.low < 1e-12)


@given(st.lists(REWARDS, min_size=1, max_size=20), st.randoms())
def test_order_does_not_matter(outcomes: list[Scored], shuffler: object) -> None:
    mixed = list(outcomes)
    shuffler.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = summarise(scores(*outcomes)), summarise(scores(*mixed))
    assert one.mean == pytest.approx(other.mean)


def test_overall_is_a_name_that_no_layer_has() -> None:
    assert not OVERALL.startswith("layer")


# --- statistics ---


def comparison(
    systems: Sequence[Sequence[float | Outcome]],
    *,
    clusters: Sequence[str | None] = (),
    has_pass: bool = True,
) -> Comparison:
    """Return a comparison of systems `a`, `b`, … with these rewards; odd cases are in layer 1, even ones in 2."""
    labels = tuple(
        CaseLabel(f"layer{1 + at % 2}_{at:02}_case", f"layer{1 + at % 2}", "A case", cluster)
        for at, (_, cluster) in enumerate(itertools.zip_longest(systems[0], clusters))
    )
    columns = []
    names = ["a", "b", "c", "d", *(f"s{at}" for at in range(4, len(systems)))]
    for name, column in zip(names, systems, strict=False):
        outcomes = [one if not isinstance(one, float) else Scored(one) for one in column]
        columns.append(
            SystemScores(
                name,
                tuple(
                    CaseScore(label.id, label.category, "any", outcome)
                    for label, outcome in zip(labels, outcomes, strict=True)
                ),
            )
        )
    return Comparison(labels, tuple(columns), "any", "", has_pass, 0.6, ".", "0" * 64, "a")


GOOD, BAD = [1.0] * 12, [0.0] * 12


def test_a_clear_difference_is_told_apart_and_ranked() -> None:
    found = comparison([BAD, GOOD]).statistics
    (pair,) = found.pairs
    assert (pair.above, pair.below, pair.apart) == ("b", "a", True)
    assert (pair.difference, pair.n, pair.clusters, pair.differing) == (-1.0, 12, 12, 12)
    assert (pair.p, pair.p_holm) == (2 / 2**12, 2 / 2**12)
    assert (pair.only_first, pair.only_second, pair.pass_p) == (0, 12, mcnemar(0, 12))
    assert pair.low95 < pair.difference + 1e-9 < pair.high95 < 0
    a, b = found.standing("a"), found.standing("b")
    assert (a.ranks, a.first_place, a.last_place) == ((2,), 2, 2)
    assert (b.ranks, b.first_place, b.last_place) == ((1,), 1, 1)
    assert (b.mean, b.passed, b.n, b.clusters) == (1.0, 12, 12, 12)
    assert (b.low95, b.high95) == (b.pass_low95, b.pass_high95) == wilson(12, 12)


@pytest.mark.parametrize("differing", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("cases", [5, 12, 40])
def test_a_few_differing_cases_never_make_a_winner(differing: int, cases: int) -> None:
    other = [0.0] * differing + [1.0] * (cases - differing)
    found = comparison([[1.0] * cases, other]).statistics
    assert found.pairs[0].above is None
    assert [found.standing(name).ranks for name in "ab"] == [(1,), (1,)]


@pytest.mark.parametrize(
    ("rewards", "clusters"),
    [
        ([[1.0] * 2, [0.0] * 2], []),
        ([[1.0] * 3, [0.0] * 3, [0.5] * 3], []),
        ([[1.0] * 12, [0.0] * 12], ["p", "q"] * 6),
        ([[1.0] * 20, [0.0] * 4 + [1.0] * 16], []),
        ([[1.0] * 20, *[[0.0] * 6 + [1.0] * 14] * 2], []),
    ],
    ids=["two cases", "three", "two clusters", "four that differ", "six, three pairs"],
)
def test_where_too_few_differ_no_place_names_a_winner(
    rewards: list[list[float]], clusters: list[str]
) -> None:
    found = comparison(rewards, clusters=clusters).statistics
    assert not any(pair.apart for pair in found.pairs)
    every = [found.standing(name) for name in "abc"[: len(rewards)]]
    assert {(one.first_place, one.last_place) for one in every} == {(1, len(rewards))}


def test_places_of_those_that_are_told_apart_stay_theirs() -> None:
    few = [0.0] * 4 + [1.0] * 16
    found = comparison([[1.0] * 20, few, [0.0] * 20]).statistics
    places = [(one.first_place, one.last_place) for one in map(found.standing, "abc")]
    assert places == [(1, 2), (1, 2), (3, 3)]


def test_many_systems_with_odd_rewards_can_be_told_apart() -> None:
    draw = random.Random(3)
    columns = [[draw.random() * 0.2 + (0.0 if at else 0.5) for _ in range(21)] for at in range(33)]
    found = comparison(columns).statistics
    assert len(found.pairs) == 528
    assert [pair.above for pair in found.pairs[:32]] == ["a"] * 32
    assert (found.standing("a").first_place, found.standing("a").last_place) == (1, 1)


@pytest.mark.parametrize("count", [1, 4])
def test_a_single_cluster_says_nothing_of_places(count: int) -> None:
    table = comparison([[1.0] * count, [0.0] * count])
    found = replace(table, cases=tuple(case._replace(cluster="one") for case in table.cases)).statistics
    assert [(one.first_place, one.last_place) for one in map(found.standing, "ab")] == [(1, 2), (1, 2)]


def test_a_group_has_its_own_interval_and_no_rank() -> None:
    found = comparison([[1.0, 0.0, 1.0, 0.5], GOOD[:4]]).statistics
    layer = found.standing("a", "layer2")
    assert (layer.n, layer.mean, layer.ranks, layer.first_place) == (2, 0.25, (), None)
    assert (layer.low95, layer.high95) == score_interval([0.0, 0.5])
    assert [(one.system, one.group) for one in found.standings] == list(
        itertools.product("ab", ("layer1", "layer2", OVERALL))
    )


def test_a_system_with_gaps_is_listed_and_not_ranked() -> None:
    gaps: list[float | Outcome] = [Missing(), JudgeFailed("refusal"), *BAD[2:]]
    found = comparison([GOOD, BAD, gaps]).statistics
    c = found.standing("c")
    assert (c.ranks, c.first_place, c.n) == ((), None, 10)
    assert c.low95 == 0.0
    assert [found.standing(name).ranks for name in "ab"] == [(1,), (2,)]
    assert {(pair.first, pair.second): pair.n for pair in found.pairs} == {
        ("a", "b"): 12,
        ("a", "c"): 10,
        ("b", "c"): 10,
    }
    assert found.standing("a").last_place == 1


def test_one_complete_system_is_ranked_against_nobody() -> None:
    found = comparison([GOOD, [Missing(), *GOOD[1:]]]).statistics
    assert not found.ranked
    assert comparison([GOOD]).statistics.pairs == ()


def test_nothing_scored_has_no_interval_and_no_pair() -> None:
    found = comparison([[Missing()] * 3, [1.0, 1.0, 0.0]]).statistics
    assert found.pairs == ()
    assert (found.standing("a").mean, found.standing("a").low95, found.standing("a").passed) == (
        None,
        None,
        0,
    )


def test_cases_that_nobody_can_be_scored_on_are_not_counted() -> None:
    columns: list[list[float | Outcome]] = [[NotAnnotated(), *GOOD[1:]], [NotAnnotated(), *BAD[1:]]]
    found = comparison(columns).statistics
    assert (found.cases, found.clusters) == (11, 11)
    assert [found.standing(name).ranks for name in "ab"] == [(1,), (2,)]


def test_clusters_count_as_one_in_every_figure() -> None:
    names = [f"persona {at // 4}" for at in range(12)]
    alone, together = comparison([GOOD, BAD]).statistics, comparison([GOOD, BAD], clusters=names).statistics
    assert (together.cases, together.clusters) == (12, 3)
    (pair,) = together.pairs
    assert (pair.clusters, pair.p) == (3, sign_flip(GOOD, BAD, clusters=names)) == (3, 0.25)
    assert pair.pass_p == 0.25
    assert pair.above is None
    assert together.detectable is None
    low, alone_low = together.standing("a").low95, alone.standing("a").low95
    assert low is not None
    assert alone_low is not None
    assert low < alone_low


def test_a_cluster_named_like_a_case_is_another_thing() -> None:
    labels = ["layer2_01_case", None, *[None] * 10]
    assert comparison([GOOD, BAD], clusters=labels).statistics.clusters == 12


def test_holm_is_over_all_pairs() -> None:
    half = [1.0, 0.0] * 6
    found = comparison([GOOD, BAD, half]).statistics
    by_pair = {(pair.first, pair.second): pair for pair in found.pairs}
    assert by_pair["a", "b"].p_holm == pytest.approx(3 * by_pair["a", "b"].p)
    assert by_pair["a", "c"].p == 2 / 2**6
    assert by_pair["a", "c"].p_holm == pytest.approx(2 * by_pair["a", "c"].p)
    assert [found.standing(name).ranks for name in "abc"] == [(1,), (2,), (1, 2)]


def test_a_scorer_without_a_pass_has_no_test_of_passes() -> None:
    found = comparison([GOOD, BAD], has_pass=False).statistics
    (pair,) = found.pairs
    assert (pair.only_first, pair.only_second, pair.pass_p, pair.pass_p_holm) == (None, None, None, None)
    assert (found.standing("a").passed, found.standing("a").pass_low95) == (None, None)


def test_the_smallest_difference_is_smaller_with_more_cases() -> None:
    few = comparison([[1.0, 0.0, 0.5] * 8, [0.5, 0.5, 0.0] * 8]).statistics.detectable
    many = comparison([[1.0, 0.0, 0.5] * 32, [0.5, 0.5, 0.0] * 32]).statistics.detectable
    assert few is not None
    assert many is not None
    assert 0 < many < few < 1
    assert comparison([GOOD[:4], BAD[:4]]).statistics.detectable is None


@given(st.data())
def test_statistics_hold_together_for_any_outcomes(data: st.DataObject) -> None:
    count, cases = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 10))
    some = st.one_of(st.sampled_from([0.0, 1 / 3, 0.5, 1.0]), st.sampled_from([Missing(), SystemFailed("x")]))
    columns = [data.draw(st.lists(some, min_size=cases, max_size=cases)) for _ in range(count)]
    clusters = data.draw(st.lists(st.sampled_from(["x", "y", None]), min_size=cases, max_size=cases))
    result = comparison(columns, clusters=clusters)
    found = result.statistics
    assert found == replace(result).statistics
    for one in found.standings:
        assert (one.mean is None) == (one.n == 0) == (one.low95 is None)
        if one.mean is not None and one.low95 is not None and one.high95 is not None:
            assert 0 <= one.low95 <= one.mean + 1e-9
            assert one.mean - 1e-9 <= one.high95 <= 1
        assert bool(one.ranks) == (one.first_place is not None)
    for pair in found.pairs:
        assert -1 <= pair.low95 <= pair.difference + 1e-9
        assert pair.difference - 1e-9 <= pair.high95 <= 1
        assert pair.p <= pair.p_holm <= 1
        ranks = [set(found.standing(name).ranks) for name in (pair.first, pair.second)]
        if all(ranks):
            assert bool(ranks[0] & ranks[1]) == (not pair.apart)
        if pair.differing < 6:
            assert not pair.apart
