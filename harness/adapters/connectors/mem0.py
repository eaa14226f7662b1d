"""Mem0, the open-source package, on its own local vector store; see docs/systems/mem0.md."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from typing import Any, ClassVar

from pydantic import BaseModel, Field, model_validator

from harness.adapters.connectors.embedding import Embedders, Embedding, StoreOptions
from harness.adapters.connectors.rounds import Piece, memory_from, pieces, place_in_order
from harness.adapters.protocol import Adapter, Capability, Memory, Question, Space
from harness.suite import Conversation

_USER = "user"
_ALL = 1_000_000
_NOWHERE: Mapping[str, Any] = {"openai_base_url": "http://127.0.0.1:9/v1", "api_key": "none"}
"""Where the clients point that Mem0 insists on and that are not to be called: a port that discards."""


class Mem0Options(StoreOptions):
    """How Mem0 is used.

    Attributes:
        infer: whether a model extracts facts from each piece (Mem0's own default), or texts are
            stored as they are.
        model: the model for that, `[provider:]model[@base_url]`; the run's own when left out.
        threshold: least cosine of a memory that is recalled; 0.1 is Mem0's own default.
    """

    infer: bool = False
    model: str | None = Field(None, min_length=1)
    threshold: float = Field(0.1, ge=0, le=1)

    @model_validator(mode="after")
    def _model_used(self) -> Mem0Options:
        if self.model is not None and not self.infer:
            raise ValueError("model= names who extracts facts: add infer=True, or leave it out")
        return self


class Mem0(Adapter):
    """Mem0 with Qdrant's local mode, which is its default store and needs no server."""

    Options: ClassVar[type[BaseModel]] = Mem0Options
    capabilities: ClassVar[frozenset[Capability]] = frozenset({"recall", "add", "list", "delete", "user"})

    def __init__(self, options: BaseModel) -> None:
        super().__init__(options)
        assert isinstance(options, Mem0Options)
        self._embedders = Embedders(options)
        _import_mem0()

    def open(self, space: Space) -> Mem0Agent:
        """Return an agent whose store is in the folder of the space."""
        assert isinstance(self.options, Mem0Options)
        return Mem0Agent(self.options, space, self._embedders.open(space.models))

    def version(self) -> str:
        """Return the version of the package."""
        return f"mem0ai {version('mem0ai')}"


class Mem0Agent:
    """One Mem0 store. The space is a `run_id`, the users in it are `user_id`s."""

    def __init__(self, options: Mem0Options, space: Space, embedding: Embedding) -> None:
        self._options = options
        self._run = space.namespace
        self._folder = space.folder / "mem0"
        self._folder.mkdir()
        self._embedding = embedding
        self._stored = 0
        self._memory: Any = _open_memory(options, space, embedding, self._folder)

    def ingest(self, conversation: Conversation) -> None:
        """Store a conversation piece by piece."""
        for piece in pieces(conversation, self._options.per):
            metadata = piece.stored(self._next())
            if piece.said_at is not None:
                metadata["created_at"] = piece.said_at.isoformat()
            told = {"run_id": self._run, "user_id": _USER, "metadata": metadata}
            if self._options.infer:
                self._memory.add(_as_messages(piece), infer=True, prompt=_when_said(piece.said_at), **told)
            else:
                self._memory.add([{"role": "user", "content": piece.text}], infer=False, **told)

    def recall(self, question: Question, limit: int, user: str | None = None) -> list[Memory]:
        """Return memories by Mem0's own score, from 0 to 1."""
        if limit < 1 or not question.text.strip():
            return []
        found = self._memory.search(
            question.text, top_k=limit, filters=self._scope(user), threshold=self._options.threshold
        )
        return [_memory(item) for item in found["results"]]

    def add(self, text: str, user: str | None = None) -> str:
        """Store one text; return the id of (the first of) what Mem0 made of it, empty for nothing."""
        made = self._memory.add(
            [{"role": "user", "content": text}],
            infer=self._options.infer,
            run_id=self._run,
            user_id=user or _USER,
            metadata={"number": self._next()},
        )["results"]
        return made[0]["id"] if made else ""

    def list(self, user: str | None = None) -> list[Memory]:
        """Return everything that is stored, oldest first."""
        items = self._memory.get_all(filters=self._scope(user), top_k=_ALL)["results"]
        return [
            _memory(item) for item in sorted(items, key=lambda item: place_in_order(item.get("metadata")))
        ]

    def delete(self, memory_id: str) -> None:
        """Remove a memory.

        Raises:
            ValueError: when there is none of this id.
        """
        self._memory.delete(memory_id)

    def close(self) -> None:
        """Close Mem0's files and connections, and remove the store."""
        memory, self._memory = self._memory, None
        if memory is None:
            return
        # Mem0's own close leaves these open.
        memory.vector_store.client.close()
        memory.llm.client.close()
        memory.close()
        self._embedding.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _scope(self, user: str | None) -> dict[str, str]:
        return {"run_id": self._run} if user is None else {"run_id": self._run, "user_id": user}

    def _next(self) -> int:
        self._stored += 1
        return self._stored


def _memory(item: Mapping[str, Any]) -> Memory:
    return memory_from(item["id"], item["memory"], item.get("score"), item.get("metadata"))


def _as_messages(piece: Piece) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.text} for message in piece.messages]


def _when_said(said_at: datetime | None) -> str | None:
    """Return the instruction that dates a piece.

    The package takes no timestamp: it tells the model that everything is said today.
    """
    if said_at is None:
        return None
    return (
        f"The new messages were said on {said_at:%A, %Y-%m-%d}. That is their Observation Date; "
        "disregard the one above."
    )


def _open_memory(options: Mem0Options, space: Space, embedding: Embedding, folder: Any) -> Any:
    from mem0 import Memory as Store
    from mem0.embeddings.base import EmbeddingBase

    class Own(EmbeddingBase):  # type: ignore[misc]
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return embedding.embed([text])[0]

        def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
            return embedding.embed(texts)

    chat = {"model": "none", **_NOWHERE}
    if options.infer:
        endpoint = space.models.endpoint(options.model)
        chat = {
            "model": endpoint.model,
            "openai_base_url": endpoint.base_url,
            "api_key": endpoint.api_key or "none",
        }
    config = {
        "vector_store": {
            "provider": "qdrant",
            "config": {
                "collection_name": "memories",
                "path": str(folder / "qdrant"),
                "embedding_model_dims": embedding.dimensions,
                "on_disk": True,
            },
        },
        "embedder": {"provider": "openai", "config": {"model": "none", **_NOWHERE}},
        "llm": {"provider": "openai", "config": chat},
        "history_db_path": str(folder / "history.db"),
    }
    # With these set Mem0 would call elsewhere than where the run's model is.
    with _variables(OPENROUTER_API_KEY=None, OPENAI_API_BASE=None):
        store = Store.from_config(config)
    store.embedding_model.client.close()
    store.embedding_model = Own()
    return store


def _import_mem0() -> None:
    """Import Mem0 without its telemetry, and without a folder in the user's home."""
    logging.getLogger("mem0").setLevel(logging.ERROR)
    os.environ["MEM0_TELEMETRY"] = "False"
    with tempfile.TemporaryDirectory(prefix="recallbench-mem0-") as folder, _variables(MEM0_DIR=folder):
        import mem0  # noqa: F401


@contextmanager
def _variables(**values: str | None) -> Iterator[None]:
    """Set environment variables for a while; None takes one away."""
    before = {name: os.environ.get(name) for name in values}
    _set(values)
    try:
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
