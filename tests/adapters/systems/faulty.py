"""Memory systems that are sound but for one thing."""

from __future__ import annotations

import random
import unicodedata
from dataclasses import replace
from datetime import datetime
from typing import Any

from good import Notebook, Overlap
from pydantic import BaseModel

from harness.adapters import Adapter, Memory, Question, Space
from harness.suite import Conversation


class Forgets(Overlap):
    def ingest(self, conversation: Conversation) -> None:
        pass


class KeepsTheFirst(Overlap):
    """Thinks that it knows everything about a topic once it has heard of it."""

    def ingest(self, conversation: Conversation) -> None:
        if any("locker" in memory.text for memory in self.stored):
            kept = tuple(message for message in conversation.messages if "locker" not in message.text)
            conversation = replace(conversation, messages=kept)
        super().ingest(conversation)
        self.stored = [replace(memory, source_refs=()) for memory in self.stored]


class TooMany(Overlap):
    def recall(self, question: Question, limit: int) -> Any:
        return super().recall(question, 10)


class WrongPlaces(Overlap):
    """Counts the messages from 0."""

    def ingest(self, conversation: Conversation) -> None:
        super().ingest(conversation)
        count = len(conversation.messages)
        for number in range(count):
            at = len(self.stored) - count + number
            self.stored[at] = replace(self.stored[at], source_refs=(f"{conversation.id}#{number}",))


class Invents(Overlap):
    def recall(self, question: Question, limit: int) -> Any:
        return super().recall(question, limit) or ["The user likes tea."]


class Loose(BaseModel):
    pass


class TakesAnyOption(Adapter):
    Options = Loose

    def open(self, space: Space) -> Any:
        return Overlap(space)


class AsciiOnly(Overlap):
    def recall(self, question: Question, limit: int) -> Any:
        found = super().recall(question, limit)
        return [replace(one, text=one.text.encode("ascii", "backslashreplace").decode()) for one in found]


class Normalises(Overlap):
    def recall(self, question: Question, limit: int) -> Any:
        found = super().recall(question, limit)
        return [replace(one, text=unicodedata.normalize("NFKD", one.text)) for one in found]


class BreaksAtQuotes(Overlap):
    def recall(self, question: Question, limit: int) -> Any:
        if '"' in question.text:
            raise ValueError('fts5: syntax error near "')
        return super().recall(question, limit)


class ShortMessagesOnly(Overlap):
    def ingest(self, conversation: Conversation) -> None:
        if any(len(message.text) > 10_000 for message in conversation.messages):
            raise ValueError("too long")
        super().ingest(conversation)


class SameId(Notebook):
    def add(self, text: str, user: str | None = None) -> str:
        super().add(text, None)
        return "note" if user is None else f"note {self.count}"


class DeletesNothing(Notebook):
    def delete(self, memory_id: str) -> None:
        pass


class DeletesAll(Notebook):
    def delete(self, memory_id: str) -> None:
        self.stored.clear()


class NoDates(Overlap):
    def recall(self, question: Question, limit: int) -> Any:
        return [replace(one, created_at=None) for one in super().recall(question, limit)]


class Now(Overlap):
    def recall(self, question: Question, limit: int) -> Any:
        return [replace(one, created_at=datetime(2026, 1, 1)) for one in super().recall(question, limit)]


class Shuffles(Overlap):
    def recall(self, question: Question, limit: int) -> Any:
        found = super().recall(question, limit)
        return [replace(one, id=str(random.random())) for one in found]


class NoLabels(Overlap):
    def ingest(self, conversation: Conversation) -> None:
        for number, message in enumerate(conversation.messages, start=1):
            place = f"{conversation.id}#{number}"
            self.stored.append(
                Memory(place, message.text, created_at=conversation.timestamp, source_refs=(place,))
            )
