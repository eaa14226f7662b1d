"""Memories as the records of an import, and imports small enough to be taken."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.retrieval.dataset import StoredMemory
from harness.retrieval.memory_api.options import MemoryApiOptions

TYPES = ("event", "fact", "status", "decision")
IMPORTANCES = ("critical", "high", "medium", "low")
_HEAD, _TAIL = b'{"data":[', b'],"operator_approved":true}'


class Chunk(NamedTuple):
    """One import.

    Attributes:
        memories: what it holds, in order.
        body: the request's body.
    """

    memories: tuple[StoredMemory, ...]
    body: bytes


def new_client() -> str:
    """Return a client id that nobody has used."""
    return f"recallbench-{uuid.uuid4().hex}"


def id_of(memory: StoredMemory, client: str) -> str:
    """Return the id that a memory is sent with: a UUID, of this run alone, so that it meets no other record."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{client} {memory.id}"))


def record_of(memory: StoredMemory, client: str, options: MemoryApiOptions) -> dict[str, Any]:
    """Return a memory as the server takes it.

    - The type is the memory's own where the API has it, else `fact`.
    - Subject and importance are those of its metadata, left out where they are none.
    """
    subject, importance = (memory.metadata.get(name) for name in ("subject", "importance"))
    record: dict[str, Any] = {
        **options.fields,
        "id": id_of(memory, client),
        "type": memory.type if memory.type in TYPES else "fact",
        "content": memory.text,
        "key": options.key_prefix + memory.id,
        "client_id": client,
    }
    if isinstance(subject, str) and subject.strip():
        record["subject"] = subject
    if importance in IMPORTANCES:
        record["importance"] = importance
    if memory.created_at is not None:
        record["created_at"] = memory.created_at.isoformat()
    return record


def chunks_of(memories: Sequence[StoredMemory], client: str, options: MemoryApiOptions) -> list[Chunk]:
    """Return the imports that hold all memories, each within the limits of records and bytes.

    Raises:
        InputError: for a memory that is too large alone; nothing is sent then.
    """
    return list(_chunks(memories, client, options))


def _chunks(memories: Sequence[StoredMemory], client: str, options: MemoryApiOptions) -> Iterator[Chunk]:
    frame = len(_HEAD) + len(_TAIL)
    held: list[tuple[StoredMemory, bytes]] = []
    size = frame
    for memory in memories:
        record = record_of(memory, client, options)
        try:
            written = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        except (TypeError, ValueError):
            raise InputError("--system memory_api: fields: holds what JSON cannot.") from None
        encoded = written.encode("utf-8", "replace")  # half a surrogate pair, which UTF-8 has no bytes for
        if frame + len(encoded) > options.max_bytes:
            raise InputError(
                f"--system memory_api: the memory {memory.id!r} takes {len(encoded):,} bytes, and an import may "
                f"have {options.max_bytes:,}. Shorten it, or raise max_bytes if the server takes more."
            )
        if held and (len(held) == options.max_records or size + 1 + len(encoded) > options.max_bytes):
            yield _chunk(held)
            held, size = [], frame
        size += len(encoded) + bool(held)
        held.append((memory, encoded))
    if held:
        yield _chunk(held)


def _chunk(held: Sequence[tuple[StoredMemory, bytes]]) -> Chunk:
    body = _HEAD + b",".join(encoded for _, encoded in held) + _TAIL
    return Chunk(tuple(memory for memory, _ in held), body)
