"""How soon a write can be recalled."""

from __future__ import annotations

import asyncio
import time

from harness.adapters.protocol import AgentFailure
from harness.performance.found import Freshness, Measured
from harness.performance.latency import Tell
from harness.performance.plan import Deadline, Plan
from harness.performance.subject import Store, Subject
from harness.performance.workload import Marked, Workload

_LEAST_PAUSE_S = 0.001
_MOST_PAUSE_S = 0.1
_PAUSE_SHARE = 0.1


async def measure_freshness(
    subject: Subject, plan: Plan, texts: Workload, found: Measured, tell: Tell
) -> None:
    """Write a text, and search for it by its own words until it is recalled or the bound is over.

    The pauses grow with the wait, so that a time is right to about a tenth and one search.
    """
    deadline = Deadline(plan.max_seconds)
    found.freshness = one = Freshness(plan.samples, plan.seen_within)
    async with subject.store() as store:
        for number in range(plan.samples):
            one.cut = store.over(deadline)
            if one.cut:
                return
            tell(f"freshness: write {number + 1} of {plan.samples}")
            await _sample(store, texts.marked("fresh", number, plan.length), plan, one, deadline)
        one.cut = subject.stopped


async def _sample(store: Store, text: Marked, plan: Plan, one: Freshness, deadline: Deadline) -> None:
    timeout = store.subject.timeout
    await asyncio.sleep(0)
    try:
        await store.write(text.text, deadline.within(timeout))
    except AgentFailure as failure:
        if not deadline.passed:
            one.failures.add(failure)
        return
    returned = time.perf_counter()
    first = True
    while True:
        try:
            recalled = await store.search(text.text, plan.recall_limit, deadline.within(timeout))
        except AgentFailure as failure:
            if not deadline.passed:
                one.failures.add(failure)
            return
        since = time.perf_counter() - returned
        # A search that itself takes longer than the bound saw nothing within it.
        if since <= plan.seen_within and any(text.head in memory.text for memory in recalled):
            one.seen.record(since)
            one.at_once += first
            return
        if since >= plan.seen_within:
            one.unseen += 1
            return
        if deadline.passed:
            return
        first = False
        pause = min(_MOST_PAUSE_S, max(_LEAST_PAUSE_S, _PAUSE_SHARE * since))
        await asyncio.sleep(min(pause, max(0.0, plan.seen_within - since)))
