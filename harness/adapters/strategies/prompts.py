"""What a writer is sent: the rules, conversation and memory behind fences, its task, then results.

What differs between strategies comes last, so that a server which keeps the prompts that it has
read reads a conversation once for all of them.

Every message of a conversation is one numbered paragraph: further lines of its text are indented,
so that no text can pass as a message of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

from harness.adapters.strategies.store import Entry, Form
from harness.llm.templates import FENCE_DIGITS, Templates, neutralised
from harness.suite import Conversation

_BASE, _TURN, _RESULTS = "writer_base.j2", "writer_turn.j2", "writer_results.j2"
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
Turn = dict[str, str]


class WriterPrompts:
    """The prompts of one strategy."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._task = f"writer_{form.name}.j2"
        self._templates = Templates(_BASE, self._task, _TURN, _RESULTS)

    @property
    def hashes(self) -> dict[str, str]:
        """Name and SHA-256 of every template in use."""
        return dict(self._templates.hashes)

    def opening(self, entries: Sequence[Entry], conversation: Conversation) -> tuple[Turn, ...]:
        """Return the messages that begin the work on one conversation."""
        memory = "\n".join(f"{entry.id}: {_indented(self._form.render(entry))}" for entry in entries)
        memory, said = neutralised(memory), neutralised(_written(conversation))
        values = {
            "memory": memory,
            "memory_fence": self._templates.fence(memory, said),
            "conversation": said,
            "conversation_fence": _fence(said),
            "last": len(conversation.messages),
        }
        return (
            {"role": "system", "content": self._templates.render(_BASE, {})},
            {"role": "user", "content": self._templates.render(self._task, values)},
        )

    def results(self, reply: str, results: Sequence[str], left: int) -> tuple[Turn, ...]:
        """Return the turns that go on from a reply: the reply itself, and what came of it."""
        values = {"results": [neutralised(result) for result in results], "left": left}
        return (
            {"role": "assistant", "content": neutralised(reply)},
            {"role": "user", "content": self._templates.render(_RESULTS, values)},
        )


def _fence(text: str) -> str:
    """Return a mark that a text cannot know, and that is the same in every strategy's prompt."""
    return sha256(f"conversation\n{text}".encode("utf-8", "surrogatepass")).hexdigest()[:FENCE_DIGITS]


def _written(conversation: Conversation) -> str:
    """Return a conversation as the writer reads it: date, labels, numbered messages."""
    head = [f"date: {_when(conversation.timestamp)}"] if conversation.timestamp else ["date: unknown"]
    head += [f"{_line(name)}: {_line(str(value))}" for name, value in conversation.metadata.items()]
    messages = [
        f"[{number}] {message.role}"
        f"{f' ({_when(message.timestamp)})' if message.timestamp else ''}: {_indented(message.text)}"
        for number, message in enumerate(conversation.messages, start=1)
    ]
    return "\n".join([*head, "", *messages])


def _when(moment: datetime) -> str:
    # The day of the week is what "next Monday" is reckoned from.
    return f"{_DAYS[moment.weekday()]} {moment.isoformat()}"


def _line(text: str) -> str:
    return " ".join(text.split())


def _indented(text: str) -> str:
    return "\n    ".join(text.strip().splitlines())
