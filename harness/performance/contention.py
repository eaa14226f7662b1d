"""What becomes of writes when several write into one store at once."""

from __future__ import annotations

import asyncio

from harness.adapters.protocol import AgentFailure
from harness.performance.found import Contention, Measured
from harness.performance.latency import Tell
from harness.performance.plan import Deadline, Plan
from harness.performance.readback import read_back
from harness.performance.subject import Store, Subject
from harness.performance.workload import Marked, Workload

_ALONE = 20


async def measure_contention(
    subject: Subject, plan: Plan, texts: Workload, found: Measured, tell: Tell
) -> None:
    """Write some texts one at a time, then many at once, and look all of them up.

    Those written alone tell what the system does to a text anyhow: one that rewrites or cuts texts
    would otherwise look like one that tears them.
    """
    deadline = Deadline(plan.max_seconds)
    found.contention = one = Contention(plan.writers, plan.writers * plan.writes)
    async with subject.store() as store:
        tell("contention: writing one at a time")
        alone: list[Marked] = []
        for number in range(min(_ALONE, one.wanted)):
            text = texts.marked("alone", number, plan.length)
            if await _written(store, text, one, deadline):
                alone.append(text)
            if store.ended or deadline.passed:
                break
        one.cut = store.ended
        if one.cut or not alone:
            one.cut = one.cut or "no write succeeded"
            return
        one.alone = await read_back(store, alone, plan.seen_within, deadline)
        if one.alone is None or not one.alone.whole:
            return
        store.most_at_once = 0
        kept = await _at_once(store, plan, texts, one, deadline, tell)
        one.most_at_once = store.most_at_once
        one.cut = store.over(deadline)
        if kept and not store.ended:
            tell("contention: reading back")
            one.back = await read_back(store, kept, plan.seen_within, deadline)


async def _at_once(
    store: Store, plan: Plan, texts: Workload, one: Contention, deadline: Deadline, tell: Tell
) -> list[Marked]:
    """Let all writers write; return what was acknowledged."""
    kept: list[Marked] = []

    async def writer(which: int) -> None:
        for number in range(plan.writes):
            if store.ended or deadline.passed:
                return
            text = texts.marked("together", which * plan.writes + number, plan.length)
            if await _written(store, text, one, deadline):
                kept.append(text)
                one.acknowledged += 1
                tell(f"contention: {one.acknowledged} of {one.wanted} written")

    tasks = [asyncio.create_task(writer(which)) for which in range(plan.writers)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return kept


async def _written(store: Store, text: Marked, one: Contention, deadline: Deadline) -> bool:
    await asyncio.sleep(0)
    try:
        await store.write(text.text, deadline.within(store.subject.timeout))
    except AgentFailure as failure:
        if not deadline.passed:
            one.failures.add(failure)
        return False
    return True
