"""What the three adapters share: how an agent is put together from the options."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from pydantic import BaseModel

from harness.adapters.memories.agent import RetrievalAgent
from harness.adapters.memories.cards import Cards, load_strategy, settled_value
from harness.adapters.memories.options import ChunkOptions
from harness.adapters.memories.rankers import Ranker
from harness.adapters.protocol import Adapter, Capability, Space


class Retrieval(Adapter):
    """A memory of chunks; each kind names its indexes.

    Args:
        options: as `Options` has them.
        strategy: writes the cards; the one that `over` names when left out.
    """

    Options: ClassVar[type[BaseModel]] = ChunkOptions
    uses_folder: ClassVar[bool] = False
    capabilities: ClassVar[frozenset[Capability]] = frozenset({"recall", "add", "list", "delete", "user"})

    def __init__(self, options: BaseModel, strategy: Adapter | None = None) -> None:
        super().__init__(options)
        assert isinstance(options, ChunkOptions)
        self._chunks = options
        self._strategy = load_strategy(options.over) if strategy is None and options.over else strategy

    def prompts(self) -> dict[str, str]:
        """Return name and hash of each prompt that is sent to a model."""
        found: dict[str, str] = {}
        if self._chunks.prefix:
            from harness.adapters.memories.prefixes import templates

            found |= templates().hashes
        if self._strategy is not None and hasattr(self._strategy, "prompts"):
            found |= self._strategy.prompts()
        return found

    @abstractmethod
    def rankers(self, space: Space) -> Sequence[Ranker]:
        """Return empty indexes for one agent."""

    async def open(self, space: Space) -> RetrievalAgent:
        """Return an agent with nothing in it."""
        prefixer = None
        if self._chunks.prefix:
            from harness.adapters.memories.prefixes import write_prefixes

            prefixer = partial(write_prefixes, space.models.chat(self._chunks.model), space.repeat)
        cards = None
        if self._strategy is not None:
            agent = await settled_value(self._strategy.open(space))
            cards = Cards(agent, partial(self.rankers, space))
        return RetrievalAgent(self._chunks, self.rankers(space), prefixer, cards)

    async def close(self) -> None:
        """Close the strategy."""
        if self._strategy is not None:
            await settled_value(self._strategy.close())
