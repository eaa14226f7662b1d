"""A memory that finds chunks by their words."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from harness.adapters.memories.rankers import Ranker
from harness.adapters.memories.retrieval import Retrieval
from harness.adapters.memories.words import WordIndex
from harness.adapters.protocol import Space


class Bm25(Retrieval):
    """Keyword search over chunks of rounds."""

    isolation = "inline"

    def rankers(self, space: Space) -> Sequence[Ranker]:
        """Return an index by words."""
        return (WordIndex(),)

    def version(self) -> str:
        """Return the version of the index."""
        return f"SQLite {sqlite3.sqlite_version} FTS5"
