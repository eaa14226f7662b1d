"""The rate at which p99 bends: doubled until it does, then narrowed down."""

from __future__ import annotations

from harness.performance.found import Limit, Measured, Step
from harness.performance.latencies import ms
from harness.performance.latency import Tell
from harness.performance.load import NotFilledError, Stores, arrivals, filled_stores, nothing_due, run_step
from harness.performance.plan import Deadline, Plan
from harness.performance.subject import Subject
from harness.performance.workload import Workload

COMPLETED = 0.95
_NEAR = 1.15


async def find_limit(subject: Subject, plan: Plan, texts: Workload, found: Measured, tell: Tell) -> None:
    """Search for the lowest rate that bends, from the lowest of the plan's rates on.

    A rate bends when p99 there is above `bend` times the p99 at the lowest rate, or less than 95% of
    the requests succeed. It has to do so twice running, since one pause of the machine makes a p99.
    """
    deadline = Deadline(plan.max_seconds)
    found.limit = limit = Limit()
    try:
        async with filled_stores(subject, plan, texts, deadline, tell) as stores:
            await _searched(stores, limit, deadline, tell)
    except NotFilledError as error:
        limit.cut = f"not filled: {error}"


def bent(step: Step, base_ms: float, times: float) -> str:
    """Say how a rate bends, or nothing where it holds."""
    share = step.succeeded or 0.0
    if share < COMPLETED:
        return f"{share:.0%} of the requests succeeded"
    summary = step.every.summary()
    if summary is not None and summary.p99 > times * base_ms:
        return f"p99 is {ms(summary.p99)} ms, {summary.p99 / base_ms:.1f} × that at the lowest rate"
    return ""


async def _searched(stores: Stores, limit: Limit, deadline: Deadline, tell: Tell) -> None:
    plan = stores.plan
    lowest = plan.rates[0] if plan.rates else 1.0
    first = await _tried(stores, limit, lowest, deadline, tell)
    summary = first.every.summary()
    limit.cut = first.cut
    if limit.cut:
        return
    if summary is None or (first.succeeded or 0.0) < COMPLETED:
        limit.bends = lowest
        limit.why = bent(first, 1.0, plan.bend) or "nothing succeeded"
        return
    limit.base_ms, limit.holds = summary.p99, lowest
    rate = lowest * 2
    while limit.bends is None and limit.holds < plan.highest_rate and not limit.cut:
        await _judged(stores, limit, min(rate, plan.highest_rate), deadline, tell)
        rate *= 2
    while limit.bends is not None and limit.bends > _NEAR * limit.holds and not limit.cut:
        between = (limit.holds * limit.bends) ** 0.5
        await _judged(stores, limit, float(f"{between:.2g}"), deadline, tell)
        if limit.steps[-1].rate in (limit.holds, limit.bends) and limit.bends / limit.holds < _NEAR**2:
            return


async def _judged(stores: Stores, limit: Limit, rate: float, deadline: Deadline, tell: Tell) -> None:
    """Try a rate, once more where it bends, and keep what that tells."""
    assert limit.base_ms is not None
    said = ""
    for _ in range(2):
        step = await _tried(stores, limit, rate, deadline, tell)
        said = bent(step, limit.base_ms, stores.plan.bend)
        if step.cut:
            limit.cut = step.cut
            if stores.ended:
                limit.bends, limit.why = rate, stores.ended
            return
        if not said:
            break
    if said:
        limit.bends, limit.why = rate, said
    else:
        limit.holds = rate


async def _tried(stores: Stores, limit: Limit, rate: float, deadline: Deadline, tell: Tell) -> Step:
    due = list(arrivals(stores.plan, rate, f"limit{len(limit.steps)}"))
    step = Step(rate, len(due))
    limit.steps.append(step)
    step.cut = str(deadline) if deadline.passed else nothing_due(due, stores.plan)
    if step.cut:
        return step
    await run_step(stores, due, step, deadline, tell, f"limit{len(limit.steps)}-")
    return step
