"""What a memory system looks like from here: memories, agents, adapters.

A memory system is reached through an **adapter**, made once with its options; the adapter opens
an **agent** for one haystack (the conversations that are remembered together) in a fresh space.
The agent takes the conversations in order, and then recalls memories for a question or answers
it. Methods may be plain or `async`. What an agent does not offer it does not define.

    ingest(conversation)              take one conversation in; required
    recall(question, limit)           the memories that matter, most relevant first
    answer(question)                  an answer, where the system writes its own
    wait_until_ready()                return when what was ingested can be recalled
    add(text, user=None)              store one memory; return its id
    list(user=None)                   everything that is stored
    delete(memory_id)                 remove one memory
    report()                          what it did, for the journal: an object of plain values
    close()                           free what the agent holds, its stored memories included
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from harness.suite import Conversation
from harness.suite.answer import Answer
from harness.suite.wording import count_words

if TYPE_CHECKING:
    from harness.llm.models import Models

Kind = Literal["control", "cheater", "strategy", "retrieval", "connector", "own"]
Isolation = Literal["inline", "process"]
Capability = Literal["recall", "answer", "wait", "add", "list", "delete", "user", "discard"]
FailureKind = Literal[
    "not_installed",
    "options",
    "raised",
    "timeout",
    "bad_value",
    "oversized",
    "crashed",
    "store_lost",
    "leaked_threads",
    "unreachable",
    "reader",
]


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing that a memory hands back.

    Attributes:
        id: its name in the store, unique there.
        text: what it says.
        score: how well it fits the question, more is better; None where the system has no such figure.
        created_at: when what it says was said, where the system kept that.
        source_refs: messages it comes from, `conversation_id#message_number`.
        type: episodic, semantic, … in the system's own words.
        importance: 1 to 10.
    """

    id: str
    text: str
    score: float | None = None
    created_at: datetime | None = None
    source_refs: tuple[str, ...] = ()
    type: str | None = None
    importance: float | None = None

    @property
    def words(self) -> int:
        """Number of words, as budgets count them."""
        return count_words(self.text)


@dataclass(frozen=True, slots=True)
class Question:
    """What the user asks, and when; all that an agent gets to see of a case beside its conversations."""

    text: str
    asked_at: datetime | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Space:
    """A fresh place for one haystack.

    Attributes:
        namespace: name for what the agent stores, 32 letters and digits, never used before.
        folder: an empty folder of its own; it is removed with everything in it after `close`.
        models: the models that the user allows a run to ask.
        repeat: which repetition of the run this is, from 0.
    """

    namespace: str
    folder: Path
    models: Models
    repeat: int = 0


class MemoryAgent(Protocol):
    """A memory opened for one haystack; see the module for the optional methods."""

    def ingest(self, conversation: Conversation) -> Awaitable[None] | None:
        """Take one conversation in; they come in order of time."""
        ...


class NoOptions(BaseModel):
    """The options of an adapter that has none."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Adapter(ABC):
    """A memory system under test.

    One is made in each process that works on a run; `open` is called once a haystack. Libraries
    that the system needs are imported in `__init__` or later, never at the top of the module.

    Attributes:
        Options: pydantic model of the options, `extra="forbid"`.
        capabilities: which optional methods its agents have; `user` where several users can be told
            apart in one space.
        isolation: `process` for whatever blocks or is not ours, `inline` for the harness's own light ones.
        uses_folder: whether its agents may use `space.folder`; without it there is none.
    """

    Options: ClassVar[type[BaseModel]] = NoOptions
    capabilities: ClassVar[frozenset[Capability]] = frozenset({"recall"})
    isolation: ClassVar[Isolation] = "process"
    uses_folder: ClassVar[bool] = True

    def __init__(self, options: BaseModel) -> None:
        self.options = options

    @abstractmethod
    def open(self, space: Space) -> Any:
        """Return an agent for one haystack, or an awaitable of one."""

    def version(self) -> str:
        """Return what is under test, as `mem0ai 2.2.1`; it goes into the manifest."""
        return ""

    def discard(self, namespace: str) -> Awaitable[None] | None:
        """Remove what an agent left that was killed before `close`; `discard` declares it."""
        return None

    def close(self) -> Awaitable[None] | None:
        """Free what all agents share."""
        return None


class AgentFailure(Exception):
    """A system under test failed; it becomes a recorded `system_error`, never a score.

    Attributes:
        kind: how it failed.
        message: one line for the user.
        phase: load, open, ingest, wait, recall, answer, read or close; empty where the harness adds it.
    """

    def __init__(self, kind: FailureKind, message: str, phase: str = "") -> None:
        super().__init__(f"{kind}: {message}")
        self.kind: FailureKind = kind
        self.message = message
        self.phase = phase


Recalled = Sequence[Memory | str | dict[str, Any]]
Answers = str | Answer | dict[str, Any]
