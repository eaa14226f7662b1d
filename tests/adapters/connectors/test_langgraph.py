from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.store.memory", reason="langgraph is not installed")

from harness.adapters.protocol import Adapter, AgentFailure, Question
from harness.errors import InputError
from tests.adapters.connectors import stores
from tests.adapters.connectors.postgres import postgres_dsn
from tests.model_server import Server
from tests.model_server.fixtures import _shared_model_server, model_server

__all__ = ["_shared_model_server", "model_server", "postgres_dsn"]
NEEDS = {
    "memory": "langgraph.store.memory",
    "sqlite": "langgraph.store.sqlite",
    "postgres": "langgraph.store.postgres",
}
Make = Callable[..., Adapter]


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def make(request: pytest.FixtureRequest, model_server: Server, monkeypatch: pytest.MonkeyPatch) -> Make:
    store: str = request.param
    pytest.importorskip(NEEDS[store], reason=f"LangGraph's {store} store is not installed")
    where = {}
    if store == "postgres":
        monkeypatch.setenv("TESTS_DSN", request.getfixturevalue("postgres_dsn"))
        where = {"dsn_env": "TESTS_DSN"}
    return lambda **options: stores.adapter("langgraph", model_server, store=store, **where, **options)


def test_each_message_arrives_with_time_and_place(make: Make, tmp_path: Path) -> None:
    stores.check_everything_arrives(make(per="message"), tmp_path)


def test_a_round_is_one_memory(make: Make, tmp_path: Path) -> None:
    stores.check_rounds(make(), tmp_path)


def test_the_metadata_is_stored(make: Make, tmp_path: Path) -> None:
    with stores.opened(make(), stores.space(tmp_path)) as agent:
        agent.ingest(stores.talk(1))
        (item,) = agent._opened.store.search((agent._space,))
    assert item.value["labels"] == {"business": "Harbor Lane Pool", "channel": "chat"}
    assert item.value["conversation"] == "conv_001"


def test_a_planted_fact_is_recalled(make: Make, tmp_path: Path) -> None:
    stores.check_planted_fact(make(), tmp_path)


def test_spaces_are_apart_and_close_removes(make: Make, tmp_path: Path) -> None:
    stores.check_apart(make(), tmp_path)


def test_nothing_ingested_nothing_recalled(make: Make, tmp_path: Path) -> None:
    stores.check_nothing_ingested(make(), tmp_path)


def test_any_script_comes_back(make: Make, tmp_path: Path) -> None:
    stores.check_unicode(make(), tmp_path)


def test_add_and_delete(make: Make, tmp_path: Path) -> None:
    stores.check_add_and_delete(make(), tmp_path)


def test_users_are_told_apart(make: Make, tmp_path: Path) -> None:
    stores.check_users(make(), tmp_path)


