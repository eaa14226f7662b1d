"""Find the JSON objects in what a model wrote.

- The whole text is JSON: that is the plain case, and the fast one.
- Otherwise every object at the top level of the text is found, in fences and between words.
- Thoughts are skipped: between tags, or all text before a closing tag that nothing opened (the
  chat template did). A tag within a JSON string is part of that string.
- Nothing is looked for inside a thing that begins like an object and cannot be read: what stands
  in there may be a quotation of the text under judgement.

Each part of the text is read at most twice, so the time is linear.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from harness.llm.json_repair import Unreadable, read_sloppy
from harness.llm.repeated_keys import json_object

_DECODER = json.JSONDecoder(object_pairs_hook=json_object)
_BLANK = "\ufeff \t\r\n"
_MOST_OBJECTS = 50

_TAG = r"(?:seed:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad)"
_OPEN = rf"<{_TAG}>|\[think\]|◁think▷|<\|channel\|>(?:analysis|commentary)<\|message\|>"
_CLOSE = rf"</{_TAG}>|\[/think\]|◁/think▷|<\|channel\|>final<\|message\|>"
_MARK = re.compile(rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})|\[\s*\{{|\{{", re.IGNORECASE)
_CLOSING = re.compile(_CLOSE, re.IGNORECASE)
_OPENING = re.compile(_OPEN, re.IGNORECASE)
_OBJECT = re.compile(r"(?:\[\s*)?\{\s*(?:[\"'“‘]|//|/\*|(?P<key>[A-Za-z_]\w*)\s*:)")
_FENCE = re.compile(r"(?:```|~~~)[\w+#. -]*\Z")
_FENCED = re.compile(r"(```|~~~)[\w+#. -]*\n")
_MEMBER = re.compile(r"[\"'”]\s*:")


class Found(NamedTuple):
    """What was found.

    Attributes:
        values: the objects in order; an array or a scalar only where it is the whole text or
            holds objects.
        flags: `think`, `fence`, `extra_text`, `repaired`, `unwrapped`.
        blank: nothing but space and thoughts.
    """

    values: tuple[Any, ...]
    flags: frozenset[str] = frozenset()
    blank: bool = False


def find_json(text: str, names: frozenset[str]) -> Found:
    """Return the objects in a text.

    Args:
        text: what the model wrote.
        names: keys that an object begins with even without quotes.

    Raises:
        Unreadable: when something begins like an object and is none.
    """
    text = text.strip(_BLANK)
    if not text:
        return Found((), blank=True)
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return _search(text, names)
    if isinstance(value, str):
        return _encoded_twice(value)
    return Found((value,))


def without_thoughts(text: str) -> tuple[str, bool]:
    """Return a text without the thoughts before it, and whether there were any."""
    rest = text.strip(_BLANK)
    if opened := _OPENING.match(rest):
        closed = _CLOSING.search(rest, opened.end())
        return (rest[closed.end() :].strip() if closed else "", True)
    if (closed := _CLOSING.search(rest)) and not _OPENING.search(rest, 0, closed.start()):
        return rest[closed.end() :].strip(), True
    return rest, False


def _encoded_twice(text: str) -> Found:
    """Read JSON text that was put into a JSON string."""
    try:
        value = _DECODER.decode(text.strip(_BLANK))
    except (ValueError, RecursionError):
        return Found((text,))
    return Found((value,), frozenset({"unwrapped"})) if isinstance(value, dict) else Found((text,))


def _search(text: str, names: frozenset[str]) -> Found:
    search = _Search(text, names)
    try:
        return search.run()
    except Unreadable:
        found = _after_thoughts(text, search.at)
        if found is None:
            raise
        return found


def _after_thoughts(text: str, at: int) -> Found | None:
    """Read what follows the last closing tag, after a draft in the thoughts that is no JSON.

    Only where an object is all that follows: the tag could also stand in a string of an object
    that was not written properly, and then the rest of that object follows too.
    """
    ends = [tag.end() for tag in _CLOSING.finditer(text, at)]
    if not ends:
        return None
    rest = text[ends[-1] :].strip(_BLANK)
    flags = {"think"}
    if fenced := _FENCED.match(rest):
        rest = rest[fenced.end() :].removesuffix(fenced[1])
        flags.add("fence")
    try:
        value = _DECODER.decode(rest.strip())
    except (ValueError, RecursionError):
        return None
    return Found((value,), frozenset(flags)) if isinstance(value, dict) else None


class _Search:
    """One pass over a text; `at` is how far it came."""

    def __init__(self, text: str, names: frozenset[str]) -> None:
        self._text = text
        self._names = names
        self._values: list[Any] = []
        self._flags: set[str] = set()
        self._words = False
        self.at = 0

    def run(self) -> Found:
        begun = 0  # where the words since the last value began
        while mark := _MARK.search(self._text, self.at):
            start = mark.start()
            if mark["close"]:
                # All before it was thought, whatever it looked like.
                self._values.clear()
                self._flags = {"think"}
                self._words = False
                begun = self.at = mark.end()
            elif mark["open"]:
                self._note_words(begun, start)
                self._flags.add("think")
                closed = _CLOSING.search(self._text, mark.end())
                begun = self.at = closed.end() if closed else len(self._text)
            elif self._is_object(start):
                self._note_words(begun, start)
                self.at = start
                begun = self.at = self._take(start)
            else:
                self.at = start + 1
        self._note_words(begun, len(self._text))
        if self._words and "fence" not in self._flags:
            self._flags.add("extra_text")
        blank = not self._values and not self._words
        return Found(tuple(self._values), frozenset(self._flags), blank)

    def _is_object(self, start: int) -> bool:
        found = _OBJECT.match(self._text, start)
        return found is not None and (found["key"] is None or found["key"].lower() in self._names)

    def _take(self, start: int) -> int:
        if len(self._values) == _MOST_OBJECTS:
            raise Unreadable("it holds more objects than anybody asked for")
        try:
            value, end = _DECODER.raw_decode(self._text, start)
        except (ValueError, RecursionError):
            value, end = read_sloppy(self._text, start)
            self._flags.add("repaired")
        self._values.append(value)
        return end

    def _note_words(self, begun: int, end: int) -> None:
        between = self._text[begun:end].strip()
        if not between:
            return
        self._words = True
        if end < len(self._text) and _FENCE.search(between[between.rfind("\n") + 1 :]):
            self._flags.add("fence")
        brace = between.find("}")
        if self._values and brace >= 0 and "{" not in between[:brace] and _MEMBER.search(between, 0, brace):
            # The object went on: a quote inside one of its strings ended it too early.
            raise Unreadable("an object goes on after its end")
