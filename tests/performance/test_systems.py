"""Measurements of systems inside the harness and in worker processes: capabilities, caps, footprint."""

from __future__ import annotations

from typing import Any

import pytest

KEPT = "it=tests.performance.systems:Kept"


def test_percentiles_are_in_order_and_everything_was_asked(measured: Any) -> None:
    result = measured("bm25", "insert", "search")
    for one in (*result.found.inserts, *result.found.searches):
        summary = one.latencies.summary()
        assert summary.n == 10
        assert one.warm_up == (2 if one.at in (100, 20, 50) else 0)
        assert 0 < summary.min <= summary.p50 <= summary.p90 <= summary.p95 <= summary.p99 <= summary.max
    assert result.evaluation.metric("search_growth").n == 2
    assert result.errors == ""


def test_a_worker_process_is_measured_with_its_memory_and_disk(measured: Any) -> None:
    result = measured(KEPT, "insert", "search", "load", "freshness", "contention")
    assert result.errors == ""
    assert result.value("disk_bytes_per_memory") > 20
    assert "one request at a time" in result.warnings
    assert "by itself" in result.warnings
    assert result.found.contention.back.how == "recall"
    assert "never overlapped" in result.warnings


def test_a_worker_that_hangs_is_ended_and_named(measured: Any) -> None:
    result = measured(f"{KEPT}(hangs_after=4)", "search", timeout=0.3)
    assert "its process ended: timeout" in result.errors
    assert "its process ended" in result.reason("search_p50_ms@50")


def test_waiting_for_a_worker_counts(measured: Any) -> None:
    result = measured(
        f"{KEPT}(sleep_s=0.05)", "load", users=1, search_share=1.0, arrivals="constant", rates=(40.0,)
    )
    step = result.found.load[0]
    assert step.sent == step.every.n == 20
    # 20 requests of 50 ms come within half a second.
    assert step.every.summary().max >= 500
    assert "does not keep up" in result.errors


def test_a_system_without_a_list_keeps_contention_and_load_apart(measured: Any) -> None:
    result = measured("full_context", "load", "contention")
    assert result.found.load[0].back is None
    assert result.found.contention.back.how == "recall"


def test_what_a_system_lacks_is_na_with_the_reason(measured: Any) -> None:
    result = measured(
        "it=tests.performance.systems:Answers", "insert", "search", "load", "freshness", "contention"
    )
    assert result.value("insert_p50_ms@100") > 0
    assert result.reason("search_p50_ms@20") == "it answers and cannot recall"
    assert "--search-share 0" in result.reason("load_p50_ms@40")
    assert result.reason("fresh_seen") == "it answers and cannot recall"
    assert "neither list nor recall" in result.reason("contention_kept")
    assert result.errors == ""


def test_a_memory_that_forgets_everything_is_not_seen_and_contention_says_nothing(measured: Any) -> None:
    result = measured("no_memory", "freshness", "contention", seen_within=0.05)
    assert result.value("fresh_seen") == 0
    assert "none of 20 texts written one at a time came back" in result.reason("contention_kept")
    assert "20 of 20 acknowledged writes lost" in result.errors


def test_a_size_that_the_time_cap_cuts_off_is_not_reached(measured: Any) -> None:
    result = measured(f"{KEPT}(sleep_s=0.05)", "search", max_seconds=0.4, sizes=(20, 50, 1_000_000))
    assert "the time cap of 0.4 s" in result.reason("search_p50_ms@1000000")
    assert "search@1000000" in result.warnings
    row = result.evaluation.sections["search: ms by memories"][-1]
    assert row[1:3] == ("1,000,000", "not reached")
    assert result.evaluation.metric("search_growth").n <= 2


def test_throughput_is_over_the_whole_step(measured: Any) -> None:
    result = measured("bm25", "load", rates=(4.0,), duration=1.5, arrivals="constant", search_share=1.0)
    (step,) = result.found.load
    assert step.every.n == step.sent == 6
    assert step.elapsed_s == pytest.approx(1.5, abs=0.2)
    assert result.value("load_throughput@4") == pytest.approx(4.0, rel=0.15)
    poisson = measured("bm25", "load", rates=(2.0,), duration=1.0, search_share=1.0)
    assert poisson.found.load[0].elapsed_s >= 1.0, "whenever the last request came"


def test_a_load_that_the_time_cap_cuts_off_says_so(measured: Any) -> None:
    result = measured("bm25", "load", rates=(20.0, 30.0), duration=30.0, max_seconds=0.5)
    first, second = result.found.load
    assert 0 < first.sent < first.arrived
    assert "the time cap of 0.5 s after" in first.cut
    assert second.sent == 0
    assert "time cap" in result.reason("load_p50_ms@30")


@pytest.mark.parametrize("part", ["load", "limit"])
def test_a_rate_at_which_nothing_arrives_neither_fails_nor_bends(measured: Any, part: str) -> None:
    result = measured("bm25", part, rates=(0.01,), highest_rate=1.0)
    assert "no request was due within 0.5 s" in result.reason(
        "load_p50_ms@0.01" if part == "load" else "limit_rate"
    )
    assert "every request failed" not in str(result.evaluation)
    assert part == "load" or result.found.limit.bends is None


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_share_of_searches(measured: Any, share: float) -> None:
    (step,) = measured("bm25", "load", search_share=share).found.load
    assert (step.searches.n, step.inserts.n) == ((step.sent, 0) if share else (0, step.sent))


def test_every_metric_defined_is_reported(measured: Any) -> None:
    from harness.performance.evaluator import PerformanceEvaluator
    from harness.performance.plan import EVERY, Plan
    from tests.performance.conftest import QUICK

    result = measured("bm25", *EVERY, highest_rate=50.0)
    defined = [one.name for one in PerformanceEvaluator(Plan(**QUICK, parts=EVERY)).metrics()]
    assert sorted(metric.name for metric in result.evaluation.metrics) == sorted(defined)
    for metric in result.evaluation.metrics:
        assert (metric.value is None) == bool(metric.reason), metric


def test_a_worker_that_a_time_cap_ended_spoils_no_later_part(measured: Any) -> None:
    for _ in range(3):
        result = measured(
            f"{KEPT}(sleep_s=0.03)", "search", "freshness", max_seconds=0.5, sizes=(5,), requests=100_000
        )
        assert "the time cap of 0.5 s" in result.warnings
        assert "n/a" not in result.warnings
        assert result.errors == ""
