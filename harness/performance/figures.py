"""The metrics of a measurement, by names such as `search_p99_ms@1000`, and what each means."""

from __future__ import annotations

from collections.abc import Iterator

from harness.evaluation import Metric, MetricDefinition
from harness.performance.found import AtSize, Contention, Measured, ReadBack, Timed
from harness.performance.latencies import Latencies, growth
from harness.performance.plan import Part, Plan

_TIMES = ("p50", "p99")
_INTERRUPTED = "interrupted"


def definitions(plan: Plan) -> tuple[MetricDefinition, ...]:
    """Return what a plan measures, in the order in which it is shown."""
    found: list[MetricDefinition] = []
    for kind, ats, what in (("insert", plan.lengths, "characters"), ("search", plan.sizes, "memories")):
        for at in ats if kind in plan.parts else ():
            found += [
                MetricDefinition(f"{kind}_{p}_ms@{at}", f"{p} of one {kind} at {at} {what}", False, "ms")
                for p in _TIMES
            ]
            found.append(MetricDefinition(f"{kind}_succeeded@{at}", "requests that succeeded ÷ made"))
        if kind in plan.parts:
            formula = f"slope of log p50 on log {what}, least squares"
            found.append(MetricDefinition(f"{kind}_growth", formula, False, "exponent"))
    if "search" in plan.parts:
        for name in ("resident", "disk"):
            formula = f"{name} bytes at the largest size reached, above an empty store, ÷ memories"
            found.append(MetricDefinition(f"{name}_bytes_per_memory", formula, False, "bytes"))
    for rate in plan.rates if "load" in plan.parts else ():
        at_rate = f"@{rate:g}"
        found += [
            MetricDefinition(f"load_{p}_ms{at_rate}", f"{p} from the intended start, {rate:g} requests/s", False, "ms")
            for p in _TIMES
        ]  # fmt: skip
        found.append(
            MetricDefinition(
                f"load_throughput{at_rate}",
                "requests that succeeded ÷ seconds of the step, or until the last reply",
                unit="1/s",
            )
        )
        found.append(MetricDefinition(f"load_succeeded{at_rate}", "requests that succeeded ÷ sent"))
    if "limit" in plan.parts:
        found.append(MetricDefinition("limit_rate", "highest rate at which p99 did not bend", unit="1/s"))
    if "freshness" in plan.parts:
        found += [
            MetricDefinition(f"fresh_{p}_ms", f"{p} from a write's return until a search had it", False, "ms")
            for p in _TIMES
        ]
        found.append(
            MetricDefinition("fresh_seen", f"writes recalled within {plan.seen_within:g} s ÷ writes")
        )
    if "contention" in plan.parts:
        found.append(
            MetricDefinition("contention_kept", "acknowledged writes read back whole ÷ acknowledged")
        )
        for name in ("lost", "torn"):
            found.append(
                MetricDefinition(f"contention_{name}", f"acknowledged writes {name}", False, "writes")
            )
    return tuple(found)


def metrics_of(found: Measured, plan: Plan) -> Iterator[Metric]:
    """Yield a metric for each definition, without a value and with the reason where there is none."""
    inserts = {one.at: one for one in found.inserts}
    searches = {one.at: one for one in found.searches}
    if "insert" in plan.parts:
        yield from _timed("insert", plan.lengths, inserts, found)
    if "search" in plan.parts:
        yield from _timed("search", plan.sizes, searches, found)
        yield from _taken(found)
    if "load" in plan.parts:
        yield from _load(found, plan)
    if "limit" in plan.parts:
        limit = found.limit
        holds = limit.holds if limit else None
        why = (limit.why or limit.cut) if limit else ""
        yield _one("limit_rate", holds, len(limit.steps) if limit else 0, why or lacking(found, "limit"))
    if "freshness" in plan.parts:
        fresh = found.freshness
        why = lacking(found, "freshness") or (fresh.cut if fresh else "")
        if fresh is not None and fresh.unseen and not fresh.seen.n:
            why = f"not seen within {fresh.within_s:g} s"
        yield from _percentiles("fresh_{}_ms", fresh.seen if fresh else None, why)
        yield _share("fresh_seen", fresh.seen.n if fresh else 0, fresh.written if fresh else 0, why)
    if "contention" in plan.parts:
        yield from _contention(found)


def lacking(found: Measured, part: Part) -> str:
    """Say why a part gave nothing."""
    if part in found.missing:
        return found.missing[part]
    if found.interrupted:
        return _INTERRUPTED
    return "" if part in found.begun else "not measured"


