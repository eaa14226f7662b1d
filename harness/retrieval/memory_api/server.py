"""The three requests to a memory server, and what their statuses mean."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urljoin

from harness.adapters.protocol import AgentFailure
from harness.errors import EndpointError
from harness.llm.http_errors import retry_wait
from harness.retrieval.memory_api.replies import Hit, is_degraded, read_hits, words_of
from harness.retrieval.memory_api.wire import LONGEST_PAUSE_S, TRIES, Reply, Wire

_GONE = (404, 410)
_REFUSED = range(400, 500)


class ImportRefusedError(AgentFailure):
    """An import was refused as a whole: nothing of it was put in."""


class MemoryServer:
    """A server of this API.

    Args:
        wire: the connections to it.
        client: the client id of this run.
        key_name: the variable that the key comes from, for messages.
    """

    def __init__(self, wire: Wire, client: str, key_name: str | None) -> None:
        self.wire = wire
        self.client = client
        self._key_name = key_name

    async def put(self, body: bytes) -> Any:
        """Import records and return what the reply says.

        Raises:
            ImportRefusedError: when it took none of them.
            AgentFailure: for any other trouble; some may have been put in.
            EndpointError: when it refuses the key; it took none.
        """
        what = "POST /export/import"
        reply = await self.wire.send("POST", "/export/import", body=body)
        if reply.status in _REFUSED:
            failure = self._failure(reply, what)
            raise ImportRefusedError(failure.kind, failure.message)
        return self._json(reply, what)

    async def find(self, query: str, limit: int, *, index: bool = True) -> list[Hit]:
        """Search what this run put in.

        Args:
            query: what to search for.
            limit: most results.
            index: whether short results do; whole ones say more of a record.

        Raises:
            AgentFailure: when there is no answer, or one of a retrieval that is not whole.
            EndpointError: when it refuses the key.
        """
        asked = {"q": query, "limit": str(limit), "client_id": self.client, "read_only": "true"}
        if index:
            asked["format"] = "index"
        what = "GET /memory/search"
        data = self._json(await self.wire.send("GET", "/memory/search", asked), what)
        if is_degraded(data):
            raise AgentFailure("raised", f"{what}: the server says that its retrieval is degraded")
        try:
            return read_hits(data)
        except ValueError as error:
            raise AgentFailure("bad_value", self.wire.hidden(f"{what}: {error}")) from None

    async def remove(self, id: str) -> bool:
        """Take a record out; return False where there is none of that id.

        Raises:
            AgentFailure: when it stays.
            EndpointError: when the key is refused.
        """
        # A path may not be "." or "..", which are folded away; no server gives such ids.
        reply = await self.wire.send("DELETE", f"/memory/{quote(id, safe='')}")
        if reply.fine:
            return True
        if reply.status in _GONE:
            return False
        raise self._failure(reply, "DELETE /memory/…")

    def _json(self, reply: Reply, what: str) -> Any:
        if not reply.fine:
            raise self._failure(reply, what)
        if not reply.is_json:
            said = self.wire.hidden(words_of(reply.data)) or "nothing"
            raise AgentFailure("bad_value", f"{what} at {self.wire.url}: the reply is no JSON: {said}")
        return reply.data

    def _failure(self, reply: Reply, what: str) -> AgentFailure:
        """Return what a status that is no success means.

        Raises:
            EndpointError: for a refused key, with which every request would fail.
        """
        said = self.wire.hidden(words_of(reply.data))
        words = f": {said}" if said else ""
        if reply.status in (401, 403):
            raise EndpointError(f"memory API at {self.wire.url}: {reply.status}{words}. {self._about_key()}")
        told = f"{what}: {reply.status}{words}"
        wait = retry_wait(reply.headers)
        if reply.status == 429 and wait is not None and wait > LONGEST_PAUSE_S:
            told += f" (it asks to wait {wait:g} s, and {LONGEST_PAUSE_S:g} s are waited at most)"
        elif reply.status == 429:
            told += f" (asked {TRIES} times)"
        elif is_degraded(reply.data):
            told += " (retrieval degraded)"
        elif 300 <= reply.status < 400:
            there = self.wire.hidden(urljoin(f"{self.wire.url}/", reply.headers.get("Location", "")))
            told += f" (it leads to {there}: give the address there as url)"
        elif reply.status == 404:
            told += f" (is {self.wire.url} the base URL of a memory API?)"
        return AgentFailure("raised", told)

    def _about_key(self) -> str:
        if self._key_name is None:
            return "No key was sent: name the variable that holds it with api_key_env='…'."
        return f"Check the key in {self._key_name}."
