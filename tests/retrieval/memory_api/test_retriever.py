"""The retriever against a server on loopback that behaves as such servers do."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Sequence
from typing import Any

import pytest

from harness.adapters.protocol import AgentFailure
from harness.errors import EndpointError, HarnessError, InputError
from harness.llm.models import Models, ModelSettings
from harness.naming import parse_spec
from harness.retrieval.dataset import StoredMemory
from harness.retrieval.streams.naming import make_retriever
from tests.adapters.connectors.servers.serving import Reply, Running, serve
from tests.retrieval.memory_api.server import KEY, MemoryServer, running

MEMORIES = (
    StoredMemory("boat", "The boat was sold to Wendell in May.", type="event"),
    StoredMemory("car", "Orla's car goes to the garage on Thursday."),
    StoredMemory("card", "The card number ends in 3327.", title="Cards", type="status"),
    StoredMemory("bank", "The bank closes at five on Fridays.", type="preference"),
)
QUERIES = ("Who bought the boat?", "car garage", "which card number", "when closes the bank")
MANY = tuple(StoredMemory(f"n{at}", f"Note {at} on the colour c{at}.") for at in range(30))


class Used:
    """What a run gave: ids by query, or the failure of the query."""

    def __init__(self) -> None:
        self.found: list[list[str] | AgentFailure] = []
        self.version = ""
        self.scored = False


def use(
    where: Running | str,
    memories: Sequence[StoredMemory] = MEMORIES,
    queries: Sequence[str] = QUERIES,
    key: str = KEY,
    **options: Any,
) -> Used:
    url = where if isinstance(where, str) else where.url
    written = "".join(f", {name}={value!r}" for name, value in {"ready_within": 5, **options}.items())
    models = Models(ModelSettings(), {"MEMORY_API_KEY": key})
    used = Used()

    async def run() -> None:
        made = make_retriever(parse_spec(f"memory_api(url={url!r}{written})", "--system"), models)
        assert made is not None
        try:
            await made.fill(memories)
            for query in queries:
                try:
                    used.found.append([one.id for one in await made.search(query, 10)])
                except AgentFailure as failure:
                    used.found.append(failure)
        finally:
            await made.close()
        used.version, used.scored = made.version, made.scored

    asyncio.run(run())
    return used


def firsts(used: Used) -> list[str]:
    return [ids[0] for ids in used.found if isinstance(ids, list)]


@pytest.mark.parametrize(
    "server",
    [
        MemoryServer(),
        MemoryServer(lag=25),
        MemoryServer(own_ids=True, names_ids=True),
        MemoryServer(own_ids=True, lag=6),
        MemoryServer(own_ids=True, shows_key=False),
    ],
    ids=["plain", "lag", "own ids, named", "own ids, by key", "own ids, by text"],
)
def test_what_it_finds_and_what_it_leaves(server: MemoryServer, caplog: pytest.LogCaptureFixture) -> None:
    server.add("theirs", client_id="user-7", type="fact", content="The boat of Wendell.", key="boat")
    with running(server) as where:
        used = use(where)
    assert firsts(used) == ["boat", "car", "card", "bank"]
    assert not any("?" in id for ids in used.found if isinstance(ids, list) for id in ids)
    assert [record.id for record in server.left] == ["theirs"]
    assert not caplog.records
    assert used.version.endswith(": 4 imported, 0 skipped, 0 errors")


@pytest.mark.parametrize("unscored", [set(), {MEMORIES[0].content}], ids=["all", "all but one"])
def test_whether_its_results_have_scores(unscored: set[str]) -> None:
    with running(MemoryServer(unscored=unscored)) as where:
        used = use(where)
    assert used.scored == (not unscored)
    assert firsts(used)[0] == "boat"


def test_the_requests_it_makes() -> None:
    server = MemoryServer()
    memory = StoredMemory("a", "Tea.", type="decision", metadata={"subject": "tea", "importance": "high"})
    odd = StoredMemory("b", "Coffee.", type="mood", metadata={"subject": 7, "importance": "huge"})
    with running(server) as where:
        use(where, (memory, odd), ("tea? & client_id=x",), fields={"source_agent": "bench"}, key_prefix="p/")
    (posted,) = [one for one in where.requests if one.method == "POST"]
    first, second = posted.body["data"]
    client = first["client_id"]
    assert client.startswith("recallbench-")
    assert len(client) == len("recallbench-") + 32
    known = {"client_id": client, "source_agent": "bench"}
    assert first == {
        **known, "id": first["id"], "type": "decision", "content": "Tea.", "key": "p/a", "subject": "tea",
        "importance": "high",
    }  # fmt: skip
    assert second == {**known, "id": second["id"], "type": "fact", "content": "Coffee.", "key": "p/b"}
    *_, asked = [one for one in where.requests if one.method == "GET"]
    assert asked.query == {
        "q": "tea? & client_id=x", "limit": "10", "format": "index", "client_id": client, "read_only": "true",
    }  # fmt: skip
    assert {one.headers["x-api-key"] for one in where.requests} == {KEY}


def test_every_run_has_a_client_of_its_own() -> None:
    server = MemoryServer()
    with running(server) as where:
        use(where)
        use(where)
    assert len({record.data["client_id"] for record in server.records.values()}) == 2
    assert not server.left


def test_imports_stay_under_both_limits() -> None:
    server = MemoryServer(max_bytes=1500, max_records=7)
    wide = tuple(StoredMemory(f"w{at}", f"w{at} " + "ü" * 90) for at in range(12))
    with running(server) as where:
        use(where, MANY + wide, ("c3",), max_bytes=1500, max_records=7)
    posted = [one for one in where.requests if one.method == "POST"]
    assert sum(len(one.body["data"]) for one in posted) == 42
    assert not server.left


def test_the_usual_limits_are_500_records_and_a_megabyte() -> None:
    from harness.retrieval.memory_api import MemoryApiOptions
    from harness.retrieval.memory_api.records import chunks_of

    options = MemoryApiOptions(url="http://x")
    small = [StoredMemory(f"m{at}", "text") for at in range(1201)]
    assert [len(chunk.memories) for chunk in chunks_of(small, "c", options)] == [500, 500, 201]
    large = [StoredMemory(f"m{at}", "ü" * 100_000) for at in range(11)]
    chunks = chunks_of(large, "c", options)
    assert [len(chunk.memories) for chunk in chunks] == [4, 4, 3]
    assert all(len(chunk.body) <= 1_000_000 for chunk in chunks)


@pytest.mark.parametrize(
    ("server", "told"),
    [
        (MemoryServer(miscount=1), r"4 records sent, 3 imported, 0 skipped, 0 errors: that does not add up"),
        (MemoryServer(miscount=-1), r"5 imported, 0 skipped, 0 errors: that does not add up"),
        (MemoryServer(max_bytes=300), r"413: request entity too large"),
        (
            MemoryServer(lag=10_000),
            r"does not find 4 of the memories looked for \(boat, car, card, bank\), 0\.05",
        ),
        (MemoryServer(writes=0, retry_after="3600"), r"429: too many requests \(it asks to wait 3600 s"),
        (MemoryServer(writes=0, retry_after="0.001"), r"429: too many requests \(asked 6 times\)"),
        (MemoryServer(degraded={"boat"}), r"does not find 1 .*it said: .*the vector index does not answer"),
    ],
    ids=["too few", "too many", "too large", "never indexed", "long pause", "busy for good", "degraded"],
)
def test_what_ends_the_filling_and_is_cleaned_up(
    server: MemoryServer, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    with running(server) as where, pytest.raises(AgentFailure, match=told):
        use(where, ready_within=0.05)
    assert not server.left
    assert not caplog.records


def test_errors_of_records_are_named_and_the_rest_is_taken_out() -> None:
    bad = StoredMemory("bad", "REFUSED text")
    for server in (MemoryServer(), MemoryServer(own_ids=True)):
        with running(server) as where, pytest.raises(AgentFailure) as caught:
            use(where, (*MEMORIES, bad))
        assert caught.value.message == (
            "POST /export/import: 5 records sent, 4 imported, 0 skipped, 1 errors: bad: content refused"
        )
        assert not server.left


def test_skipped_records_are_told_and_need_not_be_found(caplog: pytest.LogCaptureFixture) -> None:
    server = MemoryServer()
    server.add("theirs", client_id="user-7", type="fact", content=MEMORIES[1].text, key="x")
    with running(server) as where:
        used = use(where, ready_within=0.05)
    assert used.version.endswith("3 imported, 1 skipped, 0 errors")
    assert "1 of 4 records were skipped" in caplog.text
    assert [record.id for record in server.left] == ["theirs"]


def test_rate_limits_are_waited_for() -> None:
    server = MemoryServer(writes=2, reads=3)
    with running(server) as where:
        used = use(where)
    assert firsts(used) == ["boat", "car", "card", "bank"]
    assert server.refused["read"] > 0
    assert server.refused["write"] > 0
    assert server.early == 0, "it came back before it was asked to"
    assert not server.left


def test_a_degraded_search_is_a_failed_query() -> None:
    server = MemoryServer(degraded={"bought"})
    with running(server) as where:
        used = use(where)
    failure, *found = used.found
    assert isinstance(failure, AgentFailure)
    assert failure.kind == "raised"
    assert "503: the vector index does not answer" in failure.message
    assert [ids[0] for ids in found if isinstance(ids, list)] == ["car", "card", "bank"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"<html>", "no JSON: <html>"),
        ({"count": 0}, "no list of `results`"),
        ({"results": [{"summary": "x"}]}, "a result without an `id`"),
        ({"results": [], "retrieval": {"degraded": True}}, "its retrieval is degraded"),
    ],
)
def test_a_reply_that_is_no_result_is_a_failed_query(data: Any, told: str) -> None:
    server = MemoryServer()

    def app(request: Any) -> Reply:
        return Reply(200, data) if request.query.get("q") == "broken" else server(request)

    with serve(app) as where:
        (failure,) = use(where, queries=("broken",)).found
    assert isinstance(failure, AgentFailure)
    assert told in failure.message


def test_a_refused_key_stops_the_run_and_is_not_shown() -> None:
    with running(MemoryServer()) as where, pytest.raises(EndpointError) as caught:
        use(where, key="another/key")
    assert str(caught.value).endswith("401: bad key [key]. Check the key in MEMORY_API_KEY.")
    assert where.lines == ["GET /memory/search"], "nothing was written"


def test_nobody_answers() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(EndpointError) as caught:
        use(url)
    assert f"nobody answers at {url}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_goes_away_fails_queries_and_then_the_run(caplog: pytest.LogCaptureFixture) -> None:
    server = MemoryServer()
    for asked, ends in ((2, False), (3, True)):

        def app(request: Any) -> Reply | None:
            return (
                None
                if "gone" in request.query.get("q", "") or request.method == "DELETE"
                else server(request)
            )

        queries = ["car", *[f"gone {at}" for at in range(asked)]]
        with serve(app) as where:
            if ends:
                with pytest.raises(EndpointError, match="Check url="):
                    use(where, MANY, queries)
            else:
                used = use(where, queries=queries)
                assert [getattr(one, "kind", "") for one in used.found] == ["", "unreachable", "unreachable"]
        assert f"{len(MEMORIES) if asked == 2 else len(MANY)} records may be left" in caplog.text


def test_clients_that_are_not_kept_apart_stop_it_before_anything_is_written() -> None:
    server = MemoryServer(apart=False)
    server.add("theirs", client_id="user-7", type="fact", content="The boat of Wendell.", key="boat")
    with running(server) as where, pytest.raises(AgentFailure, match="does not keep clients apart"):
        use(where)
    assert where.lines == ["GET /memory/search"]


@pytest.mark.parametrize(
    ("server", "options", "told"),
    [
        (MemoryServer(deletes_until=1), {}, "3 of 4 records may be left under the client id recallbench-"),
        (MemoryServer(), {"clean_up_within": 0}, "4 of 4 records may be left"),
    ],
    ids=["no more deletions", "no time"],
)
def test_what_is_left_is_told(
    server: MemoryServer, options: Any, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    with running(server) as where:
        use(where, **options)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert told in record.getMessage()


def test_records_whose_ids_are_never_read_back_are_left_and_told(caplog: pytest.LogCaptureFixture) -> None:
    server = MemoryServer(own_ids=True, lag=10_000)
    with running(server) as where, pytest.raises(AgentFailure, match="does not find 4"):
        use(where, ready_within=0.01)
    assert len(server.left) == 4
    assert "4 of 4 records may be left" in caplog.text
    assert caplog.text.rstrip().endswith("their ids could not be read back.")


def test_an_import_whose_reply_is_lost_is_cleaned_up_and_not_sent_again() -> None:
    server = MemoryServer()

    def app(request: Any) -> Reply | None:
        reply = server(request)
        return None if request.method == "POST" else reply

    with serve(app) as where, pytest.raises(EndpointError, match=r"the connection to http.* broke"):
        use(where)
    assert where.lines.count("POST /export/import") == 1
    assert not server.left


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("memory_api", "url: Field required"),
        ("memory_api(url='localhost:80')", "url: is no base URL"),
        ("memory_api(url='http://a b')", "url: is no base URL"),
        ("memory_api(url='http://[x')", "url: is no base URL"),
        ("memory_api(url='http://me:secret@host')", "url: holds a password"),
        ("memory_api(url='http://host', api_key='secret')", "api_key: Extra inputs"),
        ("memory_api(url='http://host', api_key_env='secret-7')", "holds no variable's name"),
        ("memory_api(url='http://host', api_key_env='UNSET')", "UNSET is not set"),
        ("memory_api(url='http://host', fields={'id': 1})", "id: set by recallbench itself"),
        ("memory_api(url='http://host', ready_within=1e999)", "ready_within: Input should be less"),
        ("memory_api(url='http://host', api_key_env='MULTI')", "characters that no header can"),
    ],
)
def test_options_that_do_not_fit(spec: str, told: str) -> None:
    models = Models(ModelSettings(), {"MEMORY_API_KEY": KEY, "MULTI": "secret\nsecret"})
    with pytest.raises(InputError) as caught:
        make_retriever(parse_spec(spec, "--system"), models)
    assert told in str(caught.value)
    assert "secret" not in str(caught.value)


def test_no_key_is_sent_where_none_is_named() -> None:
    server = MemoryServer(key=None)
    with running(server) as where:
        assert firsts(use(where, api_key_env=None))[0] == "boat"
    assert all("x-api-key" not in one.headers for one in where.requests)
    with running(MemoryServer()) as where, pytest.raises(HarnessError, match="No key was sent"):
        use(where, api_key_env=None)


def test_a_memory_too_large_alone_stops_it_before_anything_is_sent() -> None:
    with running(MemoryServer()) as where, pytest.raises(InputError, match="the memory 'big' takes 2,"):
        use(where, (*MEMORIES, StoredMemory("big", "x" * 2000)), max_bytes=1000)
    assert not where.requests


def test_a_503_is_sent_again_where_it_asks_for_that() -> None:
    server, busy = MemoryServer(), {"POST", "DELETE"}

    def app(request: Any) -> Reply:
        if request.method in busy:
            busy.discard(request.method)
            return Reply(503, {"error": "starting"}, {"Retry-After": "0.01"})
        return server(request)

    with serve(app) as where:
        assert firsts(use(where)) == ["boat", "car", "card", "bank"]
    assert not server.left
    assert not busy


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(307, None, {"Location": "https://there.example/export/import"}), "it leads to https://there.example/"),
        (Reply(404, b"<html>"), r"404: <html> \(is http.* the base URL of a memory API\?\)"),
        (Reply(500, {"error": f"with {KEY}"}), r"500: with \[key\]$"),
        (Reply(200, {"ok": True}), "does not say how many it `imported`"),
    ],
)  # fmt: skip
def test_an_import_that_is_not_answered_as_it_should_be(reply: Reply, told: str) -> None:
    server = MemoryServer()
    with (
        serve(lambda request: reply if request.method == "POST" else server(request)) as where,
        pytest.raises(AgentFailure, match=told),
    ):
        use(where)
