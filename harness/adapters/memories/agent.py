"""The agent of every memory here: chunks and notes in one or several indexes."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from harness.adapters.memories.cards import Cards
from harness.adapters.memories.chunking import Chunk, chunk_conversation
from harness.adapters.memories.fusion import reciprocal_rank_fusion
from harness.adapters.memories.options import ChunkOptions
from harness.adapters.memories.rankers import Ranker
from harness.adapters.protocol import Memory, Question
from harness.suite import Conversation

Prefixer = Callable[[Conversation, Sequence[Chunk]], Awaitable[list[str]]]
_DEPTH = 100
"""How far down each ranking is fused, or as far as memories are asked for where that is more."""


class RetrievalAgent:
    """Remembers chunks and hands back those that fit best.

    Where there is more than one ranking (several indexes, or cards beside the chunks), they are
    made one by reciprocal rank fusion, and the fused score is a memory's score.

    Args:
        options: how to cut, and what to keep with a chunk.
        rankers: the indexes, every text in each.
        prefixer: writes a prefix for each chunk of a conversation.
        cards: a strategy's memories, ranked beside the chunks.
    """

    def __init__(
        self,
        options: ChunkOptions,
        rankers: Sequence[Ranker],
        prefixer: Prefixer | None = None,
        cards: Cards | None = None,
    ) -> None:
        self._options = options
        self._rankers = rankers
        self._prefixer = prefixer
        self._cards = cards
        self._kept: dict[str, Memory] = {}
        self._owner: dict[str, str] = {}
        self._added = itertools.count(1)

    async def ingest(self, conversation: Conversation) -> None:
        """Cut a conversation and keep its chunks."""
        chunks = chunk_conversation(conversation, self._options.rounds, self._options.overlap)
        prefixes = await self._prefixer(conversation, chunks) if self._prefixer else [""] * len(chunks)
        texts = []
        for chunk, prefix in zip(chunks, prefixes, strict=True):
            text = f"{prefix}\n{chunk.text}" if prefix else chunk.text
            id = self._free(chunk.id)
            self._kept[id] = Memory(id, self._dated(chunk, text), None, chunk.created_at, chunk.source_refs)
            texts.append((id, text))
        await self._index(texts)
        if self._cards is not None:
            await self._cards.ingest(conversation)

    async def recall(self, question: Question, limit: int, user: str | None = None) -> list[Memory]:
        """Return the memories that fit a question best.

        Args:
            question: what is asked.
            limit: most memories.
            user: only what was added for this user; what all said when left out.
        """
        if limit < 1:
            return []
        depth = len(self._kept) if user is not None else max(limit, _DEPTH)
        rankings = [await ranker.rank(question.text, depth) for ranker in self._rankers]
        known: Mapping[str, Memory] = self._kept
        if user is not None:
            rankings = [[one for one in each if self._owner.get(one.id) == user] for each in rankings]
        elif self._cards is not None:
            rankings += await self._cards.rankings(question, depth)
            known = {**known, **self._cards.known}
        ranked: Sequence[tuple[str, float]] = (
            rankings[0]
            if len(rankings) == 1
            else reciprocal_rank_fusion([one.id for one in ranking] for ranking in rankings)
        )
        return [replace(known[id], score=score) for id, score in ranked[:limit]]

    async def add(self, text: str, user: str | None = None) -> str:
        """Keep one text as it is; return its id."""
        id = self._free(f"added#{next(self._added)}")
        self._kept[id] = Memory(id, text)
        if user is not None:
            self._owner[id] = user
        await self._index([(id, text)])
        return id

    async def list(self, user: str | None = None) -> Sequence[Memory]:
        """Return everything that is kept, or what was added for one user, oldest first."""
        if user is not None:
            return [memory for id, memory in self._kept.items() if self._owner.get(id) == user]
        cards = await self._cards.all() if self._cards is not None else []
        return [*self._kept.values(), *cards]

    async def delete(self, memory_id: str) -> None:
        """Remove a memory.

        Raises:
            KeyError: when there is none of this id.
        """
        if memory_id not in self._kept:
            if self._cards is None:
                raise KeyError(f"no memory {memory_id!r}")
            return await self._cards.delete(memory_id)
        del self._kept[memory_id]
        self._owner.pop(memory_id, None)
        for ranker in self._rankers:
            ranker.remove(memory_id)
        return None

    async def close(self) -> None:
        """Free the indexes."""
        for ranker in self._rankers:
            ranker.close()
        if self._cards is not None:
            await self._cards.close()

    async def _index(self, texts: Sequence[tuple[str, str]]) -> None:
        for ranker in self._rankers:
            await ranker.add(texts)

    def _dated(self, chunk: Chunk, text: str) -> str:
        if not self._options.dates or chunk.created_at is None:
            return text
        return f"[{chunk.created_at:%Y-%m-%d %A}]\n{text}"

    def _free(self, id: str) -> str:
        """Return an id that nothing has: two conversations of one name do not displace each other."""
        if id not in self._kept:
            return id
        return next(name for n in itertools.count(2) if (name := f"{id} ({n})") not in self._kept)
