"""Finding a value in a text: dates, times, amounts, ids and phrases, whatever way they are written.

It is deliberately small and shares no code with the package under test, so that the two can disagree.
Positions count in the text as given, so that a quote can be cut out of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

Span = tuple[int, int]
_FOLD = str.maketrans("‐‑‒–—−’‘“”\u00a0\u202f\u2009", "------''\"\"   ")

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_NUMBER: dict[str, int] = {word: at for at, word in enumerate(_UNITS)}
_NUMBER |= {word: 20 + 10 * at for at, word in enumerate(_TENS)}
_SCALE = {"hundred": 100, "thousand": 1000}
_ORDINAL_WORDS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split()
_ORDINAL: dict[str, int] = {word: at for at, word in enumerate(_ORDINAL_WORDS, 1)}
_ORDINAL |= {f"twenty-{word}": 20 + at for at, word in enumerate(_ORDINAL_WORDS[:9], 1)}
_ORDINAL |= {"thirtieth": 30, "thirty-first": 31}
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()

_word = "|".join([*_NUMBER, *_SCALE])
_SPELLED = re.compile(rf"\b(?:{_word})(?:[\s-]+(?:and\s+)?(?:{_word}))*\b")
_MONTH = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_ordinal = "|".join(sorted(_ORDINAL, key=len, reverse=True))
_day = rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]|\w)|(?P<spelled>{_ordinal})\b)"
_DAY_AFTER = re.compile(rf",?\s+(?:the\s+)?{_day}")
_DAY_BEFORE = re.compile(rf"(?<![\d$£€.,:]){_day}\s+(?:of\s+)?$")
_LONGEST_DAY = 24
_YEAR = re.compile(r",?\s+(\d{4})\b")
_ISO = re.compile(r"(?<![\d/-])(\d{4})-(\d\d)-(\d\d)(?!\d)")
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d\d))?(?![\d/])")
# "The first" is mostly no day, unless a weekday comes before it.
_DAY_ALONE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)|(?:(?<=day )|(?<=day, ))the\s+(?P<spelled>{_ordinal}))\b"
)
_AMOUNT = re.compile(
    r"(?<![\w.,/:-])(?P<before>us\$|[$£€]|usd\s|gbp\s|eur\s)?\s?(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?P<part>\.\d+)?"
    r"(?P<k>\s?k\b)?(?![\w:/]|[.,]\d)(?:\s?(?P<after>dollars?|bucks|usd|pounds?|gbp|euros?|eur|%|percent|per cent))?"
)
_AFTER_WORDS = re.compile(r"\s?(dollars?|bucks|usd|pounds?|gbp|euros?|eur|%|percent|per cent)")
_KIND = {"us$": "$", "usd": "$", "dollar": "$", "dollars": "$", "bucks": "$", "gbp": "£", "pound": "£"}
_KIND |= {"pounds": "£", "eur": "€", "euro": "€", "euros": "€", "percent": "%", "per cent": "%"}
_CLOCK = re.compile(
    r"(?<![\w.,:$£€])(?P<h>\d{1,2})(?:[:.](?P<m>\d\d))?(?![\d:])\s?(?P<half>[ap]\.?m\b\.?)?"
    r"(?P<word>\s(?:o'clock|in the (?:morning|afternoon|evening)))?"
)
_hour = "|".join(_UNITS[1:13])
_TOLD = re.compile(
    rf"\b(?:(?P<part>half|quarter|ten|twenty)\s+)(?P<way>past|to)\s+(?P<hour>{_hour})\b|\bnoon\b"
)
_PARTS = {"half": 30, "quarter": 15, "ten": 10, "twenty": 20}


class Date(NamedTuple):
    """A date, or the parts of one; a numeric one has its other reading too."""

    year: int | None
    month: int | None
    day: int
    span: Span
    swapped: bool = False

    def fits(self, other: Date) -> bool:
        """Say whether two can be the same day."""
        if self.year and other.year and self.year != other.year:
            return False
        if self.day == other.day and (not self.month or not other.month or self.month == other.month):
            return True
        return self.swapped and (self.day, self.month) == (other.month, other.day)


class Amount(NamedTuple):
    """A number with its currency sign or %, where it has one."""

    value: float
    kind: str
    span: Span


class Time(NamedTuple):
    """Minutes since noon or midnight; the half of the day, where it is told."""

    minutes: int
    half: str
    span: Span


def folded(text: str) -> str:
    """Return the text in lower case with plain dashes, quotes and spaces, as long as before."""
    plain = text.translate(_FOLD)
    low = plain.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in plain)


class Scan:
    """A text and the values in it, each kind looked for when first needed."""

    def __init__(self, text: str) -> None:
        self.low = folded(text)

    @cached_property
    def run_together(self) -> str:
        """The letters and digits alone."""
        return _run_together(self.low)

    @cached_property
    def dates(self) -> list[Date]:
        found = [date for match in _MONTH.finditer(self.low) if (date := self._around(match))]
        if "-" in self.low:
            for match in _ISO.finditer(self.low):
                found.append(Date(int(match[1]), int(match[2]), int(match[3]), match.span()))
        if "/" in self.low:
            found += [_slashed(match) for match in _SLASHED.finditer(self.low)]
        taken = [date.span for date in found]
        for match in _DAY_ALONE.finditer(self.low):
            if not any([match.start() < end and start < match.end() for start, end in taken]):
                found.append(Date(None, None, _day_of(match), match.span()))
        return found

    def _around(self, month: re.Match[str]) -> Date | None:
        """Return the date that a month's name belongs to, None for one without a day."""
        start, end = month.span()
        from_ = max(0, start - _LONGEST_DAY)
        if before := _DAY_BEFORE.search(self.low[from_:start]):
            start, day = from_ + before.start(), before
        elif after := _DAY_AFTER.match(self.low, end):
            end, day = after.end(), after
        else:
            return None
        year = _YEAR.match(self.low, end)
        number = _MONTHS.index(month[0][:3]) + 1
        return Date(
            int(year[1]) if year else None, number, _day_of(day), (start, year.end() if year else end)
        )

    @cached_property
    def amounts(self) -> list[Amount]:
        found = []
        for match in _AMOUNT.finditer(self.low):
            value = float(match["whole"].replace(",", "") + (match["part"] or ""))
            kind = (match["before"] or match["after"] or "").strip()
            found.append(Amount(value * 1000 if match["k"] else value, _KIND.get(kind, kind), match.span()))
        for match in _SPELLED.finditer(self.low):
            after = _AFTER_WORDS.match(self.low, match.end())
            kind = after[1] if after else ""
            found.append(Amount(_spelled(match[0]), _KIND.get(kind, kind), match.span()))
        return found

    @cached_property
    def times(self) -> list[Time]:
        found = []
        for match in _CLOCK.finditer(self.low):
            hour, minute = int(match["h"]), int(match["m"] or 0)
            told = match["half"] or match["word"] or (match["m"] and match[0][len(match["h"])] == ":")
            if not told or hour > 24 or minute > 59:
                continue
            word = match["word"] or ""
            half = (match["half"] or "")[:1] or ("a" if "morning" in word else "p" if "noon" in word else "")
            half = half or ("p" if hour > 12 else "")
            found.append(Time(hour % 12 * 60 + minute, half, match.span()))
        for match in _TOLD.finditer(self.low):
            if match["hour"] is None:
                found.append(Time(0, "p", match.span()))
                continue
            away = _PARTS[match["part"]]
            minutes = _NUMBER[match["hour"]] * 60 + (away if match["way"] == "past" else -away)
            found.append(Time(minutes % 720, "", match.span()))
        return found


