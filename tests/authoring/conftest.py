"""A model server for the author, and the author's model on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.authoring.generation import Result, Wish, generate
from harness.authoring.generation.opening import author_endpoint, author_model
from harness.llm.models import ModelSettings
from tests.model_server import Server, start

Generate = Callable[..., Result]


@pytest.fixture(scope="session")
def _author_server() -> Iterator[Server]:
    with start(max_seconds=1800, keep=3000) as server:
        yield server


@pytest.fixture
def server(_author_server: Server) -> Server:
    _author_server.set_faults([])
    _author_server.reset()
    return _author_server


@pytest.fixture
def write(server: Server, tmp_path: Path) -> Generate:
    """Generate into `out` through a cassette, against the server's rules."""

    def call(
        wish: Wish, count: int, *, mode: Any = "auto", max_cost: float | None = None, **more: Any
    ) -> Result:
        settings = ModelSettings(
            model="author",
            base_url=server.base_url,
            cassette=str(tmp_path / "tape.sqlite"),
            cassette_mode=mode,
            concurrency=more.pop("concurrency", 4),
        )

        async def work() -> Result:
            endpoint = author_endpoint(settings, {})
            async with author_model(settings, endpoint, max_cost=max_cost) as chat:
                return await generate(wish, count, chat, tmp_path / "out", tmp_path / "rejects", **more)

        return asyncio.run(work())

    return call
