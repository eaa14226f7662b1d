"""Streams that work on others' results: link neighbours, and reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence

from harness.adapters.memories.fusion import K, reciprocal_rank_fusion
from harness.adapters.memories.rankers import Ranked
from harness.retrieval.dataset import StoredMemory
from harness.retrieval.streams.base import Retriever
from harness.retrieval.streams.simple import Vectors, neighbours

DEPTH = 100
"""How far down each ranking is fused, or as far as results are asked for where that is more."""
SEEDS = 3
"""How many of the first results are followed along their links."""
HUB = 8
"""Neighbours above which a page is an index of things and says nothing of any of them."""


class Links:
    """Neighbours of what another retriever finds first.

    A neighbour's score is Σ 1 ÷ (rank of the seed × neighbours of the seed); one with less than half
    of the best score is left out. What is found itself is no neighbour, and a page with more than
    eight neighbours is neither followed nor handed back.

    Args:
        of: finds the seeds.
        seeds: how many of its first results are followed.
        name: what it is called.
    """

    lexical = True
    scored = True

    def __init__(self, of: Retriever, seeds: int = SEEDS, name: str = "links") -> None:
        self.name = name
        self.version = f"neighbours of {of.name}"
        self._of = of
        self._seeds = seeds
        self._neighbours: dict[str, tuple[str, ...]] = {}

    async def fill(self, memories: Sequence[StoredMemory]) -> None:
        """Note the links, both ways, and fill what finds the seeds."""
        self._neighbours = neighbours(memories)
        await self._of.fill(memories)

    async def search(self, query: str, limit: int) -> list[Ranked]:
        """Return the neighbours of the first results; none where they have no links."""
        return self.around([found.id for found in await self._of.search(query, self._seeds)], limit)

    def around(self, seeds: Sequence[str], limit: int) -> list[Ranked]:
        """Return the neighbours of some memories, best first."""
        scores: dict[str, float] = {}
        first = self.first(seeds)
        for rank, seed in enumerate(first, start=1):
            others = self._neighbours.get(seed, ())
            if len(others) > HUB:
                continue
            for other in others:
                if other not in first and len(self._neighbours[other]) <= HUB:
                    scores[other] = scores.get(other, 0.0) + 1 / (rank * len(others))
        least = max(scores.values(), default=0.0) / 2
        ordered = sorted(scores.items(), key=lambda item: -item[1])
        return [Ranked(id, score) for id, score in ordered[:limit] if score >= least]

    def first(self, found: Sequence[str]) -> Sequence[str]:
        """Return the results that are followed."""
        return found[: self._seeds]

    async def close(self) -> None:
        """Close what finds the seeds."""
        await self._of.close()


class Fused:
    """Several streams made one by reciprocal rank fusion: Σ weight ÷ (k + rank).

    Link neighbours are followed from the fusion of the other streams, and then fused with them,
    behind the results that they were followed from: a neighbour does not overtake its seed. A
    stream that finds nothing changes nothing.

    Args:
        streams: what is fused, without links.
        k: the constant of the fusion.
        weights: one a stream, and one for the links at the end where they are followed.
        links: follows links, or None.
        name: what it is called.
    """

    scored = True

    def __init__(
        self,
        streams: Sequence[Retriever],
        *,
        k: float = K,
        weights: Sequence[float] | None = None,
        links: Links | None = None,
        name: str = "hybrid",
    ) -> None:
        self.name = name
        self.version = "; ".join(stream.version for stream in streams) + ("; links" if links else "")
        self.lexical = any(stream.lexical for stream in streams if isinstance(stream, Vectors))
        self._streams = tuple(streams)
        self._k = k
        self._weights = list(weights) if weights is not None else None
        self._links = links

    async def fill(self, memories: Sequence[StoredMemory]) -> None:
        """Fill every stream."""
        for stream in self._streams:
            await stream.fill(memories)
        if self._links is not None:
            await self._links.fill(memories)

    async def search(self, query: str, limit: int) -> list[Ranked]:
        """Return the fused ranking."""
        depth = max(limit, DEPTH)
        rankings = [[found.id for found in await stream.search(query, depth)] for stream in self._streams]
        weights = self._weights
        own = None if weights is None else weights[: len(rankings)]
        fused = reciprocal_rank_fusion(rankings, self._k, own)
        if self._links is not None:
            ids = [id for id, _ in fused]
            if around := [found.id for found in self._links.around(ids, depth)]:
                fused = reciprocal_rank_fusion(
                    [*rankings, [*self._links.first(ids), *around]], self._k, weights
                )
        return [Ranked(*found) for found in fused[:limit]]

    async def close(self) -> None:
        """Close every stream."""
        for stream in self._streams:
            await stream.close()
        if self._links is not None:
            await self._links.close()