def _day_of(match: re.Match[str]) -> int:
    return int(match["day"]) if match["day"] else _ORDINAL[match["spelled"]]


def _slashed(match: re.Match[str]) -> Date:
    month, day = int(match[1]), int(match[2])
    if month > 12:
        month, day = day, month
    year = int(match[3]) if match[3] else None
    return Date(2000 + year if year is not None and year < 100 else year, month, day, match.span(), True)


def _spelled(text: str) -> float:
    total = current = 0
    for word in re.split(r"[\s-]+", text):
        if word in _NUMBER:
            current += _NUMBER[word]
        elif word == "hundred":
            current = (current or 1) * 100
        elif word == "thousand":
            total, current = total + (current or 1) * 1000, 0
    return float(total + current)


def find(scan: Scan, kind: str, value: str, also: tuple[str, ...] = ()) -> list[Span]:
    """Return where a text states a value, in the order of the text.

    Args:
        scan: the text.
        kind: the type of the fact.
        value: how the prompt writes it.
        also: other ways to write it.
    """
    spans = set(_typed(scan, kind, value))
    held = scan.run_together if kind == "id" else scan.low
    for parts, pattern in _patterns(kind, (value, *also)):
        if all([part in held for part in parts]):
            spans.update(match.span() for match in pattern.finditer(scan.low))
    return sorted(spans)


