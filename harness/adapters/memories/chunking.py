"""Cut a conversation into chunks of whole rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from harness.suite import Conversation, Message


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rounds of one conversation that are remembered together.

    Attributes:
        id: `conv_001#3-4`, from the numbers of its first and last message.
        text: a line a message, `user: …` or `assistant: …`.
        source_refs: its messages, `conversation_id#message_number`, from 1.
        created_at: when its first message was said; the conversation's time where messages have none.
        metadata: the conversation's.
    """

    id: str
    text: str
    source_refs: tuple[str, ...]
    created_at: datetime | None
    metadata: Mapping[str, str]


def chunk_conversation(conversation: Conversation, rounds: int = 1, overlap: int = 0) -> list[Chunk]:
    """Cut a conversation into chunks, in order; each message is in at least one.

    - A round begins with each user message and takes what follows up to the next one. A user message
      without a reply is a round, and so are replies before the first user message.
    - A chunk has `rounds` rounds, the last one perhaps fewer, and shares `overlap` with the one before.

    Raises:
        ValueError: when `overlap` is not below `rounds`, or negative.
    """
    if not 0 <= overlap < rounds:
        raise ValueError(f"overlap is {overlap}: at least 0 and below rounds, which is {rounds}")
    starts = [
        number
        for number, message in enumerate(conversation.messages)
        if number == 0 or message.role == "user"
    ]
    chunks = []
    for first in range(0, max(len(starts) - overlap, min(len(starts), 1)), rounds - overlap):
        last = first + rounds
        end = starts[last] if last < len(starts) else len(conversation.messages)
        chunks.append(_chunk(conversation, starts[first], end))
    return chunks


def _chunk(conversation: Conversation, start: int, end: int) -> Chunk:
    """Make a chunk of the messages from `start`, counted from 0, to before `end`."""
    messages = conversation.messages[start:end]
    numbers = f"{start + 1}" if end == start + 1 else f"{start + 1}-{end}"
    return Chunk(
        id=f"{conversation.id}#{numbers}",
        text=written(messages),
        source_refs=tuple(f"{conversation.id}#{number}" for number in range(start + 1, end + 1)),
        created_at=messages[0].timestamp or conversation.timestamp,
        metadata=conversation.metadata,
    )


def written(messages: Sequence[Message]) -> str:
    """Return messages as text, a line each."""
    return "\n".join(f"{message.role}: {message.text}" for message in messages)
