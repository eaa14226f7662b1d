"""Weekdays that are said together with a date, found in running English text.

Both orders and both habits are read: "Monday, March 24", "Monday 24 March 2025", "Monday the
24th", "the 24th, a Monday", "Mon 3/24". What is said between them may be a few words
("Saturday morning, the 4th"; "Tuesday would be the 23rd").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_UNITS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_ORDINALS = {
    **{word: number for number, word in enumerate(_UNITS, 1)},
    **{"tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15},
    **{"sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20},
    **{f"twenty-{word}": 20 + number for number, word in enumerate(_UNITS, 1)},
    **{"thirtieth": 30, "thirty-first": 31},
}


@dataclass(frozen=True, slots=True)
class SaidDate:
    """A weekday and the date it is said to be.

    Attributes:
        weekday: 0 for Monday to 6 for Sunday.
        day: day of the month.
        month: the month, or None where only the day is said.
        year: the year, or None.
        text: the words, as they stand in the text.
        start: where they begin.
    """

    weekday: int
    day: int
    month: int | None
    year: int | None
    text: str
    start: int


# Abbreviations, May and March mean something else in lower case.
_WEEKDAY = (
    r"(?P<weekday>(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|(?:Mon|Tues?|Weds?|Thu(?:rs?)?|Fri|Sat|Sun)\b\.?)"
)
_MONTH = (
    r"(?P<month>(?i:january|february|april|june|july|august|september|october|november|december)"
    r"|March|May|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)
_WORDS = "|".join(sorted((word.replace("-", "[- ]") for word in _ORDINALS), key=len, reverse=True))
_ORDINAL = rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)|(?P<word>(?i:{_WORDS})))\b"
_DAY = rf"(?:(?P<day>\d{{1,2}})(?!\d|[:.,/]\d)(?:st|nd|rd|th)?|(?P<word>(?i:{_WORDS})))\b"
_YEAR = r"(?:,?\s+(?:of\s+)?(?P<year>(?:19|20)\d\d)\b)?"

_MONTH_FIRST = rf"{_MONTH}\s+(?:the\s+)?{_DAY}{_YEAR}"
_DAY_FIRST = rf"(?:the\s+)?{_DAY}\s+(?:of\s+)?{_MONTH}{_YEAR}"
_NUMERIC = r"(?P<first>\d{1,2})/(?P<second>\d{1,2})(?:/(?P<year>\d{4}|\d\d))?(?![\d/])"
_ISO = r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)\b"

_THEN = (
    rf"{_WEEKDAY}(?:\s+(?:morning|afternoon|evening|night|lunchtime))?,?\s+"
    r"(?:(?:then|so|and that's|that's|which is),?\s+)?"
)
_WOULD_BE = rf"{_WEEKDAY}\s+(?:would be|will be|is|was|lands on|falls on)\s+"
_WHICH_IS = (
    r"(?:,?\s+\((?:an?\s+)?"
    r"|,?\s+(?:(?:which|that|it)(?:['’]s|\s+is|\s+was)|is|was|falls on|lands on)\s+an?\s+"
    rf"|,\s+(?:an?\s+|that\s+|(?=\w+\s*(?:[.;:!?)]|$)))){_WEEKDAY}(?!s)"
)

# Where two readings overlap, the earlier one counts.
_PATTERNS = tuple(
    re.compile(rf"\b{pattern}")
    for pattern in (
        _THEN + _MONTH_FIRST,
        _THEN + _DAY_FIRST,
        _THEN + _NUMERIC,
        _THEN + _ISO,
        _MONTH_FIRST + _WHICH_IS,
        _DAY_FIRST + _WHICH_IS,
        _WOULD_BE + _MONTH_FIRST,
        _WOULD_BE + _DAY_FIRST,
        rf"(?P<alone>the\s+{_ORDINAL}){_WHICH_IS}",
        rf"{_THEN}(?P<alone>(?:the\s+)?{_ORDINAL})",
        rf"{_WOULD_BE}(?P<alone>the\s+{_ORDINAL})",
    )
)

_ANY_WEEKDAY = re.compile(_WEEKDAY)  # most texts name none, and are then read no further

# "Monday to Friday, March 24 to 28": the second weekday may go with either date.
_IN_A_LIST = re.compile(rf"{_WEEKDAY}s?\s*(?:to|through|thru|till|until|and|or|,|/|&|-|–|—)\s*$")

# "Monday, the second time" counts and "Monday the 5th floor" numbers; neither is a date.
_NUMBERED = re.compile(r"(?i)-|\s+(?:floor|street|st|avenue|ave|row|road|grade|graders|shift|time|one)\b")
_AT_REST = re.compile(
    r"\s*(?:[.,;:!?)\]”\"–—]|$)|\s+(?:at|in|on|and|or|to|for|from|is|was|it|works|would|will|then|if|when"
    r"|instead|by|before|after|around|about|between)\b"
)
_COUNTING = frozenset(("first", "second", "third"))


def find_said_dates(text: str, *, day_first: bool = False) -> Iterator[SaidDate]:
    """Yield every weekday said with a date, in the order in which they are found.

    Args:
        text: running text.
        day_first: whether 3/4 is the third of April, as outside of the United States.
    """
    if not _ANY_WEEKDAY.search(text):
        return
    taken: list[tuple[int, int]] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            begin, end = match.span()
            if any(begin < other_end and other_begin < end for other_begin, other_end in taken):
                continue
            if _is_doubtful(match):
                continue
            taken.append((begin, end))
            yield _said(match, day_first)


def read_date(text: str) -> date | None:
    """Return the date that a text consists of, written with month and year, or None."""
    for pattern in (_MONTH_FIRST, _DAY_FIRST, _ISO):
        match = re.fullmatch(rf"(?:{_WEEKDAY},?\s+)?{pattern}", text.strip())
        if match and match["year"]:
            day, month = _day_and_month(match, day_first=False)
            try:
                return date(int(match["year"]), month or 0, day)
            except ValueError:
                return None
    return None


def _is_doubtful(match: re.Match[str]) -> bool:
    before, after = match.string[: match.start("weekday")], match.string[match.end() :]
    if _IN_A_LIST.search(before):
        return True
    if "alone" not in match.re.groupindex or match.end("alone") < match.end():
        return False
    counts = (match["word"] or "").lower() in _COUNTING
    return bool(_NUMBERED.match(after)) or (counts and not _AT_REST.match(after))


def _said(match: re.Match[str], day_first: bool) -> SaidDate:
    day, month = _day_and_month(match, day_first)
    year = match.groupdict().get("year")
    return SaidDate(
        weekday=next(
            number for number, name in enumerate(_WEEKDAYS) if name.startswith(match["weekday"][:3].lower())
        ),
        day=day,
        month=month,
        year=None if year is None else int(year) + (2000 if len(year) == 2 else 0),
        text=" ".join(match[0].split()),
        start=match.start(),
    )


def _day_and_month(match: re.Match[str], day_first: bool) -> tuple[int, int | None]:
    parts = match.groupdict()
    if parts.get("first"):
        first, second = int(match["first"]), int(match["second"])
        return (first, second) if day_first or first > 12 else (second, first)
    word = re.sub(r"\s+", "-", (parts.get("word") or "").lower())
    day = _ORDINALS[word] if word else int(match["day"])
    name = parts.get("month")
    if name is None or name.isdigit():
        return day, None if name is None else int(name)
    return day, next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(name[:3].lower()))
