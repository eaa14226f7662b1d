"""The simple fields of a reply: words, a number, a boolean, one word of a menu.

Each gives its JSON schema and reads its value. Reading is strict about meaning and easy about
spelling. Accepted with the flag `coerced`, because the word is the same word:

- a number as a string (`"0.8"`, never `"80%"` or `"8/10"`), a boolean as `"true"` or `"yes"`;
- a word of a menu in another case, with spaces around, or with spaces or hyphens for
  underscores: `"Not Met"` and `"not-met"` are `not_met`; `"partially"` is off the menu.

Nothing is converted that would need a guess: no rescaling, no 1 for true, no true for 1. A
number is moved to its bound only where rounding took it out (`clamped`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from harness.llm.reply_error import ReplyError, shown

Flags: TypeAlias = set[str]

_ROUNDING = 1e-6
_MOST_DIGITS = 300
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
_GAP = re.compile(r"[\s_\-\u2010\u2011]+")
_HALF = re.compile("[\ud800-\udfff]")
_NAMES: Mapping[type, str] = {list: "a list", dict: "an object", bool: "a boolean", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Text:
    """Free words; they never decide anything, so two readings that differ in them alone agree."""

    name: str
    required: bool = True
    description: str = ""

    def json_schema(self) -> dict[str, Any]:
        """Return the schema of the value."""
        return described({"type": "string"}, self.description)

    def read(self, value: Any, flags: Flags) -> str:
        """Return the text, with half surrogates replaced: no file could hold them."""
        if not isinstance(value, str):
            raise bad_type(self.name, value, "a string")
        if value.isascii():
            return value
        return value.encode("utf-8", "replace").decode() if _HALF.search(value) else value


@dataclass(frozen=True, slots=True)
class Number:
    """A number from `low` to `high`, both included."""

    name: str
    low: float
    high: float
    required: bool = True
    description: str = ""

    def json_schema(self) -> dict[str, Any]:
        """Return the schema of the value."""
        bounds = {"minimum": self.low, "maximum": self.high}
        return described({"type": "number", **bounds}, self.description)

    def read(self, value: Any, flags: Flags) -> float:
        """Return the number.

        Raises:
            ReplyError: `bad_type`, `not_finite` or `out_of_range`.
        """
        if isinstance(value, str):
            value = self._from_text(value, flags)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise bad_type(self.name, value, "a number")
        try:
            number = float(value)
        except OverflowError:
            raise self._outside(value) from None
        if not math.isfinite(number):
            raise ReplyError("not_finite", f"`{self.name}` is {number}, which is no finite number.")
        if self.low <= number <= self.high:
            return number + 0.0  # turns -0.0 into 0.0
        bound = self.low if number < self.low else self.high
        if abs(number - bound) > _ROUNDING:
            raise self._outside(value)
        flags.add("clamped")
        return float(bound)

    def _from_text(self, text: str, flags: Flags) -> float:
        bare = text.strip()
        if len(bare) <= _MOST_DIGITS and (_NUMBER.fullmatch(bare) or _NO_NUMBER.fullmatch(bare)):
            flags.add("coerced")
            return float(bare)
        raise bad_type(self.name, text, "a number")

    def _outside(self, value: Any) -> ReplyError:
        said = "too large" if abs(value) >= 1e15 else repr(value)
        bounds = f"from {self.low:g} to {self.high:g}"
        return ReplyError("out_of_range", f"`{self.name}` is {said}; a number {bounds} was asked for.")


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    name: str
    required: bool = True
    description: str = ""

    def json_schema(self) -> dict[str, Any]:
        """Return the schema of the value."""
        return described({"type": "boolean"}, self.description)

    def read(self, value: Any, flags: Flags) -> bool:
        """Return the boolean."""
        if isinstance(value, bool):
            return value
        said = _BOOLEANS.get(folded(value)) if isinstance(value, str) else None
        if said is None:
            raise bad_type(self.name, value, "true or false")
        flags.add("coerced")
        return said


@dataclass(frozen=True, slots=True)
class Choice:
    """One word of a menu."""

    name: str
    menu: tuple[str, ...]
    required: bool = True
    description: str = ""

    def json_schema(self) -> dict[str, Any]:
        """Return the schema of the value."""
        return described({"type": "string", "enum": list(self.menu)}, self.description)

    def read(self, value: Any, flags: Flags) -> str:
        """Return the word as the menu spells it."""
        if isinstance(value, str):
            if value in self.menu:
                return value
            word = folded(value)
            for offered in self.menu:
                if folded(offered) == word:
                    flags.add("coerced")
                    return offered
        raise bad_type(self.name, value, f"one of {', '.join(self.menu)}")


def folded(word: str) -> str:
    """Return a word without case, with one underscore for each gap."""
    return _GAP.sub("_", word.strip().casefold())


def described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    """Return a schema with its description, if there is one."""
    return {**schema, "description": description} if description else schema


def bad_type(name: str, value: Any, wanted: str) -> ReplyError:
    """Return the error for a value that is not what was asked for."""
    said = f'"{shown(value)}"' if isinstance(value, str) else _NAMES.get(type(value)) or shown(value)
    return ReplyError("bad_type", f"`{name}` is {said}; {wanted} was asked for.")
