"""Memories, texts and figures out of a reply, by the paths of a description."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from harness.adapters.connectors.http_paths import JsonPath, PathError, find
from harness.adapters.protocol import Memory


def memories_from(data: Any, paths: Mapping[str, JsonPath], *, attributes: bool = False) -> list[Memory]:
    """Return the memories of a reply.

    Args:
        data: the reply.
        paths: `items` leads to the list, the others into each element.
        attributes: whether names may be attributes of objects.

    Raises:
        PathError: when the reply is not as described.
    """
    items = find(paths["items"], data, attributes=attributes)
    if items is None and paths["items"].optional:
        return []
    if not isinstance(items, list | tuple):
        raise PathError(f"{paths['items'].text} is no list, but a {type(items).__name__}")
    return [_memory(item, number, paths, attributes) for number, item in enumerate(items, start=1)]


def one_text(value: Any, what: str, *, number: bool = False) -> str:
    """Return a value that has to be a text; with `number`, a whole number will do."""
    if isinstance(value, str) or (number and isinstance(value, int) and not isinstance(value, bool)):
        return str(value)
    raise PathError(f"{what} is {str(value)[:80]!r}; expected a text")


def whole_number(value: Any) -> int | None:
    """Return a value that has to be a whole number, or None."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise PathError(f"tokens is {str(value)[:80]!r}; expected a whole number")


def _memory(item: Any, number: int, paths: Mapping[str, JsonPath], attributes: bool) -> Memory:
    found = {name: find(path, item, attributes=attributes) for name, path in paths.items() if name != "items"}
    where = f"item {number}"
    key, kind = found.get("id"), found.get("type")
    return Memory(
        id=str(number) if key is None else one_text(key, f"{where}: id", number=True),
        text=one_text(found.get("text"), f"{where}: text"),
        score=_figure(found.get("score"), f"{where}: score"),
        created_at=_time(found.get("created_at"), f"{where}: created_at"),
        type=None if kind is None else one_text(kind, f"{where}: type"),
        importance=_figure(found.get("importance"), f"{where}: importance"),
    )


def _figure(value: Any, what: str) -> float | None:
    if value is None:
        return None
    try:
        if not isinstance(value, bool | str) and math.isfinite(figure := float(value)):
            return figure
    except (TypeError, ValueError, OverflowError):
        pass
    raise PathError(f"{what} is {str(value)[:80]!r}; expected a number")


def _time(value: Any, what: str) -> datetime | None:
    """Return a time that is written as ISO 8601, or as seconds since 1970."""
    if value is None or isinstance(value, datetime):
        return value
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value)
        return datetime.fromtimestamp(_figure(value, what) or 0.0, UTC)
    except (ValueError, OverflowError, OSError):
        raise PathError(f"{what} is {str(value)[:80]!r}; expected ISO 8601 or seconds since 1970") from None
