"""LlamaIndex's `Memory` with a vector block; see docs/systems/llamaindex.md."""

from __future__ import annotations

import logging
from datetime import datetime
from importlib.metadata import version
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from harness.adapters.connectors.embedding import Embedders, Embedding, StoreOptions
from harness.adapters.connectors.llamaindex_parts import block_store, embed_model, spoken
from harness.adapters.protocol import Adapter, Capability, Memory, Question, Space
from harness.suite import Conversation


class LlamaIndexOptions(StoreOptions):
    """The options of `Memory.from_defaults` and of its block, under LlamaIndex's names.

    Attributes:
        per: only `round`: what leaves the queue together is stored together, and turns stay whole.
        token_limit: tokens of queue and blocks together.
        chat_history_token_ratio: share of these that the queue may fill; what exceeds it goes to the block.
        token_flush_size: least number of tokens that go to the block as one text; 1 sends one round.
        retrieval_context_window: messages that the block searches with, the question the last of them.
            Of a window of 1 LlamaIndex makes the whole queue, so 2 is the least.
        history: whether messages still in the queue are handed over too, after what the block found.
    """

    per: Literal["round"] = "round"
    token_limit: int = Field(3000, ge=1)
    chat_history_token_ratio: float = Field(0.1, gt=0, le=1)
    token_flush_size: int = Field(1, ge=1)
    retrieval_context_window: int = Field(2, ge=2)
    history: bool = True

    @model_validator(mode="after")
    def _flushes(self) -> LlamaIndexOptions:
        if self.token_flush_size > self.token_limit:
            raise ValueError("token_flush_size= has to be at most token_limit=")
        return self


class LlamaIndexMemory(Adapter):
    """A queue of messages in SQLite, and behind it a block that finds old ones by their embeddings."""

    Options: ClassVar[type[LlamaIndexOptions]] = LlamaIndexOptions
    capabilities: ClassVar[frozenset[Capability]] = frozenset({"recall", "list"})

    def __init__(self, options: LlamaIndexOptions) -> None:
        super().__init__(options)
        logging.getLogger("llama_index").setLevel(logging.ERROR)
        import llama_index.core.memory  # noqa: F401  a missing package shows when the adapter is made

        self._how = options
        self._embedders = Embedders(options)

    def open(self, space: Space) -> LlamaIndexAgent:
        """Return an agent with a memory of its own."""
        return LlamaIndexAgent(self._how, space.namespace, self._embedders.open(space.models))

    def version(self) -> str:
        """Return the version of the package."""
        return f"llama-index-core {version('llama-index-core')}"


class LlamaIndexAgent:
    """One memory; the space is its session."""

    def __init__(self, options: LlamaIndexOptions, session: str, embedding: Embedding) -> None:
        from llama_index.core.memory import Memory as Queue
        from llama_index.core.memory import VectorMemoryBlock
        from sqlalchemy.ext.asyncio import create_async_engine

        self._options = options
        self._embedding = embedding
        self._store: Any = block_store()
        self._block = VectorMemoryBlock(
            name="earlier",
            vector_store=self._store,
            embed_model=embed_model(embedding.embed),
            retrieval_context_window=options.retrieval_context_window,
        )
        # An engine that LlamaIndex makes itself is never closed, and keeps its thread.
        self._engine = create_async_engine("sqlite+aiosqlite:///:memory:")
        self._memory: Any = Queue.from_defaults(
            session_id=session,
            token_limit=options.token_limit,
            chat_history_token_ratio=options.chat_history_token_ratio,
            token_flush_size=options.token_flush_size,
            memory_blocks=[self._block],
            async_engine=self._engine,
        )

    async def ingest(self, conversation: Conversation) -> None:
        """Put a conversation in, message by message; what does not fit in the queue goes to the block."""
        from llama_index.core.llms import ChatMessage

        for number, message in enumerate(conversation.messages, start=1):
            said_at = message.timestamp or conversation.timestamp
            kept = {
                "source_ref": f"{conversation.id}#{number}",
                **({} if said_at is None else {"said_at": said_at.isoformat()}),
                **({"labels": dict(conversation.metadata)} if conversation.metadata else {}),
            }
            await self._memory.aput(
                ChatMessage(role=message.role, content=message.text, additional_kwargs=kept)
            )

    async def recall(self, question: Question, limit: int) -> list[Memory]:
        """Return what the block finds, by cosine, and then the messages that are still in the queue."""
        if limit < 1 or not question.text.strip():
            return []
        self._store.found = []
        self._block.similarity_top_k = limit
        handed = await self._memory.aget(input=question.text)
        memories = [_from_node(node, score) for node, score in self._store.found]
        if self._options.history:
            queued = [message for message in handed if message.role.value != "system"]
            memories += [_from_message(message, "queue") for message in reversed(queued)]
        return memories[:limit]

    async def list(self) -> list[Memory]:
        """Return every message, oldest first, whether it is in the queue or not."""
        return [_from_message(message, None) for message in await self._memory.aget_all()]

    async def close(self) -> None:
        """Remove the messages, and close their database."""
        try:
            await self._memory.areset()
            self._store.clear()
        finally:
            await self._engine.dispose()
            self._embedding.close()


def _from_node(node: Any, score: float) -> Memory:
    lines = spoken(node.text)
    first = lines[0].kept if lines else {}
    return Memory(
        id=node.node_id,
        text="\n".join(f"{line.role}: {line.text}" for line in lines) or node.text,
        score=score,
        created_at=_time(first.get("said_at")),
        source_refs=tuple(line.kept["source_ref"] for line in lines if "source_ref" in line.kept),
        type="block",
    )


def _from_message(message: Any, kind: str | None) -> Memory:
    kept = message.additional_kwargs
    return Memory(
        id=kept["source_ref"],
        text=f"{message.role.value}: {message.content or ''}",
        created_at=_time(kept.get("said_at")),
        source_refs=(kept["source_ref"],),
        type=kind,
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
