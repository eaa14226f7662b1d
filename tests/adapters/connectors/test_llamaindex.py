from __future__ import annotations

import asyncio
import importlib.util
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.connectors.llamaindex_parts import Line, spoken

if importlib.util.find_spec("llama_index") is None:
    pytest.skip("llama-index-core is not installed", allow_module_level=True)

from harness.adapters.protocol import Memory
from harness.errors import InputError
from tests.adapters.connectors import stores
from tests.adapters.connectors.waited import Waited
from tests.model_server import Server
from tests.model_server.fixtures import _shared_model_server, model_server

__all__ = ["_shared_model_server", "model_server"]


@pytest.fixture
def made(model_server: Server) -> Waited:
    return Waited(stores.adapter("llamaindex", model_server))


def of(memories: list[Memory], kind: str) -> list[Memory]:
    return [memory for memory in memories if memory.type == kind]


def test_each_message_arrives_with_time_and_place(made: Waited, tmp_path: Path) -> None:
    stores.check_everything_arrives(made, tmp_path)  # type: ignore[arg-type]


def test_what_leaves_the_queue_reaches_the_block_by_rounds(made: Waited, tmp_path: Path) -> None:
    conversation = stores.talk(60)
    with stores.opened(made, stores.space(tmp_path)) as agent:  # type: ignore[arg-type]
        agent.ingest(conversation)
        handed = agent.recall(stores.QUESTION, 1000)
        stored = [node.text for node in agent.inner._store.nodes]
    found, queued = of(handed, "block"), of(handed, "queue")
    refs = [ref for memory in found for ref in memory.source_refs]
    assert sorted([*refs, *(memory.id for memory in queued)]) == sorted(
        f"conv_001#{number}" for number in range(1, 121)
    )
    assert all(len(memory.source_refs) == 2 for memory in found)
    assert 0 < len(queued) < 12
    assert queued[0].id == "conv_001#120"
    assert "'business': 'Harbor Lane Pool'" in stored[0]
    said = conversation.messages
    first = next(memory for memory in found if memory.source_refs[0] == "conv_001#1")
    assert first.text == f"user: {said[0].text}\nassistant: {said[1].text}"
    assert first.created_at == said[0].timestamp


def test_a_larger_flush_makes_larger_texts(model_server: Server, tmp_path: Path) -> None:
    made = Waited(stores.adapter("llamaindex", model_server, token_flush_size=300))
    with stores.opened(made, stores.space(tmp_path)) as agent:  # type: ignore[arg-type]
        agent.ingest(stores.talk(30))
        found = of(agent.recall(stores.QUESTION, 1000), "block")
    assert all(len(memory.source_refs) > 2 for memory in found)


def test_a_planted_fact_is_recalled(made: Waited, tmp_path: Path) -> None:
    stores.check_planted_fact(made, tmp_path)  # type: ignore[arg-type]


def test_the_newest_is_handed_over_from_the_queue(model_server: Server, tmp_path: Path) -> None:
    for history in (True, False):
        made = Waited(stores.adapter("llamaindex", model_server, history=history))
        with stores.opened(made, stores.space(tmp_path)) as agent:  # type: ignore[arg-type]
            agent.ingest(stores.talk(2, planted=1))
            found = agent.recall(stores.QUESTION, 10)
        assert (stores.FACT in " ".join(stores.texts(found))) is history


def test_spaces_are_apart(made: Waited, tmp_path: Path) -> None:
    with stores.opened(made, stores.space(tmp_path)) as one:  # type: ignore[arg-type]
        one.ingest(stores.talk(20, planted=1))
        with stores.opened(made, stores.space(tmp_path)) as other:  # type: ignore[arg-type]
            other.ingest(stores.talk(20))
            assert stores.FACT in one.recall(stores.QUESTION, 10)[0].text
            assert stores.FACT not in " ".join(stores.texts(other.recall(stores.QUESTION, 100)))


def test_nothing_ingested_nothing_recalled(made: Waited, tmp_path: Path) -> None:
    stores.check_nothing_ingested(made, tmp_path)  # type: ignore[arg-type]


def test_any_script_comes_back(made: Waited, tmp_path: Path) -> None:
    stores.check_unicode(made, tmp_path)  # type: ignore[arg-type]


def test_messages_cannot_be_stored_one_by_one(model_server: Server) -> None:
    with pytest.raises(InputError, match="per"):
        stores.adapter("llamaindex", model_server, per="message")


def test_it_runs_in_a_worker_and_says_nothing(model_server: Server, tmp_path: Path) -> None:
    asked = stores.spec("llamaindex", model_server)
    said_version, found, printed = asyncio.run(stores.through_a_worker(asked, tmp_path))
    assert said_version == f"llama-index-core {version('llama-index-core')}"
    assert stores.FACT in " ".join(memory.text for memory in found)
    assert printed == ""


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text(min_size=1)), max_size=4))
def test_what_the_block_writes_down_is_read_back(told: list[tuple[str, str]]) -> None:
    written = "\n".join(
        f"<message role='{role}'>{text}\nAdditional Info: ({ {'source_ref': str(number)} })</message>"
        for number, (role, text) in enumerate(told)
    )
    assert spoken(written) == [
        Line(role, text, {"source_ref": str(number)}) for number, (role, text) in enumerate(told)
    ]
