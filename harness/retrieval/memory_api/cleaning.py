"""Takes a run's records out of the server again, as far as that can be done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from harness.adapters.protocol import AgentFailure
from harness.errors import EndpointError
from harness.retrieval.dataset import StoredMemory
from harness.retrieval.memory_api.ids import IdBook
from harness.retrieval.memory_api.readiness import Probing
from harness.retrieval.memory_api.records import id_of
from harness.retrieval.memory_api.server import MemoryServer

LOG = logging.getLogger(__name__)
_MOST_FAILURES = 3


class Cleaning:
    """One sweep over what was put in.

    Args:
        server: where the records are.
        book: their ids, as far as they are known.
        memories: what may have been put in.
        put_in: how many of them were, or may have been.
        probing: how an id is read back that is not known.
    """

    def __init__(
        self,
        server: MemoryServer,
        book: IdBook,
        memories: Sequence[StoredMemory],
        put_in: int,
        probing: Probing,
    ) -> None:
        self._server = server
        self._book = book
        self._waiting = list(memories)
        self._put_in = put_in
        self._probing = probing
        self._removed = 0
        self._absent = 0
        self._failed = 0
        self._reason = ""

    async def run(self, within: float) -> None:
        """Delete every record, for so many seconds at most; warn of what is left."""
        try:
            async with asyncio.timeout(within):
                await self._sweep()
        except TimeoutError:
            self._reason = f"it took longer than clean_up_within={within:g} s"
        except (AgentFailure, EndpointError) as error:
            self._reason = error.message if isinstance(error, AgentFailure) else str(error)
        except asyncio.CancelledError:
            self._reason = "interrupted"
            raise
        finally:
            self._warn()

    async def _sweep(self) -> None:
        in_a_row = 0
        while self._waiting:
            memory = self._waiting[-1]
            try:
                found = await self._take_out(memory)
            except AgentFailure as failure:
                in_a_row += 1
                if failure.kind == "unreachable" or in_a_row == _MOST_FAILURES:
                    raise
                self._reason = failure.message
                self._failed += 1
            else:
                in_a_row = 0
                self._removed += found
                self._absent += not found
            self._waiting.pop()

    async def _take_out(self, memory: StoredMemory) -> bool:
        """Delete a memory's record; say whether there was one."""
        sent = id_of(memory, self._server.client)
        if not self._book.own and await self._server.remove(sent):
            self._book.sent_back(sent)
            return True
        if self._book.kept:
            return False
        if not self._book.given_to(memory.id):
            await self._probing.look(memory)
        gone = [await self._server.remove(id) for id in self._book.given_to(memory.id)]
        return any(gone)

    def _warn(self) -> None:
        open_ones = len(self._waiting) + self._failed
        # Where ids are the server's own, a record that is not there under any known id may well be there.
        left = open_ones if self._book.kept else open_ones + self._absent
        left = min(left, self._put_in if self._book.kept else max(self._failed, self._put_in - self._removed))
        if left > 0:
            LOG.warning(
                "memory API at %s: %d of %d records may be left under the client id %s%s.",
                self._server.wire.url,
                left,
                self._put_in,
                self._server.client,
                f": {self._reason}" if self._reason else ": their ids could not be read back",
            )
