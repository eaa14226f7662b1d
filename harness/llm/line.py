"""The line to one route of an endpoint: places, pauses, retries, and when to stop.

The one policy on trouble, whatever is asked for:

- Trouble on the way (429, 5xx, a dropped connection …) is retried with growing pauses, or with the
  pause the server asks for, which holds every request back.
- A refused form of a request is not sent again as it is; who asks may know another form.
- A refused key, an exhausted quota, an unknown model or an endpoint that cannot be reached stop the run.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from harness.errors import EndpointError
from harness.llm.chat_reply import RawReply
from harness.llm.endpoint import Endpoint
from harness.llm.reply_error import ReplyError
from harness.llm.slots import Slots

if TYPE_CHECKING:
    from tenacity import RetryCallState

    from harness.llm.transport import Transport

T = TypeVar("T")

TRIES = 6
"""Tries to get one reply over a troubled line."""
BUSY_TRIES = 20
"""Tries while a server says that it is too much: the limit on requests in flight is still falling then."""
FIRST_TRIES = 3
"""Tries while the endpoint has never answered: a wrong address should not take a minute to show."""
LONGEST_PAUSE_S = 300.0
"""A server that asks for a longer pause than this stops the run."""
REFUSED_FORM = frozenset(("unsupported_param", "unsupported_format"))
"""Kinds of trouble that ask for another form of the request."""
_BUSY = frozenset(("rate_limited", "overloaded"))
_BACKOFF_S = (0.5, 30.0)
# So many requests in a row given up for want of a connection: nobody is there.
_DEAD_AFTER = 3


class Arrived(NamedTuple, Generic[T]):
    """A reply that arrived.

    Attributes:
        raw: the reply, its body decoded.
        text: its body as it came.
        reading: what it reads as, or why it cannot be used.
    """

    raw: RawReply
    text: str
    reading: T | ReplyError


class Advice(NamedTuple):
    """What a user is told when the run stops, where that depends on what is asked for.

    Attributes:
        expected: as what the endpoint does not answer, such as `as a chat endpoint`.
        address: what to check when nobody answers, such as `--base-url`.
        key: a sentence on a key that is refused.
        refused: a sentence on any other refusal.
    """

    expected: str
    address: str
    key: str
    refused: str


class Line:
    """Sends requests to one route, as many at once as the server takes.

    Args:
        endpoint: where and whom to ask.
        route: such as `/embeddings`.
        advice: what to tell the user when the run stops.
        keeps: whether replies are kept, which the user is told then.
        concurrency: most requests in flight.
        timeout_s: seconds to wait for one reply.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        route: str,
        advice: Advice,
        *,
        keeps: bool,
        concurrency: int,
        timeout_s: float,
    ) -> None:
        self.endpoint = endpoint
        self.slots = Slots(concurrency)
        self._route = route
        self._advice = advice
        self._kept = " What is finished is kept." if keeps else ""
        self._timeout_s = timeout_s
        self._transport: Transport | None = None
        self._ever_reached = False
        self._unreached = 0
        self._resume_at = 0.0

    async def ask(self, body: Callable[[], Mapping[str, Any]], read: Callable[[RawReply], T]) -> Arrived[T]:
        """Return the reply to a request, usable or not.

        Args:
            body: makes the request, once for each try and when its turn has come; what it raises ends
                the asking.
            read: makes something of a reply, or raises `ReplyError`.

        Raises:
            ReplyError: when no reply arrives in all tries, or the form of the request is refused.
            EndpointError: when the run has to stop.
        """
        from tenacity import AsyncRetrying, retry_if_exception

        trying = AsyncRetrying(
            stop=self._enough,
            retry=retry_if_exception(_passing),
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

    async def _send(self, body: Callable[[], Mapping[str, Any]], read: Callable[[RawReply], T]) -> Arrived[T]:
        async with self.slots:
            await self._wait_for_turn()
            cuts = self.slots.cuts
            request = body()
            transport = self._connected()
            status, headers, text = await transport.post(request)
        raw = RawReply(status, headers, decoded(text))
        try:
            reading: T | ReplyError = read(raw)
        except ReplyError as error:
            # A key that was escaped in the body shows only here.
            error.message = transport.without_key(error.message)
            error.args = (f"{error.kind}: {error.message}",)
            reading = error
        if not isinstance(reading, ReplyError) or reading.arrived:
            self._ever_reached = True
            self.slots.went_well()
            return Arrived(raw, text, reading)
        if reading.stops_run:
            raise EndpointError(self._refused(reading))
        if reading.kind != "provider_error":  # which a wrong address gives, too
            self._ever_reached = True
        if reading.kind in _BUSY:
            self.slots.slow_down(cuts)
        self._yield_to(reading)
        raise reading

    def _connected(self) -> Transport:
        if self._transport is None:
            from harness.llm.transport import Transport

            self._transport = Transport(self.endpoint, self._timeout_s, self.slots.ceiling, self._route)
        return self._transport

    def _enough(self, state: RetryCallState) -> bool:
        trouble = _trouble_of(state)
        if trouble is not None and trouble.kind in _BUSY:
            return state.attempt_number >= BUSY_TRIES
        return state.attempt_number >= (TRIES if self._ever_reached else FIRST_TRIES)

    async def _wait_for_turn(self) -> None:
        """Wait for the end of a pause that the server asked everybody for."""
        loop = asyncio.get_running_loop()
        while (left := self._resume_at - loop.time()) > 0:
            await asyncio.sleep(left)

    def _yield_to(self, trouble: ReplyError) -> None:
        """Hold every request back for as long as the server asks."""
        if trouble.wait_s is None:
            return
        if trouble.wait_s > LONGEST_PAUSE_S:
            raise EndpointError(
                f"{self.endpoint.label}: asks to wait {trouble.wait_s:.0f} s ({trouble.message})."
                f"{self._kept} Run the same command again later."
            )
        until = asyncio.get_running_loop().time() + trouble.wait_s
        self._resume_at = max(self._resume_at, until)

    def _count_unreached(self, error: ReplyError) -> None:
        self._unreached += 1
        if not self._ever_reached or self._unreached >= _DEAD_AFTER:
            found = (
                f"answers, but not {self._advice.expected},"
                if error.kind == "provider_error"
                else "cannot be reached"
            )
            raise EndpointError(
                f"{self.endpoint.label}: {found} at {self.endpoint.base_url}: {error.message.rstrip('.')}. "
                f"Check {self._advice.address}, and that the server runs.{self._kept}"
            )

    def _refused(self, trouble: ReplyError) -> str:
        mend = {
            "auth": self._advice.key
            if self.endpoint.key_name
            else "No key was sent: name the variable that holds one with --api-key-env.",
            "quota": "Top up the account, or choose another provider.",
        }.get(trouble.kind, self._advice.refused)
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


def _passing(error: BaseException) -> bool:
    """Say whether the same request, sent again, may fare better."""
    return isinstance(error, ReplyError) and error.retry and error.kind not in REFUSED_FORM


def _trouble_of(state: RetryCallState) -> ReplyError | None:
    error = state.outcome.exception() if state.outcome else None
    return error if isinstance(error, ReplyError) else None


def _pause(state: RetryCallState) -> float:
    """Return the seconds until the next try, with some chance in them so that not all come back at once."""
    trouble = _trouble_of(state)
    said = trouble.wait_s if trouble else None
    low, high = _BACKOFF_S
    grown = min(high, low * 2 ** (state.attempt_number - 1))
    return grown * random.uniform(0.5, 1.0) if said is None else said + random.uniform(0, 0.1 * grown)