def reason_of(one: Timed | None, found: Measured, part: Part) -> str:
    """Say why a size or length has no figures, or not all; nothing where it has."""
    if one is None:
        return lacking(found, part) or "not reached"
    if one.cut:
        return one.cut
    if one.done < one.wanted:
        return lacking(found, part) or ("every request failed" if one.failures.total else "not reached")
    return "" if one.latencies.n else f"every request failed: {one.failures}"


def no_contention(found: Measured) -> str:
    """Say why nothing is known of contention; nothing where something is."""
    one = found.contention
    if one is None:
        return lacking(found, "contention") or "not reached"
    if one.back is not None:
        return ""
    if one.cut:
        return one.cut
    if one.alone is not None and not one.alone.whole:
        return kept_otherwise(one.alone)
    return lacking(found, "contention") or "what was written could not be read back"


def kept_otherwise(alone: ReadBack) -> str:
    """Say that texts written one at a time do not come back as they were."""
    if alone.torn:
        return f"it keeps texts otherwise than whole: {len(alone.torn)} of {alone.written} written alone came in part"
    return f"none of {alone.written} texts written one at a time came back"


def _timed(
    kind: Part, ats: tuple[int, ...], found: dict[int, Timed] | dict[int, AtSize], measured: Measured
) -> Iterator[Metric]:
    points = []
    for at in ats:
        one = found.get(at)
        why = reason_of(one, measured, kind)
        yield from _percentiles(f"{kind}_{{}}_ms@{at}", one.latencies if one else None, why)
        yield _share(f"{kind}_succeeded@{at}", one.latencies.n if one else 0, one.done if one else 0, why)
        if one is not None and (summary := one.latencies.summary()) is not None:
            points.append((float(at), summary.p50))
    fitted = growth(points)
    why = lacking(measured, kind) if not points else ""
    few = f"{len(points)} of {len(ats)} points, two are needed"
    yield _one(f"{kind}_growth", fitted.exponent if fitted else None, len(points), why or few)


def _taken(found: Measured) -> Iterator[Metric]:
    reached = [one for one in found.searches if one.takes is not None]
    last = reached[-1] if reached else None
    takes = last.takes if last else None
    why = lacking(found, "search") or "no size was reached"
    for name, size, unseen in (
        ("resident", takes.resident if takes else None, found.resident_unseen),
        ("disk", takes.disk if takes else None, "it keeps no file in its agent's folder"),
    ):
        each = size / last.at if size is not None and size > 0 and last is not None else None
        if takes is not None:
            why = unseen or "it did not grow by anything that can be seen"
        yield _one(f"{name}_bytes_per_memory", each, last.at if last and each is not None else 0, why)


def _load(found: Measured, plan: Plan) -> Iterator[Metric]:
    steps = {step.rate: step for step in found.load}
    for rate in plan.rates:
        step = steps.get(rate)
        why = lacking(found, "load") or (step.cut if step else "not reached")
        if step is not None and not why and not step.every.n:
            why = f"every request failed: {step.failures}"
        yield from _percentiles(f"load_{{}}_ms@{rate:g}", step.every if step else None, why)
        n = step.every.n if step else 0
        yield _one(f"load_throughput@{rate:g}", step.throughput if step else None, n, why)
        yield _share(f"load_succeeded@{rate:g}", n, step.sent if step else 0, why)


def _contention(found: Measured) -> Iterator[Metric]:
    one: Contention | None = found.contention
    back = one.back if one else None
    why = no_contention(found)
    yield _share("contention_kept", back.whole if back else 0, back.written if back else 0, why)
    for name, which in (("lost", back.lost if back else ()), ("torn", back.torn if back else ())):
        value = float(len(which)) if back else None
        yield _one(f"contention_{name}", value, back.written if back else 0, why)


def _percentiles(name: str, times: Latencies | None, why: str) -> Iterator[Metric]:
    summary = times.summary() if times is not None else None
    for p in _TIMES:
        value = getattr(summary, p) if summary is not None else None
        yield _one(name.format(p), value, summary.n if summary else 0, why)


def _share(name: str, good: int, of: int, why: str) -> Metric:
    return _one(name, good / of if of else None, of, why or "nothing was asked")


def _one(name: str, value: float | None, n: int, why: str) -> Metric:
    if value is None:
        return Metric(name, None, 0, 0, reason=why or "not measured")
    return Metric(name, value, n, n, low=value, high=value)
