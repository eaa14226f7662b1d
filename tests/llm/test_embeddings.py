from __future__ import annotations

import asyncio
import base64
import json
import math
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.errors import EndpointError
from harness.llm.cassette import Cassette
from harness.llm.chat_reply import RawReply
from harness.llm.client import ATTEMPTS
from harness.llm.embedding_reply import read_embeddings
from harness.llm.embeddings import BATCH, EmbeddingModel
from harness.llm.endpoint import Endpoint
from harness.llm.exchange import Unanswered, Unrecorded
from harness.llm.line import TRIES
from harness.llm.models import Models, ModelSettings
from harness.llm.replies import ReplyError
from tests.model_server import Server
from tests.model_server.embedding import DIMENSIONS, vector

KEY = "sk-test-0123456789abcdef"
NOBODY = "http://127.0.0.1:1/v1"
ABOUT_EMBEDDINGS = {"route": "embeddings"}


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "c.sqlite"


async def embedded(
    base_url: str, texts: Sequence[str], cassette: Path | None = None, mode: Any = "auto", **options: Any
) -> list[list[float]]:
    endpoint = Endpoint("custom", base_url, "embed-small", "THE_KEY", KEY, "embed-small")
    with Cassette(cassette, mode) as store:
        async with EmbeddingModel(endpoint, store, **options) as model:
            return await model.embed(texts)


def embed(*given: Any, **options: Any) -> list[list[float]]:
    return asyncio.run(embedded(*given, **options))


def kept(path: Path) -> int:
    with Cassette(path, "replay") as store:
        return len(store)


def inputs(server: Server) -> list[list[str]]:
    return [call["input"] for call in server.requests()]


TEXTS = [f"The tuner comes on day {number}." for number in range(150)]


def test_each_text_gets_its_own_vector_in_order(server: Server) -> None:
    assert embed(server.base_url, TEXTS) == [pytest.approx(vector(text)) for text in TEXTS]
    assert sorted(map(len, inputs(server))) == [22, BATCH, BATCH]


def test_nothing_is_asked_about_nothing(server: Server) -> None:
    assert embed(server.base_url, []) == []
    assert server.stats()["embeddings"] == 0


def test_a_text_that_comes_twice_is_asked_about_once(server: Server) -> None:
    first, second, third = embed(server.base_url, ["a", "b", "a"])
    assert first == third != second
    assert inputs(server) == [["a", "b"]]


def test_only_what_the_cassette_lacks_goes_over_the_wire(server: Server, tape: Path) -> None:
    embed(server.base_url, TEXTS[:10], tape)
    again = embed(server.base_url, TEXTS[5:12], tape)
    assert again == [pytest.approx(vector(text)) for text in TEXTS[5:12]]
    assert inputs(server) == [TEXTS[:10], TEXTS[10:12]]
    assert kept(tape) == 12


def test_a_replay_calls_nobody_and_gives_the_same_from_any_address(server: Server, tape: Path) -> None:
    first = embed(server.base_url, TEXTS, tape)
    assert embed(NOBODY, TEXTS[::-1], tape, "replay") == first[::-1]


def test_a_replay_says_what_is_missing(server: Server, tape: Path) -> None:
    embed(server.base_url, ["a"], tape)
    with pytest.raises(Unrecorded, match=r"no vector of embed-small for 2 of 3 texts, the first: b\."):
        embed(NOBODY, ["a", "b", "c"], tape, "replay")


def test_a_half_pair_has_a_vector(server: Server, tape: Path) -> None:
    assert len(embed(server.base_url, ["half \ud83d"], tape)) == 1
    assert len(embed(NOBODY, ["half \ud83d"], tape, "replay")) == 1


# Trouble on the way


@pytest.mark.parametrize(
    "fault", ["drop", "drop_mid_body", {"rate_limited": {"retry_after": 0.01}}, "status=503"]
)
def test_trouble_that_passes_is_not_seen(server: Server, tape: Path, fault: Any) -> None:
    fault = {"status": {"code": 503}} if fault == "status=503" else fault
    server.set_faults([{"when": {**ABOUT_EMBEDDINGS, "first": 2}, "do": fault}])
    assert embed(server.base_url, ["a", "b"], tape) == [pytest.approx(vector(text)) for text in "ab"]
    assert server.stats()["embeddings"] == 3
    assert kept(tape) == 2


def test_trouble_that_stays_is_unanswered_and_not_stored(server: Server, tape: Path) -> None:
    server.set_faults([{"when": ABOUT_EMBEDDINGS, "do": {"status": {"code": 503}}}])
    with pytest.raises(Unanswered) as failed:
        embed(server.base_url, ["a"], tape)
    assert failed.value.error.kind == "server_error"
    assert server.stats()["embeddings"] == TRIES
    assert kept(tape) == 0


