"""The bounds of every table: what remembering nothing, everything or just the right things is worth.

They are the harness's own and are not cut to the reader's budget. The planner cuts the
conversations for `oracle`, so that it has no gold to look at either.
"""

from __future__ import annotations

from harness.adapters.protocol import Adapter, Memory, Question, Space
from harness.suite import Conversation


class _Transcript:
    """Keeps every message, with its place and date."""

    def __init__(self) -> None:
        self.kept: list[Memory] = []

    def ingest(self, conversation: Conversation) -> None:
        self.kept += [
            Memory(
                id=(place := f"{conversation.id}#{number}"),
                text=f"{message.role}: {message.text}",
                created_at=message.timestamp or conversation.timestamp,
                source_refs=(place,),
            )
            for number, message in enumerate(conversation.messages, start=1)
        ]

    def recall(self, question: Question, limit: int) -> list[Memory]:
        return self.kept


class _LastTranscript(_Transcript):
    def ingest(self, conversation: Conversation) -> None:
        self.kept = []
        super().ingest(conversation)


class _Nothing:
    def ingest(self, conversation: Conversation) -> None:
        pass

    def recall(self, question: Question, limit: int) -> list[Memory]:
        return []


class NoMemory(Adapter):
    """Remembers nothing."""

    isolation = "inline"
    uses_folder = False

    def open(self, space: Space) -> _Nothing:
        """Return an agent that recalls nothing."""
        return _Nothing()


class FullContext(Adapter):
    """Hands back every message in order."""

    isolation = "inline"
    uses_folder = False

    def open(self, space: Space) -> _Transcript:
        """Return an agent that recalls all that was said."""
        return _Transcript()


class LastConversation(FullContext):
    """Hands back the messages of the last conversation only."""

    def open(self, space: Space) -> _Transcript:
        """Return an agent that forgets the conversations before the last."""
        return _LastTranscript()


class Oracle(FullContext):
    """Hands back what it is given, which is the messages that the gold facts cite."""
