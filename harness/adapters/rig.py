"""An adapter under test, and how a trial of it tells what it found."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from harness.adapters.hosts import Host, Session, Timeouts, make_host
from harness.adapters.planted import ASKED_AT, Haystack, Planter, says
from harness.adapters.protocol import Capability, Memory, Question
from harness.adapters.registry import AdapterInfo
from harness.llm.models import Models
from harness.naming import Spec

Outcome = Literal["ok", "warning", "failed", "n/a"]

LIMIT = 10


class Finding(NamedTuple):
    """What one trial found.

    Attributes:
        check: what was tried, in words.
        outcome: `warning` for what may lose points and breaks nothing; `n/a` with the reason in `said`.
        said: what was seen.
        mend: what to do about it; empty where nothing has to be done.
    """

    check: str
    outcome: Outcome
    said: str
    mend: str = ""


class Verdict(NamedTuple):
    """A finding without its name."""

    outcome: Outcome
    said: str
    mend: str = ""


def ok(said: str) -> Verdict:
    """Return that all is well."""
    return Verdict("ok", said)


def failed(said: str, mend: str) -> Verdict:
    """Return that the adapter does not conform."""
    return Verdict("failed", said, mend)


def warned(said: str, mend: str) -> Verdict:
    """Return what breaks nothing."""
    return Verdict("warning", said, mend)


def not_applicable(why: str) -> Verdict:
    """Return why nothing was tried."""
    return Verdict("n/a", why)


@dataclass
class Rig:
    """An adapter under test.

    Attributes:
        capabilities: known once it is loaded.
        told: the words of earlier haystacks, which nothing may remember.
        recalls: whether it recalled anything that it was told.
    """

    info: AdapterInfo
    spec: Spec
    models: Models
    timeouts: Timeouts
    planter: Planter
    capabilities: frozenset[Capability] = frozenset()
    told: list[str] = field(default_factory=list)
    recalls: bool = False

    @property
    def ours(self) -> bool:
        """Whether it is one of the harness's bounds, which need not remember."""
        return self.info.kind in ("control", "cheater")

    def host(self) -> Host:
        """Return a host that has not started."""
        return make_host(self.info, self.spec, self.models, self.timeouts)

    def haystack(self) -> Haystack:
        """Invent conversations, and remember what must not be remembered later."""
        found = self.planter.haystack()
        self.told += found.words
        return found

    async def take(self, session: Session, haystack: Haystack) -> None:
        """Let a session ingest everything."""
        for conversation in haystack.conversations:
            await session.ingest(conversation, self.timeouts.ingest)
        await session.wait(self.timeouts.wait)

    async def ask(self, session: Session, text: str, limit: int = LIMIT) -> tuple[Memory, ...]:
        """Return what a session recalls; the answer as one memory where it only answers."""
        question = Question(text, ASKED_AT)
        if "recall" in self.capabilities:
            return await session.recall(question, limit, self.timeouts.recall)
        answer = await session.answer(question, self.timeouts.recall)
        return (Memory("answer", answer.text or ""),)

    async def leaks(self, session: Session, foreign: tuple[str, ...], questions: tuple[str, ...]) -> str:
        """Return a foreign word that a session recalls or lists, empty for none."""
        found = [memory for text in questions for memory in await self.ask(session, text)]
        if "list" in self.capabilities:
            found += await session.list(self.timeouts.recall)
        return next((word for word in foreign if any(says(memory.text, word) for memory in found)), "")


def fresh_name() -> str:
    """Return a namespace that was never used."""
    return uuid.uuid4().hex
