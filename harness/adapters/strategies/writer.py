"""The loop in which a model keeps a memory, and the agent and adapter around it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from harness.adapters.protocol import (
    Adapter,
    AgentFailure,
    Capability,
    FailureKind,
    Isolation,
    Memory,
    Question,
    Space,
)
from harness.adapters.strategies.prompts import WriterPrompts
from harness.adapters.strategies.replies import Reply, read_reply, schema_of
from harness.adapters.strategies.store import Entry, Form, Operation, Refused, Source, Store
from harness.llm.exchange import ChatRequest, Unanswered
from harness.llm.usage import Spent
from harness.suite import Conversation

MOST_STEPS = 15


class WriterOptions(BaseModel):
    """The options of a strategy.

    Attributes:
        steps: model replies that one conversation may take.
        model: the writer, `[provider:]model[@base_url]`; the run's own model when left out.
        max_tokens: length of one reply; a reply that was cut is asked for again with more.
        temperature: of the writer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: int = Field(MOST_STEPS, ge=1, le=MOST_STEPS)
    model: str | None = None
    max_tokens: int = Field(1024, ge=64, le=32_768)
    temperature: float = Field(0.0, ge=0, le=2)


class Written(NamedTuple):
    """How the work on one conversation went.

    Attributes:
        conversation: its id.
        steps: replies of the writer.
        done: operations that were carried out.
        refused: operations that could not be.
        finished: False where the steps ran out before the writer said that it was done; what it had
            stored until then stays.
    """

    conversation: str
    steps: int
    done: int
    refused: int
    finished: bool


class WriterAgent:
    """A memory that a model writes.

    Attributes:
        store: what it remembers.
        log: how the work on each conversation went.
        spent: the tokens of all replies so far, those from the cassette included.
    """

    def __init__(self, form: Form, prompts: WriterPrompts, options: WriterOptions, space: Space) -> None:
        self.store = Store(form)
        self.log: list[Written] = []
        self.spent = Spent()
        self._form = form
        self._prompts = prompts
        self._options = options
        self._repeat = space.repeat
        self._chat = space.models.chat(options.model)

    @property
    def cut_short(self) -> tuple[str, ...]:
        """The conversations on which the steps ran out."""
        return tuple(written.conversation for written in self.log if not written.finished)

    async def ingest(self, conversation: Conversation) -> None:
        """Have the model bring its memory up to date with one conversation.

        Raises:
            AgentFailure: when the model gave no usable reply.
            EndpointError: when the run has to stop.
        """
        turns = self._prompts.opening(self.store.entries, conversation)
        done = refused = 0
        for step in range(1, self._options.steps + 1):
            reply = await self._ask(turns, f"{self._form.name}: {conversation.id}, step {step}")
            results: list[str] = []
            before = refused
            for operation, numbers in reply.operations:
                try:
                    results.append(self._apply(operation, numbers, conversation))
                    done += 1
                except Refused as error:
                    results.append(f"error: {error}")
                    refused += 1
            # A writer that was told off for an operation gets to see it, whatever it said of being done.
            if not reply.operations or (reply.done and refused == before):
                self.log.append(Written(conversation.id, step, done, refused, True))
                return
            turns += self._prompts.results(reply.text, results, self._options.steps - step)
        self.log.append(Written(conversation.id, self._options.steps, done, refused, False))

    def recall(self, question: Question, limit: int) -> Sequence[Memory]:
        """Return the whole memory, last written first: it is not ranked by the question, nor cut to `limit`."""
        return [self._memory(entry) for entry in self.store.by_last_change]

    def list(self, user: str | None = None) -> Sequence[Memory]:
        """Return the whole memory in the order in which it was begun."""
        return [self._memory(entry) for entry in self.store.entries]

    def report(self) -> dict[str, Any]:
        """Return the work on each conversation, and what it took."""
        return {
            "conversations": [written._asdict() for written in self.log],
            "cut_short": list(self.cut_short),
            "calls": self.spent.calls,
            "prompt_tokens": self.spent.prompt_tokens,
            "completion_tokens": self.spent.completion_tokens,
        }

    async def _ask(self, turns: tuple[dict[str, str], ...], label: str) -> Reply:
        parameters = {"temperature": self._options.temperature, "max_tokens": self._options.max_tokens}
        schema = schema_of(self._form, empty=not self.store.entries)
        request = ChatRequest(turns, schema, parameters, self._repeat, label)
        try:
            answered = await self._chat.ask(request, lambda value: read_reply(value, self._form))
        except Unanswered as failed:
            self.spent = self.spent.plus(failed.served.spent)
            kind: FailureKind = "unreachable" if failed.error.kind in ("connection", "timeout") else "raised"
            said = f"{label}: no usable reply: {failed.error.kind}: {failed.error.message}"
            raise AgentFailure(kind, said) from None
        self.spent = self.spent.plus(answered.served.spent)
        reply: Reply = answered.value
        return reply

    def _apply(self, operation: Operation, numbers: tuple[int, ...], conversation: Conversation) -> str:
        """Do one operation; message numbers that do not exist are left out, and said so."""
        there = [number for number in numbers if 1 <= number <= len(conversation.messages)]
        source = Source(conversation.timestamp, tuple(f"{conversation.id}#{number}" for number in there))
        result = self.store.apply(operation, source)
        absent = [str(number) for number in numbers if number not in there]
        return f"{result} (no such message: {', '.join(absent)})" if absent else result

    def _memory(self, entry: Entry) -> Memory:
        return Memory(
            entry.id,
            self._form.render(entry),
            created_at=entry.written.timestamp,
            source_refs=entry.written.refs,
        )


class Strategy(Adapter):
    """A strategy; subclasses name the form of their memory."""

    Options: ClassVar[type[BaseModel]] = WriterOptions
    capabilities: ClassVar[frozenset[Capability]] = frozenset({"recall", "list"})
    isolation: ClassVar[Isolation] = "inline"

    def __init__(self, options: BaseModel) -> None:
        super().__init__(options)
        self._prompts = WriterPrompts(self.form())

    @classmethod
    @abstractmethod
    def form(cls) -> Form:
        """Return what the entries of its memory look like."""

    def open(self, space: Space) -> WriterAgent:
        """Return an agent with an empty memory."""
        assert isinstance(self.options, WriterOptions)
        return WriterAgent(self.form(), self._prompts, self.options, space)

    def prompts(self) -> dict[str, str]:
        """Return name and SHA-256 of each prompt in use, for the run's manifest."""
        return self._prompts.hashes
