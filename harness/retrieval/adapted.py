"""A memory system as a retriever: its memories are put in by its adapter and recalled by their ids."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import AsyncExitStack
from importlib.util import find_spec

from harness.adapters.hosts import Host, Session, Timeouts, make_host
from harness.adapters.memories.rankers import Ranked
from harness.adapters.protocol import Memory, Question
from harness.adapters.registry import AdapterInfo, available_adapters, find_adapter
from harness.errors import InputError
from harness.llm.models import Models
from harness.naming import Spec, unknown
from harness.retrieval.dataset import StoredMemory
from harness.retrieval.streams.naming import known_retrievers
from harness.suite import Conversation, Message


def find_system(spec: Spec) -> AdapterInfo:
    """Return the adapter of a system that is no retriever of ours.

    Raises:
        InputError: for an unknown name, with those of retrievers and systems, or when what it needs is lacking.
    """
    systems = [info.name for info in available_adapters()]
    # What has a colon, or is a module and lacks one, is someone's own, and told as such.
    if spec.name in systems or ":" in spec.name or (spec.name.isidentifier() and find_spec(spec.name)):
        return find_adapter(spec)
    raise unknown("--system", spec.name, "system", dict.fromkeys((*known_retrievers(), *systems)))


class Adapted:
    """Any adapter that recalls.

    A memory is added as it is where the system can (`add`), else told as the one message of a
    conversation. What it recalls is known again by the id that `add` returned, by the message that
    it says it comes from, or by its text; what is none of these counts as a wrong result.

    Args:
        spec: as the user typed it.
        models: what the system may ask.
        timeouts: how long each phase may take.
    """

    lexical = False

    def __init__(self, spec: Spec, models: Models, timeouts: Timeouts | None = None) -> None:
        self.name = spec.label
        self.version = ""
        self.scored = True
        self._spec = spec
        self._timeouts = timeouts or Timeouts()
        self._host: Host = make_host(find_system(spec), spec, models, self._timeouts)
        self._stack = AsyncExitStack()
        self._session: Session | None = None
        self._known: dict[str, str] = {}
        self._by_text: dict[str, str] = {}
        self._told: frozenset[str] = frozenset()

    async def fill(self, memories: Sequence[StoredMemory]) -> None:
        """Load the adapter, open an agent and store every memory.

        Raises:
            InputError: when it cannot be loaded, or can only answer.
            AgentFailure: when it fails to store.
        """
        self._stack.push_async_callback(self._host.close)
        described = await self._host.start()
        if "recall" not in described.capabilities:
            raise InputError(f"--system {self._spec.text}: it answers and cannot recall: nothing to rank.")
        self.version = described.version
        self._session = await self._stack.enter_async_context(self._host.session(uuid.uuid4().hex))
        self._by_text = {memory.text.strip(): memory.id for memory in reversed(memories)}
        self._told = frozenset(memory.id for memory in memories)
        for memory in memories:
            if "add" in described.capabilities:
                kept = await self._session.add(memory.text, None, self._timeouts.ingest)
                self._known[kept] = memory.id
            else:
                await self._session.ingest(_as_conversation(memory), self._timeouts.ingest)
        await self._session.wait(self._timeouts.wait)

    async def search(self, query: str, limit: int) -> list[Ranked]:
        """Return what it recalls, in its own order.

        Raises:
            AgentFailure: when it fails.
        """
        assert self._session is not None, "fill comes first"
        found = await self._session.recall(Question(query), limit, self._timeouts.recall)
        self.scored = self.scored and all(memory.score is not None for memory in found)
        return [Ranked(self._id_of(memory), memory.score or 0.0) for memory in found]

    async def close(self) -> None:
        """Close agent and adapter."""
        await self._stack.aclose()

    def _id_of(self, memory: Memory) -> str:
        if memory.id in self._known:
            return self._known[memory.id]
        for ref in memory.source_refs:
            if (name := ref.partition("#")[0]) in self._told:
                return name
        return self._by_text.get(memory.text.strip(), f"?{memory.id}")


def _as_conversation(memory: StoredMemory) -> Conversation:
    return Conversation(memory.id, memory.created_at, {}, (Message("user", memory.text, memory.created_at),))
