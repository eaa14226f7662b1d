"""What a description's placeholders stand for: the parts of a conversation, and a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from harness.adapters.connectors.rounds import Piece, pieces
from harness.adapters.connectors.value_templates import filled
from harness.adapters.memories.chunking import written
from harness.adapters.protocol import Question
from harness.suite import Conversation

Per = Literal["message", "round", "conversation"]

OF_CONVERSATION = frozenset({"conversation_id", "timestamp", "metadata"})
OF_MESSAGE = frozenset({"role", "text", "timestamp", "number", "conversation_id", "metadata"})
OF_PIECE = OF_MESSAGE | {"messages"}
OF_QUESTION = frozenset({"question", "asked_at", "limit"})
PLAIN_MESSAGE: Mapping[str, Any] = {"role": "{role}", "content": "{text}"}


def of_conversation(conversation: Conversation) -> dict[str, Any]:
    """Return the values of a conversation as a whole."""
    begun = conversation.timestamp
    return {
        "conversation_id": conversation.id,
        "timestamp": begun.isoformat() if begun else None,
        "metadata": dict(conversation.metadata),
    }


def of_pieces(conversation: Conversation, per: Per, message: Any = PLAIN_MESSAGE) -> list[dict[str, Any]]:
    """Return the values of each part of a conversation that is handed over at once.

    Args:
        conversation: what is cut.
        per: into what.
        message: template of one entry of `messages`.
    """
    return [_of_piece(piece, conversation, per, message) for piece in _cut(conversation, per)]


def of_question(question: Question, limit: int | None = None) -> dict[str, Any]:
    """Return the values of a question."""
    asked = question.asked_at
    return {
        "question": question.text,
        "asked_at": asked.isoformat() if asked else None,
        "limit": limit,
    }


def _cut(conversation: Conversation, per: Per) -> list[Piece]:
    if per != "conversation":
        return pieces(conversation, per)
    said = conversation.messages
    refs = tuple(f"{conversation.id}#{number}" for number in range(1, len(said) + 1))
    return [Piece(written(said), said, conversation.timestamp, refs, conversation.id, conversation.metadata)]


def _of_piece(piece: Piece, conversation: Conversation, per: Per, template: Any) -> dict[str, Any]:
    labels = dict(piece.labels)
    each: list[dict[str, Any]] = []
    for ref, message in zip(piece.source_refs, piece.messages, strict=True):
        said_at = message.timestamp or conversation.timestamp
        each.append(
            {
                "role": message.role,
                "text": message.text,
                "timestamp": said_at.isoformat() if said_at else None,
                "number": int(ref.rpartition("#")[2]),
                "conversation_id": conversation.id,
                "metadata": labels,
            }
        )
    begun = piece.said_at
    values = {
        "role": "user",
        "number": each[0]["number"] if each else 1,
        "conversation_id": conversation.id,
        "metadata": labels,
        "timestamp": begun.isoformat() if begun else None,
        "text": piece.text,
    }
    if per == "message":
        values = dict(each[0])
    return {**values, "messages": [filled(template, one) for one in each]}
