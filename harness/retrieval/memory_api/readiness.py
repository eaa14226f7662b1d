"""Waits until records can be found: the index is filled after the import has been answered."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from harness.adapters.protocol import AgentFailure
from harness.retrieval.dataset import StoredMemory
from harness.retrieval.memory_api.ids import IdBook
from harness.retrieval.memory_api.server import MemoryServer

PROBES = 8
"""Memories that are looked for; every one of them where the server gives its own ids."""
_DEPTH = 50
_WORDS = 5
_WORD = re.compile(r"[^\W_]+")
_PAUSE_S = (0.1, 5.0)
_LONGEST_QUERY = 300


class Waited(NamedTuple):
    """How waiting ended.

    Attributes:
        missing: memories that were not found, by name.
        reason: what the server said last in place of results.
    """

    missing: list[str]
    reason: str


class Probing:
    """Looks for memories by the words that are rarest among them.

    Args:
        server: where to look.
        book: what is known of ids; it learns from what is found.
        memories: the corpus.
    """

    def __init__(self, server: MemoryServer, book: IdBook, memories: Sequence[StoredMemory]) -> None:
        self._server = server
        self._book = book
        self._memories = memories
        self._spread = Counter(word for one in memories for word in set(_words(one.text)))
        self.reason = ""

    def query_of(self, memory: StoredMemory) -> str:
        """Return what finds a memory."""
        words = dict.fromkeys(_words(memory.text))
        rarest = sorted(words, key=lambda word: (self._spread[word], -len(word)))[:_WORDS]
        return " ".join(word for word in words if word in rarest) or memory.text[:_LONGEST_QUERY]

    async def look(self, memory: StoredMemory) -> bool:
        """Search for a memory; say whether it was found and its id is known.

        Raises:
            AgentFailure: when the server is not there.
            EndpointError: when it refuses the key.
        """
        query = self.query_of(memory)
        for asked, index in ((query, True), (query, False), (memory.id, False)):
            try:
                hits = await self._server.find(asked, _DEPTH, index=index)
            except AgentFailure as failure:
                if failure.kind == "unreachable":
                    raise
                self.reason = failure.message
                return False
            strange = [hit for hit in hits if self._book.name_of(hit) is None]
            if self._book.settled(memory.id):
                return True
            # Whole results, and a search for the key, help only against ids that are not known.
            if self._book.kept or not (strange or self._book.own):
                return False
        return False

    async def wait(self, within: float) -> Waited:
        """Look again and again, until all probes are found or nothing new was for `within` seconds.

        Where the server gives ids of its own, every memory is looked for: its id has to be read back.
        """
        loop = asyncio.get_running_loop()
        since, pause = loop.time(), _PAUSE_S[0]
        pending = spread_out(self._memories, PROBES)
        widened = False
        while True:
            left = [one for one in pending if not (self._book.settled(one.id) or await self.look(one))]
            progress = len(left) < len(pending)
            pending = left
            if self._book.own and not widened:
                widened = progress = True
                pending = [one for one in self._memories if not self._book.settled(one.id)]
                pending = pending if not self._named_all() else left
            if not pending:
                return Waited([], "")
            if progress:
                since, pause = loop.time(), _PAUSE_S[0]
                continue
            over = since + within - loop.time()
            if over <= 0:
                return Waited([one.id for one in pending], self.reason)
            await asyncio.sleep(min(pause, over))
            pause = min(2 * pause, _PAUSE_S[1])

    def _named_all(self) -> bool:
        """Say whether the import's reply has named every id, so that none has to be read back."""
        return all(self._book.given_to(one.id) for one in self._memories)


def spread_out(memories: Sequence[StoredMemory], most: int) -> list[StoredMemory]:
    """Return at most so many memories from all over the corpus, the last one among them."""
    if len(memories) <= most:
        return list(memories)
    step = len(memories) / most
    return [memories[int((at + 1) * step) - 1] for at in range(most)]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text) if len(word) > 1]
