from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness.adapters.memories.bm25 import Bm25
from harness.adapters.memories.prefixes import IN_FLIGHT
from harness.adapters.protocol import Memory, Question
from harness.llm.exchange import Unanswered
from harness.suite import Conversation, Message
from tests.adapters.memories.conftest import OpenSpace
from tests.model_server import Server, start

TALK = Conversation(
    "conv_001",
    datetime(2025, 3, 4, 10, 15, tzinfo=UTC),
    {"business": "Harbor Lane", "department": "New accounts", "channel": "phone"},
    tuple(
        Message(role, f"{role} turn {number} {{{{ 7 * 7 }}}} <b>")  # type: ignore[arg-type]
        for number in range(24)
        for role in ("user", "assistant")
    ),
)


@pytest.fixture(scope="session")
def _server() -> Iterator[Server]:
    with start(max_seconds=600) as running:
        yield running


@pytest.fixture
def server(_server: Server) -> Server:
    _server.set_faults([])
    _server.reset()
    return _server


def recalled(space: Any, server: Server, question: str, talk: Conversation = TALK) -> list[Memory]:
    async def run() -> list[Memory]:
        options = Bm25.Options(rounds=1, prefix=True, model=f"small@{server.base_url}")
        agent = await Bm25(options).open(space)
        try:
            await agent.ingest(talk)
            return list(await agent.recall(Question(question), 50))
        finally:
            await agent.close()
            await space.models.close()

    return asyncio.run(run())


def test_a_prefix_is_kept_with_its_chunk_and_searched(open_space: OpenSpace, server: Server) -> None:
    server.set_faults(
        [{"do": {"text": "It is about\n a zeppelin. "}, "when": {"contains": "<part>\nuser: user turn 7 "}}]
    )
    first, *others = recalled(open_space(), server, "zeppelin")
    assert not others
    assert first.source_refs == ("conv_001#15", "conv_001#16")
    assert first.text.split("\n")[:3] == [
        "[2025-03-04 Tuesday]", "It is about a zeppelin.", "user: user turn 7 {{ 7 * 7 }} <b>",
    ]  # fmt: skip


def test_the_model_sees_the_conversation_and_the_part(open_space: OpenSpace, server: Server) -> None:
    recalled(open_space(), server, "turn")
    asked = server.requests()
    assert len(asked) == 24
    [prompt] = [message["content"] for message in asked[0]["messages"]]
    assert "Harbor Lane, New accounts, held on Tuesday, 2025-03-04" in prompt
    assert "assistant: assistant turn 23 {{ 7 * 7 }} <b>\n</conversation>" in prompt
    assert "response_format" not in asked[0]
    assert len({request["messages"][0]["content"] for request in asked}) == 24
    assert len({request["messages"][0]["content"].partition("<part>")[0] for request in asked}) == 1


def test_few_are_asked_for_at_once(open_space: OpenSpace, server: Server) -> None:
    server.set_faults([{"do": {"delay": 20}}])
    recalled(open_space(concurrency=32), server, "turn")
    assert 1 < server.stats()["max_in_flight"] <= IN_FLIGHT


def test_prefixes_come_again_from_a_cassette(open_space: OpenSpace, server: Server, tmp_path: Path) -> None:
    tape = str(tmp_path / "c.sqlite")
    first = recalled(open_space(cassette=tape), server, "turn")
    server.reset()
    assert recalled(open_space(cassette=tape, cassette_mode="replay"), server, "turn") == first
    assert server.stats()["chat"] == 0


def test_a_prefix_without_words_is_no_prefix(open_space: OpenSpace, server: Server) -> None:
    server.set_faults([{"do": {"text": "…"}}])
    with pytest.raises(Unanswered, match="no words"):
        recalled(open_space(), server, "turn", Conversation("c", None, {}, (Message("user", "Hello."),)))
