"""The wire: openai's client on its aiohttp transport; the only module that loads it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

import aiohttp
import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient

from harness.llm.endpoint import Endpoint
from harness.llm.replies import ReplyError

_HIDDEN = "[key]"
_SHORTEST_SECRET = 8
_LONE = re.compile("[\ud800-\udfff]")


class Transport:
    """Posts chat completions over one pool of connections.

    Args:
        endpoint: where to and with which key.
        timeout_s: seconds for one request.
        connections: most connections.
    """

    def __init__(self, endpoint: Endpoint, timeout_s: float, connections: int) -> None:
        self._key = endpoint.api_key
        self._timeout_s = timeout_s
        limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
        self._http = DefaultAioHttpClient(limits=limits, timeout=timeout_s, follow_redirects=False)
        # The client says where to and with which headers, once: to let it build every request anew
        # costs as much as sending them.
        client = AsyncOpenAI(
            base_url=endpoint.base_url, api_key=endpoint.api_key or "none", http_client=self._http
        )
        self._url = client.base_url.join("chat/completions")
        self._headers = {"Content-Type": "application/json", "User-Agent": client.user_agent}
        if endpoint.api_key is not None:  # without a key no header goes out
            self._headers |= client.auth_headers

    async def post(self, body: Mapping[str, Any]) -> tuple[int, Mapping[str, str], str]:
        """Send a chat completion; return status, headers (lower case) and text.

        Raises:
            ReplyError: of the kind `timeout` or `connection`.
        """
        try:
            # The client's own limit is on each read: a reply that drips would never end.
            async with asyncio.timeout(self._timeout_s):
                response = await self._http.post(self._url, content=_encoded(body), headers=self._headers)
        except TimeoutError:
            raise ReplyError("timeout", f"no reply within {self._timeout_s:g} s") from None
        # Not all of its transport's errors come wrapped.
        except (aiohttp.ClientError, httpx2.HTTPError) as error:
            raise self._unreached(error) from None
        return response.status_code, response.headers, self.without_key(response.text)

    def _unreached(self, error: Exception) -> ReplyError:
        """Tell a timeout from a refused or dropped connection, which may arrive as a timeout too."""
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, OSError | aiohttp.ClientError) and not isinstance(cause, TimeoutError):
                return ReplyError("connection", self.without_key(_one_line(cause)))
            cause = cause.__cause__ or cause.__context__
        if isinstance(error, httpx2.TimeoutException):
            return ReplyError("timeout", f"no reply within {self._timeout_s:g} s")
        return ReplyError("connection", self.without_key(_one_line(error.__cause__ or error)))

    def without_key(self, text: str) -> str:
        """Take out the key, which some servers repeat when they refuse it."""
        # A stand-in of a few letters, as local servers take, is no secret and stands in many a word.
        if not self._key or len(self._key) < _SHORTEST_SECRET:
            return text
        return text.replace(self._key, _HIDDEN).replace(self._key.replace("/", "\\/"), _HIDDEN)

    async def close(self) -> None:
        """Close the pool."""
        await self._http.aclose()


def _one_line(error: BaseException) -> str:
    # "ssl:default" is aiohttp's way to say that nothing was asked about certificates.
    said = " ".join(str(error).replace("ssl:default ", "").split()) or type(error).__name__
    return json.dumps(said, ensure_ascii=False)[1:-1][:300]


def _encoded(body: Mapping[str, Any]) -> bytes:
    """Return a body in UTF-8; the lone surrogates that a model can write have no form there."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _LONE.sub("\N{REPLACEMENT CHARACTER}", text).encode()
