"""An index by embeddings: cosine with every text, no approximation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from harness.adapters.memories.rankers import Ranked

if TYPE_CHECKING:
    import numpy as np

Vectors = Sequence[Sequence[float]]
Embed = Callable[[Sequence[str]], Awaitable[Vectors]]


class VectorIndex:
    """Texts as vectors of length 1, float32; blank texts have none and are never found.

    Args:
        embed: makes a vector of each text.
    """

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._vectors: dict[str, np.ndarray] = {}
        self._matrix: np.ndarray | None = None

    async def add(self, texts: Sequence[tuple[str, str]]) -> None:
        """Take texts in."""
        told = [(id, text) for id, text in texts if text.strip()]
        if not told:
            return
        vectors = _unit_rows(await self._embed([text for _, text in told]))
        self._vectors.update((id, vector) for (id, _), vector in zip(told, vectors, strict=True))
        self._matrix = None

    def remove(self, id: str) -> None:
        """Take a text out."""
        self._vectors.pop(id, None)
        self._matrix = None

    async def rank(self, question: str, depth: int) -> list[Ranked]:
        """Return the texts by their cosine with the question, from -1 to 1."""
        import numpy as np

        if not self._vectors or not question.strip():
            return []
        if self._matrix is None:
            self._matrix = np.stack(list(self._vectors.values()))
        cosines = self._matrix @ _unit_rows(await self._embed([question]))[0]
        order = np.argsort(-cosines, kind="stable")[:depth]
        ids = list(self._vectors)
        return [Ranked(ids[at], float(cosines[at])) for at in order]

    def close(self) -> None:
        """Free the vectors."""
        self._vectors.clear()
        self._matrix = None


def _unit_rows(vectors: Vectors) -> np.ndarray:
    """Return vectors as rows of length 1; a vector of zeros stays one and has a cosine of 0 with all."""
    import numpy as np

    rows = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)
