"""Systems of one's own that run in worker processes."""

from __future__ import annotations

import time
from typing import Any

from harness.suite import Conversation


class Kept:
    """Keeps texts in a file of its folder and recalls those that share most words."""

    def __init__(self, space: Any, sleep_s: float = 0.0, hangs_after: int = 1_000_000) -> None:
        self._path = space.folder / "kept.txt"
        self._sleep_s = sleep_s
        self._left = hangs_after
        self._texts: list[str] = []

    def ingest(self, conversation: Conversation) -> None:
        self._texts += [message.text for message in conversation.messages]
        with self._path.open("a") as file:
            file.write(f"{self._texts[-1]}\n")

    def recall(self, question: Any, limit: int) -> list[str]:
        self._left -= 1
        if self._left < 0:
            time.sleep(60)
        time.sleep(self._sleep_s)
        words = set(question.text.split())
        return sorted(self._texts, key=lambda text: -len(words & set(text.split())))[:limit]


class Answers:
    """Answers and cannot recall."""

    def __init__(self, space: Any) -> None:
        pass

    def ingest(self, conversation: Conversation) -> None:
        pass

    def answer(self, question: Any) -> str:
        return "forty-two"
