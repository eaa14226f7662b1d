"""A memory that finds chunks by words and by embeddings, and fuses the two rankings."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from harness.adapters.memories.rankers import Ranker
from harness.adapters.memories.vector import Vector
from harness.adapters.memories.vectors import VectorIndex
from harness.adapters.memories.words import WordIndex
from harness.adapters.protocol import Space


class Hybrid(Vector):
    """bm25 and vector over the same chunks, by reciprocal rank fusion."""

    def rankers(self, space: Space) -> Sequence[Ranker]:
        """Return an index by words and one by embeddings."""
        return (WordIndex(), VectorIndex(self.embedding(space)))

    def version(self) -> str:
        """Return the index and the embedder."""
        return f"SQLite {sqlite3.sqlite_version} FTS5, {super().version()}"
