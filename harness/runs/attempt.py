"""One case put to one system once: ingest, wait, recall or answer, close, read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.adapters.hosts import Host, Session, Timeouts, timed_out
from harness.adapters.protocol import AgentFailure, Memory, Question
from harness.runs.reader import Read, Reader, within_budget
from harness.runs.record import Delivered, Failure, Record
from harness.suite import Conversation
from harness.suite.answer import Answer


@dataclass(frozen=True, slots=True)
class Asking:
    """How a system is asked.

    Attributes:
        answers: whether it writes its own answers; else what it recalls is read.
        budget: words of memory that the reader is given, None for all.
        limit: memories asked for.
        timeouts: seconds for each phase.
    """

    answers: bool
    budget: int | None
    limit: int
    timeouts: Timeouts


@dataclass(frozen=True, slots=True)
class Begun:
    """Which attempt at which question this is."""

    case: str
    repeat: int
    attempt: int
    namespace: str


class Haystack(NamedTuple):
    """The conversations that an agent is opened on, and what the journal says of each."""

    conversations: tuple[Conversation, ...]
    digests: tuple[Delivered, ...]


@dataclass(slots=True)
class _Trail:
    """What is known of an attempt, even when it fails half-way."""

    handed: list[Delivered] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)


async def attempt(
    begun: Begun,
    given: Haystack,
    question: Question,
    host: Host,
    reader: Reader,
    asking: Asking,
) -> Record:
    """Put a case to a system; a failure of the system becomes part of the record.

    Raises:
        HarnessError, BudgetSpent: what has to stop the whole run.
    """
    trail = _Trail()
    found: tuple[Memory, ...] | Answer | None = None
    read = Read(None)
    kept: tuple[str, ...] | None = None
    failure: AgentFailure | None = None
    try:
        found = await _found(begun, given, question, host, asking, trail)
        if not isinstance(found, Answer):
            read_of = found if asking.budget is None else within_budget(found, asking.budget)
            kept = tuple(memory.text for memory in read_of)
            with _timed(trail.timings, "read"):
                read = await reader.read(question, read_of, begun.repeat)
            if read.cut:
                trail.report["answer_cut"] = True
    except AgentFailure as failed:
        failure = failed
    own = found if isinstance(found, Answer) else None
    return Record(
        case=begun.case,
        repeat=begun.repeat,
        attempt=begun.attempt,
        namespace=begun.namespace,
        answer=None if failure else own.text if own else read.text,
        memories=found if isinstance(found, tuple) else None,
        kept=_cut(own.memory, asking.budget) if own else kept,
        tokens=own.tokens if own else read.tokens,
        delivered=tuple(trail.handed),
        timings=trail.timings,
        report=trail.report,
        failure=None if failure is None else Failure.of(failure),
    )


async def _found(
    begun: Begun,
    haystack: Haystack,
    question: Question,
    host: Host,
    asking: Asking,
    trail: _Trail,
) -> tuple[Memory, ...] | Answer:
    """Return what the system recalls or answers; the trail fills up on the way."""
    limits, timings = asking.timeouts, trail.timings
    async with AsyncExitStack() as stack:
        with _timed(timings, "open"):
            agent = await stack.enter_async_context(host.session(begun.namespace, begun.repeat))
        for conversation, digest in zip(haystack.conversations, haystack.digests, strict=True):
            with _timed(timings, "ingest"):
                await _ingest(agent, conversation, limits.ingest, timings.get("ingest", 0.0))
            trail.handed.append(digest)
        with _timed(timings, "wait"):
            await agent.wait(limits.wait)
        if asking.answers:
            with _timed(timings, "answer"):
                found: tuple[Memory, ...] | Answer = await agent.answer(question, limits.recall)
        else:
            with _timed(timings, "recall"):
                recalled = await agent.recall(question, asking.limit, limits.recall)
            found = recalled if asking.budget is None else recalled[: asking.limit]
            if len(found) < len(recalled):
                trail.report["over_limit"] = len(recalled)
        trail.report |= await agent.report(limits.close)
        with _timed(timings, "close"):
            await stack.aclose()
    return found


def _cut(texts: tuple[str, ...] | None, budget: int | None) -> tuple[str, ...] | None:
    """Hold what an answering system says that it recalled to the budget that recalled memories have."""
    if texts is None or budget is None:
        return texts
    told = [Memory(str(at), text) for at, text in enumerate(texts)]
    return tuple(memory.text for memory in within_budget(told, budget))


async def _ingest(agent: Session, conversation: Conversation, limit: float, used: float) -> None:
    """Hand one conversation over in what is left of the time for all of them."""
    if used >= limit:
        raise timed_out("ingest", limit)
    left = limit - used
    try:
        await agent.ingest(conversation, left)
    except AgentFailure as failure:
        if str(failure) != str(timed_out("ingest", left)):
            raise
        raise timed_out("ingest", limit) from None  # the limit that the user set, not what was left of it


@contextmanager
def _timed(timings: dict[str, float], phase: str) -> Iterator[None]:
    """Add the time of what is done inside to a phase."""
    began = time.perf_counter()
    try:
        yield
    finally:
        timings[phase] = timings.get(phase, 0.0) + time.perf_counter() - began
