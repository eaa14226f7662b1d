"""Fixtures for tests that need a model behind HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .process import Server, start


@pytest.fixture(scope="session")
def _shared_model_server() -> Iterator[Server]:
    with start(max_seconds=1800) as server:
        yield server


@pytest.fixture
def model_server(_shared_model_server: Server) -> Server:
    """Return the session's model server, with no rules and nothing counted.

    A test that needs a latency, a key or models of its own uses `start` instead.
    """
    _shared_model_server.set_faults([])
    _shared_model_server.reset()
    return _shared_model_server
