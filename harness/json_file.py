"""A JSON file under reading: strict, with the line of every field, and all its problems."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.errors import Problem, SuiteError
from harness.json_places import line_of_key_twice, line_of_odd_number, places

FieldPath = tuple[str | int, ...]


class KeyTwiceError(ValueError):
    """A key stands twice in one object.

    Args:
        key: which one.
    """

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r} stands twice in one object")
        self.key = key


def strict_json(text: str) -> Any:
    """Return what a JSON text holds; no key may stand twice in one object, and NaN is no number.

    Raises:
        json.JSONDecodeError: for what is no JSON.
        KeyTwiceError: naming the key.
        ValueError: for a number that JSON does not have.
        RecursionError: for what is nested too deep.
    """
    return json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_no_such_number)


def unreadable(path: Path, error: OSError | UnicodeDecodeError) -> Problem:
    """Return the problem of a file that cannot be read, to be listed with those of others."""
    mend = (
        "Save it as UTF-8." if isinstance(error, UnicodeDecodeError) else "Check where it is, and its rights."
    )
    return Problem(path, 0, "", f"cannot be read: {error}.", mend, "unreadable")


class JsonFile:
    """A file and what is wrong with it.

    Raises:
        SuiteError: when it cannot be read, is no JSON, or has a key twice in one object.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        try:
            self.text = path.read_text(encoding="utf-8-sig")
            self.value = strict_json(self.text)
        except (OSError, UnicodeDecodeError) as error:
            raise SuiteError([unreadable(path, error)]) from None
        except json.JSONDecodeError as error:
            told = f"is no JSON: {error.msg}."
            raise SuiteError([Problem(path, error.lineno, "", told, "Mend the JSON.", "bad-json")]) from None
        except KeyTwiceError as error:
            told, line = f"is no sound JSON: {error}.", line_of_key_twice(self.text, error.key)
            raise SuiteError(
                [Problem(path, line, "", told, "Keep one of the two.", "duplicate-key")]
            ) from None
        except (ValueError, RecursionError) as error:
            told = f"is no sound JSON: {error}."
            line = 0 if isinstance(error, RecursionError) else line_of_odd_number(self.text)
            raise SuiteError([Problem(path, line, "", told, "Mend the JSON.", "bad-json")]) from None

    def wrong(self, at: FieldPath, message: str, mend: str, rule: str = "bad-value") -> None:
        """Note a problem of a field."""
        self.problems.append(Problem(self.path, self.line(at), _dotted(at), message, mend, rule))

    def line(self, at: FieldPath) -> int:
        """Return the line of a field, or of what it would stand in; 0 where it can't be found."""
        ends = range(len(at), -1, -1)
        return next((line for end in ends if (line := self._lines.get(at[:end]))), 0)

    # ---- fields -----------------------------------------------------------------------

    def objects(
        self, listed: Any, at: FieldPath, known: Collection[str]
    ) -> Iterator[tuple[Mapping[str, Any], FieldPath]]:
        """Yield the objects of a list with their places; note what else is in it."""
        if not isinstance(listed, list) or not listed:
            self.wrong(at, "must be a list with at least one object.", "Write at least one.")
            return
        for number, item in enumerate(listed):
            here = (*at, number)
            if isinstance(item, dict):
                self.unknown_keys(item, here, known)
                yield item, here
            else:
                self.wrong(here, "must be an object.", f"Write one with {', '.join(sorted(known))}.")

    def unknown_keys(self, item: Mapping[str, Any], at: FieldPath, known: Collection[str]) -> None:
        """Note keys that nothing reads."""
        for extra in sorted(item.keys() - set(known)):
            mend = f"Correct or delete it; known: {', '.join(sorted(known))}."
            self.wrong((*at, extra), "unknown key.", mend, "unknown-key")

    def string(self, item: Mapping[str, Any], key: str, at: FieldPath, *, needed: bool = False) -> str:
        """Return a text, empty where it is absent or wrong."""
        value = item.get(key)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or not value.strip():
            told = "is missing." if value is None else "must be text that isn't empty."
            self.wrong((*at, key), told, f'Write "{key}": "…".')
            return ""
        return value

    def strings(self, item: Mapping[str, Any], key: str, at: FieldPath) -> list[str] | None:
        """Return a list of texts, None where it is absent or wrong."""
        value = item.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self.wrong((*at, key), "must be a list of texts.", 'Write it as ["…"].')
            return None
        return value

    def number(
        self, item: Mapping[str, Any], key: str, at: FieldPath, low: float, high: float
    ) -> float | None:
        """Return a number between bounds, None where it is absent or wrong."""
        value = item.get(key)
        if value is None:
            return None
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high  # neither NaN nor an integer beyond every float is between
        ):
            self.wrong((*at, key), f"is {value!r}.", f"Write a number from {low:g} to {high:g}.")
            return None
        return float(value)

    def flag(self, item: Mapping[str, Any], key: str, at: FieldPath) -> bool | None:
        """Return true or false, None where it is absent or wrong."""
        value = item.get(key)
        if value is not None and not isinstance(value, bool):
            self.wrong((*at, key), f"is {value!r}.", "Write true or false.")
            return None
        return value

    def moment(self, item: Mapping[str, Any], key: str, at: FieldPath) -> datetime | None:
        """Return a time, None where it is absent or wrong."""
        value = item.get(key)
        if value is None:
            return None
        try:
            return datetime.fromisoformat(value)
        except (TypeError, ValueError):
            self.wrong((*at, key), f"is {value!r}.", "Write ISO 8601, such as 2025-03-20T09:00:00-05:00.")
            return None

    @cached_property
    def _lines(self) -> dict[FieldPath, int]:
        return {place.path: place.line for place in places(self.text)}


def _dotted(at: FieldPath) -> str:
    told = ""
    for step in at:
        told += f"[{step}]" if isinstance(step, int) else f".{step}" if told else step
    return told


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise KeyTwiceError(twice)
    return found


def _no_such_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
