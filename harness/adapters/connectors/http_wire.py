"""Sends the requests of a description: bounded, retried where a server asks for it, with errors of one line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import getproxies

import aiohttp
import yarl

from harness.adapters.connectors.http_description import HttpDescription
from harness.adapters.connectors.http_reading import Step
from harness.adapters.connectors.value_templates import filled
from harness.adapters.protocol import AgentFailure
from harness.llm.http_errors import retry_wait

_LARGEST = 16 << 20
_MOST_SHOWN = 300
_TRIES = 5
_BACKOFF_S = (0.25, 4.0)
LONGEST_PAUSE_S = 30.0
_MOST_HOPS = 3
_BUSY = (429, 503)
_HIDDEN = "[key]"
# Shorter than servers keep an idle connection (uvicorn: 5 s), so that none is used that is just being closed.
_KEEPALIVE_S = 4.0


class _Reply(NamedTuple):
    """What a server sent back."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


class _BusyError(Exception):
    """The server asks to come again later."""

    def __init__(self, reply: _Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply
        self.wait_s = retry_wait(reply.headers)


class HttpWire:
    """One pool of connections to the system; made when first used, inside the event loop."""

    def __init__(self, description: HttpDescription) -> None:
        self._description = description
        self._session: aiohttp.ClientSession | None = None

    async def send(self, step: Step, values: Mapping[str, Any]) -> Any:
        """Send the request of a step; return what JSON makes of the reply, None where nothing is read of it.

        Raises:
            AgentFailure: `unreachable`, `timeout`, `oversized`, `bad_value` for a reply that is no JSON,
                `raised` for a status that is not expected.
        """
        target = self._target(step, values)
        what = f"{step.method} {target}"
        reply = await self._retried(step, target, what, values)
        right = reply.status in step.expect if step.expect else 200 <= reply.status < 300
        if not right:
            said = self.shown(reply.body)
            raise AgentFailure(
                "raised",
                self.hidden(f"{what}: {reply.status} {reply.reason}") + (f": {said}" if said else ""),
            )
        if not step.reads:
            return None
        try:
            return json.loads(reply.body)
        except (ValueError, RecursionError):
            kind = reply.headers.get("Content-Type", "no content type")
            said = self.shown(reply.body) or "nothing"
            raise AgentFailure(
                "bad_value", self.hidden(f"{what}: the reply is no JSON ({kind}): ") + said
            ) from None

    def shown(self, body: bytes) -> str:
        """Return the beginning of a reply as a message shows it: one printable line, no key in it."""
        text = self.hidden(body[: 16 * _MOST_SHOWN].decode("utf-8", "replace"))
        line = " ".join(text.split())
        line = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)
        return line if len(line) <= _MOST_SHOWN else line[: _MOST_SHOWN - 1] + "…"

    def hidden(self, text: str) -> str:
        """Take the keys out of a text."""
        for secret in self._description.secrets:
            for form in {secret, secret.replace("/", "\\/"), quote(secret, safe="")}:
                text = text.replace(form, _HIDDEN)
        return text

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _target(self, step: Step, values: Mapping[str, Any]) -> str:
        """Return path and query; a value is data there too, whatever it holds."""
        for name in step.names:
            if f"{{{name}}}" in step.path.partition("?")[0] and str(_plain(values[name])) in ("", ".", ".."):
                raise AgentFailure(
                    "bad_value",
                    f"{step.method} {step.path}: {{{name}}} is {values[name]!r}, no part of a path",
                )
        path = str(filled(step.path, {name: _quoted(values[name]) for name in step.names}))
        given = ((key, filled(text, values)) for key, text in step.query.items())
        query = "&".join(f"{_quoted(key)}={_quoted(value)}" for key, value in given if value is not None)
        if not query:
            return path
        return f"{path}{'&' if '?' in path else '?'}{query}"

    async def _retried(self, step: Step, target: str, what: str, values: Mapping[str, Any]) -> _Reply:
        from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

        def pause(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = error.wait_s if isinstance(error, _BusyError) else None
            low, high = _BACKOFF_S
            return min(high, low * 2.0 ** (state.attempt_number - 1)) if asked is None else asked

        def again(error: BaseException) -> bool:
            return isinstance(error, _BusyError) and (error.wait_s or 0.0) <= LONGEST_PAUSE_S

        trying = AsyncRetrying(
            stop=lambda state: state.attempt_number >= _TRIES,
            retry=retry_if_exception(again),
            wait=pause,
            sleep=asyncio.sleep,
            reraise=True,
        )
        try:
            reply: _Reply = await trying(self._once, step, target, what, values)
            return reply
        except _BusyError as busy:
            return busy.reply

    async def _once(self, step: Step, target: str, what: str, values: Mapping[str, Any]) -> _Reply:
        url = f"{self._description.url}{target}"
        data = None
        headers = {
            name: str(filled(text, {"namespace": values["namespace"]}))
            for name, text in self._description.headers.items()
        }
        if step.body is not None:
            body = filled(step.body, values)
            data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
            headers.setdefault("Content-Type", "application/json")
        for _ in range(_MOST_HOPS):
            reply = await self._post(step.method, url, headers, data, what)
            if reply.status in step.expect or reply.status not in (301, 302, 303, 307, 308):
                break
            url = self._followed(step.method, reply, url, what)
        else:
            raise AgentFailure("raised", f"{what}: is redirected again and again")
        if reply.status in _BUSY and reply.status not in step.expect:
            raise _BusyError(reply)
        return reply

    def _followed(self, method: str, reply: _Reply, url: str, what: str) -> str:
        """Return where a redirect leads to, if keys and messages may go there."""
        there = urljoin(url, reply.headers.get("Location", ""))
        if urlsplit(there)[:2] != urlsplit(url)[:2]:
            host = urlsplit(there).netloc or "nowhere"
            raise AgentFailure(
                "raised", self.hidden(f"{what}: {reply.status} leads to {host}: give that address as `url`")
            )
        if method != "GET" and reply.status < 307:
            place = urlsplit(there).path
            raise AgentFailure(
                "raised", self.hidden(f"{what}: {reply.status} leads to {place}: write that path instead")
            )
        return there

    async def _post(
        self, method: str, url: str, headers: Mapping[str, str], data: bytes | None, what: str
    ) -> _Reply:
        seconds = self._description.timeout_s
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(keepalive_timeout=_KEEPALIVE_S),
                timeout=aiohttp.ClientTimeout(total=seconds),
                trust_env=bool(getproxies()),
            )
        try:
            async with self._session.request(
                method, yarl.URL(url, encoded=True), headers=headers, data=data, allow_redirects=False
            ) as reply:
                held = bytearray()
                async for chunk in reply.content.iter_any():
                    held += chunk
                    if len(held) > _LARGEST:
                        raise AgentFailure(
                            "oversized", self.hidden(f"{what}: the reply is larger than {_LARGEST >> 20} MB")
                        )
                return _Reply(reply.status, reply.reason or "", reply.headers, bytes(held))
        except TimeoutError:
            raise AgentFailure("timeout", self.hidden(f"{what}: no reply within {seconds:g} s")) from None
        except aiohttp.ClientConnectorError as error:
            base = self._description.url
            raise AgentFailure(
                "unreachable",
                self.hidden(f"{what}: nobody answers at {base}: {_one_line(error)}. Is the system running?"),
            ) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise AgentFailure(
                "unreachable", self.hidden(f"{what}: the connection broke: {_one_line(error)}")
            ) from None


def _plain(value: Any) -> Any:
    return "" if value is None else value


def _quoted(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return quote(text, safe="", errors="replace")


def _one_line(error: BaseException) -> str:
    said = " ".join(str(error).replace("ssl:default ", "").split()) or type(error).__name__
    return said[:_MOST_SHOWN]
