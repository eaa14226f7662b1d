"""What every retriever does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harness.adapters.memories.rankers import Ranked
from harness.retrieval.dataset import StoredMemory


class Retriever(Protocol):
    """Finds memories of one corpus.

    Attributes:
        name: what it is called in reports, with its options.
        version: library and model behind it.
        lexical: whether the embedder behind it sees spelling only; true of a retriever without one.
        scored: whether every result so far came with a score; without, only the order means something.
    """

    name: str
    version: str
    lexical: bool
    scored: bool

    async def fill(self, memories: Sequence[StoredMemory]) -> None:
        """Take a corpus in; it is called once."""
        ...

    async def search(self, query: str, limit: int) -> list[Ranked]:
        """Return the best memories by id, best first, at most `limit`."""
        ...

    async def close(self) -> None:
        """Free what it holds."""
        ...
