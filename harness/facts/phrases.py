"""Text facts: phrases that stand whole in the answer, in order, bounded by script.

- white space and line breaks are one; a hyphen may stand for a space and the other way
- full stops of abbreviations, commas and quotes inside a phrase may be missing
- boundaries follow the script: none between 東京 and に, one at each end of a katakana
  word, and `C` is not in `C++`, `Chen` not in `Chen-Lopez`, `ann` not in `ann@example.com`
- a form that is also a common word (`IT`, `Go`, `May`, a single letter) keeps its case
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from harness.facts.normalise import strip_diacritics
from harness.facts.patterns import LazyPattern, lexicon
from harness.facts.words import UNITS

# Words of every text: a fact spelled like one is told from it by its capitals alone.
_COMMON = lexicon(
    "a i an am as at be by do go he if in is it me my no of on or so to up us we all and any are but can for had has "
    "her him his how its let may nor not now off one our out she the too was way who why will with you your ok may "
    "march mark bill rose will grant chase hope faith grace joy sue pat rob art dean drew frank gene jack miles reed "
    "rich skip ray sky summer autumn amber ruby iris ivy lily violet olive hazel ginger pepper basil sage"
)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_OPTIONAL = frozenset(".,'\"!?;:()")
_SMALL = {word: str(value) for value, word in enumerate((*UNITS, "twenty")) if value > 1}
# A word that may be written another way; either way it is no safe needle.
_TWINS = {
    **_SMALL,
    **{digits: word for word, digits in _SMALL.items()},
    "dr": "doctor", "doctor": "dr", "and": "&", "&": "and", "mr": "mister", "mister": "mr",
}  # fmt: skip
_DASHES = "-–—"
_URL = LazyPattern(r"(?:https?://|www\.)\S+|[^\s@]{1,80}@\S{1,80}\.\w+")


class Phrase(NamedTuple):
    """A text form; each of its words has to be in the text before the pattern is compiled and tried.

    A single word needs no pattern. The boundaries are patterns of their own: there are few of
    them, and they are large.
    """

    needles: tuple[str, ...]
    pattern: LazyPattern | None
    before: LazyPattern | None
    after: LazyPattern | None
    cased: str | None
    is_address: bool


@lru_cache(maxsize=8192)
def compile_phrase(folded: str, cased: str) -> Phrase | None:
    """Compile a form (folded, and with its case kept); None when it has no letter or digit."""
    tokens = _TOKEN.findall(folded)
    words = [token for token in tokens if token[0].isalnum() or token[0] == "_"]
    if not words:
        return None
    while tokens[0] in _OPTIONAL and not folded.strip().startswith("."):
        tokens.pop(0)
    while tokens[-1] in _OPTIONAL:
        tokens.pop()
    solid = [word for word in words if word not in _TWINS]
    stripped = cased.strip()
    case_matters = len(words) == 1 and (len(words[0]) == 1 or words[0] in _COMMON)
    kept = stripped if case_matters and stripped != stripped.lower() else None
    if len(folded.strip()) == 1:
        kept = stripped
    return Phrase(
        needles=tuple(sorted(solid, key=len, reverse=True)),
        pattern=None
        if len(tokens) == 1 and solid == tokens
        else LazyPattern(_join(folded, tokens), keep=False),
        before=_boundary(_left_boundary(tokens[0])),
        after=_boundary(_right_boundary(tokens[-1])),
        cased=kept,
        is_address="@" in folded or "://" in folded or folded.startswith("www."),
    )


@lru_cache(maxsize=256)
def _boundary(source: str) -> LazyPattern | None:
    return LazyPattern(source) if source else None


def _join(folded: str, tokens: list[str]) -> str:
    """Write the pattern: tokens in order with tolerant gaps."""
    parts: list[str] = []
    at = 0
    previous = ""
    for token in tokens:
        start = folded.index(token, at)
        gap = folded[at:start]
        at = start + len(token)
        if parts:
            parts.append(_gap(previous, gap, token))
        parts.append(_token(token))
        previous = token
    return "".join(parts)


def _gap(previous: str, gap: str, token: str) -> str:
    if token in _OPTIONAL:
        return r"\s*" if gap else ""
    if previous in _DASHES or token in _DASHES:
        return r"\s?"
    if gap:
        return rf"(?:\s+|[{_DASHES}]|,\s+)" if previous[-1:].isalnum() and token[:1].isalnum() else r"\s*"
    return r"\s*" if previous in _OPTIONAL else ""


def _token(token: str) -> str:
    if token in _DASHES:
        return rf"[{_DASHES}\s]?"
    if token in _OPTIONAL:
        return re.escape(token) + "?"
    twin = _TWINS.get(token)
    return rf"(?:{re.escape(token)}|{re.escape(twin)})" if twin else re.escape(token)


def _left_boundary(token: str) -> str:
    """Return what, right before the phrase, makes it a part of something longer."""
    first = token[0]
    if _is_unspaced(first):
        return rf"[{_KATAKANA}]\Z" if _is_katakana(first) else ""
    if first.isdigit():
        return rf"[{_LETTERS}][-@]?\Z|[0-9][.,:/–]\Z"
    if first.isalpha() or first == "_":
        return rf"[{_LETTERS}][-@.&]?\Z|[a-z]'\Z"
    return rf"{re.escape(first)}\Z"


def _right_boundary(token: str) -> str:
    """Return what, right after the phrase, makes it a part of something longer."""
    last = token[-1]
    if _is_unspaced(last):
        return rf"[{_KATAKANA}]" if _is_katakana(last) else ""
    if "\uac00" <= last <= "\ud7a3":
        return ""  # Korean particles are written onto the word
    if last.isdigit():
        return rf"[{_LETTERS}]|[.,:/-][0-9]|\s?%"
    if last.isalpha() or last == "_":
        return rf"[{_LETTERS}+#@]|&[{_LETTERS}]|'(?!s\b)[a-z]|\.[a-z0-9]"
    return rf"[{re.escape(last)}#+]"


# Letters and digits of scripts that put spaces between words.
_LETTERS = (
    r"a-z0-9_\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u0300-\u052f\u0531-\u0587\u05d0-\u05ea"
    r"\u0620-\u064a\u0900-\u0963\u0980-\u09ff\u10a0-\u10ff\u1e00-\u1fff\uac00-\ud7a3"
)
_KATAKANA = r"\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"


def _is_unspaced(char: str) -> bool:
    """Say whether the script of `char` writes words without spaces (Han, kana, Thai, …)."""
    return (
        "\u3040" <= char <= "\u30ff"
        or "\u3400" <= char <= "\u9fff"
        or "\uf900" <= char <= "\ufaff"
        or "\u31f0" <= char <= "\u31ff"
        or "\u0e00" <= char <= "\u0eff"
        or "\u1000" <= char <= "\u109f"
        or "\u1780" <= char <= "\u17ff"
        or char >= "\U00020000"
    )


def _is_katakana(char: str) -> bool:
    return "\u30a1" <= char <= "\u30ff" or "\u31f0" <= char <= "\u31ff"


def find_phrase(text: str, cased: str, phrase: Phrase) -> list[tuple[int, int]]:
    """Return the spans in folded `text` where the phrase stands whole."""
    for needle in phrase.needles:
        if needle not in text:
            return []
    spans = []
    addresses: list[tuple[int, int]] | None = None
    for start, end in _places(text, phrase):
        if (
            start
            and text[start - 1] != " "
            and phrase.before is not None
            and phrase.before.search(text, max(0, start - 3), start)
        ):
            continue
        if phrase.after is not None and phrase.after.match(text, end):
            continue
        if phrase.cased is not None and cased[start:end] != phrase.cased:
            continue
        if _goes_on(cased, end):
            continue
        if addresses is None:
            addresses = [] if phrase.is_address else _addresses(text)
        if addresses and _is_inside(start, end, addresses):
            continue
        spans.append((start, end))
    return spans


def _places(text: str, phrase: Phrase) -> Iterator[tuple[int, int]]:
    """Yield where the words of the phrase stand, bounded or not."""
    if phrase.pattern is not None:
        for found in phrase.pattern.finditer(text):
            yield found.span()
        return
    (word,) = phrase.needles
    at = text.find(word)
    while at >= 0:
        yield at, at + len(word)
        at = text.find(word, at + len(word))


def _addresses(text: str) -> list[tuple[int, int]]:
    """Return where links and mail addresses stand: what is inside one is no prose."""
    if "@" in text or "www." in text or "://" in text:
        return [found.span() for found in _URL.finditer(text)]
    return []


def _is_inside(start: int, end: int, spans: list[tuple[int, int]]) -> bool:
    at = bisect_right(spans, (start, len(spans) and spans[-1][1])) - 1
    return at >= 0 and end <= spans[at][1]


def find_without_marks(text: str, cased: str, phrase_text: str) -> list[tuple[int, int]]:
    """Find a phrase with the diacritics of Latin letters left out of account on both sides."""
    if text.isascii() and phrase_text.isascii():
        return []
    bare = strip_diacritics(phrase_text)
    phrase = compile_phrase(bare, bare)
    return find_phrase(strip_diacritics(text), cased, phrase) if phrase else []


def _goes_on(cased: str, end: int) -> bool:
    """Say whether a hyphen makes the word a part of another name: `Chen` in `Chen-Lopez`."""
    return (
        cased[end : end + 1] == "-" and cased[end + 1 : end + 2].isupper() and cased[end - 1 : end].isalpha()
    )
