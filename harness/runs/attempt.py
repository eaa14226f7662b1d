"""Questions put to one agent of a system: ingest, wait, recall or answer, read, close."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple, Self

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


class Sitting:
    """One agent, opened on a haystack and asked question after question.

    The first question opens it and hands it the conversations; the last one closes it. What goes
    wrong before it can be asked is the failure of every question; what goes wrong later is the
    failure of that question, and the agent is asked no more: it may be anything by then.

    Args:
        namespace: what the agent's space is called.
        repeat: which repetition it is for.
        given: what it is opened on.
        host: runs it.
        reader: reads what it recalls.
        asking: how it is asked.
    """

    def __init__(
        self, namespace: str, repeat: int, given: Haystack, host: Host, reader: Reader, asking: Asking
    ) -> None:
        self._place = (namespace, repeat)
        self._given = given
        self._host = host
        self._reader = reader
        self._asking = asking
        self._stack = AsyncExitStack()
        self._agent: Session | None = None
        self._handed: list[Delivered] = []
        self._spoilt: AgentFailure | None = None
        self.usable = True

    @property
    def at_work(self) -> bool:
        """Whether an agent is open."""
        return self._agent is not None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(AgentFailure):  # every question asked has its record by now
            await self._stack.__aexit__(kind, error, trace)

    async def ask(self, begun: Begun, question: Question, *, last: bool) -> Record:
        """Put a question; a failure of the system becomes part of the record.

        Args:
            begun: which attempt at which question this is.
            question: what is asked.
            last: whether to close the agent after it.

        Raises:
            HarnessError, BudgetSpent: what has to stop the whole run.
        """
        timings: dict[str, float] = {}
        report: dict[str, Any] = {}
        budget = self._asking.budget
        found: tuple[Memory, ...] | Answer | None = None
        read = Read(None)
        kept: tuple[str, ...] | None = None
        failure: AgentFailure | None = None
        try:
            found = await self._found(question, timings, report, last=last)
            if not isinstance(found, Answer):
                read_of = found if budget is None else within_budget(found, budget)
                kept = tuple(memory.text for memory in read_of)
                with _timed(timings, "read"):
                    read = await self._reader.read(question, read_of, begun.repeat)
                if read.cut:
                    report["answer_cut"] = True
                told = {"model": read.model, "cost_usd": read.cost}
                if known := {name: value for name, value in told.items() if value is not None}:
                    report["read_by"] = known
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
            kept=_cut(own.memory, budget) if own else kept,
            tokens=own.tokens if own else read.tokens,
            delivered=tuple(self._handed),
            timings=timings,
            report=report,
            failure=None if failure is None else Failure.of(failure),
        )

    async def _found(
        self, question: Question, timings: dict[str, float], report: dict[str, Any], *, last: bool
    ) -> tuple[Memory, ...] | Answer:
        """Return what the system recalls or answers; timings and report fill up on the way."""
        if self._spoilt is not None:
            raise self._spoilt
        try:
            agent = self._agent or await self._opened(timings)
        except AgentFailure as failure:
            self._spoilt = failure
            await self._give_up(failure)
            raise
        try:
            found = await self._asked(agent, question, timings, report)
            if last:
                self._agent = None
                with _timed(timings, "close"):
                    await self._stack.aclose()
        except AgentFailure as failure:
            self.usable = False
            await self._give_up(failure)
            raise
        return found

    async def _opened(self, timings: dict[str, float]) -> Session:
        """Open the agent, hand it the conversations and wait until it can be asked."""
        limits = self._asking.timeouts
        with _timed(timings, "open"):
            agent = await self._stack.enter_async_context(self._host.session(*self._place))
        for conversation, digest in zip(self._given.conversations, self._given.digests, strict=True):
            with _timed(timings, "ingest"):
                await _ingest(agent, conversation, limits.ingest, timings.get("ingest", 0.0))
            self._handed.append(digest)
        with _timed(timings, "wait"):
            await agent.wait(limits.wait)
        self._agent = agent
        return agent

    async def _asked(
        self, agent: Session, question: Question, timings: dict[str, float], report: dict[str, Any]
    ) -> tuple[Memory, ...] | Answer:
        asking = self._asking
        limits = asking.timeouts
        found: tuple[Memory, ...] | Answer
        if asking.answers:
            with _timed(timings, "answer"):
                found = await agent.answer(question, limits.recall)
        else:
            with _timed(timings, "recall"):
                recalled = await agent.recall(question, asking.limit, limits.recall)
            found = recalled if asking.budget is None else recalled[: asking.limit]
            if len(found) < len(recalled):
                report["over_limit"] = len(recalled)
        report |= await agent.report(limits.close)
        return found

    async def _give_up(self, failure: AgentFailure) -> None:
        """Close the agent after a failure, which is the one to report."""
        self._agent = None
        with suppress(AgentFailure):
            await self._stack.__aexit__(type(failure), failure, failure.__traceback__)


async def attempt(
    begun: Begun,
    given: Haystack,
    question: Question,
    host: Host,
    reader: Reader,
    asking: Asking,
) -> Record:
    """Put one question to an agent of its own; a failure of the system becomes part of the record.

    Raises:
        HarnessError, BudgetSpent: what has to stop the whole run.
    """
    async with Sitting(begun.namespace, begun.repeat, given, host, reader, asking) as sitting:
        return await sitting.ask(begun, question, last=True)


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
