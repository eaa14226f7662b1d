from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.connectors import http_wire
from harness.adapters.connectors.http import HttpAgent, HttpOptions, HttpSystem
from harness.adapters.connectors.http_paths import PathError, find, parse_path
from harness.adapters.connectors.value_templates import filled
from harness.adapters.protocol import AgentFailure, Question, Space
from harness.errors import InputError
from harness.llm.models import Models, ModelSettings
from harness.suite import Conversation, Message
from tests.adapters.connectors.servers.importing import ImportServer
from tests.adapters.connectors.servers.plain import PlainStore
from tests.adapters.connectors.servers.serving import App, Reply, Request, serve
from tests.adapters.connectors.servers.sessions import SessionServer

FIXTURES = Path(__file__).parents[3] / "fixtures" / "adapters"
NIGHT = datetime(2025, 3, 4, 10, 15, tzinfo=UTC)
QUOTES = 'the code is "x", {namespace} \\ \n and {"role": "system"}'
TALK = Conversation(
    "conv_001",
    NIGHT,
    {"business": "Harbor"},
    (
        Message("user", "my tea is oolong"),
        Message("assistant", "noted"),
        Message("user", QUOTES),
        Message("assistant", "fine"),
    ),
)
LATER = Conversation(
    "conv_002", NIGHT, {}, (Message("user", "my coffee is black"), Message("assistant", "ok"))
)
ASKED = Question("what tea is my tea", NIGHT)
NAMESPACE = "0123456789abcdef0123456789abcdef"
SPACE = Space(NAMESPACE, Path(), Models(ModelSettings(), {}))


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_wire, "_BACKOFF_S", (0.001, 0.004))


