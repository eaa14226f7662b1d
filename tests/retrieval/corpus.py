"""Small corpora and retrievers for the tests."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from harness.adapters.memories.rankers import Ranked
from harness.evaluation import Evaluation
from harness.llm.models import Models, ModelSettings
from harness.naming import parse_spec
from harness.retrieval.dataset import Query, RetrievalSet, StoredMemory
from harness.retrieval.evaluator import Found, RetrievalEvaluator, Searched, search_all
from harness.retrieval.streams.base import Retriever
from harness.retrieval.streams.naming import make_retriever

MODELS = Models(ModelSettings(), {})


def memory(id: str, content: str, **fields: object) -> StoredMemory:
    return StoredMemory(id, content, **fields)  # type: ignore[arg-type]


def retriever(spec: str) -> Retriever:
    made = make_retriever(parse_spec(spec, "--system"), MODELS)
    assert made is not None
    return made


def found(spec: str, memories: Sequence[StoredMemory], query: str, limit: int = 10) -> list[str]:
    """Return the ids that a retriever finds."""

    async def search() -> list[Ranked]:
        made = retriever(spec)
        await made.fill(memories)
        results = await made.search(query, limit)
        await made.close()
        return results

    return [result.id for result in asyncio.run(search())]


def data(queries: Sequence[Query], size: int = 12) -> RetrievalSet:
    """Return a corpus of `size` memories m1, m2, … with these queries."""
    return RetrievalSet(
        "set", tuple(memory(f"m{at}", f"memory {at}") for at in range(1, size + 1)), tuple(queries)
    )


def measured(
    one: RetrievalSet,
    rankings: Mapping[str, Sequence[str] | str],
    ks: tuple[int, ...] = (1, 3),
    system: str = "mine",
) -> Evaluation:
    """Return the evaluation of given rankings; a text in place of one is a failure."""
    given = {
        name: Found((), 0.0, ids)
        if isinstance(ids, str)
        else Found(tuple(Ranked(id, 1.0 / rank) for rank, id in enumerate(ids, start=1)), 0.0)
        for name, ids in rankings.items()
    }
    return RetrievalEvaluator(ks).measure([Searched(one, given, system)], one.id)


def evaluated(spec: str, one: RetrievalSet, ks: tuple[int, ...] = (5, 10)) -> Evaluation:
    """Search and measure."""
    evaluator = RetrievalEvaluator(ks)
    searched = asyncio.run(search_all(one, retriever(spec), evaluator.depth))
    return evaluator.measure([searched], one.id)
