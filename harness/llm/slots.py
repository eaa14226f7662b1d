"""How many requests are in flight: a limit that gives way to rate limits and comes back."""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType


class Slots:
    """Places for requests in flight; `async with slots` holds one.

    The limit starts at its ceiling, is halved when a server says that it is too much, and
    rises by one for every `limit` requests that went well (additive increase, multiplicative
    decrease, as in TCP). Requests that were sent before the last cut do not cut again.

    Args:
        ceiling: the most requests in flight; at least 1.
    """

    def __init__(self, ceiling: int) -> None:
        if ceiling < 1:
            raise ValueError("the number of requests in flight is at least 1")
        self.ceiling = ceiling
        self.limit = ceiling
        self.in_use = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._good = 0
        self._cuts = 0

    @property
    def cuts(self) -> int:
        """How often the limit was cut; a request notes it when it is sent."""
        return self._cuts

    def slow_down(self, seen: int) -> None:
        """Halve the limit, unless it was cut since `seen`, the count when the request was sent."""
        if seen == self._cuts:
            self.limit = max(1, self.limit // 2)
            self._cuts += 1
            self._good = 0

    def went_well(self) -> None:
        """Count a request that the server took."""
        self._good += 1
        if self._good >= self.limit:
            self._good = 0
            if self.limit < self.ceiling:
                self.limit += 1
                self._wake()

    async def __aenter__(self) -> Slots:
        if self.in_use < self.limit and not self._waiting:
            self.in_use += 1
            return self
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave()  # the place was given in the moment of cancellation
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        self.in_use -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self.in_use < self.limit:
            place = self._waiting.popleft()
            if not place.done():
                self.in_use += 1
                place.set_result(None)
