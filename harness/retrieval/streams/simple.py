"""The streams that stand by themselves: words, vectors, entities, raw messages."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence

from harness.adapters.memories.rankers import Ranked, Ranker
from harness.adapters.memories.vectors import Embed, VectorIndex
from harness.adapters.memories.words import WordIndex
from harness.retrieval.dataset import StoredMemory
from harness.retrieval.streams.plain import PlainVectorIndex

_WORD = re.compile(r"[^\W_]+")
_SHORTEST_RARE = 3
_COMMON = 10
"""An entity of more than a tenth of the memories tells none of them from the others."""
# What people say around a question; that no memory holds it says nothing.
_SMALL_TALK = frozenset(
    """
    a about also and any anything are as at be been can could did do does for from get give had has have he her here him his
    how i if in into is it its just know let many may me might mine much must my no not now of on one or our out please
    remember say said shall she should so some something tell than thanks that the their them then there these they thing
    this those to up us was we were what when where which who whom whose why will with would you your
    """.split()
)


class Words:
    """Keyword search: SQLite's FTS5 with BM25 over title and content."""

    lexical = True
    scored = True

    def __init__(self, name: str = "fts5") -> None:
        self.name = name
        self.version = f"SQLite {sqlite3.sqlite_version} FTS5"
        self._index = WordIndex()

    async def fill(self, memories: Sequence[StoredMemory]) -> None:
        """Index title and content."""
        await self._index.add([(memory.id, memory.text) for memory in memories])

    async def search(self, query: str, limit: int) -> list[Ranked]:
        """Return the memories that share a word with the query, by BM25."""
        return await self._index.rank(query, limit)

    async def close(self) -> None:
        """Free the index."""
        self._index.close()


class Vectors:
    """Cosine between the embeddings of query and memory.

    Args:
        embed: makes vectors of texts.
        embedder: its name and version.
        lexical: whether the embedder only sees spelling.
        floor: the least cosine that is handed back.
        name: what it is called.
    """

    scored = True

    def __init__(
        self, embed: Embed, embedder: str, *, lexical: bool = False, floor: float = -1.0, name: str = "vector"
    ) -> None:
        self.name = name
        self.version = embedder
        self.lexical = lexical
        self._floor = floor
        self._index = _vector_index(embed)

    async def fill(self, memories: Sequence[StoredMemory]) -> None:
        """Embed title and content."""
        await self._index.add([(memory.id, memory.text) for memory in memories])

    async def search(self, query: str, limit: int) -> list[Ranked]:
        """Return the memories by cosine, none below the floor."""
        return [found for found in await self._index.rank(query, limit) if found.score >= self._floor]

    async def close(self) -> None:
        """Free the vectors."""
        self._index.close()


class Entities:
    """Memories of the entities that the query names; a rare entity weighs more.

    score = Σ over named entities of ln(1 + N ÷ memories that have it). Names are compared as
    whole words, whatever their case; an entity that is part of a longer one that is named does not
    count, nor does one that more than a tenth of the memories (and more than five) have.
    """

    lexical = True
    scored = True

    def __init__(self, name: str = "entities") -> None:
        self.name = name
        self.version = "entities of the memories"
        self._holders: dict[tuple[str, ...], list[str]] = defaultdict(list)
        self._size = 0

    async def fill(self, memories: Sequence[StoredMemory]) -> None:
        """Note who is about what."""
        self._size = len(memories)
        for memory in memories:
            for entity in dict.fromkeys(map(_words, memory.entities)):
                if entity:
                    self._holders[entity].append(memory.id)

    async def search(self, query: str, limit: int) -> list[Ranked]:
        """Return the memories that share an entity with the query; none where it names none."""
        scores: dict[str, float] = {}
        most = max(5, self._size // _COMMON)
        for entity in self._named(_words(query)):
            if len(self._holders[entity]) > most:
                continue
            weight = math.log(1 + self._size / len(self._holders[entity]))
            for id in self._holders[entity]:
                scores[id] = scores.get(id, 0.0) + weight
        ordered = sorted(scores.items(), key=lambda item: -item[1])
        return [Ranked(id, score) for id, score in ordered[:limit]]

    async def close(self) -> None:
        """Free nothing."""

    def _named(self, words: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Return the entities whose words stand in a row, the longest at each place."""
        longest = max(map(len, self._holders), default=0)
        named: dict[tuple[str, ...], None] = {}
        at = 0
        while at < len(words):
            for size in range(min(longest, len(words) - at), 0, -1):
                if words[at : at + size] in self._holders:
                    named[words[at : at + size]] = None
                    at += size
                    break
            else:
                at += 1
        return list(named)


class Raw:
    """A fallback to the messages that memories were made of.

    It only speaks up where the query has a word that no memory's title or content holds: then
    keyword search over the memories must miss something that was once said.
    """

    lexical = True
    scored = True

    def __init__(self, name: str = "raw") -> None:
        self.name = name
        self.version = f"SQLite {sqlite3.sqlite_version} FTS5 over raw messages"
        self._index = WordIndex()
        self._told = WordIndex()

    async def fill(self, memories: Sequence[StoredMemory]) -> None:
        """Index the raw messages, and the memories to know what they lack."""
        await self._index.add([(memory.id, memory.raw) for memory in memories if memory.raw.strip()])
        await self._told.add([(memory.id, memory.text) for memory in memories])

    async def search(self, query: str, limit: int) -> list[Ranked]:
        """Return memories whose raw message holds one of the words that the memories lack."""
        rare = (word for word in _words(query) if len(word) >= _SHORTEST_RARE and word not in _SMALL_TALK)
        lacking = [word for word in rare if await self._lacks(word)]
        return await self._index.rank(" ".join(lacking), limit) if lacking else []

    async def close(self) -> None:
        """Free the indexes."""
        self._index.close()
        self._told.close()

    async def _lacks(self, word: str) -> bool:
        return not await self._told.rank(word, 1)


def _vector_index(embed: Embed) -> Ranker:
    """Return an index that numpy makes fast, or one that does without it."""
    import importlib.util

    return VectorIndex(embed) if importlib.util.find_spec("numpy") else PlainVectorIndex(embed)


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def neighbours(memories: Iterable[StoredMemory]) -> dict[str, tuple[str, ...]]:
    """Return, for each memory, those that it links to and then those that link to it."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    listed = list(memories)
    for memory in listed:
        found[memory.id].update(dict.fromkeys(memory.links))
    for memory in listed:
        for target in memory.links:
            found[target][memory.id] = None
    return {id: tuple(others) for id, others in found.items()}