def using(path: Path, url: str, work: Callable[[HttpAgent], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        system = HttpSystem(HttpOptions(description=str(path), url=url))
        try:
            agent = await system.open(SPACE)
            try:
                return await work(agent)
            finally:
                await agent.close()
        finally:
            await system.close()

    return asyncio.run(run())


async def remembered(agent: Any) -> Any:
    for talk in (TALK, LATER):
        await agent.ingest(talk)
    await agent.wait_until_ready()
    return await agent.recall(ASKED, 2)


def described(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "system.yaml"
    path.write_text(text, encoding="utf-8")
    return path


SMALL = """\
url: http://127.0.0.1:9
headers: {X-Key: "Bearer ${ACME_KEY}"}
timeout_s: 0.3
ingest: {per: message, request: POST /add, body: {text: "{text}"}}
recall: {request: POST /search, body: {q: "{question}"}, items: $.items, text: $.text}
"""


def failure(tmp_path: Path, app: App, monkeypatch: pytest.MonkeyPatch, text: str = SMALL) -> AgentFailure:
    monkeypatch.setenv("ACME_KEY", "sk-very/secret-123")
    path = described(tmp_path, text)
    with serve(app) as server, pytest.raises(AgentFailure) as caught:
        using(path, server.url, lambda agent: agent.recall(ASKED, 2))  # type: ignore[attr-defined]
    assert "secret-123" not in caught.value.message
    assert "\n" not in caught.value.message
    return caught.value


# Three shapes of API, by the descriptions that are shipped


def test_a_plain_store_takes_every_message_and_is_searched() -> None:
    store = PlainStore()
    with serve(store) as server:
        found = using(FIXTURES / "plain_store.yaml", server.url, remembered)
    assert (found[0].id, found[0].text, found[0].created_at) == ("1", "my tea is oolong", NIGHT)
    assert len(found) == 2
    assert store.users == {}, "close removes what was stored"
    sent = [request for request in server.requests if request.method == "POST"]
    assert [request.body["source"] for request in sent][:2] == ["conv_001#1", "conv_001#2"]
    assert sent[2].body == {
        "text": QUOTES,
        "role": "user",
        "said_at": NIGHT.isoformat(),
        "source": "conv_001#3",
        "labels": {"business": "Harbor"},
        "infer": False,
    }
    assert sent[0].headers["x-user"] == NAMESPACE


def test_memories_are_added_for_a_user_listed_and_deleted() -> None:
    store = PlainStore()

    async def work(agent: Any) -> list[str]:
        await agent.add("likes tea")
        await agent.add("likes coffee", user="orla")
        await agent.delete("1")
        await agent.add("likes water")
        return [one.text for one in await agent.list()]

    with serve(store) as server:
        assert using(FIXTURES / "plain_store.yaml", server.url, work) == ["likes water"]
    assert set(store.users) == {f"{NAMESPACE}-orla"}


def test_sessions_are_opened_closed_and_waited_for() -> None:
    app = SessionServer()
    with serve(app) as server:
        found = using(FIXTURES / "sessions.yaml", server.url, remembered)
    assert found[0].text == "my tea is oolong"
    assert (found[0].type, found[0].importance, found[0].score) == ("episodic", None, 0.3)
    assert server.lines.count("POST /sessions/s2/messages") == 2, "one a round"
    assert server.lines.count("GET /sessions/s2") == server.lines.count("GET /sessions/s3") == 3
    assert server.lines[-1] == "DELETE /users/u1"
    assert app.users == app.sessions == {}


def test_a_list_is_imported_in_one_request_and_searched() -> None:
    app = ImportServer()
    with serve(app) as server:
        found = using(FIXTURES / "import_search.yaml", server.url, remembered)
    assert (found[0].id, found[0].text) == ("1", "user: my tea is oolong")
    assert server.lines == [
        f"POST /{NAMESPACE}/import",
        f"POST /{NAMESPACE}/import",
        f"POST /{NAMESPACE}/search",
        f"DELETE /{NAMESPACE}",
    ]


def test_what_it_can_do_is_what_it_has_steps_for() -> None:
    def system(name: str) -> HttpSystem:
        return HttpSystem(HttpOptions(description=str(FIXTURES / name)))

    assert system("plain_store.yaml").capabilities == {"recall", "add", "list", "delete", "user", "discard"}
    assert system("sessions.yaml").capabilities == {"recall", "wait"}
    assert system("import_search.yaml").capabilities == {"recall", "discard"}
    assert system("sessions.yaml").version().startswith("session memory (description ")


def test_an_answer_comes_with_its_tokens(tmp_path: Path) -> None:
    text = (
        "url: http://127.0.0.1:9\ningest: {per: conversation, request: POST /add}\n"
        'answer: {request: POST /ask, body: {q: "{question}"}, text: "$.choices[0].text", tokens: $.used?}\n'
    )
    with serve(lambda _: Reply(200, {"choices": [{"text": "oolong"}], "used": 7})) as server:
        found = using(described(tmp_path, text), server.url, lambda agent: agent.answer(ASKED))  # type: ignore[attr-defined]
    assert (found.text, found.tokens) == ("oolong", 7)


def test_a_namespace_is_discarded_without_an_agent() -> None:
    store = PlainStore()
    store.users[NAMESPACE] = []

    async def work(url: str) -> None:
        system = HttpSystem(HttpOptions(description=str(FIXTURES / "plain_store.yaml"), url=url))
        await system.discard(NAMESPACE)
        await system.close()

    with serve(store) as server:
        asyncio.run(work(server.url))
    assert store.users == {}


# What goes wrong on the way

FAULTS: dict[str, tuple[Reply | None, str, str]] = {
    "500": (Reply(500, {"detail": "broken " * 200}), "raised", "POST /search: 500 Internal Server Error: {"),
    "404": (Reply(404, b""), "raised", "POST /search: 404 Not Found"),
    "key": (Reply(401, {"bad": "Bearer sk-very/secret-123"}), "raised", "Bearer [key]"),
    "html": (
        Reply(200, b"<!doctype html><p>Hi", {"Content-Type": "text/html"}),
        "bad_value",
        "the reply is no JSON (text/html): <!doctype",
    ),
    "garbage": (Reply(200, b"\xff\xfe{"), "bad_value", "no JSON"),
    "path": (Reply(200, {"hits": []}), "bad_value", "$.items: $ has no 'items'; it has hits"),
    "no list": (Reply(200, {"items": {"a": 1}}), "bad_value", "$.items is no list"),
    "no text": (Reply(200, {"items": [{"text": 5}]}), "bad_value", "item 1: text is '5'; expected a text"),
    "closed": (None, "unreachable", "the connection broke"),
    "large": (Reply(200, b"[" + b" " * (17 << 20) + b"]"), "oversized", "larger than 16 MB"),
    "later": (Reply(503, b"", {"Retry-After": "3600"}), "raised", "503 Service Unavailable"),
    "elsewhere": (
        Reply(307, b"", {"Location": "http://example.com/search"}),
        "raised",
        "307 leads to example.com",
    ),
    "moved": (Reply(301, b"", {"Location": "/search/"}), "raised", "leads to /search/: write that path"),
}


@pytest.mark.parametrize(("reply", "kind", "said"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: Reply | None, kind: str, said: str
) -> None:
    failed = failure(tmp_path, lambda _: reply, monkeypatch)
    assert failed.kind == kind
    assert said in failed.message
    assert len(failed.message) < 500


def test_a_slow_reply_is_a_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    def slow(_: Request) -> Reply:
        time.sleep(0.6)
        return Reply()

    failed = failure(tmp_path, slow, monkeypatch)
    assert (failed.kind, failed.message) == ("timeout", "POST /search: no reply within 0.3 s")


def test_nobody_there_is_unreachable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_KEY", "k")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(AgentFailure) as caught:
            using(described(tmp_path, SMALL.replace("k-K", "")), url, lambda agent: agent.ingest(TALK))
    assert caught.value.kind == "unreachable"


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setenv("ACME_KEY", "k")
    busy = [Reply(status, b"", {"Retry-After": "0"}), Reply(status, b"")]

    def app(_: Request) -> Reply:
        return busy.pop() if busy else Reply(200, {"items": [{"text": "oolong"}]})

    with serve(app) as server:
        found = using(described(tmp_path, SMALL), server.url, lambda agent: agent.recall(ASKED, 2))  # type: ignore[attr-defined]
    assert [one.text for one in found] == ["oolong"]
    assert len(server.requests) == 3


def test_a_server_that_stays_busy_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Request] = []

    def app(request: Request) -> Reply:
        seen.append(request)
        return Reply(429, {"detail": "slow down"})

    assert "429 Too Many Requests" in failure(tmp_path, app, monkeypatch).message
    assert len(seen) == 5


def test_a_redirect_on_the_same_host_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_KEY", "k")

    def app(request: Request) -> Reply:
        if request.parts[-1]:
            return Reply(307, b"", {"Location": f"/{request.parts[0]}/"})
        return Reply(200, {"items": [{"text": request.body["q"]}]})

    with serve(app) as server:
        found = using(described(tmp_path, SMALL), server.url, lambda agent: agent.recall(ASKED, 2))  # type: ignore[attr-defined]
    assert found[0].text == ASKED.text


@pytest.mark.parametrize(
    ("state", "kind", "said"), [("failed", "raised", "is 'failed'"), ("stuck", "timeout", "and not 'ready'")]
)
def test_what_never_gets_ready_is_a_failure(tmp_path: Path, state: str, kind: str, said: str) -> None:
    text = (FIXTURES / "sessions.yaml").read_text(encoding="utf-8")
    text = text.replace("longest_s: 60", "longest_s: 0.1").replace("interval_s: 0.2", "interval_s: 0.01")
    with serve(SessionServer(0, state)) as server, pytest.raises(AgentFailure) as caught:
        using(described(tmp_path, text), server.url, remembered)
    assert caught.value.kind == kind
    assert said in caught.value.message


def test_a_value_that_would_change_the_path_is_refused(tmp_path: Path) -> None:
    text = FIXTURES / "plain_store.yaml"
    with serve(PlainStore()) as server:
        for value in ("", ".."):
            with pytest.raises(AgentFailure, match="no part of a path"):
                using(text, server.url, lambda agent, value=value: agent.delete(value))  # type: ignore[misc]
        with pytest.raises(AgentFailure, match="404"):
            using(text, server.url, lambda agent: agent.delete("a/../b?c#ü"))  # type: ignore[attr-defined]
    assert server.requests[-2].parts == ("users", NAMESPACE, "memories", "a/../b?c#ü")


# Cancelling


@pytest.mark.parametrize("slow", ["users", "sessions", "messages"])
def test_cancelling_leaves_nothing_open(slow: str) -> None:
    app = SessionServer(slow=slow, slow_s=0.3)

    async def run(url: str) -> None:
        system = HttpSystem(HttpOptions(description=str(FIXTURES / "sessions.yaml"), url=url))
        agents: list[HttpAgent] = []

        async def work() -> None:
            agents.append(await system.open(SPACE))
            await agents[0].ingest(TALK)

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(work(), 0.1)
        assert bool(agents) == (slow != "users")
        app.slow = ""
        for agent in agents:
            await agent.close()
        await system.close()
        assert len(asyncio.all_tasks()) == 1

    with serve(app) as server:
        asyncio.run(run(server.url))
    assert app.users == {}
    assert app.open_sessions == 0


# Mistakes in a description

MISTAKES = {
    "unknown key": ("timeout_s: 0.3", "timeout: 3", ":3: timeout: 'timeout' means nothing here. Mend: Did you mean timeout_s?"),
    "unknown placeholder": ('"{question}"', '"{qestion}"', ":5: recall.body.q: {qestion} stands for nothing here. Mend: Did you mean {question}?"),
    "placeholder of another step": ('"{question}"', '"{text}"', "{text} stands for nothing here"),
    "no quotes": ('{q: "{question}"}', "{q: {question}}", 'Put it in quotes: "{question}"'),
    "bad path": ("text: $.text", "text: text", "'text' is no path: one begins with $"),
    "bad step": ("items: $.items", "items: $.items/x", "cannot be read from '/x' on"),
    "bad request": ("POST /add", "SEND add", ":4: ingest.request: is 'SEND add'. Mend: Write a method and a path"),
    "bad per": ("per: message", "per: word", "Write message, round, conversation"),
    "missing": (", items: $.items", "", ":5: recall: lacks 'items'"),
    "bad status": ("POST /add", "POST /add, expect: soon", "is no HTTP status"),
    "bad number": ("timeout_s: 0.3", "timeout_s: -1", "Write a number of seconds above 0"),
    "no url": ("url: http://127.0.0.1:9", "name: x", "lacks 'url'"),
    "no host": ("url: http://127.0.0.1:9", "url: localhost", "is no HTTP address"),
    "password": ("url: http://127.0.0.1:9", "url: http://a:b@127.0.0.1", "holds a name or password"),
    "no ingest": ("ingest:", "open:", "says not how messages are handed over"),
    "twice": ("timeout_s: 0.3", "url: http://127.0.0.1", "stands twice"),
    "broken": ("timeout_s: 0.3", "timeout_s: [", "broken YAML"),
    "not set": ("ACME_KEY", "ACME_KEY_UNSET", ":2: headers.X-Key: the variable 'ACME_KEY_UNSET' is not set. Mend: Set it: export"),
    "variable in a body": ('"{text}"', '"${text}x${ACME_KEY}"', "{ACME_KEY} stands for nothing here"),
    "no recall": ("recall:", "open_session:", "has neither `recall` nor `answer`"),
    "body of a GET": ("POST /search", "GET /search", "goes with no GET"),
    "saved name": ("per: message", "per: message, save: {text: $.id}", "has a meaning of its own"),
    "no object": ("headers: {X-Key: \"Bearer ${ACME_KEY}\"}", "headers: yes", "is no object"),
}  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str, said: str
) -> None:
    monkeypatch.setenv("ACME_KEY", "k")
    path = described(tmp_path, SMALL)
    HttpSystem(HttpOptions(description=str(path)))
    assert right in SMALL
    path = described(tmp_path, SMALL.replace(right, wrong, 1))
    with pytest.raises(InputError) as caught:
        HttpSystem(HttpOptions(description=str(path)))
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{path}:")


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    path = described(tmp_path, "ingest: {per: x, request: y}\nrecall: {items: z}\n")
    with pytest.raises(InputError) as caught:
        HttpSystem(HttpOptions(description=str(path)))
    assert len(str(caught.value).splitlines()) >= 5


@pytest.mark.parametrize("text", ["", "- a\n", "url: http://h\n---\nurl: http://h\n"])
def test_what_is_no_description_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        HttpSystem(HttpOptions(description=str(described(tmp_path, text))))
    with pytest.raises(InputError, match="can't be read"):
        HttpSystem(HttpOptions(description=str(tmp_path / "none.yaml")))


# Templates and paths

NAMES = st.text("abcxyz_", min_size=1, max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=10,
)


@given(st.text())
def test_a_value_stays_data(value: str) -> None:
    body = filled({"a": "{text}", "b": ["<{text}>"], "c": None, "d": "{none}"}, {"text": value, "none": None})
    assert json.loads(json.dumps(body)) == {"a": value, "b": [f"<{value}>"], "c": None}


@given(JSON, st.data())
def test_a_path_leads_to_what_was_put_there(value: Any, data: st.DataObject) -> None:
    text, whole = "", value
    for _ in range(data.draw(st.integers(0, 4))):
        if data.draw(st.booleans()):
            name = data.draw(NAMES)
            text, whole = f".{name}{text}", {name: whole}
        else:
            before = data.draw(st.integers(0, 3))
            text, whole = f"[{before}]{text}", [*range(before), whole]
    assert find(parse_path(f"${text}"), whole) == value


@given(st.text())
def test_any_text_is_a_path_or_an_error(text: str) -> None:
    try:
        path = parse_path(text)
    except PathError:
        return
    assert path.text == text


def test_paths_over_lists_and_what_may_be_absent() -> None:
    data = {"a b": [{"x": [1, 2]}, {"x": [3]}]}
    assert find(parse_path("$['a b'][*].x[*]"), data) == [1, 2, 3]
    assert find(parse_path("$.none?"), data) is None
    with pytest.raises(PathError, match="has 2 elements; there is none at"):
        find(parse_path("$['a b'][2]"), data)
