"""Requests that arrive whether or not the system keeps up: an open loop.

The moment of each request is fixed beforehand, and its time counts from then. A system that stalls
makes all that arrive meanwhile wait, and their waiting is in the percentiles: there is no
coordinated omission.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import NamedTuple

from harness.adapters.protocol import AgentFailure
from harness.performance.found import Measured, ReadBack, Step
from harness.performance.latency import Tell, fill
from harness.performance.plan import Deadline, Plan
from harness.performance.readback import read_back
from harness.performance.subject import Failures, Store, Subject
from harness.performance.workload import Marked, Workload

_LENGTH = 200
_TURN_EVERY = 20
_PATIENCE = 3.0


class Arrival(NamedTuple):
    """One request to come.

    Attributes:
        at: seconds from the beginning.
        user: whose it is, from 0.
        search: whether it searches; it inserts otherwise.
        draw: a figure in [0, 1) that decides what for.
    """

    at: float
    user: int
    search: bool
    draw: float


def arrivals(plan: Plan, rate: float, seed: str) -> Iterator[Arrival]:
    """Yield the requests of one step: a Poisson process or even gaps, by seed."""
    draw = random.Random(f"{plan.seed}/{seed}/{rate:g}")
    at = 0.0
    while True:
        # A gap before the first one too: the rate then holds from the beginning on.
        at += draw.expovariate(rate) if plan.arrivals == "poisson" else 1.0 / rate
        if at > plan.duration + 1e-9:
            return
        user = int(draw.random() * plan.users)
        yield Arrival(at, user, draw.random() < plan.search_share, draw.random())


def nothing_due(due: Sequence[Arrival], plan: Plan) -> str:
    """Say that a step has no request at all; nothing where it has any."""
    return "" if due else f"no request was due within {plan.duration:g} s"


class Stores(NamedTuple):
    """The users' stores, each filled."""

    each: tuple[Store, ...]
    texts: Workload
    plan: Plan

    @property
    def subject(self) -> Subject:
        """The system they are of."""
        return self.each[0].subject

    @property
    def ended(self) -> str:
        """Say why no user gets anything any more; nothing where one does."""
        return self.each[0].ended if all(store.ended for store in self.each) else ""

    def over(self, deadline: Deadline) -> str:
        """Say why no more is to be sent; nothing where it goes on."""
        return self.subject.stopped or (str(deadline) if deadline.passed else self.ended)


class NotFilledError(Exception):
    """The stores could not be filled; says why."""


@asynccontextmanager
async def filled_stores(
    subject: Subject, plan: Plan, texts: Workload, deadline: Deadline, tell: Tell
) -> AsyncIterator[Stores]:
    """Open a store for each user and fill it.

    Raises:
        NotFilledError: when that does not succeed.
        AgentFailure: when one cannot be opened.
    """
    async with AsyncExitStack() as stack:
        stores = Stores(
            tuple([await stack.enter_async_context(subject.store()) for _ in range(plan.users)]), texts, plan
        )
        for at, store in enumerate(stores.each, start=1):
            _, cut = await fill(
                store, texts, 0, plan.load_memories, deadline, Failures(),
                lambda said, at=at: tell(f"user {at}: {said}"),  # type: ignore[misc]
            )  # fmt: skip
            if cut:
                raise NotFilledError(cut)
            try:
                await store.ready(deadline.within())
            except AgentFailure as failure:
                raise NotFilledError(f"never ready: {failure}") from None
        yield stores


async def run_load(subject: Subject, plan: Plan, texts: Workload, found: Measured, tell: Tell) -> None:
    """Send requests at each rate; a system that no longer answers is not sent those of the next."""
    deadline = Deadline(plan.max_seconds)
    try:
        async with filled_stores(subject, plan, texts, deadline, tell) as stores:
            for rate in plan.rates:
                due = list(arrivals(plan, rate, "load"))
                step = Step(rate, len(due))
                found.load.append(step)
                step.cut = stores.over(deadline) or nothing_due(due, plan)
                if not step.cut:
                    await run_step(stores, due, step, deadline, tell)
    except NotFilledError as error:
        found.load += [Step(rate, 0, cut=f"not filled: {error}") for rate in plan.rates]


