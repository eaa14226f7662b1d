"""What ranks texts for a question: the one shape of word and vector indexes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Ranked(NamedTuple):
    """A text's id, and how well it fits; more is better."""

    id: str
    score: float


class Ranker(Protocol):
    """An index over texts by id, in the order they came in."""

    async def add(self, texts: Sequence[tuple[str, str]]) -> None:
        """Take texts in: pairs of an id that is not there yet, and the text."""
        ...

    def remove(self, id: str) -> None:
        """Take a text out."""
        ...

    async def rank(self, question: str, depth: int) -> list[Ranked]:
        """Return the best `depth` texts, best first; equals in the order they came in."""
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...
