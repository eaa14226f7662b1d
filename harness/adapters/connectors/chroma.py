"""A Chroma collection, in this process and on disk; see docs/systems/chroma.md."""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, ClassVar

from pydantic import BaseModel

from harness.adapters.connectors.embedding import Embedders, Embedding, StoreOptions
from harness.adapters.connectors.rounds import Per, memory_from, pieces, place_in_order
from harness.adapters.protocol import Adapter, Capability, Memory, Question, Space
from harness.suite import Conversation

_USER = "user"


class Chroma(Adapter):
    """A collection with cosine distances; the vectors come from the harness's embedder."""

    Options: ClassVar[type[BaseModel]] = StoreOptions
    capabilities: ClassVar[frozenset[Capability]] = frozenset({"recall", "add", "list", "delete", "user"})

    def __init__(self, options: BaseModel) -> None:
        super().__init__(options)
        assert isinstance(options, StoreOptions)
        os.environ["ANONYMIZED_TELEMETRY"] = "False"
        logging.getLogger("chromadb").setLevel(logging.ERROR)
        import chromadb  # noqa: F401  a missing package shows when the adapter is made

        self._embedders = Embedders(options)

    def open(self, space: Space) -> ChromaAgent:
        """Return an agent whose collection is in the folder of the space."""
        assert isinstance(self.options, StoreOptions)
        return ChromaAgent(self.options.per, space, self._embedders.open(space.models))

    def version(self) -> str:
        """Return the version of the package."""
        return f"chromadb {version('chromadb')}"


class ChromaAgent:
    """One collection, named after the space. Users are told apart by metadata."""

    def __init__(self, per: Per, space: Space, embedding: Embedding) -> None:
        import chromadb

        self._per = per
        self._name = space.namespace
        self._folder = space.folder / "chroma"
        self._embedding = embedding
        self._stored = 0
        # Without `_env_file` Chroma takes settings from an `.env` in the working directory.
        settings = chromadb.Settings(_env_file=None, anonymized_telemetry=False)
        self._client: Any = chromadb.PersistentClient(str(self._folder), settings=settings)
        self._collection = self._client.create_collection(
            self._name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def ingest(self, conversation: Conversation) -> None:
        """Store a conversation in one call."""
        told = [(piece.text, piece.stored(self._next())) for piece in pieces(conversation, self._per)]
        self._put([text for text, _ in told], [stored for _, stored in told], _USER)

    def recall(self, question: Question, limit: int, user: str | None = None) -> list[Memory]:
        """Return memories by their cosine with the question: 1 - Chroma's cosine distance."""
        if limit < 1 or not question.text.strip() or not self._collection.count():
            return []
        found = self._collection.query(
            query_embeddings=self._embedding.embed([question.text]),
            n_results=min(limit, self._collection.count()),
            where=_owned_by(user),
        )
        return [
            _memory(id, text, stored, 1 - distance)
            for id, text, stored, distance in zip(
                found["ids"][0],
                found["documents"][0],
                found["metadatas"][0],
                found["distances"][0],
                strict=True,
            )
        ]

    def add(self, text: str, user: str | None = None) -> str:
        """Store one text; return its id."""
        (id,) = self._put([text], [{"number": self._next()}], user or _USER)
        return id

    def list(self, user: str | None = None) -> list[Memory]:
        """Return everything that is stored, oldest first."""
        kept = self._collection.get(where=_owned_by(user))
        rows = zip(kept["ids"], kept["documents"], kept["metadatas"], strict=True)
        return [
            _memory(id, text, stored)
            for id, text, stored in sorted(rows, key=lambda row: place_in_order(row[2]))
        ]

    def delete(self, memory_id: str) -> None:
        """Remove a memory.

        Raises:
            KeyError: when there is none of this id; Chroma itself does not say so.
        """
        if not self._collection.get(ids=[memory_id], include=[])["ids"]:
            raise KeyError(memory_id)
        self._collection.delete(ids=[memory_id])

    def close(self) -> None:
        """Remove the collection, and stop the store and its threads."""
        client, self._client = self._client, None
        if client is None:
            return
        try:
            client.delete_collection(self._name)
        finally:
            client.close()
            self._embedding.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _put(self, texts: Sequence[str], stored: Sequence[dict[str, Any]], user: str) -> Sequence[str]:
        if not texts:
            return []
        ids = [f"{data['number']:06}" for data in stored]
        metadatas = [{**_flat(data), "user": user} for data in stored]
        vectors = self._embedding.embed(texts)
        self._collection.add(ids=ids, documents=list(texts), embeddings=vectors, metadatas=metadatas)
        return ids

    def _next(self) -> int:
        self._stored += 1
        return self._stored


def _owned_by(user: str | None) -> dict[str, str] | None:
    return None if user is None else {"user": user}


def _flat(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept beside a text as Chroma takes it: one level, a label under a name of its own."""
    labels = {f"label.{name}": value for name, value in stored.get("labels", {}).items()}
    flat = {name: value for name, value in stored.items() if name not in ("labels", "source_refs")}
    return {**flat, **labels, "source_refs": json.dumps(stored.get("source_refs", []))}


def _memory(id: str, text: str, stored: Mapping[str, Any], score: float | None = None) -> Memory:
    return memory_from(id, text, score, {**stored, "source_refs": json.loads(str(stored["source_refs"]))})
