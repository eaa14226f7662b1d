"""Memory systems whose agents know what others were told, each by another way."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

from good import Overlap

from harness.adapters import Memory, Question, Space
from harness.suite import Conversation

EVERYTHING: list[Memory] = []


class ClassStore(Overlap):
    """Keeps its store in the class."""

    shared: ClassVar[list[Memory]] = []

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.stored = self.shared


class ModuleStore(Overlap):
    """Keeps its store in the module."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.stored = EVERYTHING


class DefaultArgument(Overlap):
    """Keeps its store in a mutable default."""

    def __init__(self, space: Space, stored: Any = EVERYTHING) -> None:
        super().__init__(space)
        self.stored = stored


class ClearedOnOpen(ClassStore):
    """Clears the store of the class when an agent opens: right for one agent at a time only."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.shared.clear()


class ClearedOnClose(ClassStore):
    """Clears the store of the class when an agent closes."""

    def close(self) -> None:
        self.shared.clear()


class CachedByConversation(Overlap):
    """Caches what it made of a conversation by the conversation's id."""

    cache: ClassVar[dict[str, list[Memory]]] = {}

    def ingest(self, conversation: Conversation) -> None:
        if conversation.id not in self.cache:
            before = len(self.stored)
            super().ingest(conversation)
            self.cache[conversation.id] = self.stored[before:]
        else:
            self.stored += self.cache[conversation.id]


class SharedFile(Overlap):
    """Keeps its store in one file."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.file = Path(os.environ["SHARED_FILE"])

    def ingest(self, conversation: Conversation) -> None:
        with self.file.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(message.text) + "\n" for message in conversation.messages)

    def recall(self, question: Question, limit: int) -> Any:
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        self.stored = [Memory(str(number), json.loads(line)) for number, line in enumerate(lines)]
        return super().recall(question, limit)


class SharedFileTruncated(SharedFile):
    """Empties the one file when an agent opens and when it closes."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.file.unlink(missing_ok=True)

    def close(self) -> None:
        self.file.unlink(missing_ok=True)


class LoadedAtStart(Overlap):
    """Reads what earlier processes saved when it is imported; in memory each agent is apart."""

    saved: ClassVar[list[str]] = []
    loaded: ClassVar[bool] = False

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.file = Path(os.environ["SHARED_FILE"])
        if not type(self).loaded:
            type(self).loaded = True
            if self.file.exists():
                self.saved.extend(self.file.read_text(encoding="utf-8").splitlines())
        self.stored += [Memory(f"saved {number}", text) for number, text in enumerate(self.saved)]

    def close(self) -> None:
        with self.file.open("a", encoding="utf-8") as file:
            file.writelines(memory.text.replace("\n", " ") + "\n" for memory in self.stored)
