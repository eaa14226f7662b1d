"""Clock times in an answer, read as components: hour, minute, half of the day.

- `3:30 PM`, `15:30`, `3.30 pm` and `half past three in the afternoon` are one time
- a gold time with AM or PM wants the half stated; `09:00` states it, `3:30` does not
- a range (`3:30–4:30 PM`) is a value of its own and matches neither end
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.facts.words import parse_number_words


@dataclass(frozen=True, slots=True)
class TimeValue:
    """A time of day; `hour` is 0–23 when `half` is known, else 1–12 as written."""

    hour: int
    minute: int
    half: str | None

    def states(self, gold: TimeValue) -> bool:
        """Say whether this time states `gold`."""
        if self.minute != gold.minute:
            return False
        if gold.half is None:
            return self.hour % 12 == gold.hour % 12
        return self.half is not None and self.hour == gold.hour


@dataclass(frozen=True, slots=True)
class TimeFound:
    """A time, or a range when `high` is set, and where it stands."""

    start: int
    end: int
    value: TimeValue
    high: TimeValue | None = None


_HOURS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_MINUTES = r"(?:oh[\s-](?:five|one|two|three|four|six|seven|eight|nine)|(?:twenty|thirty|forty|fifty)(?:[\s-](?:one|two|three|four|five|six|seven|eight|nine))?|ten|fifteen|eleven|twelve|thirteen|fourteen|sixteen|seventeen|eighteen|nineteen|five)"
_HALF = r"(?:\s?(?P<mer>a\.?\s?m\b\.?|p\.?\s?m\b\.?)|,?\s+(?:in\s+the|this|that|tomorrow|every)\s+(?P<part>morning|afternoon|evening)|,?\s+(?P<night>at\s+night|tonight))"
_DIGITS = re.compile(
    rf"(?<![\w.,:/$€£])(?<![a-z]-)(?P<hour>\d{{1,2}})(?:(?P<sep>[:.h])(?P<minute>\d\d)(?::\d\d)?)?(?![\d]|[:,/]\d|\.\d)"
    rf"(?:(?<=\d){_HALF}|\s?(?P<clock>o'clock)(?:{_HALF.replace('<mer>', '<mer2>').replace('<part>', '<part2>').replace('<night>', '<night2>')})?|(?P<plain>(?:\s?(?:hrs|hours))?)(?!\w))"
)
_WORDS = re.compile(
    rf"(?<![\w-])(?:(?P<past>half|a\s+quarter|quarter|ten|twenty|five|twenty-five)\s+(?P<dir>past|after|to|before|of|till)\s+)?"
    rf"(?P<hour>{_HOURS})(?:[\s-](?P<minute>{_MINUTES}))?(?:\s+o'clock|(?P<bare>))(?![\w-])(?:{_HALF})?"
)
_PAST_DIGITS = re.compile(rf"(?<!\w)(?P<past>half|quarter|a\s+quarter)\s+(?P<dir>past|after|to|before)\s+(?P<hour>\d{{1,2}})(?!\w)(?:{_HALF})?")
_NAMED = re.compile(r"(?<!\w)(?:12\s+)?(noon|midday|midnight)(?!\w)")
_COMPACT = re.compile(r"(?<![\w.,:/-])([01]\d|2[0-3])([0-5]\d)\s?(?:hrs|hours|h)\b")
_CJK = re.compile(r"(上午|下午|午前|午後|오전|오후)?\s?(\d{1,2})\s?(?:時|点|點|时|시)(?:\s?(半)|\s?(\d{1,2})\s?[分분])?")
_THRU = re.compile(r"\s?[-–—]\s?|\s+(?:to|until|till|through)\s+|\s+and\s+")
_RANGE_HEAD = re.compile(
    r"(?<![\w.,:/$-])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?(?:\s?[-–—]\s?|\s+(?:to|until|till)\s+|(?<=between \d)\s+and\s+|(?<=between \d\d)\s+and\s+)$"
)


def scan_times(text: str, wordset: frozenset[str]) -> list[TimeFound]:
    """Return the clock times in folded `text`, in order."""
    found: list[TimeFound] = []
    if any(char in text for char in "0123456789"):
        found.extend(_digits(text))
    if not wordset.isdisjoint(_TIME_WORDS):
        found.extend(_words(text))
    found.sort(key=lambda time: (time.start, -time.end))
    kept: list[TimeFound] = []
    for time in found:
        if not kept or time.start >= kept[-1].end:
            kept.append(time)
    return _join(text, kept)


_TIME_WORDS = frozenset(
    "noon midday midnight past quarter half am pm a.m p.m clock morning afternoon evening night tonight o'clock".split()
) | frozenset(_HOURS.split("|"))


def _digits(text: str) -> Iterator[TimeFound]:
    for m in _DIGITS.finditer(text):
        hour, minute = int(m["hour"]), int(m["minute"] or 0)
        half = _half(m["mer"] or m["mer2"], m["part"] or m["part2"], m["night"] or m["night2"])
        if half is None and not m["clock"] and (m["minute"] is None or (m["sep"] == "." and not m["plain"])):
            continue  # a bare number, or 3.30 that may be a decimal
        if m["minute"] is None and not m["clock"] and m["plain"] is not None and half is None:
            continue
        if hour > 23 or minute > 59 or (half and m["mer"] and hour > 12):
            continue
        padded = len(m["hour"]) == 2 and m["hour"][0] == "0"
        value = _time(hour, minute, half or ("am" if padded and not m["clock"] else None))
        head = _RANGE_HEAD.search(text, max(0, m.start() - 20), m.start())
        if head is not None and int(head["hour"]) <= 23:
            low = _time(int(head["hour"]), int(head["minute"] or 0), half)
            yield TimeFound(head.start(), m.end(), low, value)
        else:
            yield TimeFound(m.start(), m.end(), value)
    for m in _COMPACT.finditer(text):
        yield TimeFound(m.start(), m.end(), _time(int(m[1]), int(m[2]), "am" if int(m[1]) < 12 else None))
    for m in _CJK.finditer(text):
        half = None if m[1] is None else "pm" if m[1] in ("下午", "午後", "오후") else "am"
        hour, minute = int(m[2]), 30 if m[3] else int(m[4] or 0)
        if hour <= 23 and minute <= 59:
            yield TimeFound(m.start(), m.end(), _time(hour, minute, half))


def _words(text: str) -> Iterator[TimeFound]:
    for m in _NAMED.finditer(text):
        hour = 0 if m[1] == "midnight" else 12
        yield TimeFound(m.start(), m.end(), TimeValue(hour, 0, "am" if hour == 0 else "pm"))
    for m in (*_WORDS.finditer(text), *_PAST_DIGITS.finditer(text)):
        groups = m.groupdict()
        half = _half(groups["mer"], groups["part"], groups["night"])
        clock = "o'clock" in m[0]
        if not (half or clock or groups["past"] or (groups.get("minute") and _AT.search(text, 0, m.start()))):
            continue  # "three" alone is a number
        hour = int(groups["hour"]) if groups["hour"].isdigit() else int(parse_number_words(groups["hour"]) or 0)
        minute = _spoken_minute(groups.get("minute"))
        if groups["past"]:
            minute = _PAST[" ".join(groups["past"].split()).removeprefix("a ")]
            if groups["dir"] in ("to", "before", "of", "till"):
                hour, minute = (hour - 1) or 12, 60 - minute
        yield TimeFound(m.start(), m.end(), _time(hour, minute, half))


_AT = re.compile(r"\b(?:at|by|until|till|from|around|about)\s$")
_PAST = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twenty-five": 25}


def _spoken_minute(words: str | None) -> int:
    if not words:
        return 0
    value = parse_number_words(words.removeprefix("oh ").removeprefix("oh-"))
    return int(value or 0)


def _half(meridiem: str | None, part: str | None, night: str | None) -> str | None:
    if meridiem:
        return "am" if meridiem.startswith("a") else "pm"
    if part:
        return "am" if part == "morning" else "pm"
    return "pm" if night else None


def _time(hour: int, minute: int, half: str | None) -> TimeValue:
    """Return a time with its hour on the 24-hour clock where the half of the day is known."""
    if half == "am":
        return TimeValue(0 if hour == 12 else hour, minute, "am")
    if half == "pm":
        return TimeValue(hour if hour >= 12 else hour + 12, minute, "pm")
    if hour == 0 or hour > 12:
        return TimeValue(hour, minute, "am" if hour == 0 else "pm")
    return TimeValue(hour, minute, None)


def _join(text: str, found: list[TimeFound]) -> list[TimeFound]:
    joined: list[TimeFound] = []
    for time in found:
        last = joined[-1] if joined else None
        if last is not None and last.high is None and time.high is None and _is_range(text, last, time):
            low = last.value
            if low.half is None and time.value.half is not None:
                low = _time(low.hour, low.minute, time.value.half)
            joined[-1] = TimeFound(last.start, time.end, low, time.value)
        else:
            joined.append(time)
    return joined


def _is_range(text: str, low: TimeFound, high: TimeFound) -> bool:
    gap = text[low.end : high.start]
    if not _THRU.fullmatch(gap):
        return False
    before = text[max(0, low.start - 60) : low.start]
    if gap.strip() == "and":
        return re.search(r"\bbetween\s$", before) is not None
    return re.search(r"\b(?:chang|mov|reschedul|push|shift|switch|postpon|delay|brought|correct|updat|bump)\w*\b[^.;!?]{0,40}$", before) is None
