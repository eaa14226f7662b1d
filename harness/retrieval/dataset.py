"""What retrieval is measured on: memories that are stored, and queries with the memories they want."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """One memory as it is put into a store.

    Attributes:
        id: its name in the data set.
        content: what it says; keyword and vector search look here.
        title: what a page is called; searched with the content.
        type: event, fact, status, decision, … in the data set's own words.
        created_at: when what it says was said.
        entities: people, places and things that it is about.
        links: ids of the memories that it points to.
        raw: the message that it was made of, where the content only tells of it.
        metadata: whatever else the data set keeps with it.
    """

    id: str
    content: str
    title: str = ""
    type: str = ""
    created_at: datetime | None = None
    entities: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    raw: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Title and content, as they are searched."""
        return f"{self.title}\n{self.content}" if self.title else self.content


@dataclass(frozen=True, slots=True)
class Query:
    """A query and what it should find.

    Attributes:
        id: its name in the data set.
        text: what is searched for.
        grades: relevance by memory id; above 0 is relevant.
        k: its own cutoff, which takes the place of the ones asked for.
        negative: whether nothing is relevant on purpose; it has to be said, and is never guessed from grades.
        unwanted: ids that must stay out of its results.
        tags: groups that it belongs to.
        needs: the stream that it can't do without, such as `links`.
    """

    id: str
    text: str
    grades: Mapping[str, float] = field(default_factory=dict)
    k: int | None = None
    negative: bool = False
    unwanted: frozenset[str] = frozenset()
    tags: tuple[str, ...] = ()
    needs: str = ""


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """A corpus with its queries."""

    id: str
    memories: tuple[StoredMemory, ...]
    queries: tuple[Query, ...]
    name: str = ""
    description: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """SHA-256 of everything that decides a result: memories, queries and their labels."""
        memories = [
            [one.id, one.text, one.type, sorted(one.entities), sorted(one.links), one.raw, *_beside(one)]
            for one in self.memories
        ]
        queries = [
            [one.id, one.text, sorted(one.grades.items()), one.k, one.negative, sorted(one.unwanted)]
            for one in self.queries
        ]
        told = json.dumps([memories, queries], ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def _beside(memory: StoredMemory) -> list[str]:
    """Return what memory servers are told beside the text, where there is any of it."""
    told = {name: memory.metadata[name] for name in ("subject", "importance") if name in memory.metadata}
    if memory.created_at is not None:
        told["created_at"] = memory.created_at.isoformat()
    return [f"{name}={told[name]}" for name in sorted(told)]
