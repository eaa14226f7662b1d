"""Which memory of a store holds what was said in an entry."""

from __future__ import annotations

from collections.abc import Sequence

from harness.adapters.protocol import Memory
from harness.effectiveness.dataset import Entry
from harness.effectiveness.matching import assignment, read


def holders(entry: Entry, memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories that hold an entry.

    Those that say they come from it and state a fact of it; where there is none, those that state
    a fact of it; where there is none either, those that say they come from it.
    """
    cited = [memory for memory in memories if _cites(memory, entry)]
    return (
        [memory for memory in cited if _states(memory, entry)]
        or [memory for memory in memories if _states(memory, entry)]
        or cited
    )


def everything_of(entry: Entry, memories: Sequence[Memory]) -> list[Memory]:
    """Return every memory that states a fact of an entry or says that it comes from it."""
    return [memory for memory in memories if _states(memory, entry) or _cites(memory, entry)]


def who_holds(entries: Sequence[Entry], memories: Sequence[Memory]) -> dict[str, Memory | None]:
    """Return the memory of each entry, None for one that is lost.

    Entries that can have a memory each do (two copies that are both stored were not merged);
    those that are left over share the memory that holds them.
    """
    found = [holders(entry, memories) for entry in entries]
    at = {memory.id: number for number, memory in enumerate(memories)}
    edges = [[False] * len(memories) for _ in entries]
    for row, held in zip(edges, found, strict=True):
        for memory in held:
            row[at[memory.id]] = True
    own = assignment(edges)
    return {
        entry.id: memories[own[row]] if row in own else found[row][0] if found[row] else None
        for row, entry in enumerate(entries)
    }


def type_of(entry: Entry, memories: Sequence[Memory]) -> str | None:
    """Return the type of the first memory that holds an entry and has one."""
    typed = [memory for memory in memories if memory.type]
    best = holders(entry, typed) or typed
    return best[0].type if best else None


def importance_of(entry: Entry, memories: Sequence[Memory]) -> float | None:
    """Return the highest importance among the memories that hold an entry, or among all of them."""
    weighed = [memory for memory in memories if memory.importance is not None]
    best = holders(entry, weighed) or weighed
    return max((float(memory.importance or 0.0) for memory in best), default=None)


def _cites(memory: Memory, entry: Entry) -> bool:
    return any(ref.partition("#")[0] == entry.id for ref in memory.source_refs)


def _states(memory: Memory, entry: Entry) -> bool:
    return any(fact.stated_in(read(memory.text)) for fact in entry.facts or ())
