"""Where an adapter runs: in the harness's own event loop, or in worker processes that can be killed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from harness.adapters.protocol import AgentFailure, Memory, Question
from harness.adapters.registry import AdapterInfo
from harness.adapters.serving import Description, OpenAgent, Serving, said
from harness.errors import HarnessError, InputError
from harness.llm.models import Models
from harness.naming import Spec
from harness.suite import Conversation
from harness.suite.answer import Answer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that each phase of a case may take; what takes longer is a `timeout` of the system.

    Attributes:
        load: import the adapter and set its options.
        open: make an agent.
        ingest: all conversations of a case together.
        wait: until what was ingested can be recalled.
        recall: one question, recalled or answered.
        close: clean up.
    """

    load: float = 120.0
    open: float = 60.0
    ingest: float = 300.0
    wait: float = 300.0
    recall: float = 120.0
    close: float = 60.0


class Session(Protocol):
    """An agent opened for one haystack.

    Each method raises `AgentFailure` when the system fails or takes longer than `within` seconds.
    """

    async def ingest(self, conversation: Conversation, within: float) -> None: ...  # noqa: D102
    async def wait(self, within: float) -> None: ...  # noqa: D102
    async def recall(self, question: Question, limit: int, within: float) -> tuple[Memory, ...]: ...  # noqa: D102
    async def answer(self, question: Question, within: float) -> Answer: ...  # noqa: D102
    async def report(self, within: float) -> dict[str, Any]: ...  # noqa: D102
    async def list(self, within: float) -> tuple[Memory, ...]: ...  # noqa: D102
    async def add(self, text: str, user: str | None, within: float) -> str: ...  # noqa: D102
    async def delete(self, memory_id: str, within: float) -> None: ...  # noqa: D102


class Host(Protocol):
    """Runs one adapter for a run; several sessions may be open at once."""

    async def start(self) -> Description:
        """Load the adapter.

        Raises:
            InputError: when it cannot be loaded or its options do not fit.
        """
        ...

    def session(self, namespace: str, repeat: int = 0) -> AbstractAsyncContextManager[Session]:
        """Open an agent in a fresh space; leaving the context closes it.

        A failure to close is a failure of the system only where nothing else failed before.
        """
        ...

    async def discard(self, namespace: str) -> None:
        """Remove what an agent left that was killed before it could clean up."""
        ...

    def log_to(self, path: Path) -> None:
        """Keep what the adapter prints in a file."""
        ...

    async def close(self) -> None:
        """Close the adapter, and end its processes."""
        ...


def make_host(info: AdapterInfo, spec: Spec, models: Models, timeouts: Timeouts) -> Host:
    """Return the host that an adapter asks for.

    Args:
        info: the adapter.
        spec: its options.
        models: what it may ask.
        timeouts: how long each phase may take.
    """
    if info.isolation == "inline":
        return InlineHost(info, spec, models, timeouts)
    from harness.adapters.processes import ProcessHost

    return ProcessHost(info, spec, models, timeouts)


class InlineHost:
    """Runs one of the harness's own adapters in this event loop."""

    def __init__(self, info: AdapterInfo, spec: Spec, models: Models, timeouts: Timeouts) -> None:
        self._make = (info, spec, models)
        self._timeouts = timeouts
        self._serving: Serving | None = None

    async def start(self) -> Description:
        """Load the adapter."""
        try:
            self._serving = Serving(*self._make)
            return self._serving.describe()
        except HarnessError:
            raise
        except Exception as error:
            name = self._make[1].text
            raise InputError(f"--system {name}: cannot be loaded: {said(error)}") from error

    @asynccontextmanager
    async def session(self, namespace: str, repeat: int = 0) -> AsyncIterator[Session]:
        """Open an agent."""
        assert self._serving is not None, "start comes first"
        agent = await _within(self._timeouts.open, "open", self._serving.open(namespace, repeat))
        try:
            yield _InlineSession(agent)
        except BaseException:
            await self._close_quietly(agent)
            raise
        await _within(self._timeouts.close, "close", agent.close())

    async def discard(self, namespace: str) -> None:
        """Remove what an agent left."""
        assert self._serving is not None, "start comes first"
        await _within(self._timeouts.close, "discard", self._serving.discard(namespace))

    def log_to(self, path: Path) -> None:
        """Keep nothing: what runs here is the harness's own and prints nothing."""

    async def close(self) -> None:
        """Close the adapter."""
        if self._serving is not None:
            await _within(self._timeouts.close, "close", self._serving.close())

    async def _close_quietly(self, agent: OpenAgent) -> None:
        with suppress(AgentFailure):  # the failure that came before is the one to report
            await _within(self._timeouts.close, "close", agent.close())


class _InlineSession:
    def __init__(self, agent: OpenAgent) -> None:
        self._agent = agent

    async def ingest(self, conversation: Conversation, within: float) -> None:
        await _within(within, "ingest", self._agent.ingest(conversation))

    async def wait(self, within: float) -> None:
        await _within(within, "wait", self._agent.wait())

    async def recall(self, question: Question, limit: int, within: float) -> tuple[Memory, ...]:
        return await _within(within, "recall", self._agent.recall(question, limit))

    async def answer(self, question: Question, within: float) -> Answer:
        return await _within(within, "answer", self._agent.answer(question))

    async def report(self, within: float) -> dict[str, Any]:
        return await _within(within, "report", self._agent.report())

    async def list(self, within: float) -> tuple[Memory, ...]:
        return await _within(within, "list", self._agent.list())

    async def add(self, text: str, user: str | None, within: float) -> str:
        return await _within(within, "add", self._agent.add(text, user))

    async def delete(self, memory_id: str, within: float) -> None:
        await _within(within, "delete", self._agent.delete(memory_id))


async def _within(seconds: float, phase: str, work: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError:
        raise timed_out(phase, seconds) from None


def timed_out(phase: str, seconds: float) -> AgentFailure:
    """Return the failure of a phase that took too long."""
    return AgentFailure("timeout", f"{phase} took longer than {seconds:g} s", phase)
