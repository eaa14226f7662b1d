"""Paths into a reply: a small part of JSONPath, read strictly.

| path | means |
| --- | --- |
| `$` | the whole |
| `$.a.b` | the field `b` of the field `a` |
| `$['a b']` | a field whose name is no word |
| `$.list[0]` | the first element |
| `$.list[*].text` | of every element, the field |
| `$.score?` | what may be absent: nothing then, and no error |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_STEP = re.compile(r"\.([A-Za-z_][\w-]*)|\['([^']*)'\]|\[(\d{1,6})\]|\[(\*)\]")
_MOST_NAMED = 8
Step = str | int | None


class PathError(ValueError):
    """A path that is none, or that leads nowhere."""


class JsonPath(NamedTuple):
    """A path that was read.

    Attributes:
        text: as it was written.
        steps: field names, positions, and None for every element.
        optional: whether nothing may be there.
    """

    text: str
    steps: tuple[Step, ...]
    optional: bool

    @property
    def many(self) -> bool:
        """Whether it leads to any number of values."""
        return None in self.steps


def parse_path(text: str) -> JsonPath:
    """Read a path.

    Raises:
        PathError: for anything outside the module's table.
    """
    bare = text.removesuffix("?")
    if not bare.startswith("$"):
        raise PathError(f"{text!r} is no path: one begins with $, as $.items[0].text")
    steps: list[Step] = []
    at = 1
    while at < len(bare):
        found = _STEP.match(bare, at)
        if found is None:
            raise PathError(
                f"{text!r} cannot be read from {bare[at:]!r} on: write $.name, $[0], $[*], $['name']"
            )
        name, quoted, position, _ = found.groups()
        if position is not None:
            steps.append(int(position))
        else:
            steps.append(name if name is not None else quoted)
        at = found.end()
    return JsonPath(text, tuple(steps), text.endswith("?"))


def find(path: JsonPath, data: Any, *, attributes: bool = False) -> Any:
    """Return the value at a path; a list of values where the path holds `[*]`.

    Args:
        path: where.
        data: what JSON makes of a reply.
        attributes: whether a name may also be the attribute of an object.

    Raises:
        PathError: when nothing is there and the path does not allow that; None is returned if it does.
    """
    try:
        found = [data]
        for number, step in enumerate(path.steps):
            found = [inner for one in found for inner in _inside(one, step, path.steps[:number], attributes)]
    except PathError as error:
        if path.optional:
            return None
        raise PathError(f"{path.text}: {error}") from None
    return found if path.many else found[0]


def _inside(value: Any, step: Step, before: tuple[Step, ...], attributes: bool) -> Sequence[Any]:
    if isinstance(step, str):
        if isinstance(value, Mapping):
            if step in value:
                return [value[step]]
            raise PathError(f"{_written(before)} has no {step!r}; it has {_names(value)}")
        if attributes and hasattr(value, step):
            return [getattr(value, step)]
        raise PathError(f"{_written(before)} is {_kind(value)}, which has no {step!r}")
    if not isinstance(value, list | tuple):
        raise PathError(f"{_written(before)} is {_kind(value)}; expected a list")
    if step is None:
        return value
    if step >= len(value):
        raise PathError(f"{_written(before)} has {len(value)} elements; there is none at [{step}]")
    return [value[step]]


def _written(steps: tuple[Step, ...]) -> str:
    shown = (
        f".{step}" if isinstance(step, str) else "[*]" if step is None else f"[{step}]" for step in steps
    )
    return "$" + "".join(shown)


def _names(value: Mapping[Any, Any]) -> str:
    names = [str(name)[:40] for name in list(value)[:_MOST_NAMED]]
    return ", ".join(names) + (", …" if len(value) > _MOST_NAMED else "") if names else "nothing"


def _kind(value: Any) -> str:
    named = {type(None): "null", str: "a text", bool: "true or false", dict: "an object", list: "a list"}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "a number"
    return named.get(type(value), f"a {type(value).__name__}")
