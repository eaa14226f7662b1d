from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.memories.fusion import reciprocal_rank_fusion as fuse

rankings = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=5)


def test_scores_are_those_of_the_paper() -> None:
    fused = fuse([["a", "b", "c"], ["c", "a"]])
    assert fused == [
        ("a", pytest.approx(1 / 61 + 1 / 62)),
        ("c", pytest.approx(1 / 63 + 1 / 61)),
        ("b", pytest.approx(1 / 62)),
    ]


def test_weights_and_k_count() -> None:
    assert fuse([["a"], ["b"]], k=0, weights=[1, 3]) == [("b", 3.0), ("a", 1.0)]


def test_equals_go_by_their_best_rank_and_then_by_appearance() -> None:
    # With k = 0: a has 1/2 + 1/2, b has 1.
    assert [id for id, _ in fuse([["x", "a"], ["y", "a"], ["b"]], k=0)] == ["x", "y", "b", "a"]


def test_an_id_counts_once_in_a_ranking() -> None:
    assert fuse([["a", "a", "b"]]) == fuse([["a", "b"]])


@pytest.mark.parametrize(
    "changes", [{"k": -1}, {"weights": [1]}, {"weights": [1, -1]}, {"weights": [1, float("nan")]}]
)
def test_what_has_no_meaning_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="weight"):
        fuse([["a"], ["b"]], **changes)  # type: ignore[arg-type]


@given(rankings)
def test_every_id_comes_once_and_best_first(given_rankings: list[list[str]]) -> None:
    fused = fuse(given_rankings)
    assert sorted(id for id, _ in fused) == sorted({id for ranking in given_rankings for id in ranking})
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= len(given_rankings) / 61 + 1e-12 for score in scores)


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.integers(1, 4))
def test_one_ranking_or_the_same_several_times_keeps_its_order(ranking: list[str], times: int) -> None:
    assert [id for id, _ in fuse([ranking] * times)] == ranking


@given(st.permutations([1, 2, 3, 4, 5]))
def test_the_same_ranks_in_any_order_are_a_tie(ranks: list[int]) -> None:
    ids = ["filler1", "filler2", "filler3", "filler4", "filler5"]
    given_rankings = []
    for one, other in zip(ranks, sorted(ranks), strict=True):
        given_rankings += [[*ids[: one - 1], "a"], [*ids[: other - 1], "b"]]
    scores = dict(fuse(given_rankings))
    assert scores["a"] == scores["b"]


@given(rankings, st.floats(0.1, 10))
def test_the_scale_of_the_weights_changes_no_order(given_rankings: list[list[str]], scale: float) -> None:
    weighted = fuse(given_rankings, weights=[scale] * len(given_rankings))
    plain = dict(fuse(given_rankings))
    assert {id: pytest.approx(score / scale) for id, score in weighted} == plain


@given(rankings, st.sampled_from("abcdefgh"))
def test_a_further_first_place_never_hurts(given_rankings: list[list[str]], id: str) -> None:
    before = [one for one, _ in fuse([*given_rankings, []])]
    after = [one for one, _ in fuse([*given_rankings, [id]])]
    assert after.index(id) <= (before.index(id) if id in before else len(before))
