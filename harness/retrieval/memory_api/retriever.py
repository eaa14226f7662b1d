"""The retriever: puts a corpus into a memory server, waits for it, searches, and takes it out."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from harness.adapters.memories.rankers import Ranked
from harness.adapters.protocol import AgentFailure
from harness.errors import EndpointError
from harness.retrieval.dataset import StoredMemory
from harness.retrieval.memory_api.cleaning import Cleaning
from harness.retrieval.memory_api.ids import IdBook
from harness.retrieval.memory_api.options import MemoryApiOptions, key_of
from harness.retrieval.memory_api.readiness import Probing
from harness.retrieval.memory_api.records import Chunk, chunks_of, id_of, new_client
from harness.retrieval.memory_api.replies import Counts, ids_given, read_counts
from harness.retrieval.memory_api.server import ImportRefusedError, MemoryServer
from harness.retrieval.memory_api.wire import Wire

LOG = logging.getLogger(__name__)
_DEAD_AFTER = 3
_MOST_NAMED = 5


class MemoryApi:
    """A memory server behind HTTP; everything of a run stands under a client id of its own there.

    Args:
        options: where the server is, and how it is used.
        variables: environment that holds the key.
        name: what it is called.

    Raises:
        InputError: when the key's variable is not set.
    """

    lexical = False

    def __init__(
        self, options: MemoryApiOptions, variables: Mapping[str, str], name: str = "memory_api"
    ) -> None:
        self.name = name
        self.version = f"memory API at {options.url}"
        self.scored = True
        self._options = options
        self._client = new_client()
        wire = Wire(options.url, key_of(options, variables), options.timeout)
        self._server = MemoryServer(wire, self._client, options.api_key_env)
        self._memories: Sequence[StoredMemory] = ()
        self._book = IdBook((), self._client)
        self._put_in = 0
        self._maybe_in: list[StoredMemory] = []
        self._unreached = 0

    async def fill(self, memories: Sequence[StoredMemory]) -> None:
        """Import every memory, and wait until the index has them.

        Raises:
            InputError: for a memory that no import can hold.
            EndpointError: when nobody answers, or the key is refused.
            AgentFailure: when the server does not take them all in, or does not find them in time.
        """
        chunks = chunks_of(memories, self._client, self._options)
        self._memories = memories
        self._book = IdBook(memories, self._client, self._options.key_prefix)
        try:
            await self._check_apart()
            counts = Counts(0)
            for chunk in chunks:
                counts += await self._seed(chunk)
            self.version = f"memory API at {self._options.url}: {counts}"
            await self._wait(counts)
        except AgentFailure as failure:
            if failure.kind == "unreachable" or (failure.kind == "timeout" and not self._server.wire.reached):
                raise self._dead(failure) from None
            raise

    async def search(self, query: str, limit: int) -> list[Ranked]:
        """Return what the server finds, in its order; a record that is not known counts as a wrong result.

        Raises:
            AgentFailure: when the search fails, or the server says that its retrieval is degraded.
            EndpointError: when nobody answers any more, or the key is refused.
        """
        try:
            hits = await self._server.find(query, limit)
        except AgentFailure as failure:
            self._unreached = self._unreached + 1 if failure.kind == "unreachable" else 0
            if self._unreached == _DEAD_AFTER:
                raise self._dead(failure) from None
            raise
        self._unreached = 0
        self.scored = self.scored and all(hit.score is not None for hit in hits[:limit])
        return [
            Ranked(self._book.name_of(hit) or f"?{hit.id}", 1.0 / rank if hit.score is None else hit.score)
            for rank, hit in enumerate(hits[:limit], start=1)
        ]

    async def close(self) -> None:
        """Take out what was put in, as far as that can be done, and close the connections."""
        memories, self._maybe_in = self._maybe_in, []
        try:
            if memories:
                cleaning = Cleaning(self._server, self._book, memories, self._put_in, self._probing())
                await cleaning.run(self._options.clean_up_within)
        finally:
            await self._server.wire.close()

    def _probing(self) -> Probing:
        return Probing(self._server, self._book, self._memories)

    async def _check_apart(self) -> None:
        """Make sure, before anything is written, that a search under a new client id finds nothing.

        A server that shows other clients' records would mix them into the results.
        """
        query = self._probing().query_of(self._memories[0]) if self._memories else "recallbench"
        try:
            hits = await self._server.find(query, 1)
        except AgentFailure as failure:
            if failure.kind in ("unreachable", "timeout"):
                raise
            return  # it may be busy or degraded now; what it takes in and finds is checked later
        if hits:
            raise AgentFailure(
                "bad_value",
                f"GET /memory/search finds records under client_id={self._client}, which is new: the server "
                "does not keep clients apart. Nothing was imported",
            )

    async def _seed(self, chunk: Chunk) -> Counts:
        size = len(chunk.memories)
        sent = [
            (id_of(one, self._client), self._options.key_prefix + one.id, one.id) for one in chunk.memories
        ]
        self._maybe_in += chunk.memories
        self._put_in += size
        try:
            data = await self._server.put(chunk.body)
        except (ImportRefusedError, EndpointError):
            del self._maybe_in[-size:]
            self._put_in -= size
            raise
        counts = read_counts(data, {one: name for id, key, name in sent for one in (id, key)})
        if counts is None:
            raise AgentFailure(
                "bad_value", "POST /export/import: the reply does not say how many it `imported`"
            )
        self._put_in += min(size, counts.imported) - size
        for given, name in ids_given(data, sent, all_in=counts.imported == size).items():
            self._book.learn(given, name)
        told = f"POST /export/import: {size} records sent, {counts}"
        if counts.errors:
            more = ", …" if counts.errors > len(counts.told) > 0 else ""
            said = self._server.wire.hidden("; ".join(counts.told)) + more
            raise AgentFailure("raised", f"{told}: {said}" if counts.told else told)
        if counts.imported + counts.skipped != size:
            self._put_in = len(self._maybe_in)  # its counts can't be trusted
            raise AgentFailure("bad_value", f"{told}: that does not add up")
        return counts

    async def _wait(self, counts: Counts) -> None:
        """Wait for the index; records that were skipped need not be found."""
        waited = await self._probing().wait(self._options.ready_within)
        if len(waited.missing) > counts.skipped:
            named = ", ".join(waited.missing[:_MOST_NAMED])
            more = ", …" if len(waited.missing) > _MOST_NAMED else ""
            reason = f"; it said: {waited.reason}" if waited.reason else ""
            raise AgentFailure(
                "timeout",
                f"GET /memory/search does not find {len(waited.missing)} of the memories looked for "
                f"({named}{more}), {self._options.ready_within:g} s after the last that it found{reason}. "
                "If its index takes longer, raise ready_within",
            )
        if counts.skipped:
            LOG.warning(
                "memory API at %s: %d of %d records were skipped by the server, which may hold their text "
                "already; a query that wants one of them misses it.",
                self._options.url,
                counts.skipped,
                counts.imported + counts.skipped,
            )

    def _dead(self, failure: AgentFailure) -> EndpointError:
        return EndpointError(
            f"memory API: {failure.message.rstrip('.')}. Check url='{self._options.url}', and that the server runs."
        )
