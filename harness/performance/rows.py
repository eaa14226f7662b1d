"""The tables of a measurement as cells: one section a part, the system in the first column."""

from __future__ import annotations

from collections.abc import Mapping

from harness.performance.found import Measured, Step, Timed
from harness.performance.latencies import Latencies, growth, ms
from harness.performance.plan import Part, Plan

NOTHING = "–"
NOT_REACHED = "not reached"
_PERCENTILES = ("min", "p50", "p90", "p95", "p99", "max")
_KB = 1024
Row = tuple[str, ...]

INSERT, SEARCH, GROWTH, LOAD, LIMIT, FRESH, CONTENTION = (
    "insert: ms by characters",
    "search: ms by memories",
    "growth, memory and disk",
    "load: ms from the intended start",
    "limit: where p99 bends",
    "freshness: ms until a write is recalled",
    "contention: writers at once",
)
SECTIONS = (INSERT, SEARCH, GROWTH, LOAD, LIMIT, FRESH, CONTENTION)


def sections_of(found: Measured, plan: Plan) -> Mapping[str, tuple[Row, ...]]:
    """Return the tables of the parts that were asked for, a header first."""
    shown: dict[str, tuple[Row, ...]] = {}
    if "insert" in plan.parts:
        shown[INSERT] = _timed(found, plan, "insert")
    if "search" in plan.parts:
        shown[SEARCH] = _timed(found, plan, "search")
    if "insert" in plan.parts or "search" in plan.parts:
        shown[GROWTH] = _growth(found, plan)
    if "load" in plan.parts:
        steps = {step.rate: step for step in found.load}
        rows = [_step(found, rate, steps.get(rate)) for rate in plan.rates]
        shown[LOAD] = (
            ("System", "Rate", "Sent", "Ok", "Failed", "Done/s", "p50", "p99", "max", "Lost"),
            *rows,
        )
    if "limit" in plan.parts:
        shown[LIMIT] = _limit(found)
    if "freshness" in plan.parts:
        shown[FRESH] = _freshness(found)
    if "contention" in plan.parts:
        shown[CONTENTION] = _contention(found)
    return shown


def _times(times: Latencies, names: tuple[str, ...]) -> Row:
    summary = times.summary()
    return tuple(ms(getattr(summary, name) if summary is not None else None) for name in names)


def _timed(found: Measured, plan: Plan, part: Part) -> tuple[Row, ...]:
    ats, records, title = (
        (plan.lengths, found.inserts, "Characters")
        if part == "insert"
        else (plan.sizes, found.searches, "Memories")
    )
    by_at: dict[int, Timed] = {one.at: one for one in records}
    rows = []
    for at in ats:
        one = by_at.get(at)
        if one is None or not one.done:
            rows.append((found.system, f"{at:,}", NOT_REACHED, *[NOTHING] * 7))
            continue
        asked = str(one.latencies.n) if one.latencies.n == one.wanted else f"{one.latencies.n}/{one.wanted}"
        first = ms(one.first_s * 1e3 if one.first_s is not None else None)
        rows.append((found.system, f"{at:,}", asked, first, *_times(one.latencies, _PERCENTILES)))
    return (("System", title, "n", "First", *_PERCENTILES), *rows)


def _growth(found: Measured, plan: Plan) -> tuple[Row, ...]:
    rows = []
    for part, records in (("insert", found.inserts), ("search", found.searches)):
        if part not in plan.parts:
            continue
        points = [(float(one.at), summary.p50) for one in records if (summary := one.latencies.summary())]
        fitted = growth(points)
        exponent = f"{fitted.exponent:.2f}" if fitted else NOTHING
        r2 = f"{fitted.r2:.2f}" if fitted and fitted.r2 is not None else NOTHING
        rows.append((found.system, f"{part} p50", str(len(points)), exponent, r2, NOTHING, NOTHING, NOTHING))
    for one in found.searches:
        if one.takes is None:
            continue
        stored = f"{one.filled / one.fill_s:,.0f}" if one.fill_s > 0 else NOTHING
        rows.append((
            found.system, f"{one.at:,} memories", "", "", "", stored,
            _kb(one.takes.resident, one.at), _kb(one.takes.disk, one.at),
        ))  # fmt: skip
    header = ("System", "Of", "Points", "Exponent", "R²", "Stored/s", "RAM KB each", "Disk KB each")
    return (header, *rows)


def _kb(size: int | None, memories: int) -> str:
    return NOTHING if size is None or size <= 0 else f"{size / memories / _KB:.2f}"


def _step(found: Measured, rate: float, step: Step | None) -> Row:
    name = f"{rate:g}/s"
    if step is None or not step.sent:
        return (found.system, name, NOT_REACHED, *[NOTHING] * 7)
    done = step.throughput
    back = step.back
    lost = NOTHING if back is None else f"{len(back.lost) + len(back.torn)}/{back.written}"
    sent = str(step.sent) if step.sent == step.arrived else f"{step.sent}/{step.arrived}"
    return (
        found.system, name, sent, str(step.every.n), str(step.failures.total),
        f"{done:.3g}" if done is not None else NOTHING, *_times(step.every, ("p50", "p99", "max")), lost,
    )  # fmt: skip


def _limit(found: Measured) -> tuple[Row, ...]:
    header = ("System", "Rate", "Sent", "Ok", "Failed", "Done/s", "p50", "p99", "max", "Lost")
    limit = found.limit
    if limit is None:
        return (
            header,
            (found.system, NOT_REACHED, *[NOTHING] * 8),
        )
    rows = [_step(found, step.rate, step) for step in limit.steps]
    return (header, *rows)


def _freshness(found: Measured) -> tuple[Row, ...]:
    header = ("System", "Writes", "At once", "Not seen", *_PERCENTILES)
    one = found.freshness
    if one is None or not one.written:
        return (header, (found.system, NOT_REACHED, *[NOTHING] * 8))
    seen = f"{one.unseen} within {one.within_s:g} s" if one.unseen else "0"
    return (header, (found.system, str(one.written), str(one.at_once), seen, *_times(one.seen, _PERCENTILES)))


def _contention(found: Measured) -> tuple[Row, ...]:
    header = ("System", "Writers", "At once", "Ok", "Failed", "Whole", "Lost", "Torn", "Alone lost", "By")
    one = found.contention
    if one is None or one.back is None or one.alone is None:
        return (header, (found.system, NOT_REACHED, *[NOTHING] * 8))
    back, alone = one.back, one.alone
    return (header, (
        found.system, str(one.writers), str(one.most_at_once), f"{one.acknowledged}/{one.wanted}",
        str(one.failures.total), str(back.whole), str(len(back.lost)), str(len(back.torn)),
        f"{len(alone.lost) + len(alone.torn)}/{alone.written}", back.how,
    ))  # fmt: skip
