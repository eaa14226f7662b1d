"""What is wrong with a system, and what to know before believing its figures, in plain lines."""

from __future__ import annotations

from collections.abc import Iterator

from harness.performance.figures import lacking, no_contention, reason_of
from harness.performance.found import Contention, Measured, ReadBack, Step
from harness.performance.plan import Part, Plan

_KEEPS_UP = 0.8
_MOST_NAMED = 3
_LATE_MS = 10.0
_FEW = 100


def faults_of(found: Measured, plan: Plan) -> list[str]:
    """Return what is wrong with a system: hangs, losses, failures."""
    lines = [*found.faults, *_hangs(found)]
    for step in found.load:
        lines += _of_step(step, plan)
    if found.contention is not None:
        lines += _of_contention(found.contention)
    if (fresh := found.freshness) is not None and fresh.unseen:
        lines.append(
            f"freshness: {fresh.unseen} of {fresh.written} writes were not seen within {fresh.within_s:g} s"
        )
    lines += [f"requests failed: {cause}, {count} times" for cause, count in found.causes.most_common()]
    return list(dict.fromkeys(lines))


def warnings_of(found: Measured, plan: Plan) -> list[str]:
    """Return what a reader has to know."""
    lines = [found.busy] if found.busy else []
    if found.interrupted:
        lines.append("interrupted: these figures are what was measured until then")
    lines += _unreached(found, plan)
    if found.serial:
        line = f"; the way there and back takes {found.line_ms:.2g} ms by itself" if found.line_ms else ""
        lines.append(
            f"its agents run in worker processes that take one request at a time: what arrives meanwhile waits{line}"
        )
    if (stored := found.stored) is not None and stored[0] != stored[1]:
        lines.append(f"it lists {stored[0]:,} memories where {stored[1]:,} writes were acknowledged")
    late = [summary for step in found.load if (summary := step.late.summary()) and summary.p99 > _LATE_MS]
    if late:
        lines.append(
            f"the harness sent requests up to {max(one.p99 for one in late):.0f} ms late (p99) as it was busy itself; "
            "that is in the times under load"
        )
    if 0 < plan.requests < _FEW and (found.inserts or found.searches):
        lines.append(f"p99 of fewer than {_FEW} requests is their slowest")
    one = found.contention
    if one is not None and one.acknowledged and one.most_at_once < 2 <= one.writers:
        lines.append("its writes never overlapped: what contention does was not seen")
    return lines


def _unreached(found: Measured, plan: Plan) -> Iterator[str]:
    """Yield what has no figures, or not all, and why; the same reason once."""
    told: dict[str, list[str]] = {}
    for part in plan.parts:
        if part in found.missing:
            told.setdefault(found.missing[part], []).append(f"{part} n/a")
            continue
        for name, why in _reasons(found, plan, part):
            if why:
                told.setdefault(why, []).append(name)
    for why, names in told.items():
        yield f"{', '.join(names)}: {why}"


def _reasons(found: Measured, plan: Plan, part: Part) -> Iterator[tuple[str, str]]:
    steps = {step.rate: step for step in found.load}
    match part:
        case "insert":
            lengths = {one.at: one for one in found.inserts}
            yield from ((f"insert@{at}", reason_of(lengths.get(at), found, part)) for at in plan.lengths)
        case "search":
            sizes = {one.at: one for one in found.searches}
            yield from ((f"search@{at}", reason_of(sizes.get(at), found, part)) for at in plan.sizes)
        case "load":
            for rate in plan.rates:
                step = steps.get(rate)
                yield f"load@{rate:g}", step.cut if step else lacking(found, part) or "not reached"
        case "limit":
            yield "limit", found.limit.cut if found.limit else lacking(found, part)
        case "freshness":
            yield "freshness", found.freshness.cut if found.freshness else lacking(found, part)
        case "contention":
            yield "contention", no_contention(found)


def _hangs(found: Measured) -> Iterator[str]:
    """Yield once that it stopped answering, wherever that showed first."""
    parts = [
        *(("inserts", one.cut) for one in found.inserts),
        *((f"searches among {one.at:,}", one.cut) for one in found.searches),
        *((f"load at {step.rate:g}/s", step.cut) for step in found.load),
        ("the search for its limit", found.limit.cut if found.limit else ""),
        ("freshness", found.freshness.cut if found.freshness else ""),
        ("contention", found.contention.cut if found.contention else ""),
    ]
    for part, cut in parts:
        if any(word in cut for word in ("stopped answering", "answers nothing", "process ended")):
            yield f"{part}: {cut}"
            return


def _of_step(step: Step, plan: Plan) -> Iterator[str]:
    done, sent = step.throughput, step.sent / plan.duration
    if step.sent and not step.cut and (done is None or done < _KEEPS_UP * sent):
        yield f"load at {step.rate:g}/s: it does not keep up: {done or 0:.3g} of {sent:.3g} a second were done"
    if step.back is not None:
        yield from _losses(f"load at {step.rate:g}/s", step.back)


def _of_contention(one: Contention) -> Iterator[str]:
    if one.alone is not None:
        yield from _losses("writes one at a time", one.alone)
    if one.back is not None:
        yield from _losses(f"{one.writers} writers at once", one.back)


def _losses(where: str, back: ReadBack) -> Iterator[str]:
    looked = "listed" if back.how == "list" else "recalled by its own words"
    for word, which in (("lost", back.lost), ("torn", back.torn)):
        if which:
            named = ", ".join(which[:_MOST_NAMED]) + (", …" if len(which) > _MOST_NAMED else "")
            tail = f" (not {looked}: {named})" if word == "lost" else f" (in part only: {named})"
            yield f"{where}: {len(which)} of {back.written} acknowledged writes {word}{tail}"
    if back.doubled:
        yield f"{where}: {back.doubled} of {back.written} writes are there twice"
