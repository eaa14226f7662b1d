"""Reference values, and what holds for every count and every pair of raters."""

from __future__ import annotations

import itertools
import json
import math
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics import Rate, cohen_kappa, holm, mcnemar, sign_flip, wilson

VECTORS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("vectors").joinpath("statistics.json").read_text(encoding="utf-8")
)


def of_kind(kind: str) -> list[dict[str, Any]]:
    found = [vector for vector in VECTORS if vector["kind"] == kind]
    assert found
    return found


@pytest.mark.parametrize("vector", of_kind("wilson_95"), ids=lambda vector: f"{vector['k']}-of-{vector['n']}")
def test_wilson_vectors(vector: dict[str, Any]) -> None:
    assert wilson(vector["k"], vector["n"]) == pytest.approx(vector["expected"], abs=1e-6)


@pytest.mark.parametrize("vector", of_kind("cohen_kappa"))
def test_kappa_vectors(vector: dict[str, Any]) -> None:
    assert cohen_kappa(vector["human"], vector["judge"]) == pytest.approx(vector["expected"], abs=1e-5)


COUNTS = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS)
def test_an_interval_holds_its_share_and_mirrors(count: tuple[int, int]) -> None:
    k, n = count
    low, high = wilson(k, n)
    assert 0 <= low <= k / n <= high <= 1
    assert low < high
    assert (low == 0, high == 1) == (k == 0, k == n)
    mirrored = wilson(n - k, n)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((low, high), abs=1e-12)


@given(COUNTS)
def test_more_of_the_same_is_narrower(count: tuple[int, int]) -> None:
    k, n = count
    once, tenfold = wilson(k, n), wilson(10 * k, 10 * n)
    assert tenfold.high - tenfold.low < once.high - once.low


@pytest.mark.parametrize(("k", "n"), [(0, 0), (-1, 5), (6, 5)])
def test_what_is_no_share(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="k of n"):
        wilson(k, n)


@pytest.mark.parametrize(
    ("rate", "written"),
    [
        (Rate(12, 63), "12/63 19% [11–30%]"),
        (Rate(0, 20), "0/20 0% [0–16%]"),
        (Rate(20, 20), "20/20 100% [84–100%]"),
        (Rate(1, 300), "1/300 <1% [0–2%]"),
        (Rate(299, 300), "299/300 >99% [98–100%]"),
        (Rate(0, 0), "–"),
    ],
    ids=str,
)
def test_a_rate_is_written(rate: Rate, written: str) -> None:
    assert str(rate) == written


def test_a_rate_of_nothing_has_no_share() -> None:
    nothing = Rate(0, 0)
    assert (nothing.share, nothing.interval, nothing.percent, nothing.span) == (None, None, "–", "")


LABELS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=40)


@given(LABELS)
def test_kappa_against_its_definition(pairs: list[tuple[str, str]]) -> None:
    first, second = zip(*pairs, strict=True)
    n = len(pairs)
    seen = sum(one == other for one, other in pairs) / n
    chance = sum(first.count(label) * second.count(label) for label in "abc") / n**2
    kappa = cohen_kappa(first, second)
    assert kappa == cohen_kappa(second, first)
    if kappa is None:
        assert set(first) == set(second)
        assert len(set(first)) == 1
    else:
        assert kappa <= 1
        assert (kappa == 1) == (first == second)
        assert kappa == pytest.approx((seen - chance) / (1 - chance), abs=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "kappa"),
    [
        pytest.param([], [], None, id="nothing"),
        pytest.param([1, 1], [1, 1], None, id="one-label-on-both-sides"),
        pytest.param([1, 1], [0, 0], 0.0, id="one-label-each"),
        pytest.param([1, 0], [1, 0], 1.0, id="full-agreement"),
        pytest.param([1, 0], [0, 1], -1.0, id="full-disagreement"),
        pytest.param([1, 1, 0, 0], [1, 0, 1, 0], 0.0, id="chance"),
    ],
)
def test_kappa_of_small_tables(first: list[int], second: list[int], kappa: float | None) -> None:
    assert cohen_kappa(first, second) == kappa


def test_raters_of_different_things() -> None:
    with pytest.raises(ValueError, match="2 and 1"):
        cohen_kappa([1, 0], [1])


@pytest.mark.parametrize("vector", of_kind("mcnemar_exact_two_sided"), ids=lambda v: f"{v['b']}-{v['c']}")
def test_mcnemar_vectors(vector: dict[str, Any]) -> None:
    assert mcnemar(vector["b"], vector["c"]) == pytest.approx(vector["expected_p"], abs=1e-6)
    assert mcnemar(vector["c"], vector["b"]) == mcnemar(vector["b"], vector["c"])


