r"""Read JSON that is complete but sloppy, without guessing.

Tolerated, because only one reading is possible:

- strings in single or curly quotes, raw line breaks in strings, escapes that JSON lacks
  (`\'`, Python's `\x1f`; a backslash before anything else stays);
- a comma after the last member, comments (`//`, `#`, `/* */`);
- keys without quotes, Python's and JavaScript's literals (`True`, `None`, `NaN`);
- numbers such as `+0.5`, `.5` and `5.`.

Not mended: text that ends before its value does, a missing comma, colon or quote, a quote that
was not escaped, `...` where something was left out. One pass, so the time is linear.
"""

from __future__ import annotations

import re
from typing import Any

from harness.llm.repeated_keys import json_object

_DEEPEST = 100
_CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_CHUNKS = {close: re.compile(rf"[^{close}\\]+") for close in _CLOSING.values()}
_SPACE = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*\*/)+")
_NUMBER = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.%+-]|/(?![/*]))"
)
_WORD = re.compile(r"[+-]?[A-Za-z_$][\w$]*")
_CODE = re.compile(r"u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", "\n": ""}
_LITERALS = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "nan": float("nan"),
    "infinity": float("inf"),
    "inf": float("inf"),
    "-infinity": float("-inf"),
    "-inf": float("-inf"),
}


class Unreadable(ValueError):
    """Text that is no JSON and cannot be mended; `unclosed` when it merely ends too early."""

    def __init__(self, message: str, *, unclosed: bool = False) -> None:
        super().__init__(message)
        self.unclosed = unclosed


def read_sloppy(text: str, start: int) -> tuple[Any, int]:
    """Read the object or array that starts at an offset; return it and where it ends.

    Raises:
        Unreadable: when it needs more than the tolerance above.
    """
    return _Reader(text).value(start, 0)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, at: int, depth: int) -> tuple[Any, int]:
        at = self._skip(at)
        char = self._text[at]
        if char in "{[":
            if depth == _DEEPEST:
                raise Unreadable("it is nested too deeply")
            return self._object(at + 1, depth + 1) if char == "{" else self._array(at + 1, depth + 1)
        if char in _CLOSING:
            return self._string(at)
        if found := _NUMBER.match(self._text, at):
            return _number(found.group()), found.end()
        if (found := _WORD.match(self._text, at)) and found.group().lower() in _LITERALS:
            return _LITERALS[found.group().lower()], found.end()
        # Cut in the middle of a number or a word: `1` could have become 10.
        raise self._broken(at)

    def _object(self, at: int, depth: int) -> tuple[Any, int]:
        pairs: list[tuple[str, Any]] = []
        while self._text[at := self._skip(at)] != "}":
            key, at = self._key(at)
            at = self._expect(":", at)
            value, at = self.value(at, depth)
            pairs.append((key, value))
            at = self._skip(at)
            if self._text[at] != "}":
                at = self._expect(",", at)
        return json_object(pairs), at + 1

    def _array(self, at: int, depth: int) -> tuple[Any, int]:
        values: list[Any] = []
        while self._text[at := self._skip(at)] != "]":
            value, at = self.value(at, depth)
            values.append(value)
            at = self._skip(at)
            if self._text[at] != "]":
                at = self._expect(",", at)
        return values, at + 1

    def _key(self, at: int) -> tuple[str, int]:
        if self._text[at] in _CLOSING:
            return self._string(at)
        if (found := _WORD.match(self._text, at)) and found.group()[0] not in "+-":
            return found.group(), found.end()
        raise self._broken(at)

    def _string(self, at: int) -> tuple[str, int]:
        close = _CLOSING[self._text[at]]
        chunk = _CHUNKS[close]
        at += 1
        parts: list[str] = []
        while at < len(self._text):
            if found := chunk.match(self._text, at):
                parts.append(found.group())
                at = found.end()
            elif self._text[at] == close:
                return _joined(parts), at + 1
            else:
                part, at = self._escape(at + 1)
                parts.append(part)
        raise Unreadable("it ends inside a string", unclosed=True)

    def _escape(self, at: int) -> tuple[str, int]:
        if at >= len(self._text):
            raise Unreadable("it ends inside a string", unclosed=True)
        if found := _CODE.match(self._text, at):
            return chr(int(found.group()[1:], 16)), found.end()
        char = self._text[at]
        if char in _CLOSING or char in _CLOSING.values():
            return char, at + 1
        return _ESCAPES.get(char, "\\" + char), at + 1

    def _skip(self, at: int) -> int:
        """Return the offset of the next sign that is neither space nor comment."""
        if found := _SPACE.match(self._text, at):
            at = found.end()
        if at >= len(self._text):
            raise Unreadable("it ends before it is closed", unclosed=True)
        return at

    def _expect(self, sign: str, at: int) -> int:
        at = self._skip(at)
        if self._text[at] != sign:
            raise self._broken(at)
        return at + 1

    def _broken(self, at: int) -> Unreadable:
        rest = self._text[at : at + 40].strip()
        # A last word or number with nothing after it was cut, whatever it would have become.
        unclosed = len(self._text) - at < 40 and not re.search(r"[\s,:}\]]", rest)
        return Unreadable(f"it cannot be read at {rest[:20]!r}", unclosed=unclosed)


def _number(text: str) -> float | int:
    bare = text.lstrip("+")
    try:
        return int(bare) if bare.lstrip("-").isdigit() else float(bare)
    except ValueError:  # more digits than int() takes
        return float(bare)


def _joined(parts: list[str]) -> str:
    text = "".join(parts)
    if text.isascii():
        return text
    # Pairs of \ud83d\ude00 become one character; a half one stays as it is.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
