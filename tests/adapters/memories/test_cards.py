from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from harness.adapters.memories.bm25 import Bm25
from harness.adapters.memories.cards import load_strategy
from harness.adapters.protocol import Adapter, Memory, Question, Space
from harness.errors import InputError
from harness.suite import Conversation, Message
from tests.adapters.memories.conftest import OpenSpace


class Notebook:
    """Keeps the last word on each subject, as a strategy that a model writes would."""

    def __init__(self) -> None:
        self.cards: dict[str, Memory] = {}
        self.closed = False

    async def ingest(self, conversation: Conversation) -> None:
        for message in conversation.messages:
            subject = message.text.split()[0]
            self.cards[subject] = Memory(subject, f"card on {message.text}", type="card")

    def list(self) -> list[Memory]:
        return list(self.cards.values())

    def delete(self, memory_id: str) -> None:
        del self.cards[memory_id]

    def close(self) -> None:
        self.closed = True


class RecallsOnly:
    def ingest(self, conversation: Conversation) -> None:
        pass

    async def recall(self, question: Question, limit: int) -> list[Memory]:
        return [Memory("first", "one"), Memory("second", "two")][:limit]


class Strategy(Adapter):
    def __init__(self, agent: Any) -> None:
        super().__init__(self.Options())
        self.agent = agent

    async def open(self, space: Space) -> Any:
        return self.agent


def talk(id: str, *texts: str) -> Conversation:
    return Conversation(id, None, {}, tuple(Message("user", text) for text in texts))


def opened(space: Space, agent: Any) -> Any:
    return Bm25(Bm25.Options(rounds=1), Strategy(agent)).open(space)


def test_cards_are_ranked_together_with_the_chunks(open_space: OpenSpace) -> None:
    async def run() -> list[Memory]:
        agent = await opened(open_space(), Notebook())
        await agent.ingest(talk("c1", "fee is 30 dollars", "dog eats salmon"))
        await agent.recall(Question("fee"), 5)
        await agent.ingest(talk("c2", "fee is 45 dollars"))
        found: list[Memory] = await agent.recall(Question("What is the fee?"), 5)
        await agent.close()
        return found

    found = asyncio.run(run())
    assert [memory.id for memory in found[:2]] == ["c1#1", "card:fee"]
    assert {memory.id: memory.text for memory in found}["card:fee"] == "card on fee is 45 dollars"
    assert {memory.id for memory in found} >= {"c1#1", "c2#1", "card:fee"}
    assert found[0].score == found[1].score == pytest.approx(1 / 61)
    assert found[1].type == "card"


def test_cards_are_listed_deleted_and_closed(open_space: OpenSpace) -> None:
    notebook = Notebook()

    async def run() -> None:
        agent = await opened(open_space(), notebook)
        await agent.ingest(talk("c1", "fee is 30 dollars"))
        assert [memory.id for memory in await agent.list()] == ["c1#1", "card:fee"]
        await agent.delete("card:fee")
        assert [memory.id for memory in await agent.list()] == ["c1#1"]
        assert [memory.id for memory in await agent.recall(Question("fee"), 5)] == ["c1#1"]
        with pytest.raises(KeyError, match="card:fee"):
            await agent.delete("card:fee")
        await agent.close()

    asyncio.run(run())
    assert notebook.closed


def test_a_strategy_that_lists_nothing_recalls_its_cards(open_space: OpenSpace) -> None:
    async def run() -> list[Memory]:
        agent = await opened(open_space(), RecallsOnly())
        await agent.ingest(talk("c1", "fee is 30 dollars"))
        found: list[Memory] = await agent.recall(Question("fee"), 5)
        await agent.close()
        return found

    assert [memory.id for memory in asyncio.run(run())] == ["c1#1", "card:first", "card:second"]


def test_a_strategy_is_found_by_its_name_with_its_options() -> None:
    found = load_strategy("simple_notes(steps=3)")
    assert (type(found).__name__, found.options.model_dump()["steps"]) == ("SimpleNotes", 3)


@pytest.mark.parametrize(
    "name",
    ["bm25", "bm25(rounds=2)", "full_context", "command(run='cat')", "nope", "tests.adapters.systems.dies_at_import:Own"],
)  # fmt: skip
def test_only_the_harness_s_own_strategies_are_taken(name: str) -> None:
    with pytest.raises(
        InputError, match=r"no such strategy\..* Known: simple_notes, .*advanced_json_cards\.$"
    ):
        Bm25(Bm25.Options(over=name))
    assert "tests.adapters.systems.dies_at_import" not in sys.modules
