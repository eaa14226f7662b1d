"""langmem on a LangGraph store: its memory tools, or its manager with a model; see docs/systems/langmem.md."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, Field, model_validator

from harness.adapters.connectors.embedding import Embedders, Embedding
from harness.adapters.connectors.langgraph_stores import (
    LangGraphOptions,
    check_installed,
    discard_store,
    open_store,
    store_version,
)
from harness.adapters.connectors.rounds import Piece, memory_from, pieces, place_in_order
from harness.adapters.protocol import Adapter, Capability, Memory, Question, Space
from harness.suite import Conversation

if TYPE_CHECKING:
    from harness.llm.models import Models

_ALL = 1_000_000


class LangMemOptions(LangGraphOptions):
    """How langmem is used.

    Attributes:
        manager: whether a model extracts and revises memories (langmem's store manager), or
            texts are stored as they are by its memory tool.
        model: the model for that, `[provider:]model[@base_url]`; the run's own when left out.
    """

    manager: bool = False
    model: str | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _model_used(self) -> LangMemOptions:
        if self.model is not None and not self.manager:
            raise ValueError("model= names who manages memories: add manager=True, or leave it out")
        return self


class LangMem(Adapter):
    """langmem's tools for memories, called as an assistant would call them."""

    Options: ClassVar[type[BaseModel]] = LangMemOptions
    capabilities: ClassVar[frozenset[Capability]] = frozenset({"recall", "add", "list", "delete", "discard"})

    def __init__(self, options: BaseModel) -> None:
        super().__init__(options)
        assert isinstance(options, LangMemOptions)
        check_installed(options)
        import langmem  # noqa: F401

        self._embedders = Embedders(options)

    def open(self, space: Space) -> LangMemAgent:
        """Return an agent on a store of its own."""
        assert isinstance(self.options, LangMemOptions)
        return LangMemAgent(self.options, space, self._embedders.open(space.models))

    def version(self) -> str:
        """Return the versions of langmem and of the store."""
        assert isinstance(self.options, LangMemOptions)
        return f"langmem {version('langmem')}, {store_version(self.options)}"

    def discard(self, namespace: str) -> None:
        """Remove what a killed agent left in Postgres."""
        assert isinstance(self.options, LangMemOptions)
        discard_store(self.options, namespace)


class LangMemAgent:
    """langmem's tools over one store.

    A memory's value is `{"content": …}`: with the tool a text with its date and place, with the
    manager what the model wrote.
    """

    def __init__(self, options: LangMemOptions, space: Space, embedding: Embedding) -> None:
        from langmem import create_manage_memory_tool, create_search_memory_tool

        self._per = options.per
        self._space = (space.namespace,)
        self._embedding = embedding
        self._opened = open_store(options, space.namespace, space.folder, embedding, "content.content")
        self._numbers = itertools.count(1)
        self._written: dict[str, dict[str, Any]] = {}
        store = self._opened.store
        self._manage = create_manage_memory_tool(self._space, schema=dict, store=store)
        self._search = create_search_memory_tool(self._space, store=store)
        self._http: Any = None
        self._manager: Any = None
        if options.manager:
            import openai

            self._http = openai.DefaultHttpxClient()  # langchain's own is shared and never closed
            self._manager = _manager(options, space.models, self._space, store, self._http)

    def ingest(self, conversation: Conversation) -> None:
        """Store a conversation piece by piece, or hand it to the manager so."""
        for piece in pieces(conversation, self._per):
            stored = piece.stored(next(self._numbers))
            if self._manager is None:
                self._create({"content": piece.text, **stored})
                continue
            for put in self._manager.invoke({"messages": _as_messages(piece)}):
                self._written[put["key"]] = stored

    def recall(self, question: Question, limit: int) -> list[Memory]:
        """Return memories by their cosine with the question."""
        if limit < 1 or not question.text.strip():
            return []
        found = json.loads(self._search.invoke({"query": question.text, "limit": limit}))
        return [self._memory(item["key"], item["value"], item["score"]) for item in found]

    def add(self, text: str) -> str:
        """Store one text with the memory tool; return its id."""
        return self._create({"content": text, "number": next(self._numbers)})

    def list(self) -> list[Memory]:
        """Return everything that is stored, oldest first."""
        items = self._opened.store.search(self._space, limit=_ALL)
        items.sort(key=lambda item: place_in_order(self._beside(item.key, item.value)))
        return [self._memory(item.key, item.value, None) for item in items]

    def delete(self, memory_id: str) -> None:
        """Remove a memory with the memory tool.

        Raises:
            KeyError: when there is none of this id.
        """
        if self._opened.store.get(self._space, memory_id) is None:
            raise KeyError(f"no memory {memory_id!r}")
        self._manage.invoke({"action": "delete", "id": memory_id})

    def close(self) -> None:
        """Remove what is stored, and close the store."""
        try:
            self._opened.remove()
        finally:
            self._embedding.close()
            if self._http is not None:
                self._http.close()

    def _create(self, content: dict[str, Any]) -> str:
        said = str(self._manage.invoke({"action": "create", "content": content}))
        return said.rpartition(" ")[2]  # "created memory <id>"

    def _memory(self, key: str, value: Mapping[str, Any], score: float | None) -> Memory:
        content = value["content"]
        text = content["content"] if isinstance(content, Mapping) else str(content)
        return memory_from(key, text, score, self._beside(key, value))

    def _beside(self, key: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return date and place; the manager keeps none, so theirs is the piece it last wrote from."""
        content = value["content"]
        return self._written.get(key) or (content if isinstance(content, Mapping) else {})


def _manager(
    options: LangMemOptions, models: Models, namespace: tuple[str, ...], store: Any, http: Any
) -> Any:
    from langchain_openai import ChatOpenAI
    from langmem import create_memory_store_manager

    endpoint = models.endpoint(options.model)
    chat = ChatOpenAI(
        model=endpoint.model,
        base_url=endpoint.base_url,
        api_key=endpoint.api_key or "none",
        timeout=models.settings.timeout_s,
        use_responses_api=False,
        http_client=http,
    )
    return create_memory_store_manager(chat, namespace=namespace, store=store)


def _as_messages(piece: Piece) -> list[dict[str, str]]:
    """Return the messages for the manager, which takes no time of its own: it is told in words."""
    said = [{"role": message.role, "content": message.text} for message in piece.messages]
    if piece.said_at is None:
        return said
    return [{"role": "system", "content": f"What follows was said on {piece.said_at:%A, %Y-%m-%d}."}, *said]
