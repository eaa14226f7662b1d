"""JSON objects that do not forget a key given twice, as plain dictionaries would."""

from __future__ import annotations

from typing import Any


class RepeatedKeys(dict[str, Any]):
    """An object in which keys occur more than once; the last value of each is kept.

    Attributes:
        repeated: keys that occur more than once.
        conflicting: those among them whose values differ.
    """

    repeated: frozenset[str]
    conflicting: frozenset[str]


def json_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object of its members; the hook of every decoder here."""
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    first: dict[str, Any] = {}
    repeated, conflicting = set(), set()
    for key, value in pairs:
        if key in first:
            repeated.add(key)
            if not same(first[key], value):
                conflicting.add(key)
        else:
            first[key] = value
    noted = RepeatedKeys(plain)
    noted.repeated, noted.conflicting = frozenset(repeated), frozenset(conflicting)
    return noted


def same(one: Any, other: Any) -> bool:
    """Compare two JSON values; true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
