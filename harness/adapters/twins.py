"""Two agents of one adapter, open side by side in one process.

A store that all agents of a process share shows neither between two workers nor between two
agents that follow each other, when each clears it.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from harness.adapters.protocol import Adapter, Capability, Memory, Question, Space
from harness.adapters.registry import AdapterInfo, find_adapter
from harness.adapters.serving import OpenAgent, Serving
from harness.naming import Spec, parse_spec
from harness.suite import Conversation
from harness.suite.answer import Answer

_FLAG = "--system"


class _Options(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    of: str


class Twins(Adapter):
    """Opens two agents; calls go to the first and the second in turn.

    The option `of` is the spec of their adapter.
    """

    Options = _Options
    capabilities: frozenset[Capability] = frozenset({"recall", "answer", "wait"})  # type: ignore[misc]

    async def open(self, space: Space) -> _Pair:
        """Open both agents, each in a space of its own."""
        assert isinstance(self.options, _Options)
        spec = parse_spec(self.options.of, _FLAG)
        serving = Serving(find_adapter(spec), spec, space.models)
        # Namespaces are hexadecimal, so that these two are nobody else's.
        first = await serving.open(f"{space.namespace[:-1]}x", space.repeat)
        try:
            second = await serving.open(f"{space.namespace[:-1]}y", space.repeat)
        except BaseException:
            await first.close()
            raise
        return _Pair(serving, first, second)


class _Pair:
    def __init__(self, serving: Serving, first: OpenAgent, second: OpenAgent) -> None:
        self._serving = serving
        self._agents = (first, second)
        self._ingested = 0
        self._asked = 0

    async def ingest(self, conversation: Conversation) -> None:
        self._ingested += 1
        await self._agents[(self._ingested - 1) % 2].ingest(conversation)

    async def wait_until_ready(self) -> None:
        for agent in self._agents:
            await agent.wait()

    async def recall(self, question: Question, limit: int) -> list[Memory]:
        return list(await self._next().recall(question, limit))

    async def answer(self, question: Question) -> Answer:
        return await self._next().answer(question)

    async def close(self) -> None:
        first, second = self._agents
        try:
            await first.close()
        finally:
            try:
                await second.close()
            finally:
                await self._serving.close()

    def _next(self) -> OpenAgent:
        self._asked += 1
        return self._agents[(self._asked - 1) % 2]


def twins_of(info: AdapterInfo, spec: Spec) -> tuple[AdapterInfo, Spec]:
    """Return the adapter that opens two agents of another, where that one runs, and its spec."""
    name = "twins"
    target = f"{__name__}:{Twins.__name__}"
    pair = AdapterInfo(name, target, info.kind, "two agents in one process", isolation=info.isolation)
    return pair, Spec(spec.text, name, {"of": spec.text}, spec.text)
