"""Identifiers: account, claim, order and phone numbers, seat and unit codes.

- one separator may stand between any two characters: `442-985-3327`, `(442) 985-3327`
- an id is whole: `ORD-2024-0091` is not in `ORD-2024-00910`, `3327` not in `442-985-3327`,
  `4821` neither in `4821 7730 1142` nor in `$4,821`
- leading zeros count; a comma with a space is a list and a new line another value
- digits spelled one by one (`four eight two one`) count as digits
"""

from __future__ import annotations

import re

from harness.facts.currencies import SIGNS
from harness.facts.patterns import LazyPattern
from harness.facts.sentences import Sentence

Span = tuple[int, int]

_WORD = r"a-z0-9_\u00aa\u00b5\u00c0-\u024f\u0370-\u052f"
# What may stand between two characters of an id: nothing, one mark, or a bracket of `(442) 985`.
_BETWEEN = frozenset(("", *"-–—./ _)", ")-", ").", ") ", "-(", ".(", " ("))
_LONGEST = 24  # characters of letters before the first digit
_INNER = re.compile(r"[^\W_]")
# What may stand between the characters of an id.
SEPARATORS = str.maketrans(dict.fromkeys("-–—./ _()"))
# What joins a neighbour to an id, so that the id is only a part of something longer.
_JOINED_BEFORE = LazyPattern(rf"[{_WORD}](?:[-–—/_]|&)?\Z|[0-9][.,:]\Z|[a-z0-9]\.\Z|[{SIGNS}]\s?\Z")
_ENDS = frozenset((".", ",", ";", "!", "?", ")"))
_JOINED_AFTER = LazyPattern(rf"[{_WORD}]|[-–—/_&][{_WORD}]|[.,:][0-9]|\.[a-z0-9]|\s?%")
_COUNTRY_CODE = LazyPattern(r"\+\d{1,3}[-. ]?\(?\Z|\b(?:00\d{1,3}|1)[-. ]\(?\Z")
_GROUP_BEFORE = LazyPattern(r"(?<![\w.,-])([0-9]{1,9}) \Z")
_GROUP_AFTER = LazyPattern(r" ([0-9]{1,9})(?![\w-]|[.,:]\d)")
_DECIMAL = LazyPattern(r"[0-9]{1,5}\.[0-9]{2}")
_LONE_LETTER = LazyPattern(r"([A-Za-z])[ \n]")
_TOKEN = LazyPattern(r"[a-z0-9][a-z0-9]*(?:[-–][a-z0-9]+)*")
_NOT_BEFORE_TOKEN = frozenset("_.,-" + SIGNS)
_TOKEN_HEAD = LazyPattern(r"(?<![\w-])(?:[a-z0-9]{1,12}[-–]){0,3}[a-z]{0,12}\Z")
_TOKEN_TAIL = LazyPattern(r"[\w]|[.,:]\d|\s?%")


def id_characters(form: str) -> str | None:
    """Return the letters and digits of a folded id, or None when it has no digit and is a text."""
    chars = "".join(_INNER.findall(form))
    return chars if any(char.isdigit() for char in chars) else None


def find_id(text: str, cased: str, form: str, chars: str) -> list[Span]:
    """Return the spans in folded `text` where the id stands whole.

    Args:
        text: the folded answer.
        cased: the same with its case kept.
        form: the id as written, its case kept.
        chars: its letters and digits, folded.
    """
    spans = []
    start = text.find(chars[0])
    while start >= 0:
        end = _end_of(text, start, chars)
        if end and _is_whole(text, start, end) and not _is_prose(cased, start, end, form):
            spans.append((start, end))
        start = text.find(chars[0], end or start + 1)
    return spans


def _end_of(text: str, start: int, chars: str) -> int:
    """Return where `chars` end when they begin at `start`, a separator at most between two; else 0."""
    if text.startswith(chars, start):
        return start + len(chars)
    at = start + 1
    for char in chars[1:]:
        for width in (0, 1, 2):
            if text[at + width : at + width + 1] == char and text[at : at + width] in _BETWEEN:
                at += width + 1
                break
        else:
            return 0
    return at


def _is_whole(text: str, start: int, end: int) -> bool:
    if text[end - 3 : end - 2] == "." and _DECIMAL.fullmatch(text, start, end):
        return False
    if start and not _stands_after_word(text, start):
        window = max(0, start - 12)
        if not _COUNTRY_CODE.search(text, window, start):
            if text[start] < "\u0530" and _JOINED_BEFORE.search(text, window, start):
                return False
            if text[start].isdigit() and _is_group(
                text, start, end, _GROUP_BEFORE.search(text, window, start)
            ):
                return False
    if text[end : end + 1] in _ENDS and not text[end + 1 : end + 2].strip():
        return True
    if text[end - 1] < "\u0530" and _JOINED_AFTER.match(text, end):
        return False
    return not (text[end - 1].isdigit() and _is_group(text, start, end, _GROUP_AFTER.match(text, end)))


def _stands_after_word(text: str, start: int) -> bool:
    """Say whether a space parts the id from a word, so that nothing before it can belong to it."""
    return text[start - 1] == " " and text[start - 2 : start - 1].isalpha()


def _is_group(text: str, start: int, end: int, neighbour: re.Match[str] | None) -> bool:
    """Say whether the digits next to the id, a space away, make one longer number with it."""
    if neighbour is None:
        return False
    written = text[start:end]
    if " " in written:
        return True
    return len(neighbour[1]) == end - start >= 3 and written.isdecimal()


def _is_prose(cased: str, start: int, end: int, form: str) -> bool:
    """Tell `a 12 o'clock` from seat `A 12`: a lone letter set apart has to keep its case."""
    lone = _LONE_LETTER.match(cased, start, end)
    return lone is not None and lone[1] != form[:1] and lone[1].islower()


def id_like(text: str, sentence: Sentence) -> list[Span]:
    """Return the tokens that look like an id: three characters or more, a digit among them."""
    spans: list[Span] = []
    done = 0
    for digits in sentence.digits:
        if digits.start < done:
            continue
        head = _TOKEN_HEAD.search(text, max(done, digits.start - _LONGEST), digits.start)
        found = _TOKEN.match(text, head.start() if head else digits.start)
        if found is None:
            continue
        start, end = found.span()
        done = max(end, digits.end)
        if (
            end - start >= 3
            and text[start - 1 : start] not in _NOT_BEFORE_TOKEN
            and not _TOKEN_TAIL.match(text, end)
        ):
            spans.append((start, end))
    return spans


def id_shape(written: str) -> tuple[int, bool]:
    """Return what two ids of one kind have in common: their length, and whether letters are in them."""
    chars = [char for char in written if char.isalnum()]
    return len(chars), any(char.isalpha() for char in chars)
