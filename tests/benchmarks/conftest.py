"""The stop-watch of the benchmarks."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

Fastest = Callable[..., float]


@pytest.fixture(scope="session")
def fastest() -> Fastest:
    """Return the shortest wall time of a call in seconds, over so many times."""

    def measure(call: Callable[[], object], times: int = 5) -> float:
        taken = []
        for _ in range(times):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
        return min(taken)

    return measure
