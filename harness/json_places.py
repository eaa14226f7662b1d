"""Where in a JSON text each value stands, for messages; the text itself is judged by `json` alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)

_ODD = ("NaN", "Infinity", "-Infinity")
_LONG = 4_000
"""Python reads no integer of more than 4,300 digits."""


class Place(NamedTuple):
    """A value of a JSON text.

    Attributes:
        path: the keys and numbers that lead to it.
        line: the line that it begins on, from 1.
        text: what it begins with: a bracket, or all of it.
    """

    path: tuple[str | int, ...]
    line: int
    text: str


def places(text: str) -> Iterator[Place]:
    """Yield every value in order, what holds others before those; of a key that stands twice, both.

    A text that is no JSON is read as far as it makes sense.
    """
    held: list[tuple[tuple[str | int, ...], str]] = []  # what is open: its place and its bracket
    step: str | int | None = None  # the key or number of the value to come; None where a key is to come
    line, at = 1, 0
    for token in _TOKEN.finditer(text):
        line += text.count("\n", at, token.start())
        at, found = token.start(), token[0]
        if found in "}]":
            path = held.pop()[0] if held else ()
            step = path[-1] if path else None
        elif found == ",":
            step = step + 1 if isinstance(step, int) else None
        elif found == ":":
            continue
        elif held and held[-1][1] == "{" and step is None:
            step = _key(found)
        else:
            path = (*held[-1][0], step) if held and step is not None else ()
            yield Place(path, line, found)
            if found in "{[":
                held.append((path, found))
                step = 0 if found == "[" else None


def line_of_key_twice(text: str, key: str) -> int:
    """Return the line of the second value of a key that stands twice in one object; 0 where none does."""
    seen: set[tuple[str | int, ...]] = set()
    for place in places(text):
        if place.path in seen and place.path[-1:] == (key,):
            return place.line
        seen.add(place.path)
    return 0


def line_of_odd_number(text: str) -> int:
    """Return the line of the first number that JSON does not have, or that is too long to be one; else 0."""
    odd = (
        one.line for one in places(text) if one.text[0] != '"' and (one.text in _ODD or len(one.text) > _LONG)
    )
    return next(odd, 0)


def _key(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token
