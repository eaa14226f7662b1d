"""What memories stand in the result of an MCP tool."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from harness.adapters.connectors.mcp_client import ToolResult
from harness.adapters.connectors.mcp_options import McpOptions
from harness.adapters.protocol import AgentFailure, Memory

_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS = frozenset(
    "a about after again all also am an and any are as at be been before being but by can could did do does "
    "doing don for from get got had has have having he her hers him his how if in into is it its just ll me "
    "my need no nor not now of off on once only or our out over own re said same say she should so some "
    "still such tell than that the their them then there these they this those through to too under until "
    "up us ve very was we were what when where which while who whom why will with would you your".split()
)


def data_of(result: ToolResult) -> Any:
    """Return what a tool returned as data: its structured content, else JSON in its text, else its text.

    Several text parts make a list, each of them read so.
    """
    if result.structured is not None:
        return result.structured
    parts = [_read(text) for text in result.texts]
    return parts[0] if len(parts) == 1 else parts


def memories_in(data: Any, options: McpOptions) -> list[Memory]:
    """Return the memories in what a search or a list returned, in the server's order.

    Raises:
        AgentFailure: `bad_value` when there is no list at `results`, or an item without a text.
    """
    if isinstance(data, str) and (not data.strip() or _says_nothing(data, options)):
        return []
    items = at_path(data, options.results)
    if not options.results and isinstance(
        at_path(items, "" if isinstance(items, str) else options.result_text), str
    ):
        items = [items]  # one memory, not in a list
    if not isinstance(items, list):
        raise AgentFailure(
            "bad_value", f"no list at results={options.results!r}; the tool returned {_shape(data)}"
        )
    return [_memory(item, number, options) for number, item in enumerate(items, start=1)]


def words_of(question: str) -> list[str]:
    """Return the words of a question to search for one by one: no stop words, no single letters."""
    words = dict.fromkeys(word.casefold() for word in _WORD.findall(question))
    return [word for word in words if word not in _STOP_WORDS and (len(word) > 1 or not word.isascii())]


def merged(found: Mapping[str, Sequence[Memory]]) -> list[Memory]:
    """Return what was found word by word: most words first, and among equals those with the rarer words.

    A memory counts for a word when its own text has the word in it, since some servers hand back all of
    an entity when one observation fits. The score is the number of words.
    """
    known: dict[str, Memory] = {}
    hits: dict[str, int] = {}
    rarity: dict[str, float] = {}
    for word, memories in found.items():
        fitting = {memory.id: memory for memory in memories if word in memory.text.casefold()}
        for id, memory in fitting.items():
            known.setdefault(id, memory)
            hits[id] = hits.get(id, 0) + 1
            rarity[id] = rarity.get(id, 0.0) + 1 / len(fitting)
    order = sorted(known, key=lambda id: (-hits[id], -rarity[id]))
    return [replace(known[id], score=float(hits[id])) for id in order]


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _says_nothing(text: str, options: McpOptions) -> bool:
    return options.nothing is not None and text.strip().casefold().startswith(options.nothing.casefold())


def _memory(item: Any, number: int, options: McpOptions) -> Memory:
    text = item if isinstance(item, str) else at_path(item, options.result_text)
    if not isinstance(text, str):
        raise AgentFailure(
            "bad_value", f"item {number} has no text at result_text={options.result_text!r}: {_shape(item)}"
        )
    id = at_path(item, options.result_id) if options.result_id else None
    return Memory(
        id=text if id is None else str(id),
        text=text,
        score=_score(item, number, options),
        created_at=_time(at_path(item, options.result_time)) if options.result_time else None,
    )


def _score(item: Any, number: int, options: McpOptions) -> float | None:
    if options.result_score is None:
        return None
    score = at_path(item, options.result_score)
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not math.isfinite(score):
        raise AgentFailure(
            "bad_value", f"item {number} has no number at result_score={options.result_score!r}"
        )
    return -score if options.lower_is_better else float(score)


def _time(value: Any) -> datetime | None:
    """Return a time where the server kept one; other text there is no failure, as messages may lack a date."""
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _shape(data: Any) -> str:
    if isinstance(data, Mapping):
        return f"an object with {_listed(data)}"
    if isinstance(data, str):
        return f"the text {' '.join(data.split())[:80]!r}"
    return f"a {type(data).__name__}"


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names)) or "no fields"


def at_path(data: Any, path: str) -> Any:
    """Return what is at a path such as `results.0.text`; None where nothing is, all of it for an empty path."""
    for step in path.split(".") if path else ():
        if isinstance(data, Mapping):
            data = data.get(step)
        elif isinstance(data, list) and step.lstrip("-").isdigit() and -len(data) <= int(step) < len(data):
            data = data[int(step)]
        else:
            return None
    return data
