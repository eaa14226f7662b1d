"""How long inserts and searches take, one at a time: by length of text, and by number of memories."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from harness.adapters.protocol import AgentFailure
from harness.performance.footprint import Footprint, footprint
from harness.performance.found import AtSize, Measured, Timed
from harness.performance.plan import Deadline, Plan
from harness.performance.subject import Failures, Store, Subject
from harness.performance.workload import Workload

Tell = Callable[[str], None]
_LINE_PROBES = 20


async def time_inserts(subject: Subject, plan: Plan, texts: Workload, found: Measured, tell: Tell) -> None:
    """Store texts of each length in turn, so that a store that grows slower weighs on all lengths alike."""
    deadline = Deadline(plan.max_seconds)
    found.inserts += [Timed(length, plan.requests) for length in plan.lengths]
    async with subject.store() as store:
        shortest = found.inserts[0]
        for number in range(plan.warm_up):
            text = texts.text_of(shortest.at, number, "warm-up")
            if not await _warmed(shortest, store, deadline, partial(store.write, text)):
                break
        for number in range(plan.requests):
            for one in found.inserts:
                one.cut = store.over(deadline)
                if one.cut:
                    continue
                await asyncio.sleep(0)
                tell(f"inserts: {number + 1} of {plan.requests} of each length")
                text = texts.text_of(one.at, number, "insert")
                await timed(one, deadline, subject.timeout, partial(store.write, text))
        for one in found.inserts:
            one.cut = one.cut or subject.stopped
        if subject.serial and not subject.can("wait") and not store.ended:
            found.line_ms = await _line_ms(subject, store)


async def time_searches(subject: Subject, plan: Plan, texts: Workload, found: Measured, tell: Tell) -> None:
    """Store more and more memories, and search among them at each size."""
    deadline = Deadline(plan.max_seconds)
    async with subject.store() as store:
        empty = footprint(subject.info, store.namespace)
        stored = 0
        cut = ""
        failures = Failures()
        for size in plan.sizes:
            one = AtSize(size, plan.requests, cut=cut)
            found.searches.append(one)
            if cut:
                continue
            began = time.perf_counter()
            count, one.cut = await fill(store, texts, stored, size, deadline, failures, tell)
            one.fill_s, one.filled = time.perf_counter() - began, count - stored
            stored = count
            one.cut = one.cut or await _made_ready(one, store, deadline)
            if not one.cut:
                one.takes = _above(footprint(subject.info, store.namespace), empty)
                await _search(one, store, plan, texts, deadline, tell)
            cut = one.cut
        if failures.total:
            found.fault(f"storing memories for the searches: {failures.total} writes failed ({failures})")
        if subject.can("list") and stored and not store.ended and not deadline.passed:
            try:
                found.stored = (len(await store.everything(deadline.within(subject.timeout))), stored)
            except AgentFailure:
                found.stored = None  # a list of everything may be more than a system hands out


async def fill(
    store: Store,
    texts: Workload,
    stored: int,
    size: int,
    deadline: Deadline,
    failures: Failures,
    tell: Tell,
) -> tuple[int, str]:
    """Store memories until `size` are acknowledged.

    Returns:
        how many are, and why it ended before; an empty text where it did not.
    """
    number = stored
    while stored < size:
        if deadline.passed:
            return stored, f"{deadline} with {stored:,} stored"
        if ended := store.ended:
            return stored, f"{ended} ({stored:,} stored)"
        if failures.total > max(20, size // 2):
            return stored, f"storing fails ({failures}) with {stored:,} stored"
        tell(f"storing: {stored:,} of {size:,}")
        await asyncio.sleep(0)  # what runs in this process may never wait, and Ctrl-C is seen only then
        try:
            await store.write(texts.memory(number), deadline.within(store.subject.timeout))
            stored += 1
        except AgentFailure as failure:
            if not deadline.passed:
                failures.add(failure)
        number += 1
    return stored, ""


async def timed(
    one: Timed, deadline: Deadline, timeout: float, call: Callable[[float], Awaitable[object]]
) -> None:
    """Make one request that counts; one that the time cap ended does not."""
    began = time.perf_counter()
    try:
        await call(deadline.within(timeout))
    except AgentFailure as failure:
        if not deadline.passed:
            one.failures.add(failure)
        return
    took = time.perf_counter() - began
    one.latencies.record(took)
    if one.first_s is None:
        one.first_s = took


async def _search(
    one: AtSize, store: Store, plan: Plan, texts: Workload, deadline: Deadline, tell: Tell
) -> None:
    subject = store.subject
    for text in texts.asked(one.at, plan.warm_up, "warm-up"):
        if not await _warmed(one, store, deadline, partial(store.search, text, plan.recall_limit)):
            break
    for number, text in enumerate(texts.asked(one.at, plan.requests, "search")):
        one.cut = store.over(deadline)
        if one.cut:
            return
        await asyncio.sleep(0)
        tell(f"searches among {one.at:,}: {number + 1} of {plan.requests}")
        await timed(one, deadline, subject.timeout, partial(store.search, text, plan.recall_limit))
    one.cut = subject.stopped


async def _warmed(
    one: Timed, store: Store, deadline: Deadline, call: Callable[[float], Awaitable[object]]
) -> bool:
    """Make one request that does not count; tell whether another makes sense."""
    began = time.perf_counter()
    try:
        await call(deadline.within(store.subject.timeout))
    except AgentFailure:
        pass
    else:
        if one.first_s is None:
            one.first_s = time.perf_counter() - began
    one.warm_up += 1
    return not (deadline.passed or store.ended)


async def _made_ready(one: AtSize, store: Store, deadline: Deadline) -> str:
    """Wait until the system says that what was stored can be recalled; return why it cannot."""
    if not store.subject.can("wait"):
        return ""
    began = time.perf_counter()
    try:
        # Taking a thousand memories in may go on for long after the last request for it.
        await store.ready(deadline.within())
    except AgentFailure as failure:
        return str(deadline) if deadline.passed else f"never ready: {failure}"
    one.ready_s = time.perf_counter() - began
    return ""


async def _line_ms(subject: Subject, store: Store) -> float | None:
    """Return the median time that asking a worker process for nothing takes."""
    times = []
    for _ in range(_LINE_PROBES):
        began = time.perf_counter()
        try:
            await store.idle(subject.timeout)
        except AgentFailure:
            return None
        times.append(time.perf_counter() - began)
    return sorted(times)[_LINE_PROBES // 2] * 1e3


def _above(now: Footprint, empty: Footprint) -> Footprint:
    def grown(a: int | None, b: int | None) -> int | None:
        return None if a is None else a - (b or 0)

    return Footprint(grown(now.resident, empty.resident), grown(now.disk, empty.disk))