def test_mcnemar_of_many_cases_is_quick_and_never_0() -> None:
    begun = time.perf_counter()
    p = mcnemar(20_000, 20_100)
    assert time.perf_counter() - begun < 5
    # The normal approximation with continuity correction is good to three digits here.
    assert p == pytest.approx(math.erfc(99 / math.sqrt(2 * 40_100)), rel=1e-3)
    assert mcnemar(5_000, 0) == math.ulp(0.0)
    assert mcnemar(1_000, 0) == pytest.approx(2 / 2**1_000)
    assert sign_flip([1.0] * 1_400, [0.0] * 1_400) == math.ulp(0.0)


@pytest.mark.parametrize("vector", of_kind("multiple_comparison"))
def test_holm_vectors(vector: dict[str, Any]) -> None:
    assert holm(vector["p"]) == pytest.approx(vector["expected"])
    backwards = holm(vector["p"][::-1])
    assert backwards == pytest.approx(vector["expected"][::-1])


@pytest.mark.parametrize("vector", of_kind("paired_permutation_exact_two_sided"))
def test_sign_flip_vectors(vector: dict[str, Any]) -> None:
    assert sign_flip(vector["a"], vector["b"]) == pytest.approx(vector["expected_p"])


def by_hand(differences: list[float]) -> float:
    """Count every pattern of signs, one by one."""
    observed = abs(sum(differences))
    patterns = itertools.product((1, -1), repeat=len(differences))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in patterns]
    return sum(total >= observed - 1e-9 for total in sums) / len(sums)


@given(st.lists(st.sampled_from([-1.0, -0.75, -0.5, -0.25, 0.25, 0.5, 1.0]), min_size=1, max_size=10))
def test_sign_flip_counts_every_pattern(differences: list[float]) -> None:
    zeros = [0.0] * len(differences)
    assert sign_flip(differences, zeros) == pytest.approx(by_hand(differences))
    assert sign_flip(zeros, differences) == sign_flip(differences, zeros)


@given(st.lists(st.integers(-9973, 9973).map(lambda step: step / 9973), min_size=1, max_size=9))
def test_sign_flip_counts_every_pattern_of_any_differences(differences: list[float]) -> None:
    assert sign_flip(differences, [0.0] * len(differences)) == pytest.approx(by_hand(differences), abs=1e-9)


@pytest.mark.parametrize(("b", "c"), [(30, 10), (6, 0), (25, 24), (60, 0), (150, 110)])
def test_sign_flip_of_passes_is_mcnemar(b: int, c: int) -> None:
    a, other = [1.0] * b + [0.0] * c, [0.0] * b + [1.0] * c
    assert sign_flip(a, other) == pytest.approx(mcnemar(b, c), rel=1e-12)


def test_sign_flip_samples_many_odd_figures_and_says_the_same_twice() -> None:
    a = [1.0 + at / 100_003 for at in range(30)] + [0.0] * 10
    b = [0.0] * 30 + [1.0 + at / 100_003 for at in range(10)]
    sampled = sign_flip(a, b)
    assert sampled == sign_flip(a, b)
    assert sampled == pytest.approx(mcnemar(30, 10), abs=0.002)
    assert sign_flip([1.0 + at / 100_003 for at in range(60)], [0.0] * 60) == 1 / 10_001


def test_of_many_tests_more_patterns_are_drawn_where_p_is_small() -> None:
    a, b = [1.0 + at / 100_003 for at in range(60)], [0.0] * 60
    assert sign_flip(a, b, tests=125) == 1 / 10_001
    assert sign_flip(a, b, tests=528) == 1 / (80 * 528 + 1)
    assert 528 * sign_flip(a, b, tests=528) < 0.05
    mixed = [1.0 + at / 100_003 for at in range(30)] + [0.0] * 30
    other = [0.0] * 30 + [1.0 + at / 100_003 for at in range(30)]
    assert sign_flip(mixed, other, tests=528) == sign_flip(mixed, other)


def test_thirds_that_sum_to_nothing_are_no_difference() -> None:
    assert sign_flip([1 / 3, 0.0, 2 / 3], [0.0, 1.0, 0.0]) == 1.0


def test_differences_below_a_millionth_are_differences() -> None:
    assert sign_flip([0.5 + 4e-7] * 10, [0.5] * 10) == pytest.approx(2 / 2**10)
    assert sign_flip([0.1 + 0.2], [0.3]) == 1.0, "equal but for rounding"


def test_a_cluster_flips_as_one() -> None:
    a, b = [1.0] * 6, [0.0] * 6
    assert sign_flip(a, b) == 2 / 2**6
    assert sign_flip(a, b, clusters=[1, 1, 1, 2, 2, 2]) == 2 / 2**2
    assert sign_flip(a, a) == 1.0


@pytest.mark.parametrize("wrong", [([1.0], []), ([float("nan")], [0.0])])
def test_what_cannot_be_paired(wrong: tuple[list[float], list[float]]) -> None:
    with pytest.raises(ValueError, match=r"paired|finite"):
        sign_flip(*wrong)
