"""The line to one route of an endpoint: places, pauses, retries, and when to stop.

The policy of `client`, for requests that need no dialect:

- Trouble on the way (429, 5xx, a dropped connection …) is retried with growing pauses, or with the
  pause the server asks for, which holds every request back.
- A refused key, an exhausted quota, an unknown model or an endpoint that cannot be reached stop the run.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from harness.errors import EndpointError
from harness.llm import client
from harness.llm.chat_reply import RawReply
from harness.llm.endpoint import Endpoint
from harness.llm.reply_error import ReplyError
from harness.llm.slots import Slots

if TYPE_CHECKING:
    from tenacity import RetryCallState

    from harness.llm.transport import Transport

T = TypeVar("T")
# Those two ask for another form of the request; where there is none, they are a refusal like any other.
_FORM = frozenset(("unsupported_param", "unsupported_format"))


class Arrived(NamedTuple, Generic[T]):
    """A reply that arrived.

    Attributes:
        status: its HTTP status.
        text: its body as it came.
        reading: what it reads as, or why it cannot be used.
    """

    status: int
    text: str
    reading: T | ReplyError


class Line:
    """Sends requests to one route, as many at once as the server takes.

    Args:
        endpoint: where and whom to ask.
        route: such as `/embeddings`.
        concurrency: most requests in flight.
        timeout_s: seconds to wait for one reply.
        kept: what to add for the user when the run stops, on what is kept.
    """

    def __init__(
        self, endpoint: Endpoint, route: str, *, concurrency: int, timeout_s: float, kept: str = ""
    ) -> None:
        self.endpoint = endpoint
        self.slots = Slots(concurrency)
        self._route = route
        self._timeout_s = timeout_s
        self._kept = kept
        self._transport: Transport | None = None
        self._ever_reached = False
        self._unreached = 0
        self._resume_at = 0.0

    async def ask(self, body: Mapping[str, Any], read: Callable[[RawReply], T]) -> Arrived[T]:
        """Return the reply to a request, usable or not.

        Args:
            body: the request.
            read: makes something of a reply, or raises `ReplyError`.

        Raises:
            ReplyError: when no reply arrives in all tries.
            EndpointError: when the run has to stop.
        """
        from tenacity import AsyncRetrying, retry_if_exception

        trying = AsyncRetrying(
            stop=self._enough,
            retry=retry_if_exception(lambda error: isinstance(error, ReplyError) and error.retry),
            wait=_pause,
            sleep=asyncio.sleep,
            reraise=True,
        )
        try:
            arrived: Arrived[T] = await trying(self._send, body, read)
        except ReplyError as error:
            if error.kind in ("connection", "timeout") or (
                error.kind == "provider_error" and not self._ever_reached
            ):
                self._count_unreached(error)
            raise
        self._unreached = 0
        return arrived

    async def _send(self, body: Mapping[str, Any], read: Callable[[RawReply], T]) -> Arrived[T]:
        async with self.slots:
            await self._wait_for_turn()
            cuts = self.slots.cuts
            transport = self._connected()
            status, headers, text = await transport.post(body)
        try:
            reading: T | ReplyError = read(RawReply(status, headers, decoded(text)))
        except ReplyError as error:
            # A key that was escaped in the body shows only here.
            error.message = transport.without_key(error.message)
            reading = ReplyError("bad_request", error.message) if error.kind in _FORM else error
        if not isinstance(reading, ReplyError) or reading.arrived:
            self._ever_reached = True
            self.slots.went_well()
            return Arrived(status, text, reading)
        if reading.stops_run:
            raise EndpointError(self._refused(reading))
        if reading.kind != "provider_error":  # which a wrong address gives, too
            self._ever_reached = True
        if reading.kind in ("rate_limited", "overloaded"):
            self.slots.slow_down(cuts)
        self._yield_to(reading)
        raise reading

    def _connected(self) -> Transport:
        if self._transport is None:
            from harness.llm.transport import Transport

            self._transport = Transport(self.endpoint, self._timeout_s, self.slots.ceiling, self._route)
        return self._transport

    def _enough(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, ReplyError) and error.kind in ("rate_limited", "overloaded"):
            return state.attempt_number >= client.BUSY_TRIES
        return state.attempt_number >= (client.TRIES if self._ever_reached else client.FIRST_TRIES)

    async def _wait_for_turn(self) -> None:
        """Wait for the end of a pause that the server asked everybody for."""
        loop = asyncio.get_running_loop()
        while (left := self._resume_at - loop.time()) > 0:
            await asyncio.sleep(left)

    def _yield_to(self, trouble: ReplyError) -> None:
        """Hold every request back for as long as the server asks."""
        if trouble.wait_s is None:
            return
        if trouble.wait_s > client.LONGEST_PAUSE_S:
            raise EndpointError(
                f"{self.endpoint.label}: asks to wait {trouble.wait_s:.0f} s ({trouble.message})."
                f"{self._kept} Run the same command again later."
            )
        until = asyncio.get_running_loop().time() + trouble.wait_s
        self._resume_at = max(self._resume_at, until)

    def _count_unreached(self, error: ReplyError) -> None:
        self._unreached += 1
        if not self._ever_reached or self._unreached >= client._DEAD_AFTER:
            found = (
                f"answers, but not as it should at {self._route},"
                if error.kind == "provider_error"
                else "cannot be reached"
            )
            raise EndpointError(
                f"{self.endpoint.label}: {found} at {self.endpoint.base_url}: "
                f"{error.message.rstrip('.')}. Check the base URL, and that the server runs.{self._kept}"
            )

    def _refused(self, trouble: ReplyError) -> str:
        name = self.endpoint.key_name
        mend = {
            "auth": f"Check the key in {name}."
            if name
            else "No key was sent: name the variable that holds one with --api-key-env.",
            "quota": "Top up the account, or choose another provider.",
        }.get(trouble.kind, f"Check the model, and that {self.endpoint.base_url} has {self._route}.")
        return f"{self.endpoint.label}: {trouble.kind}: {trouble.message} {mend}{self._kept}"

    async def close(self) -> None:
        """Close the connections; closing twice does no harm."""
        if self._transport is not None:
            await self._transport.close()
            self._transport = None


def decoded(text: str) -> Any:
    """Return what a body holds as JSON, or the text where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _pause(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    said = error.wait_s if isinstance(error, ReplyError) else None
    low, high = client._BACKOFF_S
    grown = min(high, low * 2 ** (state.attempt_number - 1))
    return grown * random.uniform(0.5, 1.0) if said is None else said + random.uniform(0, 0.1 * grown)