def test_what_other_batches_brought_is_kept_when_one_fails(server: Server, tape: Path) -> None:
    server.set_faults([{"when": {**ABOUT_EMBEDDINGS, "after": 1}, "do": {"status": {"code": 500}}}])
    with pytest.raises(Unanswered):
        embed(server.base_url, TEXTS, tape, concurrency=1)
    assert kept(tape) == BATCH


@pytest.mark.parametrize(
    ("code", "said"), [(401, "Check the key in THE_KEY"), (402, "Top up"), (404, "has /embeddings")]
)
def test_a_refusal_of_everything_stops_the_run(server: Server, code: int, said: str) -> None:
    server.set_faults([{"when": ABOUT_EMBEDDINGS, "do": {"status": {"code": code, "message": f"No: {KEY}"}}}])
    with pytest.raises(EndpointError, match=said) as stopped:
        embed(server.base_url, TEXTS, concurrency=1)
    assert KEY not in str(stopped.value)


def test_an_address_where_nobody_is_stops_the_run() -> None:
    with pytest.raises(EndpointError, match="cannot be reached"):
        embed(NOBODY, ["a"])


def test_a_wait_that_is_too_long_stops_the_run(server: Server) -> None:
    server.set_faults([{"when": ABOUT_EMBEDDINGS, "do": {"rate_limited": {"retry_after": 4000}}}])
    with pytest.raises(EndpointError, match="asks to wait 4000 s"):
        embed(server.base_url, ["a"])


def test_the_requests_in_flight_are_bounded(server: Server) -> None:
    embed(server.url("delay=5"), [f"text {number}" for number in range(BATCH * 9)], concurrency=3)
    assert 1 < server.stats()["max_in_flight"] <= 3


# Wrong replies, from a server that says what it is told


class Heard(NamedTuple):
    result: Any
    sizes: list[int]