async def run_step(
    stores: Stores, due: Sequence[Arrival], step: Step, deadline: Deadline, tell: Tell, name: str = "load"
) -> None:
    """Send the requests of one step, wait for them, and look the inserts up."""
    sender = _Sender(stores, step, f"{name}{step.rate:g}")
    try:
        await sender.send(due, deadline, tell)
    finally:
        sender.settle()
    if step.failures.total and not step.cut:
        await _probe(stores, step)
    if not stores.ended:
        tell(f"load at {step.rate:g}/s: reading back")
        step.back = await _looked_up(stores, sender.written, deadline)


class _Sender:
    def __init__(self, stores: Stores, step: Step, kind: str) -> None:
        self._stores = stores
        self._step = step
        self._kind = kind
        self._began = self._last = time.perf_counter()
        self._through = self._began  # when no more requests could arrive
        self._under_way = 0
        self.written: list[list[Marked]] = [[] for _ in stores.each]

    async def send(self, due: Sequence[Arrival], deadline: Deadline, tell: Callable[[str], None]) -> None:
        """Send each request when it is due, and wait for all."""
        step = self._step
        tasks: set[asyncio.Task[None]] = set()
        self._began = self._last = time.perf_counter()
        whole = False
        try:
            for number, arrival in enumerate(due):
                wait = self._began + arrival.at - time.perf_counter()
                if wait > 0 or number % _TURN_EVERY == 0:
                    await asyncio.sleep(max(0.0, wait))
                if deadline.passed:
                    step.cut = f"{deadline} after {arrival.at:.1f} s"
                    break
                tell(f"load at {step.rate:g}/s: {number + 1} of {len(due)}, {step.failures.total} failed")
                tasks.add(asyncio.create_task(self._serve(number, arrival)))
            else:
                whole = True
            if tasks:
                await asyncio.wait(tasks)
        finally:
            self._through = self._began + self._stores.plan.duration if whole else time.perf_counter()
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):  # what has to stop everything, such as an endpoint's refusal
                raise end

    def settle(self) -> None:
        """Note how long it took: the time in which requests could arrive, and longer where replies came later."""
        self._step.elapsed_s = max(self._last - self._began, self._through - self._began, 1e-9)

    async def _serve(self, number: int, arrival: Arrival) -> None:
        step, plan = self._step, self._stores.plan
        store = self._stores.each[arrival.user]
        intended = self._began + arrival.at
        step.sent += 1
        step.late.record(max(0.0, time.perf_counter() - intended))
        self._under_way += 1
        step.most_at_once = max(step.most_at_once, self._under_way)
        try:
            if arrival.search:
                text = self._stores.texts.question(int(arrival.draw * max(1, plan.load_memories)))
                await store.search(text, plan.recall_limit, plan.timeout)
            else:
                marked = self._stores.texts.marked(self._kind, number, _LENGTH)
                await store.write(marked.text, plan.timeout)
                self.written[arrival.user].append(marked)
        except AgentFailure as failure:
            step.failures.add(failure)
            return
        finally:
            self._under_way -= 1
            self._last = time.perf_counter()
        took = time.perf_counter() - intended
        step.every.record(took)
        (step.searches if arrival.search else step.inserts).record(took)


async def _probe(stores: Stores, step: Step) -> None:
    """Tell a system that is only too slow from one that hangs: the load is over, and one is asked again.

    It may still be at work on what was given up, so it is waited for longer than for any other request.
    """
    subject = stores.subject
    asked = next((store for store in stores.each if store.lost is None), stores.each[0])
    subject.doubt()
    with suppress(AgentFailure):
        if subject.can("recall"):
            await asked.search(stores.texts.question(0), 1, _PATIENCE * subject.timeout)
        else:
            await asked.write(stores.texts.memory(0), _PATIENCE * subject.timeout)
    step.cut = stores.ended


async def _looked_up(
    stores: Stores, written: Sequence[Sequence[Marked]], deadline: Deadline
) -> ReadBack | None:
    """Look the inserts of each user up where the system can list; recalling each would be another load."""
    if not stores.subject.can("list"):
        return None
    total = ReadBack("list")
    for store, texts in zip(stores.each, written, strict=True):
        if not texts:
            continue
        back = await read_back(store, texts, stores.plan.seen_within, deadline)
        if back is None:
            return None
        total = ReadBack(
            "list", total.whole + back.whole, total.torn + back.torn, total.lost + back.lost,
            total.doubled + back.doubled,
        )  # fmt: skip
    return total
