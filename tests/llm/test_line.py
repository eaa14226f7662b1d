"""The policy itself, and what chat and embeddings make of a refused form."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.errors import EndpointError
from harness.llm.cassette import Cassette
from harness.llm.chat_reply import RawReply
from harness.llm.client import ChatModel
from harness.llm.embeddings import EmbeddingModel
from harness.llm.endpoint import Endpoint
from harness.llm.exchange import BudgetSpent, ChatRequest, Unanswered
from harness.llm.line import BUSY_TRIES, FIRST_TRIES, TRIES, Advice, Line
from harness.llm.replies import read_text
from harness.llm.reply_error import ReplyError
from tests.model_server import Server

KEY = "sk-test-0123456789abcdef"
NOBODY = "http://127.0.0.1:1/v1"
ROUTE = "/chat/completions"
ADVICE = Advice("as an oracle", "the wires", "Mend the key.", "Mend the rest.")
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "Which tea?"}], "max_tokens": 64}


def endpoint_at(base_url: str, key: str | None = KEY) -> Endpoint:
    return Endpoint("custom", base_url, "m", "THE_KEY" if key else None, key, "m")


def line_to(base_url: str, *, keeps: bool = False, key: str | None = KEY, concurrency: int = 4) -> Line:
    return Line(endpoint_at(base_url, key), ROUTE, ADVICE, keeps=keeps, concurrency=concurrency, timeout_s=10)


def results(
    line: Line,
    times: int = 1,
    body: Callable[[], Mapping[str, Any]] = lambda: REQUEST,
    read: Callable[[RawReply], Any] = read_text,
) -> list[Any]:
    """Ask several times, one after the other."""

    async def run() -> list[Any]:
        try:
            told: list[Any] = []
            for _ in range(times):
                told += await asyncio.gather(line.ask(body, read), return_exceptions=True)
            return told
        finally:
            await line.close()

    return asyncio.run(run())


# The words when a run stops. A tail says what is kept, where something is.
STOPPED: dict[str, tuple[Any, str, str]] = {
    "auth": ("unauthorized", " Mend the key.", ""),
    "quota": ("payment_required", " Top up the account, or choose another provider.", ""),
    "another": ("model_not_found", " Mend the rest.", ""),
    "pause": ({"rate_limited": {"retry_after": 4000}}, ").", " Run the same command again later."),
    "stranger": (
        {"bad_gateway": {"code": 200}},
        " Check the wires, and that the server runs.",
        "",
    ),
}


@pytest.mark.parametrize(("keeps", "kept"), [(True, " What is finished is kept."), (False, "")])
@pytest.mark.parametrize("why", STOPPED)
def test_a_run_that_stops_tells_the_user_what_to_do(server: Server, why: str, keeps: bool, kept: str) -> None:
    fault, mend, last = STOPPED[why]
    server.set_faults([{"do": fault}])
    [error] = results(line_to(server.base_url, keeps=keeps))
    assert isinstance(error, EndpointError)
    assert str(error).startswith("custom/m: ")
    assert str(error).endswith(f"{mend}{kept}{last}")


def test_a_stranger_is_told_from_a_place_where_nobody_is(server: Server) -> None:
    server.set_faults([{"do": {"bad_gateway": {"code": 200}}}])
    [stranger] = results(line_to(server.base_url))
    assert f"custom/m: answers, but not as an oracle, at {server.base_url}: " in str(stranger)
    [nobody] = results(line_to(NOBODY))
    assert f"custom/m: cannot be reached at {NOBODY}: " in str(nobody)


def test_without_a_key_the_user_hears_that_none_was_sent(server: Server) -> None:
    server.set_faults([{"do": "unauthorized"}])
    [error] = results(line_to(server.base_url, key=None))
    assert "No key was sent" in str(error)
    assert "Mend" not in str(error)


@pytest.mark.parametrize(
    ("fault", "tries"),
    [("server_error", TRIES), ("overloaded", BUSY_TRIES), ({"bad_gateway": {"code": 200}}, FIRST_TRIES)],
    ids=["server_error", "overloaded", "never answered"],
)
def test_a_request_is_made_anew_for_each_try(server: Server, fault: Any, tries: int) -> None:
    made = 0

    def body() -> Mapping[str, Any]:
        nonlocal made
        made += 1
        return {**REQUEST, "seed": made}

    server.set_faults([{"do": fault}])
    results(line_to(server.base_url), body=body)
    assert [sent["seed"] for sent in server.requests()] == list(range(1, tries + 1))


def test_a_request_is_made_when_its_turn_has_come(server: Server) -> None:
    replies = 0
    known: list[int] = []

    def body() -> Mapping[str, Any]:
        known.append(replies)
        return REQUEST

    async def run() -> None:
        nonlocal replies
        line = line_to(server.base_url, concurrency=1)

        async def one() -> None:
            nonlocal replies
            await line.ask(body, read_text)
            replies += 1

        try:
            await asyncio.gather(*(one() for _ in range(4)))
        finally:
            await line.close()

    asyncio.run(run())
    assert known == [0, 1, 2, 3]


def test_what_making_a_request_raises_ends_the_asking_and_frees_the_place(server: Server) -> None:
    def broke() -> Mapping[str, Any]:
        raise BudgetSpent("Nothing left.")

    line = line_to(server.base_url, concurrency=1)
    assert [type(error) for error in results(line, times=2, body=broke)] == [BudgetSpent] * 2
    assert line.slots.in_use == 0
    assert server.stats()["chat"] == 0


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("unsupported_max_tokens", "unsupported_param"), ("unsupported_json_object", "unsupported_format")],
)
def test_a_refused_form_is_not_sent_again(server: Server, fault: str, kind: str) -> None:
    server.set_faults([{"do": fault}])
    line = line_to(server.base_url)
    request = {**REQUEST, "response_format": {"type": "json_object"}}
    told = results(line, times=4, body=lambda: request)
    assert [error.kind for error in told] == [kind] * 4  # and never a server that is not there
    assert server.stats()["chat"] == 4
    assert (line.slots.limit, line.slots.in_use) == (4, 0)


def test_a_reply_that_cannot_be_used_arrived_all_the_same(server: Server) -> None:
    def unusable(raw: RawReply) -> str:
        raise ReplyError("bad_shape", "No tea is in it.")

    [arrived] = results(line_to(server.base_url), read=unusable)
    assert arrived.reading.kind == "bad_shape"
    assert arrived.raw.status == 200
    assert arrived.raw.body["choices"]
    assert server.stats()["chat"] == 1


@pytest.mark.parametrize("kind", ["bad_request", "server_error"])
def test_a_key_that_only_reading_brings_to_light_is_hidden(server: Server, kind: str) -> None:
    def escaped(raw: RawReply) -> str:
        raise ReplyError(kind, f"Wrong: Bearer {KEY}")

    [told] = results(line_to(server.base_url), read=escaped)
    error = told if isinstance(told, ReplyError) else told.reading
    assert error.message == "Wrong: Bearer [key]"
    assert KEY not in f"{error} {error!r}"


# Those who stand on it


def test_chat_tries_other_forms_and_not_for_ever(server: Server) -> None:
    names = [f"option_{number}" for number in range(9)]
    server.set_faults([{"do": [{"unsupported_param": name} for name in names]}])
    request = ChatRequest(({"role": "user", "content": "Which tea?"},), None, dict.fromkeys(names, 1))

    async def run() -> None:
        with Cassette(None) as store:
            async with ChatModel(endpoint_at(server.base_url), store) as model:
                await model.ask(request)

    with pytest.raises(EndpointError, match="refused 8 forms of the same request"):
        asyncio.run(run())
    assert server.stats()["chat"] == 8


def test_embeddings_know_no_other_form_and_keep_the_refusal(server: Server, tmp_path: Path) -> None:
    server.set_faults([{"when": {"route": "embeddings"}, "do": {"unsupported_param": "input"}}])

    async def run() -> int:
        with Cassette(tmp_path / "c.sqlite") as store:
            async with EmbeddingModel(endpoint_at(server.base_url), store) as model:
                with pytest.raises(Unanswered, match="bad_request"):
                    await model.embed(["tea"])
            return len(store)

    assert asyncio.run(run()) == 1
    assert server.stats()["embeddings"] == 1
