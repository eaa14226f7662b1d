"""A deliberately slow, a lossy, a tearing, a late and a deadlocking server are found and reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.adapters.connectors.servers.plain import PlainStore
from tests.adapters.connectors.servers.serving import serve
from tests.performance.servers import (
    DESCRIPTION,
    SLEEP_S,
    Deadlocking,
    Late,
    Lossy,
    Refusing,
    Slow,
    Tearing,
    spec,
)


def test_a_sound_server_has_no_fault(measured: Any) -> None:
    with serve(PlainStore()) as server:
        result = measured(spec(server.url), "insert", "search", "load", "freshness", "contention")
    assert result.errors == ""
    assert result.value("contention_kept") == 1
    assert result.value("contention_lost") == 0
    assert result.value("fresh_seen") == 1
    assert result.value("load_succeeded@40") == 1
    assert result.found.load[0].back.written == result.found.load[0].back.whole > 0
    assert result.found.contention.most_at_once > 1
    assert result.found.stored == (50, 50)
    assert "not the harness's" in result.reason("resident_bytes_per_memory")
    assert "no file" in result.reason("disk_bytes_per_memory")


def test_a_slow_one_is_seen_to_be_slow(measured: Any) -> None:
    with serve(Slow()) as server:
        result = measured(spec(server.url), "search", "load", "freshness")
    for one in result.found.searches:
        assert one.latencies.summary().min >= SLEEP_S * 1e3
    assert result.value("search_p50_ms@20") >= SLEEP_S * 1e3
    assert result.found.load[0].searches.summary().min >= SLEEP_S * 1e3
    assert result.value("fresh_p50_ms") >= SLEEP_S * 1e3
    assert result.value("fresh_seen") == 1
    with serve(Slow()) as server:
        late = measured(spec(server.url), "freshness", seen_within=SLEEP_S / 2)
    assert late.value("fresh_seen") == 0  # no search was through within the bound


def test_one_that_cannot_keep_up_is_named_and_its_waiting_is_counted(measured: Any) -> None:
    with serve(Slow(one_at_a_time=True)) as server:
        result = measured(spec(server.url), "load", rates=(60.0,), search_share=1.0, arrivals="constant")
    step = result.found.load[0]
    assert step.every.n == step.sent == 30
    # 30 requests come within half a second, and each keeps the others waiting for 50 ms.
    assert step.every.summary().max >= (30 * SLEEP_S - 0.5) * 1e3
    assert step.throughput <= 1 / SLEEP_S
    assert "does not keep up" in result.errors


@pytest.mark.parametrize("by", ["list", "recall"])
def test_lost_writes_are_counted(measured: Any, tmp_path: Path, by: str) -> None:
    description = DESCRIPTION
    if by == "recall":
        before, _, rest = DESCRIPTION.read_text(encoding="utf-8").partition("list:\n")
        description = tmp_path / "without_list.yaml"
        description.write_text(before + "delete:\n" + rest.partition("delete:\n")[2], encoding="utf-8")
    with serve(Lossy()) as server:
        result = measured(spec(server.url, description), "contention")
    assert result.found.contention.back.how == by
    # 20 writes alone lose the 10th and the 20th; 40 more lose four.
    assert len(result.found.contention.alone.lost) == 2
    assert result.value("contention_lost") == 4
    assert result.value("contention_torn") == 0
    assert result.value("contention_kept") == pytest.approx(0.9)
    assert "writes one at a time: 2 of 20 acknowledged writes lost" in result.errors
    assert "4 writers at once: 4 of 40 acknowledged writes lost" in result.errors


def test_losses_show_under_load_in_freshness_and_in_the_count(measured: Any) -> None:
    with serve(Lossy()) as server:
        result = measured(
            spec(server.url), "load", "search", "freshness", search_share=0.0, samples=20, seen_within=0.1
        )
    back = result.found.load[0].back
    assert 0 < len(back.lost) < back.written
    assert "load at 40/s" in result.errors
    assert 0 < result.value("fresh_seen") < 1
    assert "were not seen within 0.1 s" in result.errors
    listed, acknowledged = result.found.stored
    assert (listed, acknowledged) == (45, 50)
    assert "it lists 45 memories where 50 writes were acknowledged" in result.warnings


def test_torn_writes_are_told_from_lost_ones(measured: Any) -> None:
    with serve(Tearing()) as server:
        result = measured(spec(server.url), "contention")
    assert result.found.contention.alone.torn == ()
    assert result.value("contention_torn") > 0
    assert result.value("contention_lost") == 0
    assert "acknowledged writes torn" in result.errors


def test_a_late_one_is_seen_late_or_not_at_all(measured: Any) -> None:
    with serve(Late(0.1)) as server:
        late = measured(spec(server.url), "freshness", seen_within=5.0)
    assert late.found.freshness.seen.summary().min >= 50
    assert late.found.freshness.at_once == 0
    with serve(Late(60)) as server:
        never = measured(spec(server.url), "freshness")
    assert never.value("fresh_seen") == 0
    assert never.reason("fresh_p50_ms") == "not seen within 0.3 s"
    assert "5 of 5 writes were not seen" in never.errors


@pytest.mark.parametrize(
    ("part", "after"),
    [
        ("insert", 10),
        ("search", 10),
        ("search", 26),
        ("load", 5),
        ("load", 26),
        ("limit", 26),
        ("freshness", 5),
        ("contention", 5),
        ("contention", 26),
    ],
)
def test_a_deadlock_is_found_in_every_part(measured: Any, part: str, after: int) -> None:
    deadlocking = Deadlocking(after)
    with serve(deadlocking) as server:
        result = measured(spec(server.url), part, timeout=0.15)
        deadlocking.released.set()
    assert f"stopped answering: after {after} answered requests" in result.errors


def test_after_a_deadlock_the_other_parts_end_soon_and_say_why(measured: Any) -> None:
    deadlocking = Deadlocking(after=5)
    with serve(deadlocking) as server:
        result = measured(
            spec(server.url), "insert", "search", "load", "freshness", "contention", timeout=0.15
        )
        deadlocking.released.set()
    assert len([error for error in result.evaluation.errors if "stopped answering" in error]) == 1
    for name in ("search_p50_ms@20", "load_p50_ms@40", "fresh_p50_ms", "contention_kept"):
        assert "stopped answering" in result.reason(name)
    # Three time-outs are proof; after that one each is.
    assert len(server.requests) < 5 + 3 + 4 * 3 + 5


def test_one_that_answers_nothing_at_all(measured: Any) -> None:
    deadlocking = Deadlocking(after=0)
    with serve(deadlocking) as server:
        result = measured(spec(server.url), "insert", timeout=0.1)
        deadlocking.released.set()
    assert "answers nothing" in result.errors


def test_an_overloaded_one_is_not_called_hung(measured: Any) -> None:
    with serve(Slow(one_at_a_time=True)) as server:
        result = measured(spec(server.url), "load", rates=(60.0,), search_share=1.0, timeout=0.5)
    assert result.value("load_succeeded@60") < 1
    assert "stopped answering" not in result.errors
    assert "does not keep up" in result.errors


def test_failures_are_counted_by_cause(measured: Any) -> None:
    with serve(Refusing()) as server:
        result = measured(spec(server.url), "insert", warm_up=0, lengths=(100,), requests=30)
    (one,) = result.found.inserts
    assert (one.latencies.n, dict(one.failures.by_cause)) == (20, {"add raised": 10})
    assert "disk full" in one.failures.first["add raised"]
    assert result.value("insert_succeeded@100") == pytest.approx(2 / 3)
    assert "requests failed: add raised, 10 times" in result.errors


def test_nobody_there_is_a_failure_and_no_figure(measured: Any) -> None:
    result = measured(spec("http://127.0.0.1:9"), "insert", "load", requests=3)
    assert "unreachable" in result.reason("insert_p50_ms@100")
    assert result.value("insert_succeeded@100") == 0
    assert "storing fails" in result.reason("load_p50_ms@40")


def test_the_rate_that_bends_is_found(measured: Any) -> None:
    with serve(Slow(one_at_a_time=True)) as server:
        result = measured(
            spec(server.url), "limit", rates=(10.0,), duration=0.8, search_share=1.0, users=1,
            arrivals="constant", highest_rate=160.0, bend=3.0,
        )  # fmt: skip
    limit = result.found.limit
    # 20 a second is all that it can do.
    assert 10 <= limit.holds < limit.bends <= 160
    assert result.value("limit_rate") == limit.holds
    assert "p99 is" in limit.why or "succeeded" in limit.why
    assert f"bends at {limit.bends:g}/s" in result.evaluation.provenance["limit"]


def test_a_limit_that_is_not_reached_is_said_to_hold(measured: Any) -> None:
    result = measured("bm25", "limit", rates=(10.0,), highest_rate=20.0, bend=1e6)
    assert (result.found.limit.holds, result.found.limit.bends) == (20.0, None)
    assert "no rate that was tried bends" in result.evaluation.provenance["limit"]
