"""A memory system at work on a data set, reached through its adapter.

What a system does not offer (a list of what is stored, deletion, …) makes the evaluators that
need it not applicable; what fails is the failure of the entries it concerns.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from harness.adapters.hosts import Host, Session, Timeouts, make_host
from harness.adapters.protocol import AgentFailure, Capability, Memory, Question
from harness.adapters.registry import find_adapter
from harness.effectiveness.dataset import EffectivenessSet, Entry
from harness.effectiveness.holding import everything_of, importance_of, type_of, who_holds
from harness.effectiveness.observed import Observed, Prediction, Tick
from harness.llm.models import Models
from harness.naming import Spec

T = TypeVar("T")
LIMIT = 5
"""Memories that a recall asks for."""

_A = {"memory_type": "a type", "importance": "an importance"}
_NEEDS: dict[str, tuple[Capability, ...]] = {
    "extraction": ("list",),
    "classification": ("list",),
    "importance": ("list",),
    "deduplication": ("list",),
    "update": (),
    "isolation": ("recall",),
    "deletion": ("recall", "list", "delete"),
}


async def observe(
    data: EffectivenessSet,
    spec: Spec,
    models: Models,
    evaluators: Iterable[str],
    *,
    limit: int = LIMIT,
    timeouts: Timeouts | None = None,
    tick: Tick = lambda: None,
) -> Observed:
    """Tell a system what the data set holds and look at what it makes of it.

    - Extraction, types, importance: each entry is told to an agent of its own; what the agent then
      lists is what it stored of it.
    - Deduplication, update, deletion: the entries of a group are told to one agent, in order.
    - Isolation: each user has an agent, all of them open at once; each question is asked by its
      own user and by the next one.

    Args:
        data: the data set.
        spec: the system, as the user typed it.
        models: what the system may ask.
        evaluators: names of those that will measure.
        limit: memories that a recall asks for.
        timeouts: how long each phase may take.
        tick: called after each entry.

    Raises:
        InputError: for a system that is not there or whose options do not fit.
    """
    within = timeouts or Timeouts()
    host = make_host(find_adapter(spec), spec, models, within)
    try:
        described = await host.start()
        work = _Work(data, host, described.capabilities, within, limit, tick)
        for name in evaluators:
            work.lacks(name)
        wanted = [name for name in evaluators if name not in work.lacking]
        alone = {
            entry.id: entry
            for name in ("extraction", "classification", "importance")
            if name in wanted
            for entry in getattr(data, f"for_{name}")()
        }
        await work.alone(list(alone.values()), wanted)
        for name in ("deduplication", "update", "deletion"):
            if name in wanted:
                await getattr(work, name)()
        if "isolation" in wanted:
            await work.isolation()
        return Observed(
            data,
            spec.label,
            {id: Prediction(**fields) for id, fields in work.found.items()},
            work.failures,
            work.lacking,
            described.version,
            limit,
        )
    finally:
        await host.close()


@dataclass
class _Work:
    data: EffectivenessSet
    host: Host
    can: frozenset[Capability]
    within: Timeouts
    limit: int
    tick: Tick
    found: dict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    failures: dict[tuple[str, str], str] = field(default_factory=dict)
    lacking: dict[str, str] = field(default_factory=dict)

    def lacks(self, evaluator: str) -> None:
        """Note why an evaluator cannot be applied, where it cannot."""
        missing = [need for need in _NEEDS[evaluator] if need not in self.can]
        if missing:
            self.lacking[evaluator] = f"the system does not offer {', '.join(missing)}"
        elif evaluator == "update" and not self.can & {"list", "recall"}:
            self.lacking[evaluator] = "the system offers neither list nor recall"

    # ---- one agent an entry -----------------------------------------------------------

    async def alone(self, entries: Sequence[Entry], wanted: Sequence[str]) -> None:
        """Tell each entry to an agent of its own, and note what it stored."""
        names = [name for name in ("extraction", "classification", "importance") if name in wanted]
        stored: dict[str, tuple[Memory, ...]] = {}
        for entry in entries:
            with self._failing(names, [entry]):
                async with self._session() as session:
                    await session.ingest(entry.conversation(), self.within.ingest)
                    await session.wait(self.within.wait)
                    stored[entry.id] = await session.list(self.within.recall)
            self.tick()
        for entry in entries:
            if entry.id in stored:
                self.found[entry.id]["facts"] = tuple(memory.text for memory in stored[entry.id])
        self._labels("classification", "memory_type", entries, stored, type_of)
        self._labels("importance", "importance", entries, stored, importance_of)

    def _labels(
        self,
        evaluator: str,
        key: str,
        entries: Sequence[Entry],
        stored: dict[str, tuple[Memory, ...]],
        label: Callable[[Entry, Sequence[Memory]], Any],
    ) -> None:
        known = {entry.id: label(entry, stored[entry.id]) for entry in entries if entry.id in stored}
        if known and all(value is None for value in known.values()):
            self.lacking[evaluator] = f"no memory of the system has {_A[key]}"
        for id, value in known.items():
            if value is not None:
                self.found[id][key] = value
                continue
            what = "no memory of it has one" if stored[id] else "nothing is stored"
            self.failures[evaluator, id] = f"without {_A[key]}: {what}"

    # ---- one agent a group ------------------------------------------------------------

    async def deduplication(self) -> None:
        """Tell entries that say the same, and note which memory holds which."""
        for group, entries in enumerate(_groups(self.data.for_deduplication())):
            with self._failing(["deduplication"], entries):
                async with self._session() as session:
                    told = await self._tell(session, "deduplication", entries)
                    memories = await session.list(self.within.recall)
                    for id, memory in who_holds(told, memories).items():
                        self.found[id] |= {
                            # An id names a memory within its agent alone, and every group has another agent.
                            "cluster": f"{group}/{memory.id}" if memory else "",
                            "kept_as": memory.text if memory else None,
                        }

    async def update(self) -> None:
        """Tell old facts and new ones, and note what is stored and recalled."""
        for last in _groups(self.data.for_update()):
            chains = {entry.id: (*self.data.before(entry), entry) for entry in last}
            ids = {one.id for chain in chains.values() for one in chain}
            entries = [entry for entry in self.data.entries if entry.id in ids]
            # A fact that was never told cannot be superseded.
            with self._failing(["update"], last):
                async with self._session() as session:
                    told = {entry.id for entry in await self._tell(session, "update", entries)}
                    whole = [entry for entry in last if all(one.id in told for one in chains[entry.id])]
                    for entry in last:
                        if entry not in whole:
                            self.failures.setdefault(("update", entry.id), "what it supersedes was not taken")
                    if "list" in self.can:
                        texts = tuple(one.text for one in await session.list(self.within.recall))
                        for entry in whole:
                            self.found[entry.id]["stored_after_update"] = texts
                    if "recall" in self.can:
                        await self._ask(session, "update", whole, "recalled_after_update")

    async def deletion(self) -> None:
        """Tell entries, delete the memories of some, and note what is recalled before and after."""
        for entries in _groups(self.data.for_deletion()):
            with self._failing(["deletion"], entries):
                async with self._session() as session:
                    told = await self._tell(session, "deletion", entries)
                    await self._ask(session, "deletion", told, "recalled_before_deletion")
                    memories = await session.list(self.within.recall)
                    doomed = {
                        entry.id: [memory.id for memory in everything_of(entry, memories)]
                        for entry in told
                        if entry.deleted
                    }
                    gone: set[str] = set()
                    for entry in told:
                        if entry.deleted and not doomed[entry.id]:
                            why = "no memory states it: there was nothing to delete"
                            self.failures["deletion", entry.id] = why
                        with self._failing(["deletion"], [entry]):
                            for id in doomed.get(entry.id, ()):
                                if id not in gone:
                                    await session.delete(id, self.within.recall)
                                    gone.add(id)
                    await session.wait(self.within.wait)
                    await self._ask(session, "deletion", told, "recalled_after_deletion")

    # ---- one agent a user -------------------------------------------------------------

    async def isolation(self) -> None:
        """Give each user an agent, and ask every question of two of them."""
        entries = self.data.for_isolation()
        users = list(dict.fromkeys(str(entry.user) for entry in entries))
        with self._failing(["isolation"], entries):
            async with AsyncExitStack() as stack:
                agents = {user: await stack.enter_async_context(self._session()) for user in users}
                told = [
                    entry
                    for entry in entries
                    if await self._tell(agents[str(entry.user)], "isolation", [entry], wait=False)
                ]
                for agent in agents.values():
                    await agent.wait(self.within.wait)
                for at, user in enumerate(users):
                    mine = [entry for entry in told if entry.user == user]
                    await self._ask(agents[user], "isolation", mine, "recalled")
                    if len(users) > 1:
                        other = agents[users[(at + 1) % len(users)]]
                        await self._ask(other, "isolation", mine, "recalled_by_others")

    # ---- steps ------------------------------------------------------------------------

    def _session(self) -> Any:
        return self.host.session(uuid.uuid4().hex)

    async def _tell(
        self, session: Session, evaluator: str, entries: Sequence[Entry], *, wait: bool = True
    ) -> list[Entry]:
        """Tell entries in order; return those that were taken."""
        told = []
        for entry in entries:
            with self._failing([evaluator], [entry]):
                await session.ingest(entry.conversation(), self.within.ingest)
                told.append(entry)
            self.tick()
        if wait:
            await session.wait(self.within.wait)
        return told

    async def _ask(self, session: Session, evaluator: str, entries: Sequence[Entry], key: str) -> None:
        for entry in entries:
            with self._failing([evaluator], [entry]):
                asked = session.recall(Question(entry.question), self.limit, self.within.recall)
                self.found[entry.id][key] = tuple(memory.text for memory in await _sent(asked))

    @contextmanager
    def _failing(self, evaluators: Sequence[str], entries: Sequence[Entry]) -> Iterator[None]:
        """Note a failure of the system for entries; one that is noted already stays."""
        try:
            yield
        except AgentFailure as failure:
            for name in evaluators:
                for entry in entries:
                    self.failures.setdefault((name, entry.id), str(failure))


async def _sent(asked: Awaitable[T]) -> T:
    return await asked


def _groups(entries: Sequence[Entry]) -> list[list[Entry]]:
    found: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        found[entry.group].append(entry)
    return list(found.values())
