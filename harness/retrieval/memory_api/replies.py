"""What the server's replies say: counts of an import, ids that it gave, results of a search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.llm.reply_error import shown

_SHOWN = 3
_LISTS = ("ids", "id_map", "results", "records", "memories", "data")
_DETAILS = ("error_details", "details", "failures", "failed")
_WORDS = ("error", "message", "reason", "detail")


class Counts(NamedTuple):
    """What an import did, and its errors in words."""

    imported: int
    skipped: int = 0
    errors: int = 0
    told: tuple[str, ...] = ()

    def __add__(self, other: object) -> Counts:
        assert isinstance(other, Counts)
        return Counts(
            self.imported + other.imported,
            self.skipped + other.skipped,
            self.errors + other.errors,
            self.told + other.told,
        )

    def __str__(self) -> str:
        return f"{self.imported} imported, {self.skipped} skipped, {self.errors} errors"


class Hit(NamedTuple):
    """One result of a search.

    Attributes:
        id: as the server has it.
        score: more is better; None where it says none.
        key: of its record, where the result says it.
        text: content or summary.
        client: whose it is, where the result says it.
    """

    id: str
    score: float | None = None
    key: str | None = None
    text: str = ""
    client: str | None = None


def read_counts(data: Any, names: Mapping[str, str]) -> Counts | None:
    """Return the counts of an import's reply, None where it says how many were imported in no way.

    Args:
        data: the reply.
        names: what the data set calls a record, by the id and by the key it was sent with.
    """
    if not isinstance(data, dict):
        return None
    counted = {name: _counted(data.get(name)) for name in ("imported", "skipped", "errors")}
    if counted["imported"] is None:
        return None
    listed = [data.get(name) for name in ("errors", *_DETAILS)]
    errors = next((one for one in listed if isinstance(one, list) and one), [])
    told = tuple(_told(one, names) for one in errors[:_SHOWN])
    return Counts(counted["imported"], counted["skipped"] or 0, counted["errors"] or 0, told)


def ids_given(data: Any, sent: Sequence[tuple[str, str, str]], *, all_in: bool) -> dict[str, str]:
    """Return the names of the data set by the ids that the server gave, as far as an import's reply says.

    Understood are an object of ids by sent ids; a list of objects with `id` and the `key` or the sent id
    (`original_id`, `source_id`); and, where every record went in, a list of as many ids in order.

    Args:
        data: the reply.
        sent: id, key and name of each record, in order.
        all_in: whether every record was imported.
    """
    names = {one: name for id, key, name in sent for one in (id, key)}
    for field in _LISTS:
        listed = data.get(field) if isinstance(data, dict) else None
        found: dict[str, str] = {}
        if isinstance(listed, dict):
            found = {str(given): names[old] for old, given in listed.items() if old in names and _id(given)}
        elif isinstance(listed, list) and all(isinstance(one, dict) for one in listed):
            for one in listed:
                olds = (one.get(old) for old in ("original_id", "source_id", "key"))
                name = next((names[old] for old in olds if isinstance(old, str) and old in names), None)
                if name is not None and (given := _id(one.get("id"))):
                    found[given] = name
        elif isinstance(listed, list) and all_in and len(listed) == len(sent):
            ids = [_id(one) for one in listed]
            if all(ids) and len(set(ids)) == len(ids):
                found = {str(given): name for given, (_, _, name) in zip(ids, sent, strict=True)}
        if found:
            return found
    return {}


def read_hits(data: Any) -> list[Hit]:
    """Return the results of a search, in the server's order.

    Raises:
        ValueError: saying what is not as it should be.
    """
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, list):
        raise ValueError("the reply has no list of `results`")
    hits = []
    for result in results:
        id = _id(result.get("id")) if isinstance(result, dict) else None
        if id is None:
            raise ValueError(f"a result without an `id`: {shown(result)}")
        score = result.get("effective_score", result.get("score"))
        number = isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
        key, client = result.get("key"), result.get("client_id")
        texts = (result.get(name) for name in ("content", "text", "summary"))
        hits.append(
            Hit(
                id,
                float(score) if number else None,
                key if isinstance(key, str) else None,
                next((text for text in texts if isinstance(text, str)), ""),
                client if isinstance(client, str) else None,
            )
        )
    return hits


def is_degraded(data: Any) -> bool:
    """Say whether a reply owns that its retrieval is not whole."""
    retrieval = data.get("retrieval") if isinstance(data, dict) else None
    return isinstance(retrieval, dict) and retrieval.get("degraded") is True


def words_of(data: Any) -> str:
    """Return what a reply says of itself, in one line."""
    if isinstance(data, dict):
        said = [data[name] for name in _WORDS if isinstance(data.get(name), str)]
        inner = data.get("error")
        if isinstance(inner, dict):
            return words_of(inner)
        return shown(": ".join(dict.fromkeys(said)) if said else data)
    return shown(data) if data not in (None, "") else ""


def _counted(value: Any) -> int | None:
    if isinstance(value, list):
        return len(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _id(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def _told(error: Any, names: Mapping[str, str]) -> str:
    """Return one error of an import, led by the data set's name of the record."""
    if not isinstance(error, dict):
        return shown(error)
    named = [value for value in (error.get(key) for key in ("id", "key")) if isinstance(value, str)]
    name = next((names.get(value, value) for value in named), "")
    words = words_of(error)
    return f"{name}: {words}" if name else words