def test_a_long_conversation_needs_several_batches(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.adapters.connectors.langgraph._BATCH", 4)
    with stores.opened(make(), stores.space(tmp_path)) as agent:
        agent.ingest(stores.talk(9))
        firsts = [memory.source_refs[0] for memory in agent.list()]
    assert firsts == [f"conv_001#{number}" for number in range(1, 18, 2)]


def test_a_store_whose_package_is_lacking(model_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langgraph.store.sqlite", None)
    with pytest.raises(InputError, match=r"pip install 'recallbench\[langgraph\]'"):
        stores.adapter("langgraph", model_server, store="sqlite")


def test_only_the_text_is_embedded(make: Make, tmp_path: Path) -> None:
    with stores.opened(make(), stores.space(tmp_path)) as agent:
        agent.ingest(stores.talk(3))
        (said, *_) = agent.list()
        (found, *_) = agent.recall(Question(said.text), 1)
    assert found.id == said.id
    assert found.score == pytest.approx(1.0, abs=1e-4)


def test_deleting_what_is_not_there(make: Make, tmp_path: Path) -> None:
    with stores.opened(make(), stores.space(tmp_path)) as agent, pytest.raises(KeyError):
        agent.delete("000001")


def test_in_a_worker_process(model_server: Server, tmp_path: Path) -> None:
    asked = stores.spec("langgraph", model_server)
    named, found, printed = asyncio.run(stores.through_a_worker(asked, tmp_path))
    assert named == f"langgraph {version('langgraph')}"
    assert stores.FACT in found[0].text
    assert printed == ""


def test_an_embedding_endpoint_that_is_down(model_server: Server, tmp_path: Path) -> None:
    made = stores.adapter("langgraph", model_server, embedding_model="words@http://127.0.0.1:9/v1")
    with pytest.raises(AgentFailure, match=r"127\.0\.0\.1:9") as failed:
        made.open(stores.space(tmp_path))
    assert failed.value.kind == "unreachable"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"store": "postgres"}, "needs dsn_env="),
        ({"store": "sqlite", "dsn_env": "X"}, "dsn_env= is for Postgres"),
        ({"store": "redis"}, "store: Input should be"),
        ({"embedding_model": None}, "needs embedding_model="),
        ({"embedder": "wordllama"}, "embedding_model= is for an endpoint"),
        ({"per": "day"}, "per: Input should be"),
    ],
)
def test_options_that_do_not_fit(model_server: Server, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        stores.adapter("langgraph", model_server, **options)


class TestPostgres:
    @pytest.fixture
    def made(self, model_server: Server, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch) -> Adapter:
        pytest.importorskip(NEEDS["postgres"], reason="LangGraph's Postgres store is not installed")
        monkeypatch.setenv("TESTS_DSN", postgres_dsn)
        return stores.adapter("langgraph", model_server, store="postgres", dsn_env="TESTS_DSN")

    def test_discard_removes_what_a_killed_agent_left(
        self, made: Adapter, postgres_dsn: str, tmp_path: Path
    ) -> None:
        left, other = stores.space(tmp_path), stores.space(tmp_path)
        killed = made.open(left)
        killed.ingest(stores.talk(2))
        killed._opened.store.conn.close()
        with stores.opened(made, other) as agent:
            agent.ingest(stores.talk(3))
            assert schemas(postgres_dsn) == {
                f"recallbench_{left.namespace}",
                f"recallbench_{other.namespace}",
            }
            made.discard(left.namespace)
            made.discard(left.namespace)
            assert schemas(postgres_dsn) == {f"recallbench_{other.namespace}"}
            assert len(agent.list()) == 3
            assert len(agent.recall(stores.QUESTION, 9)) == 3
        assert schemas(postgres_dsn) == set()

    def test_spaces_of_different_dimensions_share_a_database(
        self, made: Adapter, model_server: Server, tmp_path: Path
    ) -> None:
        with stores.opened(made, stores.space(tmp_path)) as agent:
            agent.ingest(stores.talk(2))
            from harness.adapters.connectors.embedding import Embedding
            from harness.adapters.connectors.langgraph_stores import open_store

            three = Embedding(3, lambda texts: [[1.0, 2.0, 3.0] for _ in texts], lambda: None)
            where = stores.space(tmp_path)
            more = open_store(made.options, where.namespace, where.folder, three, "text")  # type: ignore[arg-type]
            more.store.put(("a",), "b", {"text": "c"})
            assert len(more.store.search(("a",), query="d")) == 1
            more.remove()
            assert len(agent.recall(stores.QUESTION, 9)) == 2

    def test_a_variable_that_is_not_set(
        self, made: Adapter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("TESTS_DSN")
        with pytest.raises(AgentFailure, match="the variable TESTS_DSN is not set"):
            made.open(stores.space(tmp_path))

    def test_a_database_that_is_down(
        self, made: Adapter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TESTS_DSN", "postgresql://orla:secret@127.0.0.1:9/none")
        with pytest.raises(AgentFailure) as failed:
            made.open(stores.space(tmp_path))
        assert failed.value.kind == "unreachable"
        assert "secret" not in failed.value.message


def schemas(dsn: str) -> set[str]:
    import psycopg

    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'recallbench%'")
        return {row[0] for row in rows}