def _typed(scan: Scan, kind: str, value: str) -> Iterator[Span]:
    wanted = _wanted(value)
    if kind == "date" and wanted.dates:
        yield from (date.span for date in scan.dates if date.fits(wanted.dates[0]))
    elif kind == "time" and wanted.times:
        time = wanted.times[0]
        for other in scan.times:
            if other.minutes == time.minutes and (not other.half or not time.half or other.half == time.half):
                yield other.span
    elif kind in ("money", "number", "percent") and wanted.amounts:
        amount = wanted.amounts[0]
        for found in scan.amounts:
            same = not found.kind or not amount.kind or found.kind == amount.kind
            # A bare small number is too common to be taken for a sum of money.
            bare = kind == "money" and not found.kind and found.value < 100
            if found.value == amount.value and same and not bare:
                yield found.span


@lru_cache(maxsize=4096)
def _wanted(value: str) -> Scan:
    return Scan(value)


@lru_cache(maxsize=4096)
def _patterns(kind: str, forms: tuple[str, ...]) -> tuple[tuple[list[str], re.Pattern[str]], ...]:
    """Return the patterns of a value's forms, each with the texts that have to be there for it to match.

    A form that is found by its type anyway needs none.
    """
    if kind == "id":
        return tuple(([_run_together(folded(form))], re.compile(_id(form))) for form in forms)
    left = [form for form in forms if not any(_typed(_wanted(form), kind, forms[0]))]
    return tuple((_parts(form), re.compile(_phrase(form, plural=kind == "quantity"))) for form in left)


_START = r"(?<![a-z0-9])(?<!\d[.,])"
_END = r"(?![a-z0-9]|[.,]\d)"


def _parts(form: str) -> list[str]:
    words = [w for w in _words(form) if w not in ("&", "and") and not (w.isdecimal() and int(w) < 20)]
    return [word.removesuffix("s") for word in words]


def _words(form: str) -> list[str]:
    return [word for word in re.split(r"[\s-]+", folded(form)) if word]


def _run_together(low: str) -> str:
    return "".join(filter(str.isalnum, low))


def _id(form: str) -> str:
    characters = [re.escape(c) for c in folded(form) if c.isalnum()]
    return _START + r"[\s./-]?".join(characters) + _END


def _phrase(form: str, *, plural: bool) -> str:
    parts = []
    for word in _words(form):
        if word in ("&", "and"):
            parts.append("(?:&|and)")
        elif word.isdecimal() and int(word) < 20:
            parts.append(f"(?:{word}|{_UNITS[int(word)]})")
        else:
            parts.append(re.escape(word))
    if plural and parts:
        parts[-1] = parts[-1].removesuffix("s") + "s?"
    return _START + r"[\s-]+".join(parts) + _END
