"""Intervals of means against Wilson, Student and scipy's figures; clusters; what holds for any figures."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.statistics import (
    Interval,
    bca_interval,
    can_be_found,
    clustered_se,
    normal_quantile,
    score_interval,
    smallest_detectable,
    smoothed_se,
    t_interval,
    t_quantile,
    wilson,
)
from harness.statistics.quantiles import normal_cdf, t_cdf

VECTORS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("vectors").joinpath("statistics.json").read_text(encoding="utf-8")
)

SHARES = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 2 / 3, 0.9, 1.0]), min_size=1, max_size=30)
CLUSTERED = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from("abcdef")), min_size=1, max_size=30
)

# The usual tables' figures, to more digits from scipy 1.17.
T_TABLE = [
    (0.975, 1, 12.7062047362),
    (0.975, 2, 4.3026527297),
    (0.975, 5, 2.5705818356),
    (0.975, 10, 2.2281388520),
    (0.975, 19, 2.0930240544),
    (0.975, 59, 2.0009953781),
    (0.975, 1000, 1.9623390808),
    (0.95, 4, 2.1318467863),
    (0.995, 7, 3.4994832974),
    (0.9995, 3, 12.9239786367),
]


@pytest.mark.parametrize(("p", "df", "expected"), T_TABLE)
def test_t_quantiles(p: float, df: int, expected: float) -> None:
    assert t_quantile(p, df) == pytest.approx(expected, rel=1e-9)
    assert t_quantile(1 - p, df) == pytest.approx(-expected, rel=1e-9)


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0.5, 0.0), (0.8, 0.8416212336), (0.975, 1.9599639845), (0.995, 2.5758293035), (1e-9, -5.9978070150)],
)
def test_normal_quantiles(p: float, expected: float) -> None:
    assert normal_quantile(p) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("p", "expected"), [(1e-30, -11.464024688), (1e-100, -21.273453561), (1e-300, -37.047096299)]
)
def test_normal_quantiles_far_out(p: float, expected: float) -> None:
    assert normal_quantile(p) == pytest.approx(expected, abs=1e-8)


@given(st.floats(1e-6, 1 - 1e-6), st.integers(1, 500))
def test_quantiles_invert_their_distributions(p: float, df: int) -> None:
    assert normal_cdf(normal_quantile(p)) == pytest.approx(p, rel=1e-9)
    assert t_cdf(t_quantile(p, df), df) == pytest.approx(p, rel=1e-7)


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, 1.5])
def test_no_quantile_of_what_is_no_probability(p: float) -> None:
    for call in (lambda: normal_quantile(p), lambda: t_quantile(p, 3)):
        with pytest.raises(ValueError, match="0 < p < 1"):
            call()
    with pytest.raises(ValueError, match="degrees of freedom"):
        t_cdf(1.0, 0)


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["kind"] == "clustered_se_miller"])
def test_clustered_se_vectors(vector: dict[str, Any]) -> None:
    scores = vector["scores"]
    assert clustered_se(scores, vector["clusters"]) == pytest.approx(
        vector["expected_clustered_se"], abs=1e-6
    )
    n = len(scores)
    assert clustered_se(scores, None) * math.sqrt(n / (n - 1)) == pytest.approx(
        vector["naive_clt_se"], abs=1e-6
    )


@given(SHARES)
def test_a_cluster_each_is_no_clusters(values: list[float]) -> None:
    names = range(len(values))
    assert clustered_se(values, names) == pytest.approx(clustered_se(values, None))
    assert score_interval(values, names) == score_interval(values)
    assert t_interval(values, names) == t_interval(values)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_score_interval_of_passes_is_wilsons(count: tuple[int, int]) -> None:
    k, n = count
    assert score_interval([1.0] * k + [0.0] * (n - k)) == pytest.approx(wilson(k, n), abs=1e-12)


@given(CLUSTERED)
def test_a_score_interval_holds_its_mean_inside_the_bounds_and_mirrors(
    pairs: list[tuple[float, str]],
) -> None:
    values, names = zip(*pairs, strict=True)
    low, high = score_interval(values, names)
    mean = sum(values) / len(values)
    assert 0 <= low <= mean + 1e-12
    assert mean - 1e-12 <= high <= 1
    assert high - low > 0.01, "no interval shrinks to a point"
    assert smoothed_se(values, names) >= 0
    mirrored = score_interval([1 - value for value in values], names)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((low, high), abs=1e-9)
    doubled = score_interval([2 * value - 1 for value in values], names, bounds=Interval(-1, 1))
    assert (doubled.low, doubled.high) == pytest.approx((2 * low - 1, 2 * high - 1), abs=1e-9)


def test_figures_between_and_more_of_them_make_it_narrower() -> None:
    def width(values: list[float]) -> float:
        low, high = score_interval(values)
        return high - low

    assert width([0.4, 0.6] * 10) < width([0.25, 0.75] * 10) < width([0.0, 1.0] * 10)
    assert width([0.0, 1.0] * 40) < width([0.0, 1.0] * 10)
    assert width([0.5] * 20) > 0.1


def test_cases_that_vary_together_make_it_wider() -> None:
    values = ([1.0] * 4 + [0.0] * 4) * 3
    together = [at // 4 for at in range(24)]
    alone, clustered = score_interval(values), score_interval(values, together)
    assert clustered.low < alone.low
    assert clustered.high > alone.high
    # All that pass, in five clusters of four, say no more than five cases.
    assert score_interval([1.0] * 20, [at // 4 for at in range(20)]) == pytest.approx(wilson(5, 5))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.2, 0.4, 0.6, 0.8], (0.0891477, 0.9108523)),  # mean 0.5, s 0.2582, t 3.1824
        ([1.0, 1.0, 1.0], (1.0, 1.0)),
        ([0.0, 1.0], (0.0, 1.0)),
    ],
)
def test_t_intervals(values: list[float], expected: tuple[float, float]) -> None:
    assert t_interval(values) == pytest.approx(expected, abs=1e-6)
    assert t_interval([0.5]) is None


def test_t_without_bounds_runs_over_them() -> None:
    found = t_interval([0.0, 1.0], bounds=None)
    assert found is not None
    assert found == pytest.approx((0.5 - 6.3531024, 0.5 + 6.3531024), abs=1e-6)


def test_bca_against_another_implementation() -> None:
    values = [
        *(0.1, 0.9, 0.4, 0.35, 0.8, 0.05, 0.0, 0.6, 0.2, 0.15),
        *(1.0, 0.45, 0.3, 0.25, 0.7, 0.1, 0.5, 0.0, 0.3, 0.2),
    ]
    found = bca_interval(values)
    # scipy.stats.bootstrap(method="BCa", n_resamples=100_000)
    assert found == pytest.approx((0.2525, 0.5100), abs=0.004)
    assert found == bca_interval(values)
    assert bca_interval(values, resamples=99) != bca_interval(values, resamples=99, seed=1)


@settings(max_examples=25)
@given(CLUSTERED)
def test_bca_holds_its_mean(pairs: list[tuple[float, str]]) -> None:
    values, names = zip(*pairs, strict=True)
    low, high = bca_interval(values, names, resamples=200)
    assert min(values) - 1e-12 <= low <= sum(values) / len(values) + 1e-12
    assert sum(values) / len(values) - 1e-12 <= high <= max(values) + 1e-12


INTERVALS: list[Callable[..., object]] = [score_interval, t_interval, bca_interval, smoothed_se]


@pytest.mark.parametrize("call", [*INTERVALS, lambda values, names=None: clustered_se(values, names)])
def test_what_has_no_interval(call: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="nothing has no mean"):
        call([])
    with pytest.raises(ValueError, match="finite"):
        call([0.5, float("nan")])
    with pytest.raises(ValueError, match="2 clusters for 3 figures"):
        call([0.5, 0.1, 0.2], ["a", "b"])


def test_a_figure_out_of_bounds_and_a_bootstrap_without_resamples() -> None:
    with pytest.raises(ValueError, match=r"outside \[0, 1\]"):
        score_interval([0.5, 1.5])
    for call in (score_interval, smoothed_se):
        with pytest.raises(ValueError, match=r"outside \[0, 1\]"):
            call([0.5, 1.5])
        with pytest.raises(ValueError, match=r"\[0.5, 0.5\] has no width"):
            call([0.5], bounds=Interval(0.5, 0.5))
    with pytest.raises(ValueError, match="1 resample"):
        bca_interval([0.5, 1.0], resamples=0)


# --- the smallest detectable difference ---


def test_the_smallest_detectable_difference_is_its_formula() -> None:
    differences = [0.0, 0.5, -0.25, 0.5, 0.0, 0.25, 0.0, -0.5, 0.5, 0.0]
    error = smoothed_se(differences, bounds=Interval(-1, 1))
    assert smallest_detectable(differences) == pytest.approx((1.9599640 + 0.8416212) * error, abs=1e-6)
    assert smallest_detectable(differences, tests=3) == pytest.approx(
        (2.3939798 + 0.8416212) * error, abs=1e-6
    )


def test_more_cases_find_less_and_more_tests_find_less_often() -> None:
    few, many = ([0.5, -0.5] * n for n in (10, 40))
    one, other = smallest_detectable(few), smallest_detectable(many)
    assert one is not None
    assert other is not None
    assert other < one < (smallest_detectable(few, tests=10) or 1.0)


@pytest.mark.parametrize(
    ("groups", "tests", "found"), [(5, 1, False), (6, 1, True), (6, 2, False), (9, 6, True), (9, 28, False)]
)
def test_too_few_cases_show_nothing(groups: int, tests: int, found: bool) -> None:
    assert can_be_found(groups, tests=tests) == found
    assert smallest_detectable([1.0, -1.0, 0.5] * groups, [0, 1, 2] * groups) is None
    assert (smallest_detectable([0.5] * groups, tests=tests) is not None) == found


def test_no_difference_at_all_has_none() -> None:
    with pytest.raises(ValueError, match="nothing"):
        smallest_detectable([])
