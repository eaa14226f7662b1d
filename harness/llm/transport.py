"""The wire: one connection pool on openai's client; the only module that loads it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import aiohttp
import httpx2
from openai import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    DefaultAioHttpClient,
    Omit,
)

from harness.llm.endpoint import Endpoint
from harness.llm.replies import ReplyError

_HIDDEN = "[key]"
_LONE = re.compile("[\ud800-\udfff]")


class Transport:
    """Posts chat completions; a pool of connections for one endpoint.

    Args:
        endpoint: where to and with which key.
        timeout_s: seconds for one request.
        connections: most connections.
    """

    def __init__(self, endpoint: Endpoint, timeout_s: float, connections: int) -> None:
        # Without a key no header goes out; the account's headers are for openai itself only.
        omitted = ["OpenAI-Organization", "OpenAI-Project"]
        if endpoint.api_key is None:
            omitted.append("Authorization")
        self._headers: dict[str, Any] = {name: Omit() for name in omitted}
        self._key = endpoint.api_key
        self._timeout_s = timeout_s
        limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
        self._client = AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key or "none",
            max_retries=0,
            timeout=timeout_s,
            http_client=DefaultAioHttpClient(limits=limits, timeout=timeout_s),
        )

    async def post(self, body: Mapping[str, Any]) -> tuple[int, Mapping[str, str], str]:
        """Send a chat completion; return status, headers (lower case) and text.

        Raises:
            ReplyError: of the kind `timeout` or `connection`.
        """
        try:
            # Its own parsing and models cost more than the rest of a call.
            response = await self._client.post(
                "/chat/completions", body=body, cast_to=httpx2.Response, options={"headers": self._headers}
            )
        except APIStatusError as error:
            response = error.response
        except UnicodeEncodeError:
            return await self.post(_without_lone_surrogates(body))
        # Not all of its transport's errors come wrapped.
        except (APIConnectionError, aiohttp.ClientError, httpx2.HTTPError) as error:
            raise self._unreached(error) from None
        return response.status_code, response.headers, self._without_key(response.text)

    def _unreached(self, error: Exception) -> ReplyError:
        """Tell a timeout from a refused or dropped connection, which may arrive as a timeout too."""
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, OSError | aiohttp.ClientError) and not isinstance(cause, TimeoutError):
                return ReplyError("connection", self._without_key(_one_line(cause)))
            cause = cause.__cause__ or cause.__context__
        if isinstance(error, APITimeoutError | httpx2.TimeoutException):
            return ReplyError("timeout", f"no reply within {self._timeout_s:g} s")
        return ReplyError("connection", self._without_key(_one_line(error.__cause__ or error)))

    def _without_key(self, text: str) -> str:
        """Take out the key, which some servers repeat when they refuse it."""
        if not self._key or self._key not in text:
            return text
        return text.replace(self._key, _HIDDEN)

    async def close(self) -> None:
        """Close the pool."""
        await self._client.close()


def _one_line(error: BaseException) -> str:
    said = " ".join(str(error).split()) or type(error).__name__
    return json.dumps(said, ensure_ascii=False)[1:-1][:300]


def _without_lone_surrogates(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body that has a form in UTF-8; what a model wrote may have none."""
    text = _LONE.sub("\N{REPLACEMENT CHARACTER}", json.dumps(body, ensure_ascii=False))
    plain: dict[str, Any] = json.loads(text)
    return plain
