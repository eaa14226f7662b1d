from __future__ import annotations

import asyncio
import importlib.util
from importlib.metadata import version
from pathlib import Path

import pytest

if importlib.util.find_spec("chromadb") is None:  # importing it here would turn its telemetry on
    pytest.skip("chromadb is not installed", allow_module_level=True)

from harness.adapters.protocol import Adapter
from tests.adapters.connectors import stores
from tests.model_server import Server
from tests.model_server.fixtures import _shared_model_server, model_server

__all__ = ["_shared_model_server", "model_server"]


@pytest.fixture
def made(model_server: Server) -> Adapter:
    return stores.adapter("chroma", model_server)


def test_each_message_arrives_with_time_and_place(model_server: Server, tmp_path: Path) -> None:
    stores.check_everything_arrives(stores.adapter("chroma", model_server, per="message"), tmp_path)


def test_a_round_is_one_memory(made: Adapter, tmp_path: Path) -> None:
    stores.check_rounds(made, tmp_path)


def test_the_metadata_is_stored(made: Adapter, tmp_path: Path) -> None:
    with stores.opened(made, stores.space(tmp_path)) as agent:
        agent.ingest(stores.talk(1))
        (stored,) = agent._collection.get()["metadatas"]
    assert stored["label.business"] == "Harbor Lane Pool"
    assert stored["label.channel"] == "chat"
    assert stored["conversation"] == "conv_001"
    assert stored["said_at"] == stores.BEGAN.isoformat()


def test_a_planted_fact_is_recalled(made: Adapter, tmp_path: Path) -> None:
    stores.check_planted_fact(made, tmp_path)


def test_the_score_is_the_cosine(made: Adapter, tmp_path: Path) -> None:
    with stores.opened(made, stores.space(tmp_path)) as agent:
        id = agent.add(stores.QUESTION.text)
        (found,) = agent.recall(stores.QUESTION, 5)
    assert found.id == id
    assert found.score == pytest.approx(1, abs=1e-5)


def test_spaces_are_apart_and_close_removes(made: Adapter, tmp_path: Path) -> None:
    stores.check_apart(made, tmp_path)


def test_nothing_ingested_nothing_recalled(made: Adapter, tmp_path: Path) -> None:
    stores.check_nothing_ingested(made, tmp_path)


def test_any_script_comes_back(made: Adapter, tmp_path: Path) -> None:
    stores.check_unicode(made, tmp_path)


def test_one_memory_is_added_and_deleted(made: Adapter, tmp_path: Path) -> None:
    stores.check_add_and_delete(made, tmp_path)


def test_users_are_told_apart(made: Adapter, tmp_path: Path) -> None:
    stores.check_users(made, tmp_path)


def test_deleting_what_is_not_there_fails(made: Adapter, tmp_path: Path) -> None:
    with stores.opened(made, stores.space(tmp_path)) as agent, pytest.raises(KeyError, match="000009"):
        agent.delete("000009")


def test_an_env_file_where_one_works_is_not_read(
    made: Adapter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("CHROMA_API_IMPL=no.such.Implementation\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with stores.opened(made, stores.space(tmp_path)) as agent:
        assert agent.list() == []


def test_it_runs_in_a_worker_and_says_nothing(model_server: Server, tmp_path: Path) -> None:
    asked = stores.spec("chroma", model_server)
    said_version, found, printed = asyncio.run(stores.through_a_worker(asked, tmp_path))
    assert said_version == f"chromadb {version('chromadb')}"
    assert stores.FACT in found[0].text
    assert printed == ""
