"""Memories that behave."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from harness.adapters.protocol import Memory


class Quick:
    """Hands back what it was told, in order."""

    def __init__(self, space: Any) -> None:
        self.namespace = space.namespace
        self.memories: list[Memory] = []

    def ingest(self, conversation: Any) -> None:
        self.memories += [
            Memory(f"{conversation.id}#{at}", message.text, None, conversation.timestamp)
            for at, message in enumerate(conversation.messages, start=1)
        ]

    def recall(self, question: Any, limit: int) -> list[Memory]:
        return self.memories[:limit]


class Logged(Quick):
    """Takes its time, and writes down outside what it takes in."""

    def __init__(self, space: Any, ms: int = 4) -> None:
        super().__init__(space)
        self.seconds = ms / 1000

    def ingest(self, conversation: Any) -> None:
        with Path(os.environ["TEST_LOG"]).open("a", encoding="utf-8") as log:
            log.write(f"{self.namespace} {conversation.id}\n")
        time.sleep(self.seconds)
        super().ingest(conversation)


class Writes(Quick):
    """Recalls, and writes answers of its own too."""

    def answer(self, question: Any) -> str:
        return "The fee is $45, due March 24."


class Later(Quick):
    """Recalls something else each time it is opened in one process."""

    opened = 0

    def __init__(self, space: Any) -> None:
        super().__init__(space)
        self.repeat = space.repeat

    def recall(self, question: Any, limit: int) -> list[Memory]:
        return self.memories[:1] if self.repeat else self.memories


class Shaky(Quick):
    """Fails while a file is there."""

    def recall(self, question: Any, limit: int) -> list[Memory]:
        if Path("broken").exists():
            raise RuntimeError("the store is away")
        return super().recall(question, limit)


class Spawns(Logged):
    """Starts a process of its own for each agent, and forgets it."""

    def __init__(self, space: Any, ms: int = 4) -> None:
        super().__init__(space, ms)
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