def from_scripted(reply: Any, texts: Sequence[str], cassette: Path | None = None) -> Heard:
    """Embed texts at a server that answers with `reply(texts)`: a status and a body."""
    from aiohttp import web

    sizes: list[int] = []

    async def answer(request: web.Request) -> web.Response:
        asked = (await request.json())["input"]
        sizes.append(len(asked))
        status, body = reply(asked)
        return web.Response(status=status, text=json.dumps(body), content_type="application/json")

    async def run() -> Any:
        app = web.Application()
        app.router.add_post("/v1/embeddings", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            port = runner.addresses[0][1]
            return await embedded(f"http://127.0.0.1:{port}/v1", texts, cassette)
        except (Unanswered, EndpointError) as error:
            return error
        finally:
            await runner.cleanup()

    return Heard(asyncio.run(run()), sizes)


def good(texts: Sequence[str], dimensions: int = 4) -> dict[str, Any]:
    data = [
        {"index": at, "embedding": [float(len(text)), 1.0, *[0.0] * (dimensions - 2)]}
        for at, text in enumerate(texts)
    ]
    return {"data": data, "model": "m"}


def test_a_server_that_takes_few_texts_at_once_is_served(server: Server) -> None:
    def few(texts: Sequence[str]) -> tuple[int, Any]:
        if len(texts) > 16:
            return 413, {"error": {"message": f"batch size {len(texts)} > maximum allowed batch size 16"}}
        return 200, good(texts)

    got = from_scripted(few, TEXTS[:64])
    assert [vector[0] for vector in got.result] == [len(text) for text in TEXTS[:64]]
    assert got.sizes == [64, 32, 16, 16, 32, 16, 16]


def test_a_text_that_is_too_long_is_named_and_its_refusal_repeated(server: Server, tape: Path) -> None:
    def short_only(texts: Sequence[str]) -> tuple[int, Any]:
        if any(len(text) > 50 for text in texts):
            return 400, {
                "error": {
                    "message": "This model's maximum context length is 50.",
                    "code": "context_length_exceeded",
                }
            }
        return 200, good(texts)

    texts = ["a", "b", "c", "Long " * 20]
    got = from_scripted(short_only, texts, tape)
    assert isinstance(got.result, Unanswered)
    assert got.result.error.kind == "context_length"
    assert "Long Long" in got.result.error.message
    assert kept(tape) == 4
    with pytest.raises(Unanswered, match="context_length"):
        embed(NOBODY, texts, tape, "replay")


def test_a_reply_that_is_wrong_is_asked_for_again(server: Server) -> None:
    bodies = iter([{"data": []}, good(["a"])])
    got = from_scripted(lambda texts: (200, next(bodies)), ["a"])
    assert got.result == [[1.0, 1.0, 0.0, 0.0]]
    assert got.sizes == [1, 1]


def test_a_reply_that_stays_wrong_is_unanswered_and_repeated(server: Server, tape: Path) -> None:
    got = from_scripted(lambda texts: (200, {"data": []}), ["a"], tape)
    assert isinstance(got.result, Unanswered)
    assert got.sizes == [1] * ATTEMPTS
    with pytest.raises(Unanswered, match="0 vectors for 1 texts"):
        embed(NOBODY, ["a"], tape, "replay")


def test_vectors_of_another_length_are_not_taken(server: Server, tape: Path) -> None:
    from_scripted(lambda texts: (200, good(texts, 4)), ["a"], tape)
    got = from_scripted(lambda texts: (200, good(texts, 6)), ["a", "b"], tape)
    assert isinstance(got.result, Unanswered)
    assert "differ in length" in got.result.error.message


def item(embedding: Any, index: Any = 0) -> dict[str, Any]:
    return {"index": index, "embedding": embedding}


def packed(values: Sequence[float]) -> str:
    return base64.b64encode(array("f", values).tobytes()).decode()


WRONG: dict[str, tuple[Any, str]] = {
    "too few": ([item([1.0])], "bad_shape"),
    "too many": ([item([1.0], at) for at in range(3)], "bad_shape"),
    "one twice": ([item([1.0]), item([2.0])], "bad_shape"),
    "an index beyond": ([item([1.0]), item([2.0], 2)], "bad_shape"),
    "an index that is none": ([item([1.0]), item([2.0], True)], "bad_shape"),
    "lengths differ": ([item([1.0]), item([1.0, 2.0], 1)], "bad_shape"),
    "empty": ([item([1.0]), item([], 1)], "bad_shape"),
    "zeros": ([item([1.0]), item([0.0], 1)], "bad_shape"),
    "none": ([item([1.0]), item(None, 1)], "bad_shape"),
    "texts": ([item([1.0]), item(["1"], 1)], "bad_shape"),
    "truths": ([item([1.0]), item([True], 1)], "bad_shape"),
    "no item": ([item([1.0]), "x"], "bad_shape"),
    "nan": ([item([1.0]), item([math.nan], 1)], "not_finite"),
    "infinite": ([item([1.0]), item([math.inf], 1)], "not_finite"),
    "huge": ([item([1.0]), item([10**400], 1)], "not_finite"),
    "no base64": ([item([1.0]), item("?", 1)], "bad_shape"),
    "half a float": ([item([1.0]), item("AAAAAAA=", 1)], "bad_shape"),
    "nan in base64": ([item([1.0]), item(packed([math.nan]), 1)], "not_finite"),
    "no list": ({"0": [1.0]}, "provider_error"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_vector_for_each_text_is_an_error(name: str) -> None:
    data, kind = WRONG[name]
    with pytest.raises(ReplyError) as wrong:
        read_embeddings(RawReply(200, {}, {"data": data}), 2)
    assert wrong.value.kind == kind


def test_vectors_go_by_their_index_and_may_be_packed() -> None:
    body = {"data": [item(packed([0.5, -2.0]), 1), item([1, 0.25], 0)]}
    found = read_embeddings(RawReply(200, {}, body), 2)
    assert [one.vector for one in found] == [[1.0, 0.25], [0.5, -2.0]]


def test_an_error_with_status_200_is_an_error() -> None:
    with pytest.raises(ReplyError) as wrong:
        read_embeddings(RawReply(200, {}, {"error": {"code": 429, "message": "Slow down."}}), 1)
    assert wrong.value.kind == "rate_limited"


def test_packed_vectors_are_stored_and_replayed(server: Server, tape: Path) -> None:
    body = {"data": [item(packed([0.5, -2.0]))]}
    assert from_scripted(lambda texts: (200, body), ["a"], tape).result == [[0.5, -2.0]]
    assert embed(NOBODY, ["a"], tape, "replay") == [[0.5, -2.0]]


def test_a_run_finds_its_embedder_by_name(server: Server, tape: Path) -> None:
    async def run() -> list[list[float]]:
        models = Models(ModelSettings(cassette=str(tape)), {})
        try:
            model = models.embedder(f"embed-small@{server.base_url}")
            assert model is models.embedder(f"embed-small@{server.base_url}")
            return await model.embed(["a"])
        finally:
            await models.close()

    assert len(asyncio.run(run())[0]) == DIMENSIONS
