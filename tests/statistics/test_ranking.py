"""Ranks are shared exactly by those that cannot be told apart; places follow the joint draw of cases."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.statistics import Places, place_intervals, shared_ranks


@pytest.mark.parametrize(
    ("means", "apart", "ranks"),
    [
        ([], [], []),
        ([0.5], [], [(1,)]),
        ([0.5, 0.6], [], [(1,), (1,)]),
        ([0.2, 0.6], [(0, 1)], [(2,), (1,)]),
        ([0.9, 0.5, 0.1], [(0, 1), (1, 2), (0, 2)], [(1,), (2,), (3,)]),
        ([0.9, 0.5, 0.1], [(2, 0)], [(1,), (1, 2), (2,)]),
        ([0.9, 0.8, 0.1], [(0, 2), (1, 2)], [(1,), (1,), (2,)]),
        ([0.9, 0.8, 0.5, 0.1], [(0, 1), (1, 2), (2, 3)], [(1, 2), (3,), (1,), (2, 3)]),
    ],
    ids=["none", "one", "tie", "two", "three-apart", "chain", "two-and-one", "odd"],
)
def test_ranks(means: list[float], apart: list[tuple[int, int]], ranks: list[tuple[int, ...]]) -> None:
    assert shared_ranks(means, apart) == ranks


@given(st.data())
def test_two_share_a_rank_exactly_when_they_cannot_be_told_apart(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 7))
    means = data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count))
    pairs = list(itertools.combinations(range(count), 2))
    apart = {pair for pair in pairs if data.draw(st.booleans())}
    ranks = shared_ranks(means, apart)
    assert all(ranks)
    for one, other in pairs:
        assert bool(set(ranks[one]) & set(ranks[other])) == ((one, other) not in apart)
    held = {rank for found in ranks for rank in found}
    assert held == set(range(1, len(held) + 1))
    assert 1 in ranks[max(range(count), key=lambda at: means[at])]


def test_a_clear_order_has_one_place_each_and_equals_have_all() -> None:
    clear = [[0.9] * 10, [0.1] * 10, [0.5] * 10]
    assert place_intervals(clear) == [Places(1, 1), Places(3, 3), Places(2, 2)]
    assert place_intervals([[1 / 3, 2 / 3, 1.0]] * 3) == [Places(1, 3)] * 3


def test_one_case_between_two_leaves_both_places_open() -> None:
    one = [1.0] + [0.5] * 9
    other = [0.0] + [0.5] * 9
    assert place_intervals([one, other]) == [Places(1, 2), Places(1, 2)]


def test_clusters_are_drawn_whole() -> None:
    better, worse = [1.0] * 20 + [0.0] * 4, [0.0] * 20 + [1.0] * 4
    alone = place_intervals([better, worse])
    clustered = place_intervals([better, worse], [at // 4 for at in range(24)])
    assert alone == [Places(1, 1), Places(2, 2)]
    assert clustered == [Places(1, 2), Places(1, 2)]
    uneven = place_intervals([better, worse], ["a"] * 20 + ["b"] * 4)
    assert uneven == [Places(1, 2), Places(1, 2)]


@settings(max_examples=30)
@given(st.data())
def test_places_are_in_range_mirror_and_repeat(data: st.DataObject) -> None:
    systems, cases = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 8))
    rewards = st.lists(st.sampled_from([0.0, 1 / 3, 0.5, 1.0]), min_size=cases, max_size=cases)
    columns = [data.draw(rewards) for _ in range(systems)]
    found = place_intervals(columns, resamples=300)
    assert all(1 <= one.first <= one.last <= systems for one in found)
    assert found == place_intervals(columns, resamples=300)
    turned = place_intervals([[1 - reward for reward in column] for column in columns], resamples=300)
    assert [(systems + 1 - one.last, systems + 1 - one.first) for one in turned] == [
        tuple(one) for one in found
    ]


def test_many_cases_are_drawn_alike() -> None:
    one, other = [1.0, 0.0] * 20_000, [0.0, 1.0] * 20_000
    assert place_intervals([one, other], resamples=50) == [Places(1, 2), Places(1, 2)]


@pytest.mark.parametrize("figure", [1.5, -0.1, float("nan")])
def test_a_figure_that_is_no_reward_has_no_place(figure: float) -> None:
    with pytest.raises(ValueError, match=r"outside \[0, 1\]"):
        place_intervals([[0.5, 0.5], [figure, 0.5]])


@pytest.mark.parametrize("columns", [[], [[]], [[0.5], [0.5, 1.0]]])
def test_what_has_no_places(columns: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="for each case"):
        place_intervals(columns)
