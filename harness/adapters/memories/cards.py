"""A strategy's memories beside the chunks: what a model made of the conversations, found by the same indexes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from harness.adapters.memories.rankers import Ranked, Ranker
from harness.adapters.protocol import Adapter, Memory, Question
from harness.adapters.registry import BUILT_IN, find_adapter, make_adapter
from harness.naming import parse_spec, unknown
from harness.suite import Conversation

_MARK = "card:"
_FLAG = "over="


def load_strategy(name: str) -> Adapter:
    """Return the strategy that `over` names, as `advanced_json_cards` or with options in brackets.

    Only the harness's own strategies are taken: they run where the index runs, which may be the
    harness's own process, and anybody's code could keep that from going on.

    Raises:
        InputError: when there is no strategy of this name, or its options do not fit.
    """
    spec = parse_spec(name, _FLAG)
    strategies = [info.name for info in BUILT_IN if info.kind == "strategy"]
    if spec.name not in strategies:
        raise unknown(_FLAG.rstrip("="), spec.name, "strategy", strategies, own=False)
    return make_adapter(find_adapter(spec), spec)


async def settled_value(value: Any) -> Any:
    """Return a value, waited for where it has to be: agents' methods may be plain or `async`."""
    return await value if inspect.isawaitable(value) else value


class Cards:
    """The memories of a strategy's agent, indexed.

    Its agent either lists its memories, which are then ranked here, or recalls them itself.

    Args:
        agent: the strategy's agent.
        make_rankers: makes empty indexes for the cards.
    """

    def __init__(self, agent: Any, make_rankers: Callable[[], Sequence[Ranker]]) -> None:
        self._agent = agent
        self._rankers = make_rankers() if hasattr(agent, "list") else ()
        self._stale = True
        self.known: dict[str, Memory] = {}

    async def ingest(self, conversation: Conversation) -> None:
        """Let the strategy take a conversation in."""
        await settled_value(self._agent.ingest(conversation))
        self._stale = True

    async def rankings(self, question: Question, depth: int) -> list[list[Ranked]]:
        """Return the cards' rankings, one for each index; `known` holds the cards that they name."""
        if not self._rankers:
            cards = await settled_value(self._agent.recall(question, depth))
            self.known = _marked(cards)
            return [[Ranked(id, -at) for at, id in enumerate(self.known)]]
        await self.all()
        return [await ranker.rank(question.text, depth) for ranker in self._rankers]

    async def all(self) -> list[Memory]:
        """Return all cards, the indexes brought up to date."""
        if self._stale and self._rankers:
            listed = _marked(await settled_value(self._agent.list()))
            gone = [id for id, card in self.known.items() if id not in listed or listed[id].text != card.text]
            fresh = [id for id in listed if id not in self.known or id in gone]
            for ranker in self._rankers:
                for id in gone:
                    ranker.remove(id)
                await ranker.add([(id, listed[id].text) for id in fresh])
            self.known = listed
            self._stale = False
        return list(self.known.values())

    async def delete(self, memory_id: str) -> None:
        """Remove a card.

        Raises:
            KeyError: when there is none of this id, or the strategy deletes nothing.
        """
        await self.all()
        if memory_id not in self.known or not hasattr(self._agent, "delete"):
            raise KeyError(f"no memory {memory_id!r} that can be deleted")
        await settled_value(self._agent.delete(memory_id.removeprefix(_MARK)))
        self._stale = True

    async def close(self) -> None:
        """Free the indexes and close the strategy's agent."""
        for ranker in self._rankers:
            ranker.close()
        if hasattr(self._agent, "close"):
            await settled_value(self._agent.close())


def _marked(cards: Sequence[Memory]) -> dict[str, Memory]:
    """Return cards by an id that no chunk has."""
    return {id: replace(card, id=id) for card in cards if (id := f"{_MARK}{card.id}")}
