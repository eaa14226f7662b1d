"""Adapters that do what a test tells them, and note what is done to them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from harness.adapters.protocol import Adapter, Memory, Question, Space
from harness.adapters.registry import AdapterInfo
from harness.naming import Spec
from harness.runs.preparing import Entrant
from harness.suite import Conversation
from harness.suite.answer import Answer

Act = Callable[[str, str], Awaitable[None]]


async def nothing(phase: str, what: str) -> None:
    """Do nothing out of the ordinary."""


@dataclass
class Watch:
    """What a probe is told to do, and what was seen of it.

    Attributes:
        act: awaited at every phase with what it is about; it may raise, or sleep.
        seen: phase and what it was about, in order: a namespace, a conversation's id, a question.
    """

    act: Act = nothing
    seen: list[tuple[str, str]] = field(default_factory=list)
    in_flight: int = 0
    most: int = 0

    async def at(self, phase: str, what: str) -> None:
        self.seen.append((phase, what))
        await self.act(phase, what)

    def of(self, phase: str) -> list[str]:
        return [what for name, what in self.seen if name == phase]


WATCHES: dict[str, Watch] = {}


class _Options(BaseModel):
    model_config = ConfigDict(extra="forbid")

    watch: str
    k: int = 1


class _Agent:
    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._kept: list[Memory] = []

    async def ingest(self, conversation: Conversation) -> None:
        await self._watch.at("ingest", conversation.id)
        self._kept += [
            Memory(f"{conversation.id}#{number}", message.text, 1.0 / number, conversation.timestamp)
            for number, message in enumerate(conversation.messages, start=1)
        ]

    async def wait_until_ready(self) -> None:
        await self._watch.at("wait", "")

    async def recall(self, question: Question, limit: int) -> list[Memory]:
        await self._watch.at("recall", question.text)
        return self._kept

    async def answer(self, question: Question) -> Answer:
        await self._watch.at("answer", question.text)
        return Answer(f"To {question.text} I say $45.", ("noted: $45",), tokens=7)

    async def close(self) -> None:
        self._watch.in_flight -= 1
        await self._watch.at("close", "")


class Recalling(Adapter):
    Options = _Options
    isolation = "inline"
    capabilities = frozenset({"recall", "wait"})
    agent: type[_Agent] = _Agent

    @property
    def watch(self) -> Watch:
        options: Any = self.options
        return WATCHES[options.watch]

    async def open(self, space: Space) -> _Agent:
        await self.watch.at("open", space.namespace)
        self.watch.in_flight += 1
        self.watch.most = max(self.watch.most, self.watch.in_flight)
        return self.agent(self.watch)

    def version(self) -> str:
        return "probe 1"


class Answering(Recalling):
    capabilities = frozenset({"answer", "wait"})


class Both(Recalling):
    capabilities = frozenset({"recall", "answer", "wait"})


class _Reporting(_Agent):
    async def report(self) -> dict[str, int]:
        await self._watch.at("report", "")
        return {"steps": len(self._kept)}


class Reporting(Recalling):
    agent = _Reporting


class Discarding(Recalling):
    capabilities = frozenset({"recall", "wait", "discard"})

    async def discard(self, namespace: str) -> None:
        await self.watch.at("discard", namespace)


def entrant(
    watch: Watch, target: str = "Recalling", *, label: str = "probe", kind: Any = "connector", **options: Any
) -> Entrant:
    """Return a probe to be run; probes of one label share what they are told."""
    WATCHES[label] = watch
    spec = Spec(label, "probe", {"watch": label, **options}, label)
    return Entrant(spec, AdapterInfo("probe", f"{__name__}:{target}", kind, "a probe", isolation="inline"))


def built_in(*texts: str) -> list[Entrant]:
    """Return systems by name, as the command line reads them."""
    from harness.adapters.registry import FLAG, find_adapter
    from harness.naming import parse_spec

    specs = [parse_spec(text, FLAG, labelled=True) for text in texts]
    return [Entrant(spec, find_adapter(spec)) for spec in specs]


def rendezvous(number: int) -> Act:
    """Return an act that lets nobody recall until so many do so at once."""
    waiting = [0]
    there = asyncio.Event()

    async def act(phase: str, what: str) -> None:
        if phase == "recall":
            waiting[0] += 1
            if waiting[0] >= number:
                there.set()
            async with asyncio.timeout(20):
                await there.wait()

    return act


def failing(phase: str, error: Exception, *, on: str = "") -> Act:
    """Return an act that fails in a phase, where what it is about holds some text."""

    async def act(at: str, what: str) -> None:
        if at == phase and on in what:
            raise error

    return act


WHEN = datetime(2025, 3, 4, 10, 15, tzinfo=UTC)
