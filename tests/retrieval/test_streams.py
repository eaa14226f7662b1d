"""The streams one by one, and fused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.retrieval.dataset import StoredMemory
from harness.retrieval.streams import hashing
from tests.retrieval.corpus import found, memory, retriever

NOTES = (
    memory("boat", "The boat was sold to Wendell in May for $4,200."),
    memory("car", "Orla's car goes to the garage on Thursday."),
    memory("card", "The card number ends in 3327.", entities=("Orla Brandt", "Harbor Lane")),
    memory("bank", "They close at five on Fridays.", entities=("Harbor Lane",), links=("card",)),
    memory("lane", "A quiet street.", entities=("Lane",), raw="We met at the bakery with the zebra sign."),
    memory("index", "An index of everything.", links=("boat", "car", "card", "bank", "lane")),
)


@pytest.mark.parametrize(
    ("spec", "query", "ids"),
    [
        ("fts5", "Who bought the boat?", ["boat"]),
        ("fts5", "nobody knows", []),
        ("entities", "When does Harbor Lane close?", ["card", "bank"]),
        ("entities", "When does harbor  LANE-street close, Orla Brandt?", ["card", "bank"]),
        ("entities", "Which lane is quiet?", ["lane"]),
        ("entities", "When do they close?", []),
        ("links", "five on Fridays", ["index", "card"]),
        ("links", "nobody knows", []),
        ("raw", "Where is the zebra?", ["lane"]),
        ("raw", "A quiet street", []),
        ("raw", "Is there a giraffe?", []),
    ],
)
def test_what_a_stream_finds(spec: str, query: str, ids: list[str]) -> None:
    assert found(spec, NOTES, query)[: len(ids) or 1] == ids


def test_vectors_see_spelling_where_hashed() -> None:
    assert found("vector(embedder='hashing')", NOTES, "boats sold")[0] == "boat"
    assert found("vector(embedder='hashing', floor=0.9)", NOTES, "boats sold") == []
    assert retriever("vector(embedder='hashing')").lexical
    assert retriever("hybrid(embedder='hashing')").lexical
    assert not retriever("hybrid(streams='fts5,entities')").lexical, "it promises no sense"


@pytest.mark.parametrize(
    "query",
    ['boat"', "boat OR NOT AND", "boat* NEAR(", "text:boat", "-boat ^boat (", "'; DROP TABLE", "\x00boat"],
)
def test_no_operator_of_fts5_means_anything(query: str) -> None:
    for spec in ("fts5", "raw", "links", "hybrid(streams='fts5,raw,entities,links')"):
        found(spec, NOTES, query)
    assert "boat" in found("fts5", NOTES, f"{query} boat")


@given(st.text(max_size=60))
def test_any_query_is_answered(query: str) -> None:
    found("hybrid(streams='fts5,raw,entities,links,vector', embedder='hashing')", NOTES, query)


@pytest.mark.parametrize("stream", ["entities", "links", "raw"])
@pytest.mark.parametrize("query", ["Who bought the boat?", "quiet street", "Thursday"])
def test_a_stream_that_finds_nothing_changes_nothing(stream: str, query: str) -> None:
    bare = tuple(StoredMemory(it.id, it.content) for it in NOTES)
    both = found(f"hybrid(streams='fts5,{stream}')", bare, query)
    assert both == found("fts5", bare, query)


def test_a_page_that_links_to_everything_says_little() -> None:
    around = found("links(seeds=1)", NOTES, "five on Fridays")
    assert around == ["card", "index"] or around == ["index", "card"]
    hub = found("links(seeds=1)", NOTES, "an index of everything")
    assert set(hub) == {"boat", "car", "card", "bank", "lane"}


def test_fusion_is_by_ranks_weights_and_k() -> None:
    plain = found("hybrid(streams='fts5,entities')", NOTES, "the boat and Harbor Lane")
    assert plain[0] in ("card", "boat")
    words = found("hybrid(streams='fts5,entities', weights='1,0')", NOTES, "the boat and Harbor Lane")
    assert words[:1] == found("fts5", NOTES, "the boat and Harbor Lane")[:1]
    entities = found("hybrid(streams='fts5,entities', weights=[0, 1])", NOTES, "the boat and Harbor Lane")
    assert set(entities[:2]) == {"card", "bank"}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("hybrid(streams='fts5,magic')", "streams="),
        ("hybrid(streams='links')", "streams="),
        ("hybrid(streams='fts5,fts5')", "streams="),
        ("hybrid(weights='1')", "weights are 2 numbers"),
        ("hybrid(weights='1,-1')", "weights are 2 numbers"),
        ("hybrid(weights='1,inf')", "weights are 2 numbers"),
        ("hybrid(k=1e999)", "finite"),
        ("hybrid(k=-2)", "greater than -1"),
        ("fts5(limit=3)", "Options: none"),
        ("links(of='magic')", "finds nothing"),
        ("vector(embedder='endpoint')", "needs embedding_model"),
        ("vector(embedder='nope')", "embedder"),
    ],
)
def test_options_that_do_not_fit(spec: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        retriever(spec)


async def unit(text: str) -> list[float]:
    return (await hashing.embed([text]))[0]


def test_hashed_vectors_are_the_same_everywhere() -> None:
    import asyncio

    vector = asyncio.run(unit("Harbor Lane"))
    assert vector == asyncio.run(unit("harbor  lane"))
    assert sum(value * value for value in vector) == pytest.approx(1)
    assert [at for at, value in enumerate(vector) if value][:3] == FIRST
    assert asyncio.run(unit("…")) == [0.0] * hashing.DIMENSIONS


FIRST = [71, 111, 113]
