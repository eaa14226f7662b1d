"""Probes that only one stream recovers, and what no stream may drag in."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from harness.retrieval.dataset import Query, RetrievalSet
from harness.retrieval.evaluator import search_all
from harness.retrieval.loading import load_retrieval
from harness.retrieval.streams.fused import SEEDS
from tests.retrieval.corpus import retriever

FOLDER = Path(__file__).parents[2] / "fixtures" / "retrieval"
RESCUE, SMOKE = (load_retrieval(FOLDER / f"{name}.json")[0] for name in ("rescue", "smoke"))
K = 5
STREAMS = ("entities", "links", "raw")
ALL = ("fts5", "vector", *STREAMS)
MEMORIES = {memory.id: memory for memory in RESCUE.memories}
PROBES = [query for query in RESCUE.queries if query.needs]
TRAPS = [query for query in RESCUE.queries if query.unwanted]
GATED = [query for query in RESCUE.queries if "gated" in query.tags]

STILL_OPEN: dict[str, str] = {}
"""Traps that the streams still step into, with the reason."""


@cache
def rankings(data: str, *streams: str) -> dict[str, list[str]]:
    """Return what is found for every query, by its id."""
    one = {"rescue": RESCUE, "smoke": SMOKE}[data]
    system = f"hybrid(streams='{','.join(streams)}', embedder='hashing')" if len(streams) > 1 else streams[0]
    searched = asyncio.run(search_all(one, retriever(system), len(one.memories)))
    assert not any(found.failure for found in searched.found.values())
    return {id: [result.id for result in found.results] for id, found in searched.found.items()}


def top(query: Query, *streams: str) -> set[str]:
    return set(rankings("rescue", *streams)[query.id][:K])


def without(stream: str) -> tuple[str, ...]:
    return tuple(name for name in ALL if name != stream)


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.casefold()))


def all_text(one: RetrievalSet) -> set[str]:
    return set().union(*(words(memory.text) for memory in one.memories))


def test_there_are_enough_of_each() -> None:
    needs = Counter(query.needs for query in PROBES)
    assert set(needs) == set(STREAMS)
    assert min(needs.values()) >= 4
    assert len(TRAPS) - len(STILL_OPEN) >= 4
    assert {tag for query in TRAPS for tag in query.tags} == {"trap", *STREAMS}
    assert any(query.negative for query in TRAPS)
    assert len(RESCUE.memories) >= 40
    assert set(STILL_OPEN) <= {query.id for query in TRAPS}


@pytest.mark.parametrize("query", PROBES, ids=lambda query: query.id)
def test_a_probe_fails_without_its_stream_and_passes_with_it(query: Query) -> None:
    (wanted,) = query.grades
    assert wanted not in top(query, "fts5")
    assert wanted in top(query, "fts5", query.needs)
    assert wanted not in top(query, *without(query.needs))


@pytest.mark.parametrize("query", PROBES, ids=lambda query: query.id)
def test_no_other_stream_recovers_it(query: Query) -> None:
    (wanted,) = query.grades
    for stream in {*STREAMS, "vector"} - {query.needs}:
        assert wanted not in top(query, "fts5", stream), stream


@pytest.mark.parametrize("query", [one for one in PROBES if one.needs == "links"], ids=lambda query: query.id)
def test_a_link_probe_is_answered_by_a_page_that_what_is_found_links_to(query: Query) -> None:
    (wanted,) = query.grades
    seeds = rankings("rescue", "fts5")[query.id][:SEEDS]
    assert any(wanted in MEMORIES[seed].links for seed in seeds)


@pytest.mark.parametrize(
    "query", [one for one in PROBES if one.needs == "entities"], ids=lambda query: query.id
)
def test_the_entity_of_a_probe_stands_in_no_text(query: Query) -> None:
    (wanted,) = query.grades
    named = [entity for entity in MEMORIES[wanted].entities if words(entity) <= words(query.text)]
    assert named
    texts = "\n".join(f"{memory.text}\n{memory.raw}" for memory in RESCUE.memories).casefold()
    assert not any(entity.casefold() in texts for entity in named)


@pytest.mark.parametrize("query", [one for one in PROBES if one.needs == "raw"], ids=lambda query: query.id)
def test_a_word_of_a_raw_probe_stands_in_one_raw_message_only(query: Query) -> None:
    (wanted,) = query.grades
    telling = words(query.text) & words(MEMORIES[wanted].raw) - all_text(RESCUE)
    others = [words(memory.raw) for memory in RESCUE.memories if memory.id != wanted]
    assert any(not any(word in other for other in others) for word in telling)


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(
            query,
            id=query.id,
            marks=pytest.mark.xfail(reason=STILL_OPEN[query.id]) if query.id in STILL_OPEN else (),
        )
        for query in TRAPS
    ],
)
def test_what_is_unwanted_stays_out(query: Query) -> None:
    assert not top(query, *ALL) & query.unwanted
    for stream in STREAMS:
        assert not top(query, "fts5", stream) & query.unwanted, stream


@pytest.mark.parametrize("query", TRAPS, ids=lambda query: query.id)
def test_keyword_search_steps_into_no_trap(query: Query) -> None:
    assert not top(query, "fts5") & query.unwanted
    assert query.negative or top(query, "fts5") & set(query.grades)


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("query", GATED, ids=lambda query: query.id)
def test_a_stream_that_is_irrelevant_leaves_the_ranking_identical(query: Query, stream: str) -> None:
    off, on = (rankings("rescue", *streams)[query.id] for streams in (("fts5",), ("fts5", stream)))
    assert on == off
    assert set(off[:K]) >= set(query.grades)


@pytest.mark.parametrize("stream", ["entities", "raw"])
@pytest.mark.parametrize("query", GATED, ids=lambda query: query.id)
def test_among_all_the_streams_too(query: Query, stream: str) -> None:
    assert rankings("rescue", *ALL)[query.id] == rankings("rescue", *without(stream))[query.id]


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("query", SMOKE.queries, ids=lambda query: query.id)
def test_where_a_corpus_has_nothing_for_a_stream_it_changes_nothing(query: Query, stream: str) -> None:
    assert rankings("smoke", "fts5", stream)[query.id] == rankings("smoke", "fts5")[query.id]
    assert rankings("smoke", *ALL)[query.id] == rankings("smoke", *without(stream))[query.id]
