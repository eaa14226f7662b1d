"""What a store of somebody else's keeps as one memory: a message or a round, with its date and place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from harness.adapters.memories.chunking import chunk_conversation, written
from harness.adapters.protocol import Memory
from harness.suite import Conversation, Message

Per = Literal["message", "round"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a conversation that is stored together.

    Attributes:
        text: a line a message, `user: …` or `assistant: …`.
        messages: the same as messages, for systems that take those.
        said_at: when the first of them was said; the conversation's time where messages have none.
        source_refs: the messages, `conversation_id#message_number`.
        conversation: id of the conversation.
        labels: the conversation's metadata.
    """

    text: str
    messages: tuple[Message, ...]
    said_at: datetime | None
    source_refs: tuple[str, ...]
    conversation: str
    labels: Mapping[str, str]

    def stored(self, number: int) -> dict[str, Any]:
        """Return what a store keeps beside the text, as JSON has it.

        Args:
            number: how many memories were stored before; it keeps their order.
        """
        data: dict[str, Any] = {
            "number": number,
            "conversation": self.conversation,
            "source_refs": list(self.source_refs),
            "labels": dict(self.labels),
        }
        if self.said_at is not None:
            data["said_at"] = self.said_at.isoformat()
        return data


def pieces(conversation: Conversation, per: Per) -> list[Piece]:
    """Cut a conversation into messages or rounds, in order; each message is in exactly one piece."""
    if per == "message":
        ranges = [(number, number) for number in range(1, len(conversation.messages) + 1)]
    else:
        ranges = [
            (int(refs[0].rpartition("#")[2]), int(refs[-1].rpartition("#")[2]))
            for refs in (chunk.source_refs for chunk in chunk_conversation(conversation))
        ]
    return [_piece(conversation, first, last) for first, last in ranges]


def memory_from(id: str, text: str, score: float | None, stored: Mapping[str, Any] | None) -> Memory:
    """Return a memory from a text and what `Piece.stored` had put beside it."""
    kept = stored or {}
    said_at = kept.get("said_at")
    return Memory(
        id=id,
        text=text,
        score=score,
        created_at=None if said_at is None else datetime.fromisoformat(said_at),
        source_refs=tuple(kept.get("source_refs", ())),
    )


def place_in_order(stored: Mapping[str, Any] | None) -> int:
    """Return the number of a memory, for sorting; what has none comes first."""
    return int((stored or {}).get("number", -1))


def _piece(conversation: Conversation, first: int, last: int) -> Piece:
    messages = conversation.messages[first - 1 : last]
    return Piece(
        text=written(messages),
        messages=messages,
        said_at=messages[0].timestamp or conversation.timestamp,
        source_refs=tuple(f"{conversation.id}#{number}" for number in range(first, last + 1)),
        conversation=conversation.id,
        labels=conversation.metadata,
    )
