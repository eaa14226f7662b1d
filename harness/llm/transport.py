"""The wire: one pool of connections for one endpoint; the only module that loads an HTTP client.

It posts with aiohttp, the transport that openai's SDK has for speed, and not through the SDK, of which
nothing else would be used: retries, parameters and replies are this package's own business. Loading the
SDK takes half a second and 20 MB; over a thousand judged answers a run takes 0.57 of the time of a plain
loop of the SDK's instead of 0.76 (`make bench`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.request import getproxies

import aiohttp

from harness.llm.endpoint import Endpoint
from harness.llm.replies import ReplyError

_HIDDEN = "[key]"
_SHORTEST_SECRET = 8
_LARGEST = 16 << 20
_LONE = re.compile("[\ud800-\udfff]")


class Transport:
    """Posts to one route of an endpoint over one pool of connections; made inside an event loop.

    Args:
        endpoint: where to and with which key.
        timeout_s: seconds for one request, from first to last byte.
        connections: most connections.
        route: chat completions, unless another is named.
    """

    def __init__(
        self, endpoint: Endpoint, timeout_s: float, connections: int, route: str = "/chat/completions"
    ) -> None:
        self._key = endpoint.api_key
        self._timeout_s = timeout_s
        self._url = f"{endpoint.base_url}{route}"
        headers = {"Content-Type": "application/json"}
        if endpoint.api_key is not None:  # without a key no header goes out
            headers["Authorization"] = f"Bearer {endpoint.api_key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=timeout_s),
            # Proxies, as other programs take them; without one the environment is not read for every call.
            trust_env=bool(getproxies()),
        )

    async def post(self, body: Mapping[str, Any]) -> tuple[int, Mapping[str, str], str]:
        """Send a request; return status, headers (lower case) and text.

        Raises:
            ReplyError: of the kind `timeout` or `connection`.
        """
        try:
            # A redirected POST would arrive as a GET; where it leads to is what the user has to know.
            async with self._session.post(self._url, data=_encoded(body), allow_redirects=False) as reply:
                text = (await _read(reply)).decode("utf-8", "replace")
        except TimeoutError:
            raise ReplyError("timeout", f"no reply within {self._timeout_s:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise ReplyError("connection", self.without_key(_one_line(error))) from None
        headers = {name.lower(): value for name, value in reply.headers.items()}
        return reply.status, headers, self.without_key(text)

    def without_key(self, text: str) -> str:
        """Take out the key, which some servers repeat when they refuse it."""
        # A stand-in of a few letters, as local servers take, is no secret and stands in many a word.
        if not self._key or len(self._key) < _SHORTEST_SECRET:
            return text
        return text.replace(self._key, _HIDDEN).replace(self._key.replace("/", "\\/"), _HIDDEN)

    async def close(self) -> None:
        """Close the pool."""
        await self._session.close()


async def _read(reply: aiohttp.ClientResponse) -> bytes:
    """Return the body; one that is larger than any verdict is not taken into memory.

    Raises:
        ReplyError: of the kind `provider_error`.
    """
    held = bytearray()
    async for chunk in reply.content.iter_any():
        held += chunk
        if len(held) > _LARGEST:
            raise ReplyError("provider_error", f"The reply is larger than {_LARGEST >> 20} MB.")
    return bytes(held)


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
