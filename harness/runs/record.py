"""One line of a run's journal: what became of one question put to one system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.adapters.protocol import AgentFailure, Memory
from harness.adapters.wire import memory_data, memory_from
from harness.suite.answer import Answer


class Delivered(NamedTuple):
    """What an adapter was handed of one conversation.

    Attributes:
        id: the conversation's name inside its case.
        messages: how many.
        user: how many of them are the user's.
        words: words in all of them.
        timestamp: ISO 8601, None where the conversation has none.
        metadata: names of its metadata.
        digest: first 12 hexadecimal digits of a hash over all of it.
    """

    id: str
    messages: int
    user: int
    words: int
    timestamp: str | None
    metadata: tuple[str, ...]
    digest: str


class Failure(NamedTuple):
    """Why there is no answer: the kind, what was said, and the phase it happened in."""

    kind: str
    message: str
    phase: str

    @classmethod
    def of(cls, failure: AgentFailure) -> Failure:
        """Return what a failure of a system leaves in the journal."""
        return cls(failure.kind, failure.message, failure.phase)

    @property
    def cause(self) -> str:
        """What was said and where, without the kind."""
        return ": ".join(filter(None, (self.phase and f"in {self.phase}", self.message)))

    def __str__(self) -> str:
        return (
            f"{self.kind} in {self.phase}: {self.message}" if self.phase else f"{self.kind}: {self.message}"
        )


@dataclass(frozen=True, slots=True)
class Record:
    """What became of one question.

    Attributes:
        case: the case.
        repeat: which repetition, from 0.
        attempt: how many times it was begun, from 1; more than once where a run was killed.
        namespace: what the agent's space was called.
        answer: the answer, None where there is none: an extractive reader writes none.
        memories: what was recalled, most relevant first; None for a system that answers by itself.
        kept: the texts that the reader was given, within its budget; the last one may be cut.
        tokens: tokens spent on the answer, where known.
        delivered: what the adapter was handed.
        timings: seconds by phase: open, ingest, wait, recall or answer, close, read.
        failure: why there is no answer.
        report: what the system says of its own work, such as the steps and tokens of a strategy.
    """

    case: str
    repeat: int
    attempt: int
    namespace: str
    answer: str | None = None
    memories: tuple[Memory, ...] | None = None
    kept: tuple[str, ...] | None = None
    tokens: int | None = None
    delivered: tuple[Delivered, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    failure: Failure | None = None
    report: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int]:
        """What the record is about; a journal holds one that counts for each."""
        return self.case, self.repeat

    @property
    def words_in(self) -> int:
        """Words that the adapter was handed."""
        return sum(conversation.words for conversation in self.delivered)

    @property
    def words_out(self) -> int | None:
        """Words that the memory handed back, before any cut."""
        return None if self.memories is None else sum(memory.words for memory in self.memories)

    @property
    def dated(self) -> bool | None:
        """Whether what was recalled carries dates; None where nothing was recalled or nothing had one."""
        if not self.memories or all(one.timestamp is None for one in self.delivered):
            return None
        return any(memory.created_at is not None for memory in self.memories)

    def as_answer(self) -> Answer:
        """Return the answer as scorers take it; its memory is what the reader was given."""
        asking = [self.timings[name] for name in ("recall", "answer", "read") if name in self.timings]
        return Answer(
            self.answer,
            memory=self.kept,
            latency_s=sum(asking) if asking else None,
            tokens=self.tokens,
            error=None if self.failure is None else self.failure.cause,
            error_kind=None if self.failure is None else self.failure.kind,
        )

    def as_data(self) -> dict[str, Any]:
        """Return the record as plain data."""
        data: dict[str, Any] = {
            "case": self.case,
            "repeat": self.repeat,
            "attempt": self.attempt,
            "namespace": self.namespace,
            "outcome": "answered" if self.failure is None else "system_error",
            "answer": self.answer,
            "memories": None if self.memories is None else list(map(memory_data, self.memories)),
            "kept": _kept_data(self),
            "tokens": self.tokens,
            "words_in": self.words_in,
            "words_out": self.words_out,
            "delivered": [one._asdict() for one in self.delivered],
            "timings": {phase: round(seconds, 6) for phase, seconds in self.timings.items()},
            "failure": self.failure and self.failure._asdict(),
            "report": dict(self.report) or None,
        }
        return {name: value for name, value in data.items() if value is not None}


def record_from(data: Mapping[str, Any]) -> Record:
    """Read what `Record.as_data` wrote.

    Raises:
        KeyError, TypeError, ValueError: when it is something else.
    """
    memories = data.get("memories")
    found = None if memories is None else tuple(map(memory_from, memories))
    failure = data.get("failure")
    return Record(
        case=data["case"],
        repeat=data["repeat"],
        attempt=data["attempt"],
        namespace=data["namespace"],
        answer=data.get("answer"),
        memories=found,
        kept=_kept_from(data.get("kept"), found),
        tokens=data.get("tokens"),
        delivered=tuple(
            Delivered(**{**one, "metadata": tuple(one["metadata"])}) for one in data["delivered"]
        ),
        timings=data["timings"],
        failure=None if failure is None else Failure(**failure),
        report=data.get("report", {}),
    )


def _kept_data(record: Record) -> Any:
    """Write what was kept as a count and a cut text, rather than the texts once more."""
    if record.kept is None:
        return None
    if record.memories is None:
        return list(record.kept)
    count = len(record.kept)
    cut = bool(count) and record.kept[-1] != record.memories[count - 1].text
    return {"memories": count, "last": record.kept[-1] if cut else None}


def _kept_from(data: Any, memories: tuple[Memory, ...] | None) -> tuple[str, ...] | None:
    if data is None:
        return None
    if isinstance(data, list):
        return tuple(data)
    texts = [memory.text for memory in (memories or ())[: data["memories"]]]
    if data["last"] is not None:
        texts[-1] = data["last"]
    return tuple(texts)
