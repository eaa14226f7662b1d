"""Stores behind HTTP that are slow, lossy, tearing, late or deadlocking on purpose."""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path

from tests.adapters.connectors.servers.plain import PlainStore
from tests.adapters.connectors.servers.serving import Reply, Request

DESCRIPTION = Path(__file__).parents[2] / "fixtures" / "adapters" / "plain_store.yaml"
SLEEP_S = 0.05


def spec(url: str, description: Path = DESCRIPTION) -> str:
    return f"it=http(description={str(description)!r}, url={url!r})"


class Slow(PlainStore):
    """Sleeps in each search, and in one search at a time where it is told so."""

    def __init__(self, one_at_a_time: bool = False) -> None:
        super().__init__()
        self._turn = threading.Lock() if one_at_a_time else None

    def __call__(self, request: Request) -> Reply:
        if "search" in request.parts:
            if self._turn is None:
                time.sleep(SLEEP_S)
            else:
                with self._turn:
                    time.sleep(SLEEP_S)
        return super().__call__(request)


class Lossy(PlainStore):
    """Acknowledges each write, and drops one in ten."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = itertools.count(1)

    def __call__(self, request: Request) -> Reply:
        if request.method == "POST" and next(self._numbers) % 10 == 0:
            return Reply(201, {"id": f"gone{time.perf_counter_ns()}"})
        return super().__call__(request)


class Tearing(PlainStore):
    """Keeps only the first half of a text while another write is under way."""

    def __init__(self) -> None:
        super().__init__()
        self._writing = 0
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        if request.method != "POST":
            return super().__call__(request)
        with self._lock:
            self._writing += 1
        time.sleep(0.01)
        with self._lock:
            if self._writing > 1:
                text = request.body["text"]
                request.body["text"] = text[: len(text) // 2]
            reply = super().__call__(request)
            self._writing -= 1
        return reply


class Late(PlainStore):
    """Shows a write in searches only so many seconds later."""

    def __init__(self, after_s: float) -> None:
        super().__init__()
        self._after_s = after_s
        self._at: dict[str, float] = {}

    def __call__(self, request: Request) -> Reply:
        reply = super().__call__(request)
        if request.method == "POST":
            self._at[request.body["text"]] = time.monotonic() + self._after_s
        elif "search" in request.parts:
            now = time.monotonic()
            shown = [one for one in reply.data["results"] if self._at[one["memory"]["text"]] <= now]
            return Reply(200, {"results": shown})
        return reply


class Deadlocking(PlainStore):
    """Answers so many requests and then none, until it is released."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._left = after
        self._lock = threading.Lock()
        self.released = threading.Event()

    def __call__(self, request: Request) -> Reply | None:  # type: ignore[override]
        with self._lock:
            self._left -= 1
            hangs = self._left < 0
        if hangs:
            self.released.wait(30)
            return None
        return super().__call__(request)


class Refusing(PlainStore):
    """Refuses every third write."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = itertools.count(1)

    def __call__(self, request: Request) -> Reply:
        if request.method == "POST" and next(self._numbers) % 3 == 0:
            return Reply(500, {"detail": "disk full"})
        return super().__call__(request)
