"""The pieces: texts by seed, histograms, fitted growth, arrivals, marks read back, plans."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.performance.latencies import Latencies, growth, ms
from harness.performance.load import arrivals
from harness.performance.machine import this_machine
from harness.performance.plan import Plan
from harness.performance.readback import judged
from harness.performance.workload import Workload


def test_texts_are_the_same_for_a_seed_and_unlike_each_other() -> None:
    first, again, other = Workload(1), Workload(1), Workload(2)
    texts = [first.memory(number) for number in range(2_000)]
    assert texts == [again.memory(number) for number in range(2_000)]
    assert len(set(texts)) == 2_000
    assert texts[0] != other.memory(0)
    assert first.digest == again.digest != other.digest
    assert all(50 <= len(text) <= 260 for text in texts)
    assert first.asked(50, 20, "search") == again.asked(50, 20, "search") != first.asked(50, 20, "warm-up")


def test_the_texts_of_a_seed_do_not_change_between_versions() -> None:
    assert Workload(1).digest == "3a682c746379"


@given(length=st.integers(1, 6_000), number=st.integers(0, 999))
def test_texts_have_exactly_the_length(length: int, number: int) -> None:
    assert len(Workload(1).text_of(length, number, "insert")) == length


@given(st.lists(st.floats(1e-6, 100), min_size=1, max_size=50))
def test_percentiles_are_in_order_and_between_the_extremes(seconds: list[float]) -> None:
    times = Latencies()
    for each in seconds:
        times.record(each)
    found = times.summary()
    assert found is not None
    assert found.n == len(seconds)
    assert found.min == min(seconds) * 1e3
    assert found.max == max(seconds) * 1e3
    assert found.min <= found.p50 <= found.p90 <= found.p95 <= found.p99 <= found.max


def test_percentiles_are_those_of_the_sorted_times() -> None:
    times = Latencies()
    for number in range(1, 1_001):
        times.record(number / 1e3)
    found = times.summary()
    assert found is not None
    for value, exact in ((found.p50, 500), (found.p90, 900), (found.p95, 950), (found.p99, 990)):
        assert value == pytest.approx(exact, rel=0.001)


@pytest.mark.parametrize("n", [1, 26, 51, 60, 99, 151])
def test_a_percentile_is_never_a_time_within_which_fewer_were_done(n: int) -> None:
    times = Latencies()
    for number in range(1, n + 1):
        times.record(float(number))
    found = times.summary()
    assert found is not None
    for value, percent in ((found.p50, 50), (found.p90, 90), (found.p95, 95), (found.p99, 99)):
        assert value == pytest.approx(math.ceil(percent * n / 100) * 1e3, rel=0.001)


def test_no_times_have_no_summary() -> None:
    assert Latencies().summary() is None


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
def test_growth_is_fitted(exponent: float) -> None:
    fitted = growth([(size, 3 * size**exponent) for size in (1_000, 5_000, 10_000, 50_000)])
    assert fitted is not None
    assert fitted.exponent == pytest.approx(exponent, abs=1e-9)
    assert fitted.points == 4
    assert fitted.r2 == (pytest.approx(1) if exponent else fitted.r2)


@pytest.mark.parametrize("points", [[], [(1_000, 2.0)], [(1_000, 2.0), (1_000, 3.0)]])
def test_one_size_has_no_growth(points: list[tuple[float, float]]) -> None:
    assert growth(points) is None


def test_two_points_say_nothing_of_the_fit() -> None:
    fitted = growth([(1, 1.0), (2, 4.0)])
    assert fitted is not None
    assert (fitted.points, fitted.r2) == (2, None)


@pytest.mark.parametrize("kind", ["poisson", "constant"])
def test_arrivals_are_open_seeded_and_at_the_rate(kind: Any) -> None:
    plan = Plan(duration=100.0, arrivals=kind, users=3)
    first = list(arrivals(plan, 20.0, "load"))
    assert first == list(arrivals(plan, 20.0, "load"))
    assert [one.at for one in first] == sorted(one.at for one in first)
    assert all(0 < one.at <= 100 + 1e-6 for one in first)
    assert len(first) == pytest.approx(2_000, abs=1 if kind == "constant" else 5 * math.sqrt(2_000))
    assert {one.user for one in first} == {0, 1, 2}
    assert sum(one.search for one in first) / len(first) == pytest.approx(0.8, abs=0.05)


def test_marks_tell_whole_torn_lost_and_doubled_texts_apart() -> None:
    texts = Workload(1)
    whole, torn, lost, doubled, mixed = (texts.marked("x", number, 200) for number in range(5))
    half = len(mixed.text) // 2
    found = judged(
        "list",
        [whole, torn, lost, doubled, mixed],
        [
            f"user: {whole.text}\n",
            torn.text[:100],
            doubled.text,
            f"again  {doubled.text.replace(' ', chr(10))}",
            mixed.text[:half] + whole.text[half:],
        ],
    )
    assert (found.whole, found.doubled, found.written) == (2, 1, 5)
    assert found.torn == (torn.head, mixed.head)
    assert found.lost == (lost.head,)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rates": (1e6,)}, "are more than 200,000 requests"),
        ({"parts": ("limit",), "highest_rate": 1e9}, "--highest-rate"),
        ({"search_share": math.nan}, "--search-share nan"),
        ({"duration": math.inf}, "--duration inf"),
        ({"rates": (math.nan,)}, "--rate nan"),
        ({"timeout": 0.0}, "--timeout 0"),
        ({"lengths": (10**10,)}, "--length 10000000000: expected at most 1,000,000"),
        ({"requests": 10**9}, "--requests 1000000000: expected at most 100,000"),
        ({"users": 10**9}, "--users"),
    ],
)
def test_impossible_plans_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Plan(**changes)


def test_sizes_are_put_in_order() -> None:
    assert Plan(sizes=(50, 10, 50)).sizes == (10, 50)


def test_the_machine_is_told_without_its_name() -> None:
    import platform

    told = str(this_machine())
    assert "core" in told
    assert "Python" in told
    assert platform.node() not in told.split()


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0.1234, "0.123"), (1.234, "1.23"), (12.34, "12.3"), (1234.5, "1,234")],
)
def test_milliseconds_have_three_digits(value: float | None, shown: str) -> None:
    assert ms(value) == shown


@pytest.mark.parametrize(
    "changed",
    [{"seen_within": 1.0}, {"timeout": 2.0}, {"duration": 3.0}, {"search_share": 0.5}, {"users": 3}, {"bend": 2.0}],
    ids=str,
)  # fmt: skip
def test_a_setting_that_changes_what_a_figure_means_makes_another_digest(changed: dict[str, Any]) -> None:
    assert Plan(**changed).digest("texts") != Plan().digest("texts")
    assert Plan(max_seconds=9.0).digest("texts") == Plan().digest("texts")
