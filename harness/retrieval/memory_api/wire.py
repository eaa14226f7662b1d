"""Sends requests to a memory server: the key in its header, pauses kept, troubles in one line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode
from urllib.request import getproxies

import aiohttp
import yarl

from harness.adapters.protocol import AgentFailure
from harness.llm.http_errors import retry_wait
from harness.llm.reply_error import shown
from harness.retrieval.memory_api.replies import is_degraded

TRIES = 6
"""Tries while the server says that it is too much."""
LONGEST_PAUSE_S = 120.0
"""A server that asks for a longer pause is not waited for; its limits are by the minute."""
_BACKOFF_S = (0.5, 30.0)
_SOON_S = 0.01
_LARGEST = 16 << 20
_KEEPALIVE_S = 4.0
_HIDDEN = "[key]"


class Reply(NamedTuple):
    """What came back.

    Attributes:
        status: HTTP status.
        headers: as they came.
        data: the body as JSON, as text where it is none, None where there is none.
        is_json: whether it is.
    """

    status: int
    headers: Mapping[str, str]
    data: Any
    is_json: bool

    @property
    def fine(self) -> bool:
        """Whether the request was taken."""
        return 200 <= self.status < 300


class _BusyError(Exception):
    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply
        self.wait_s = retry_wait(reply.headers)


class Wire:
    """One pool of connections to the server.

    Args:
        url: base URL.
        key: what `x-api-key` holds, None to send none.
        timeout_s: for one request.

    Attributes:
        reached: whether the server has ever answered.
    """

    def __init__(self, url: str, key: str | None, timeout_s: float) -> None:
        self.url = url
        self.reached = False
        self._key = key
        self._timeout_s = timeout_s
        self._session: aiohttp.ClientSession | None = None

    async def send(
        self, method: str, path: str, query: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Reply:
        """Send a request and return the reply, whatever its status.

        429 is sent again after the pause that it asks for, and 503 where it asks for one: the server
        took nothing in then. Nothing else is sent twice.

        Raises:
            AgentFailure: `unreachable`, `timeout` or `oversized`.
        """
        from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

        def pause(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = error.wait_s if isinstance(error, _BusyError) else None
            low, high = (_SOON_S, LONGEST_PAUSE_S) if asked else _BACKOFF_S
            return max(asked or 0.0, min(high, low * 2.0 ** (state.attempt_number - 1)))

        def again(error: BaseException) -> bool:
            return isinstance(error, _BusyError) and (error.wait_s or 0.0) <= LONGEST_PAUSE_S

        trying = AsyncRetrying(
            stop=lambda state: state.attempt_number >= TRIES,
            retry=retry_if_exception(again),
            wait=pause,
            sleep=asyncio.sleep,
            reraise=True,
        )
        target = self.url + path
        if query:
            plain = {name: value.encode("utf-8", "replace") for name, value in query.items()}
            target += f"?{urlencode(plain, quote_via=quote)}"
        try:
            reply: Reply = await trying(self._once, method, target, f"{method} {path}", body)
        except _BusyError as busy:
            return busy.reply
        return reply

    def hidden(self, text: str) -> str:
        """Take the key out of a text."""
        for form in {self._key, quote(self._key, safe="")} if self._key else ():
            text = text.replace(form, _HIDDEN)
        return text

    async def close(self) -> None:
        """Close the connections; closing twice does no harm."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _once(self, method: str, target: str, what: str, body: bytes | None) -> Reply:
        reply = await self._asked(method, target, what, body)
        self.reached = True
        asks = retry_wait(reply.headers) is not None and not is_degraded(reply.data)
        if reply.status == 429 or (reply.status == 503 and asks):
            raise _BusyError(reply)
        return reply

    async def _asked(self, method: str, target: str, what: str, body: bytes | None) -> Reply:
        headers = {"Accept": "application/json"}
        if self._key is not None:
            headers["x-api-key"] = self._key
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            async with self._connected().request(
                method, yarl.URL(target, encoded=True), headers=headers, data=body, allow_redirects=False
            ) as reply:
                held = bytearray()
                async for chunk in reply.content.iter_any():
                    held += chunk
                    if len(held) > _LARGEST:
                        raise AgentFailure(
                            "oversized", f"{what}: the reply is larger than {_LARGEST >> 20} MB"
                        )
                return _read(reply.status, reply.headers, bytes(held))
        except TimeoutError:
            said = f"{what}: no reply from {self.url} within {self._timeout_s:g} s"
            raise AgentFailure("timeout", said) from None
        except aiohttp.ClientConnectorError as error:
            raise AgentFailure("unreachable", f"nobody answers at {self.url}: {self._line(error)}") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            said = f"{what}: the connection to {self.url} broke: {self._line(error)}"
            raise AgentFailure("unreachable", said) from None

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(keepalive_timeout=_KEEPALIVE_S),
                timeout=aiohttp.ClientTimeout(total=self._timeout_s),
                trust_env=bool(getproxies()),
            )
        return self._session

    def _line(self, error: BaseException) -> str:
        return self.hidden(shown(str(error).replace("ssl:default ", "") or type(error).__name__))


def _read(status: int, headers: Mapping[str, str], body: bytes) -> Reply:
    if not body.strip():
        return Reply(status, headers, None, False)
    try:
        return Reply(status, headers, json.loads(body), True)
    except (ValueError, RecursionError):
        return Reply(status, headers, body.decode("utf-8", "replace"), False)
