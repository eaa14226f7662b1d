"""Memory systems that do what they should, each in a way of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from harness.adapters import Adapter, Memory, Question, Space
from harness.suite import Conversation


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


class Overlap:
    """Recalls the messages that share words with the question."""

    def __init__(self, space: Space, most: int = 10) -> None:
        self.space, self.most = space, most
        self.stored: list[Memory] = []

    def ingest(self, conversation: Conversation) -> None:
        labels = ", ".join(conversation.metadata.values())
        for number, message in enumerate(conversation.messages, start=1):
            place = f"{conversation.id}#{number}"
            text = f"({labels}) {message.text}"
            self.stored.append(Memory(place, text, created_at=conversation.timestamp, source_refs=(place,)))

    def recall(self, question: Question, limit: int) -> Any:
        asked = words(question.text)
        ranked = sorted(self.stored, key=lambda memory: -len(asked & words(memory.text)))
        return ranked[: min(limit, self.most)]


class Answering:
    """Writes its own answers, asynchronously."""

    def __init__(self, space: Space) -> None:
        self.memory = Overlap(space, most=6)

    async def ingest(self, conversation: Conversation) -> None:
        self.memory.ingest(conversation)

    async def answer(self, question: Question) -> dict[str, Any]:
        texts = [memory.text for memory in self.memory.recall(question, 6)]
        return {"answer": " ".join(texts), "memory": texts, "tokens": 12}


class Notebook(Overlap):
    """Has memories added, listed and deleted, of several users."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.count = 0

    def add(self, text: str, user: str | None = None) -> str:
        self.count += 1
        self.stored.append(Memory(f"note {self.count}", text))
        return f"note {self.count}"

    def list(self) -> Any:
        return list(self.stored)

    def delete(self, memory_id: str) -> None:
        self.stored = [memory for memory in self.stored if memory.id != memory_id]


class ServerOptions(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    server: str


class Server(Adapter):
    """Keeps each namespace in a file of a folder that all processes share, as a server would."""

    Options = ServerOptions
    capabilities = frozenset({"recall", "discard"})

    def open(self, space: Space) -> Any:
        return ServerAgent(space, self._file(space.namespace))

    def discard(self, namespace: str) -> None:
        self._file(namespace).unlink(missing_ok=True)

    def version(self) -> str:
        return "server 1.0"

    def _file(self, namespace: str) -> Path:
        assert isinstance(self.options, ServerOptions)
        return Path(self.options.server, namespace)


class ServerAgent:
    """Stores at once what it ingests, and reads everything back for each question."""

    def __init__(self, space: Space, file: Path) -> None:
        self.file = file

    def ingest(self, conversation: Conversation) -> None:
        with self.file.open("a", encoding="utf-8") as file:
            for message in conversation.messages:
                file.write(json.dumps(message.text) + "\n")

    def recall(self, question: Question, limit: int) -> list[str]:
        if not self.file.exists():
            return []
        told = [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines()]
        asked = words(question.text)
        return sorted(told, key=lambda text: -len(asked & words(text)))[:limit]

    def close(self) -> None:
        self.file.unlink(missing_ok=True)


class ForgetfulServer(Server):
    """Leaves in place what a killed agent stored."""

    def discard(self, namespace: str) -> None:
        pass


class Untidy(Server):
    """Leaves in place what a closed agent stored."""

    def open(self, space: Space) -> Any:
        agent = super().open(space)
        agent.close = lambda: None
        return agent
