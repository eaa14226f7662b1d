"""Small suites, and runs over them in this process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from harness.llm.models import Models, ModelSettings
from harness.runs.execute import Done, execute
from harness.runs.plan import Planned, plan
from harness.runs.preparing import Entrant, Settings, load
from harness.suite import Suite, load_suite
from tests.conftest import WriteSuite, case_header
from tests.model_server import Server
from tests.model_server.fixtures import _shared_model_server, model_server
from tests.runs.probe import WATCHES

__all__ = ["_shared_model_server", "model_server"]


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    WATCHES.clear()
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def fees(write_suite: WriteSuite) -> Callable[..., Suite]:
    """Write so many cases of one conversation, each with a question of its own."""

    def write(count: int = 3, folder: str = "suite", **changes: Any) -> Suite:
        names = [f"layer1_{number:02}_fee" for number in range(1, count + 1)]
        root = write_suite(
            *(case_header(name, user_question=f"What is the fee in {name}?", **changes) for name in names),
            folder=folder,
        )
        return load_suite(root)

    return write


Go = Callable[..., Done]


@pytest.fixture
def go(tmp_path: Path) -> Go:
    """Carry out a run in this process; without a server there is no model to ask."""

    def run(
        suite: Suite,
        entrants: Sequence[Entrant],
        *,
        server: Server | str | None = None,
        progress: Callable[[Any], None] = lambda tick: None,
        **settings: Any,
    ) -> Done:
        return asyncio.run(work(suite, entrants, server, progress, Settings(**settings)))

    async def work(
        suite: Suite, entrants: Sequence[Entrant], server: Any, progress: Any, settings: Settings
    ) -> Done:
        models = models_at(server)
        try:
            return await execute(suite, entrants, settings, models, tmp_path / "runs", progress)
        finally:
            await models.close()

    return run


def models_at(server: Server | str | None) -> Models:
    """Return the models of a run whose own one is at a server."""
    url = server.base_url if isinstance(server, Server) else server
    return Models(ModelSettings(model="reader", base_url=url) if url else ModelSettings(), {})


NOBODY = "http://127.0.0.1:9/v1"


def planned_for(
    suite: Suite, entrants: Sequence[Entrant], server: Any = NOBODY, **settings: Any
) -> list[Planned]:
    """Return the plan of a run, made as the command line makes it."""

    async def loaded() -> list[Any]:
        async with AsyncExitStack() as stack:
            models = models_at(server)
            stack.push_async_callback(models.close)
            found = await load(suite, entrants, Settings(**settings), models, stack)
            return [(one.entrant.info, one.manifest) for one in found]

    return plan(suite, asyncio.run(loaded()))
