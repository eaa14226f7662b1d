"""What `recallbench retrieval` wires together: data sets, retrievers, runs, evaluations."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.errors import InputError

if TYPE_CHECKING:
    from harness.adapters.memories.rankers import Ranked
    from harness.evaluation import Evaluation
    from harness.llm.models import Models
    from harness.naming import Spec
    from harness.retrieval.dataset import RetrievalSet
    from harness.retrieval.evaluator import RetrievalEvaluator, Searched
    from harness.retrieval.from_suite import Level
    from harness.suite import Suite


class Corpora(NamedTuple):
    """What is searched: one data set, or the cases of a suite with a corpus each.

    Attributes:
        name: what it is called.
        sets: the corpora, read when they are asked for.
        suite: the suite that they are of, or None.
        level: message, round or conversation, of a suite.
    """

    name: str
    sets: Callable[[], Iterator[RetrievalSet]]
    suite: Suite | None = None
    level: Level = "message"


def evaluate(
    corpora: Corpora, specs: Sequence[Spec], evaluator: RetrievalEvaluator, models: Models
) -> list[Evaluation]:
    """Return an evaluation for each system.

    Raises:
        InputError: for a system that is not there or cannot recall.
        EndpointError: when a model's endpoint cannot be reached.
    """
    return [_evaluate(corpora, spec, evaluator, models) for spec in specs]


def _evaluate(corpora: Corpora, spec: Spec, evaluator: RetrievalEvaluator, models: Models) -> Evaluation:
    from harness.retrieval.adapted import Adapted
    from harness.retrieval.evaluator import search_all
    from harness.retrieval.streams.naming import known_retrievers, make_retriever

    if corpora.suite is not None and spec.name not in known_retrievers():
        searched = _by_a_run(corpora, spec, evaluator.depth, models)
    else:

        async def search() -> list[Searched]:
            return [
                await search_all(data, make_retriever(spec, models) or Adapted(spec, models), evaluator.depth)
                for data in corpora.sets()
            ]

        searched = _unfailing(spec, search)
    return evaluator.measure(searched, corpora.name)


def _unfailing(spec: Spec, search: Callable[[], Coroutine[Any, Any, list[Searched]]]) -> list[Searched]:
    from harness.adapters.protocol import AgentFailure

    try:
        return asyncio.run(search())
    except AgentFailure as failure:
        raise InputError(f"--system {spec.text}: cannot take the memories in: {failure}.") from None


def _by_a_run(corpora: Corpora, spec: Spec, depth: int, models: Models) -> list[Searched]:
    """Let a memory system ingest the conversations of each case, as a run does, and rank what it recalls."""
    from harness.adapters.registry import find_adapter
    from harness.cli import running
    from harness.retrieval.evaluator import Found, Searched
    from harness.retrieval.from_suite import ranking_of, units_of
    from harness.runs.execute import execute
    from harness.runs.preparing import Entrant, Settings

    assert corpora.suite is not None
    entrant = Entrant(spec, find_adapter(spec))
    with tempfile.TemporaryDirectory(prefix="recallbench-retrieval-") as folder:
        with running.progress(spec.label) as tick:
            settings = Settings(limit=depth)
            done = asyncio.run(execute(corpora.suite, [entrant], settings, models, Path(folder), tick))
        run = done.folders[0]
        records = {record.case: record for record in run.records()}
    searched = []
    for data in corpora.sets():
        units = units_of(corpora.suite.get(data.queries[0].id).conversations(), corpora.level)
        found: dict[str, Found] = {}
        for query in data.queries:
            record = records.get(query.id)
            if record is not None and record.failure is not None:
                found[query.id] = Found((), 0.0, str(record.failure))
            elif record is not None and record.memories is None:
                raise InputError(f"--system {spec.text}: it answers and cannot recall: nothing to rank.")
            elif record is not None:
                refs = [memory.source_refs for memory in record.memories or ()]
                found[query.id] = Found(_ranked(ranking_of(refs, units)), record.timings.get("recall", 0.0))
        searched.append(Searched(data, found, spec.label, run.manifest.system.version, scored=False))
    return searched


def _ranked(ids: Sequence[str]) -> tuple[Ranked, ...]:
    """Return ids with scores that only keep their order: a system's own scores are per memory."""
    from harness.adapters.memories.rankers import Ranked

    return tuple(Ranked(id, 1.0 / rank) for rank, id in enumerate(ids, start=1))
