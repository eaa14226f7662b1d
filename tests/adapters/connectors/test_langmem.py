from __future__ import annotations

import asyncio
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langmem", reason="langmem is not installed")

from harness.adapters.protocol import Adapter, Question
from harness.errors import InputError
from harness.llm.models import ModelSettings
from tests.adapters.connectors import stores
from tests.adapters.connectors.postgres import postgres_dsn
from tests.adapters.connectors.tool_caller import tool_caller
from tests.model_server import Server
from tests.model_server.fixtures import _shared_model_server, model_server

__all__ = ["_shared_model_server", "model_server", "postgres_dsn"]


@pytest.fixture
def made(model_server: Server) -> Adapter:
    return stores.adapter("langmem", model_server)


def test_each_message_arrives_with_time_and_place(model_server: Server, tmp_path: Path) -> None:
    stores.check_everything_arrives(stores.adapter("langmem", model_server, per="message"), tmp_path)


def test_a_round_is_one_memory(made: Adapter, tmp_path: Path) -> None:
    stores.check_rounds(made, tmp_path)


def test_the_metadata_is_stored(made: Adapter, tmp_path: Path) -> None:
    with stores.opened(made, stores.space(tmp_path)) as agent:
        agent.ingest(stores.talk(1))
        (item,) = agent._opened.store.search(agent._space)
    assert item.value["content"]["labels"] == {"business": "Harbor Lane Pool", "channel": "chat"}


def test_a_planted_fact_is_recalled(made: Adapter, tmp_path: Path) -> None:
    stores.check_planted_fact(made, tmp_path)


def test_spaces_are_apart_and_close_removes(made: Adapter, tmp_path: Path) -> None:
    stores.check_apart(made, tmp_path)


def test_nothing_ingested_nothing_recalled(made: Adapter, tmp_path: Path) -> None:
    stores.check_nothing_ingested(made, tmp_path)


def test_any_script_comes_back(made: Adapter, tmp_path: Path) -> None:
    stores.check_unicode(made, tmp_path)


def test_add_and_delete(made: Adapter, tmp_path: Path) -> None:
    stores.check_add_and_delete(made, tmp_path)


def test_deleting_what_is_not_there(made: Adapter, tmp_path: Path) -> None:
    with stores.opened(made, stores.space(tmp_path)) as agent, pytest.raises(KeyError):
        agent.delete("3087a06e-e99d-4225-b24b-30415828ed04")


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_on_another_store(
    store: str,
    model_server: Server,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip(f"langgraph.store.{store}", reason=f"LangGraph's {store} store is not installed")
    where = {}
    if store == "postgres":
        monkeypatch.setenv("TESTS_DSN", request.getfixturevalue("postgres_dsn"))
        where = {"dsn_env": "TESTS_DSN"}
    made = stores.adapter("langmem", model_server, store=store, **where)
    stores.check_planted_fact(made, tmp_path)
    with stores.opened(made, stores.space(tmp_path)) as agent:
        agent.ingest(stores.talk(2))
        said = agent.list()[0]
        assert agent.recall(Question(said.text), 1)[0].score == pytest.approx(1.0, abs=1e-4)


def test_what_the_manager_writes_is_recalled_with_its_round(model_server: Server, tmp_path: Path) -> None:
    made = stores.adapter("langmem", model_server, manager=True)
    talk = stores.talk(3, planted=1)
    with tool_caller() as chat:
        where = stores.space(tmp_path, ModelSettings(model="scribe", base_url=chat.base_url))
        with stores.opened(made, where) as agent:
            agent.ingest(talk)
            found = agent.recall(stores.QUESTION, 5)
            assert agent.list()[0].text == found[0].text
    assert found[0].text == "The user's pool locker is 4417"
    assert found[0].source_refs == ("conv_001#3", "conv_001#4")
    assert found[0].created_at == talk.messages[2].timestamp
    assert len(chat.asked) >= 3
    for message in talk.messages:
        assert any(message.text in str(body["messages"]) for body in chat.asked)
    assert all("was said on Tuesday, 2025-03-04" in str(body["messages"]) for body in chat.asked)
    assert {body["model"] for body in chat.asked} == {"scribe"}


def test_in_a_worker_process(model_server: Server, tmp_path: Path) -> None:
    asked = stores.spec("langmem", model_server)
    named, found, printed = asyncio.run(stores.through_a_worker(asked, tmp_path))
    assert named == f"langmem {version('langmem')}, langgraph {version('langgraph')}"
    assert stores.FACT in found[0].text
    assert printed == ""


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": "scribe"}, "add manager=True"),
        ({"store": "postgres"}, "needs dsn_env="),
    ],
)
def test_options_that_do_not_fit(model_server: Server, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        stores.adapter("langmem", model_server, **options)
