"""A system under measurement: loaded once, an agent opened for each part, every call bounded."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from harness.adapters.hosts import Host, Session, Timeouts, make_host
from harness.adapters.protocol import AgentFailure, Memory, Question
from harness.adapters.registry import find_adapter
from harness.adapters.serving import Description
from harness.llm.models import Models
from harness.naming import Spec
from harness.performance.plan import Deadline
from harness.suite import Conversation, Message

T = TypeVar("T")
_SILENT = 3


class _NoTurn(AgentFailure):
    """A request that was given up before the worker was free for it."""


class Failures:
    """What failed, counted by cause: phase and kind, with the first message of each."""

    def __init__(self) -> None:
        self.by_cause: Counter[str] = Counter()
        self.first: dict[str, str] = {}

    def add(self, failure: AgentFailure) -> None:
        """Count a failure."""
        cause = f"{failure.phase} {failure.kind}".strip()
        self.by_cause[cause] += 1
        self.first.setdefault(cause, failure.message)

    @property
    def total(self) -> int:
        """How many there were."""
        return self.by_cause.total()

    def __str__(self) -> str:
        return ", ".join(f"{cause} {count}" for cause, count in self.by_cause.most_common())


class Subject:
    """A system whose speed is measured.

    Args:
        spec: as the user typed it.
        models: what the system may ask.
        timeout: seconds that one request may take.
    """

    def __init__(self, spec: Spec, models: Models, timeout: float) -> None:
        self.spec = spec
        self.info = find_adapter(spec)
        self.timeout = timeout
        self._timeouts = Timeouts(ingest=timeout, wait=timeout, recall=timeout, close=timeout)
        self._host: Host = make_host(self.info, spec, models, self._timeouts)
        self._described: Description | None = None
        self.faults: list[str] = []
        self._answered = 0
        self._silent = 0
        self._hung = False

    async def start(self) -> None:
        """Load the adapter.

        Raises:
            InputError: when it cannot be loaded.
        """
        self._described = await self._host.start()

    async def close(self) -> None:
        """Close the adapter."""
        try:
            await self._host.close()
        except AgentFailure as failure:
            self.faults.append(f"closing: {failure}")

    @property
    def version(self) -> str:
        """What it says it is."""
        return self._described.version if self._described else ""

    @property
    def serial(self) -> bool:
        """Whether an agent takes one request at a time, as a worker process does."""
        return self.info.isolation == "process"

    def can(self, capability: str) -> bool:
        """Say whether it offers something."""
        return self._described is not None and capability in self._described.capabilities

    @asynccontextmanager
    async def store(self) -> AsyncIterator[Store]:
        """Open an agent in a fresh space; a failure to close it is a fault, and ends nothing.

        Raises:
            AgentFailure: when it cannot be opened.
        """
        # One more time-out is enough to see that what hung before still hangs.
        self._silent = _SILENT - 1 if self._hung else 0
        namespace = uuid.uuid4().hex
        through = False
        store: Store | None = None
        try:
            async with self._host.session(namespace) as session:
                store = Store(self, session, namespace)
                yield store
                through = True
                if store.lost is not None:
                    raise store.lost  # so that the host does not take the ended worker for a sound one
        except AgentFailure as failure:
            if not through or store is None:
                raise
            if store.lost is None and not self._hung:
                self.faults.append(f"closing its agent: {failure}")

    @property
    def stopped(self) -> str:
        """Say that it no longer answers, once several requests in a row have timed out; nothing before."""
        if self._silent < _SILENT:
            return ""
        self._hung = True
        if not self._answered:
            return "answers nothing: every request timed out"
        return f"stopped answering: after {self._answered:,} answered requests it only timed out"

    def note(self, failure: AgentFailure | None) -> None:
        """Take in how one request ended."""
        if failure is None:
            self._answered += 1
            self._silent = 0
        elif failure.kind == "timeout" and not isinstance(failure, _NoTurn):
            self._silent += 1

    def doubt(self) -> None:
        """Let the next request alone tell whether it still answers."""
        self._silent = _SILENT - 1


class Store:
    """An agent that is written to and searched.

    Each method raises `AgentFailure` when the system fails or takes longer than `within` seconds.
    """

    def __init__(self, subject: Subject, session: Session, namespace: str) -> None:
        self.subject = subject
        self.namespace = namespace
        self.lost: AgentFailure | None = None
        self.most_at_once = 0
        self._session = session
        self._turn = asyncio.Lock() if subject.serial else None
        self._at_once = 0
        self._told = 0

    @property
    def ended(self) -> str:
        """Say why nothing more can be had of it; nothing where it still answers."""
        return self.subject.stopped or (f"its process ended: {self.lost}" if self.lost else "")

    def over(self, deadline: Deadline) -> str:
        """Say why a measurement has to end here; nothing where it goes on."""
        return self.subject.stopped or (str(deadline) if deadline.passed else self.ended)

    async def write(self, text: str, within: float) -> None:
        """Store one memory, as it is where the system can, else told as the one message of a conversation."""
        self._told += 1
        number = self._told
        if self.subject.can("add"):
            await self._called("add", within, lambda: self._session.add(text, None, within))
        else:
            told = Conversation(f"told_{number:06}", None, {}, (Message("user", text),))
            await self._called("ingest", within, lambda: self._session.ingest(told, within))

    async def search(self, text: str, limit: int, within: float) -> tuple[Memory, ...]:
        """Return what it recalls."""
        return await self._called(
            "recall", within, lambda: self._session.recall(Question(text), limit, within)
        )

    async def ready(self, within: float) -> None:
        """Return when the system says that everything can be recalled."""
        if self.subject.can("wait"):
            await self._called("wait", within, lambda: self._session.wait(within))

    async def idle(self, within: float) -> None:
        """Ask for nothing, and wait for the answer."""
        await self._called("wait", within, lambda: self._session.wait(within))

    async def everything(self, within: float) -> tuple[Memory, ...]:
        """Return all that it has stored."""
        return await self._called("list", within, lambda: self._session.list(within))

    async def _called(self, phase: str, within: float, call: Callable[[], Awaitable[T]]) -> T:
        """Call when it is this call's turn; a worker that was ended after a time-out takes no more."""
        try:
            if self._turn is None:
                value = await self._counted(call)
            else:
                await self._take_turn(phase, within)
                try:
                    value = await self._counted(call)
                finally:
                    self._turn.release()
        except AgentFailure as failure:
            if failure.kind != "timeout" or within >= self.subject.timeout:
                self.subject.note(failure)  # one that a time cap cut short says nothing of the system
            ended = failure.kind in ("timeout", "crashed") and not isinstance(failure, _NoTurn)
            if self.subject.serial and ended and self.lost is None:
                self.lost = failure
            raise
        self.subject.note(None)
        return value

    async def _take_turn(self, phase: str, within: float) -> None:
        assert self._turn is not None
        try:
            async with asyncio.timeout(within):
                await self._turn.acquire()
        except TimeoutError:
            raise _NoTurn("timeout", f"no turn within {within:g} s", phase) from None
        if self.lost is not None:
            self._turn.release()
            raise AgentFailure("crashed", f"its process ended earlier ({self.lost})", phase)

    async def _counted(self, call: Callable[[], Awaitable[T]]) -> T:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return await call()
        finally:
            self._at_once -= 1
