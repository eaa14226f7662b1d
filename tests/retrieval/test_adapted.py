"""Memory systems as retrievers: whether what they recall has scores."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from harness.adapters.protocol import Memory
from harness.naming import parse_spec
from harness.retrieval.adapted import Adapted
from tests.retrieval.corpus import MODELS


class Recalling:
    """An open agent that recalls what it was given."""

    def __init__(self, *recalls: list[Memory]) -> None:
        self.recalls = list(recalls)

    async def recall(self, *_: Any) -> list[Memory]:
        return self.recalls.pop(0)


@pytest.mark.parametrize(
    ("scores", "scored"),
    [
        ([[0.5], [0.0, 2.0]], True),
        ([[0.5], []], True),
        ([[None], [0.5]], False),
        ([[0.5], [0.5, None]], False),
    ],
    ids=["all", "nothing found", "not the first", "not the last"],
)
def test_whether_every_result_has_a_score(scores: list[list[float | None]], scored: bool) -> None:
    system = Adapted(parse_spec("bm25", "--system"), MODELS)
    recalls = [[Memory(str(at), "x", score=score) for at, score in enumerate(each)] for each in scores]
    system._session = cast("Any", Recalling(*recalls))

    async def search() -> None:
        for _ in scores:
            await system.search("x", 5)
        await system.close()

    asyncio.run(search())
    assert system.scored is scored
