"""Gates: the user's own bounds, and ratios to a reference against an earlier result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.errors import InputError
from harness.evaluation import Evaluation, Metric, MetricDefinition
from harness.performance.gates import against, beyond, check_names, parse_bound, ratios

TIME, SHARE, RATE = "search_p50_ms@20", "contention_kept", "limit_rate"
KNOWN = (
    MetricDefinition(TIME, "", False, "ms"),
    MetricDefinition(SHARE, ""),
    MetricDefinition(RATE, "", unit="1/s"),
)


def one(system: str, time: float | None, share: float = 1.0, rate: float = 10.0, **told: str) -> Evaluation:
    timed = Metric(TIME, None, 0, 0, reason="the time cap") if time is None else Metric(TIME, time, 1, 1)
    metrics = (timed, Metric(SHARE, share, 1, 1), Metric(RATE, rate, 1, 1))
    provenance = {"workload": "w", "machine": "m", "system_version": "1", **told}
    return Evaluation("performance", system, "synthetic", metrics, provenance=provenance)


def compared(now: list[Evaluation], then: list[Evaluation], **more: Any) -> Any:
    return against(now, then, KNOWN, reference="bm25", label="old.json", **more)


def test_a_machine_that_is_ten_times_slower_changes_no_ratio() -> None:
    result = compared(
        [one("bm25", 10.0, machine="slow one"), one("mine", 30.0)], [one("bm25", 1.0), one("mine", 3.0)]
    )
    assert result.worse == ()
    assert result.compared == 2
    assert "measured on another machine (m)" in result.notes[0]


def test_a_ratio_that_rose_is_worse() -> None:
    result = compared([one("bm25", 1.0), one("mine", 6.0)], [one("bm25", 1.0), one("mine", 3.0)])
    assert result.worse == (
        "mine: search_p50_ms@20 is 6 × that of bm25, it was 3 × (more than 1.5 times worse)",
    )
    assert compared(
        [one("bm25", 1.0), one("mine", 6.0)], [one("bm25", 1.0), one("mine", 3.0)], tolerance=2.5
    ).worse == ()  # fmt: skip


def test_a_share_is_compared_as_it_is() -> None:
    result = compared([one("bm25", 1.0), one("mine", 3.0, 0.9)], [one("bm25", 1.0), one("mine", 3.0)])
    assert result.worse == ("mine: contention_kept is 0.9, it was 1",)


def test_a_number_of_lost_writes_is_compared_as_it_is() -> None:
    lost = MetricDefinition("contention_lost", "", False, "writes")

    def losing(system: str, writes: float) -> Evaluation:
        return replace(one(system, 1.0), metrics=(Metric(lost.name, writes, 1, 1),))

    def against_none(writes: float) -> Any:
        now, then = [losing("bm25", 0.0), losing("mine", writes)], [losing("bm25", 0.0), losing("mine", 0.0)]
        return against(now, then, (lost,), reference="bm25", gated=[lost.name], label="old.json")

    assert against_none(5.0).worse == ("mine: contention_lost is 5, it was 0",)
    assert (against_none(0.0).worse, against_none(0.0).compared) == ((), 1)


def test_a_rate_is_better_when_it_is_higher() -> None:
    then = [one("bm25", 1.0), one("mine", 3.0, rate=20.0)]
    assert compared([one("bm25", 1.0), one("mine", 3.0, rate=40.0)], then, gated=[RATE]).worse == ()
    (worse,) = compared([one("bm25", 1.0), one("mine", 3.0, rate=10.0)], then, gated=[RATE]).worse
    assert "limit_rate is 1 × that of bm25, it was 2 ×" in worse


def test_what_cannot_be_measured_any_more_is_worse() -> None:
    (worse,) = compared([one("bm25", 1.0), one("mine", None)], [one("bm25", 1.0), one("mine", 3.0)]).worse
    assert "has no value any more (the time cap)" in worse


def test_a_reference_without_the_figure_opens_no_gate() -> None:
    (worse,) = compared([one("bm25", None), one("mine", 3.0)], [one("bm25", 1.0), one("mine", 3.0)]).worse
    assert "cannot be compared: bm25 has no such figure in this run" in worse


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ([one("mine", 3.0)], "bm25 was not measured beside the others there"),
        ([one("bm25", 1.0)], "holds no mine"),
        ([one("bm25", 1.0, workload="x"), one("mine", 3.0)], "other texts or other load"),
    ],
)
def test_what_is_not_comparable_is_refused(then: list[Evaluation], said: str) -> None:
    with pytest.raises(InputError, match=said):
        compared([one("bm25", 1.0), one("mine", 3.0)], then)


def test_nothing_in_common_is_refused() -> None:
    with pytest.raises(InputError, match="none of the figures"):
        compared([one("bm25", 1.0), one("mine", 3.0)], [one("bm25", 1.0), one("mine", None)], gated=[TIME])


@pytest.mark.parametrize("text", ["search", "search=fast", "search=nan", "search=inf"])
def test_a_bound_that_is_none(text: str) -> None:
    with pytest.raises(InputError, match="--at-most"):
        parse_bound(text, at_most=True)


def test_bounds() -> None:
    least, most = parse_bound(f"{SHARE}=0.9", at_most=False), parse_bound(f"{TIME}=5", at_most=True)
    assert beyond(one("mine", 5.0, 0.9), least) == beyond(one("mine", 5.0), most) == ""
    assert beyond(one("mine", 5.1), most) == "mine: search_p50_ms@20 is 5.1, above 5"
    assert beyond(one("mine", 1.0, 0.8), least) == "mine: contention_kept is 0.8, below 0.9"
    assert beyond(one("mine", None), most) == "mine: search_p50_ms@20 has no value (the time cap)"
    with pytest.raises(InputError, match="--gate-on nothing: is not measured"):
        check_names(["nothing"], "--gate-on", KNOWN)


def test_ratios_beside_a_reference() -> None:
    rows = ratios([one("bm25", 2.0), one("mine", 3.0), one("other", None)], "bm25")
    assert rows == (("÷ bm25", "mine", "other"), (TIME, "1.5", "–"))
    assert ratios([one("mine", 3.0)], "bm25") == ()
