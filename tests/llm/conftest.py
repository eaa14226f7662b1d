"""One model server for the tests of the client, which retries without long pauses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.llm import line
from tests.model_server import Server, start


@pytest.fixture(scope="session")
def running() -> Iterator[Server]:
    with start(max_seconds=1800) as server:
        yield server


@pytest.fixture
def server(running: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setattr(line, "_BACKOFF_S", (0.001, 0.004))
    running.set_faults([])
    running.reset()
    return running
