"""Identifiers: account, claim, order and phone numbers, seat and unit codes.

- one separator may stand between any two characters: `442-985-3327`, `(442) 985-3327`
- an id is whole: `ORD-2024-0091` is not in `ORD-2024-00910`, `3327` not in `442-985-3327`
- leading zeros count; a comma with a space is a list, never a separator
- digits spelled one by one (`four eight two one`) count as digits
"""

from __future__ import annotations

import re
from functools import lru_cache

from harness.facts.words import DIGIT_WORDS, digit_runs

_WORD = r"a-z0-9_\u00aa\u00b5\u00c0-\u024f\u0370-\u052f"
_SEPARATOR = r"(?:[-–—./ _]|\)[-. ]?|[-. ]\(|\n)?"
_INNER = re.compile(r"[^\W_]", re.UNICODE)
# What joins a neighbour to an id, so that the id is only a part of something longer.
_JOINED_BEFORE = re.compile(rf"[{_WORD}][-–—/_]$|[0-9][.,:]$|[a-z0-9]\.$")
_JOINED_AFTER = re.compile(rf"[-–—/_][{_WORD}]|[.,:][0-9]|\.[a-z0-9]")
_COUNTRY_CODE = re.compile(r"(?:\+|\b00)\d{1,3}[-. ]?\(?$|\b1[-. ]\(?$")
_GROUP_BEFORE = re.compile(r"[0-9][ ]$")
_GROUP_AFTER = re.compile(r"[ ][0-9]")


@lru_cache(maxsize=4096)
def id_pattern(form: str) -> re.Pattern[str] | None:
    """Return the pattern of a folded id, or None when it has no letter or digit."""
    chars = _INNER.findall(form)
    if not chars:
        return None
    if not any(char.isdigit() for char in chars):
        return None  # a password of letters is a text
    before = rf"(?<![{_WORD}])" if chars[0] < "\u0530" else ""
    after = rf"(?![{_WORD}])" if chars[-1] < "\u0530" else ""
    return re.compile(before + _SEPARATOR.join(map(re.escape, chars)) + after)


def find_id(text: str, cased: str, form: str, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    """Return the spans in folded `text` where the id stands whole."""
    spans = []
    for m in pattern.finditer(text):
        start, end = m.span()
        if _is_whole(text, start, end) and not _is_prose(cased, start, end, form):
            spans.append((start, end))
    return spans


def find_spelled(text: str, wordset: frozenset[str], digits: str) -> list[tuple[int, int]]:
    """Return the spans where `digits` is spelled out digit by digit."""
    if len(digits) < 3 or len(DIGIT_WORDS.keys() & wordset) == 0:
        return []
    return [(start, end) for start, end, spelled in digit_runs(text) if spelled == digits]


def _is_whole(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 8) : start], text[end : end + 2]
    country_code = _COUNTRY_CODE.search(before)
    if _JOINED_BEFORE.search(before) and not country_code:
        return False
    if _JOINED_AFTER.match(after):
        return False
    spaced = " " in text[start:end]
    if spaced and text[start].isdigit() and _GROUP_BEFORE.search(before) and not country_code:
        return False
    return not (spaced and text[end - 1].isdigit() and _GROUP_AFTER.match(after))


def _is_prose(cased: str, start: int, end: int, form: str) -> bool:
    """Tell `a 12 o'clock` from seat `A 12`: a lone letter set apart has to keep its case."""
    found = cased[start:end]
    lone = re.match(r"([A-Za-z])[ \n]", found)
    return lone is not None and lone[1] != form[:1] and lone[1].islower()
