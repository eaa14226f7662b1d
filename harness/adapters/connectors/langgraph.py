"""LangGraph's long-term stores as memories: what they find by embeddings; see docs/systems/langgraph.md."""

from __future__ import annotations

import itertools
from typing import ClassVar
from urllib.parse import quote

from pydantic import BaseModel

from harness.adapters.connectors.embedding import Embedders, Embedding
from harness.adapters.connectors.langgraph_stores import (
    LangGraphOptions,
    check_installed,
    discard_store,
    open_store,
    store_version,
)
from harness.adapters.connectors.rounds import memory_from, pieces, place_in_order
from harness.adapters.protocol import Adapter, Capability, Memory, Question, Space
from harness.suite import Conversation

_USER = "user"
_ALL = 1_000_000
_BATCH = 1000
"""Memories put at once; a statement of SQLite takes 32,766 values, and each memory has five."""


class LangGraphStore(Adapter):
    """A LangGraph store with an index over the text of each memory."""

    Options: ClassVar[type[BaseModel]] = LangGraphOptions
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {"recall", "add", "list", "delete", "user", "discard"}
    )

    def __init__(self, options: BaseModel) -> None:
        super().__init__(options)
        assert isinstance(options, LangGraphOptions)
        check_installed(options)
        self._embedders = Embedders(options)

    def open(self, space: Space) -> LangGraphAgent:
        """Return an agent on a store of its own."""
        assert isinstance(self.options, LangGraphOptions)
        return LangGraphAgent(self.options, space, self._embedders.open(space.models))

    def version(self) -> str:
        """Return the store's package and its version."""
        assert isinstance(self.options, LangGraphOptions)
        return store_version(self.options)

    def discard(self, namespace: str) -> None:
        """Remove what a killed agent left in Postgres."""
        assert isinstance(self.options, LangGraphOptions)
        discard_store(self.options, namespace)


class LangGraphAgent:
    """One store. A namespace is (the space, a user), so that a search of the space finds every user's."""

    def __init__(self, options: LangGraphOptions, space: Space, embedding: Embedding) -> None:
        self._per = options.per
        self._space = space.namespace
        self._embedding = embedding
        self._opened = open_store(options, space.namespace, space.folder, embedding, "text")
        self._owners: dict[str, str] = {}
        self._numbers = itertools.count(1)

    def ingest(self, conversation: Conversation) -> None:
        """Store a conversation in batches."""
        from langgraph.store.base import PutOp

        puts = []
        for piece in pieces(conversation, self._per):
            number = next(self._numbers)
            value = {"text": piece.text, **piece.stored(number)}
            puts.append(PutOp(self._home(_USER), self._named(number, _USER), value))
        for start in range(0, len(puts), _BATCH):
            self._opened.store.batch(puts[start : start + _BATCH])

    def recall(self, question: Question, limit: int, user: str | None = None) -> list[Memory]:
        """Return memories by their cosine with the question."""
        if limit < 1 or not question.text.strip():
            return []
        found = self._opened.store.search(self._scope(user), query=question.text, limit=limit)
        return [memory_from(item.key, item.value["text"], item.score, item.value) for item in found]

    def add(self, text: str, user: str | None = None) -> str:
        """Store one text; return its id."""
        owner, number = user or _USER, next(self._numbers)
        id = self._named(number, owner)
        self._opened.store.put(self._home(owner), id, {"text": text, "number": number})
        return id

    def list(self, user: str | None = None) -> list[Memory]:
        """Return everything that is stored, oldest first."""
        items = self._opened.store.search(self._scope(user), limit=_ALL)
        items.sort(key=lambda item: place_in_order(item.value))
        return [memory_from(item.key, item.value["text"], None, item.value) for item in items]

    def delete(self, memory_id: str) -> None:
        """Remove a memory.

        Raises:
            KeyError: when there is none of this id.
        """
        owner = self._owners.pop(memory_id)
        self._opened.store.delete(self._home(owner), memory_id)

    def close(self) -> None:
        """Remove what is stored, and close the store."""
        try:
            self._opened.remove()
        finally:
            self._embedding.close()

    def _named(self, number: int, owner: str) -> str:
        id = f"{number:06}"
        self._owners[id] = owner
        return id

    def _home(self, owner: str) -> tuple[str, ...]:
        return (self._space, quote(owner, safe="").replace(".", "%2E"))  # a label has no full stop

    def _scope(self, user: str | None) -> tuple[str, ...]:
        return (self._space,) if user is None else self._home(user)
