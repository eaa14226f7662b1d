"""An index by embeddings without numpy, for small corpora where numpy is not installed."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from operator import mul

from harness.adapters.memories.rankers import Ranked
from harness.adapters.memories.vectors import Embed


class PlainVectorIndex:
    """The same results as `VectorIndex`, in plain Python; blank texts are never found."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._vectors: dict[str, Sequence[float]] = {}

    async def add(self, texts: Sequence[tuple[str, str]]) -> None:
        """Take texts in."""
        told = [(id, text) for id, text in texts if text.strip()]
        if told:
            vectors = await self._embed([text for _, text in told])
            self._vectors.update((id, _unit(vector)) for (id, _), vector in zip(told, vectors, strict=True))

    def remove(self, id: str) -> None:
        """Take a text out."""
        self._vectors.pop(id, None)

    async def rank(self, question: str, depth: int) -> list[Ranked]:
        """Return the texts by their cosine with the question, equals in the order they came in."""
        if not self._vectors or not question.strip():
            return []
        asked = _unit((await self._embed([question]))[0])
        scored = [Ranked(id, sum(map(mul, vector, asked))) for id, vector in self._vectors.items()]
        return heapq.nsmallest(depth, scored, key=lambda found: -found.score)

    def close(self) -> None:
        """Free the vectors."""
        self._vectors.clear()


def _unit(vector: Sequence[float]) -> Sequence[float]:
    length = math.sqrt(math.fsum(map(mul, vector, vector)))
    return [value / length for value in vector] if length else vector
