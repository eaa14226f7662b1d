"""Clock times in an answer, read as components: hour, minute, half of the day.

- `3:30 PM`, `15:30`, `3.30 pm` and `half past three in the afternoon` are one time
- a gold time with AM or PM wants the half stated; `09:00` states it, `3:30` does not
- a range (`3:30–4:30 PM`) is a value of its own and matches neither end
"""

from __future__ import annotations

from typing import NamedTuple

from harness.facts.labels import ends_a_label, says_something_else
from harness.facts.patterns import Found, LazyPattern
from harness.facts.sentences import Sentence, Word
from harness.facts.words import parse_number_words


class TimeValue(NamedTuple):
    """A time of day; `hour` is 0–23 when `half` is known, else as written."""

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


class TimeFound(NamedTuple):
    """A time, or a range when `high` is set, and where it stands."""

    start: int
    end: int
    value: TimeValue
    high: TimeValue | None = None

    def states(self, gold: TimeFound) -> bool:
        """Say whether this time or range states `gold`; a range never states a time."""
        if (self.high is None) != (gold.high is None) or not self.value.states(gold.value):
            return False
        return self.high is None or (gold.high is not None and self.high.states(gold.high))


_HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_HOUR = "|".join(_HOURS)
_MINUTE = (
    r"(?:oh[\s-](?:five|one|two|three|four|six|seven|eight|nine)|(?:twenty|thirty|forty|fifty)(?:[\s-](?:one|two|three|"
    r"four|five|six|seven|eight|nine))?|ten|fifteen|eleven|twelve|thirteen|fourteen|sixteen|seventeen|eighteen|nineteen|"
    r"five)"
)
_PART = {"morning": "am", "afternoon": "pm", "evening": "pm"}
_HALF_OF_DAY = (
    r"(?:(?:\s?(?P<meridiem>a\.?\s?m\b\.?|p\.?\s?m\b\.?))"
    r"|,?\s+(?:in\s+the|on\s+\w{3,6}day|this|that|tomorrow|every|\w{3,6}day)\s+(?P<part>morning|afternoon|evening)"
    r"|,?\s+(?P<night>at\s+night|tonight))"
)
_DIGITS = LazyPattern(
    r"(?<![\w.,:/$€£])(?<![a-ln-z]-)(?<![^ap.\s]m-)(?P<hour>\d{1,2})(?:(?P<mark>[:.h])(?P<minute>\d\d)(?::\d\d)?)?(?!\d|[:,/]\d|\.\d)"
    rf"(?P<clock>\s?o'clock)?{_HALF_OF_DAY}?(?P<hours>\s?(?:hrs|hours))?(?!\w)"
)
_SPOKEN = LazyPattern(
    r"(?<![\w-])(?:(?P<past>half|quarter|ten|twenty-five|twenty|five)(?:\s+minutes)?\s+"
    r"(?P<way>past|after|to|before|of|till)\s+)?"
    rf"(?P<hour>{_HOUR})(?:[\s-](?P<minute>{_MINUTE}))?(?P<clock>\s+o'clock)?(?![\w-]){_HALF_OF_DAY}?"
)
_PAST_DIGITS = LazyPattern(
    r"(?<!\w)(?P<past>half|quarter|ten|twenty-five|twenty|five|1[3-9]|2\d)\s+(?P<way>past|after|to|before)\s+"
    rf"(?P<hour>\d{{1,2}})(?!\w|:\d){_HALF_OF_DAY}?"
)
_NAMED = LazyPattern(r"(?:12\s+)?(noon|midday|midnight)(?!\w)")
_COMPACT = LazyPattern(r"(?<![\w.,:/-])([01]\d|2[0-3])([0-5]\d)\s?(?:hrs|hours|h)\b")
_CJK = LazyPattern(r"(\d{1,2})\s?(?:時|点|點|时|시)(?:\s?(半)|\s?(\d{1,2})\s?[分분])?")
_CJK_HALF = LazyPattern(r"(上午|下午|午前|午後|오전|오후)\s?\Z")
_PAST_MINUTES = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twenty-five": 25}
_MARKS = frozenset(":.h")
_TOWARDS = frozenset({"to", "before", "of", "till"})
_NAMES = frozenset({"noon", "midday", "midnight"})
_STARTS = _NAMES | {*_HOURS, "half", "quarter", "twenty"}


def scan_times(text: str, sentence: Sentence) -> list[TimeFound]:
    """Return the clock times in one sentence of folded `text`, in order."""
    found: list[TimeFound] = []
    done = 0
    for word in sentence.digits_and_words(_STARTS):
        if word.start < done:
            continue
        if not word.text[0].isalpha():
            time = _at_digits(text, word)
        elif word.text in _NAMES:
            time = _named(text, word)
        else:
            time = _at_word(text, word)
        if time is not None:
            while found and time.start <= found[-1].start:  # `8:40-9:00`, read as a time and then as a range
                found.pop()
            found.append(time)
            done = time.end
    return _join_ranges(text, found)


def read_alone(text: str, place: int) -> TimeFound | None:
    """Read `3:30 PM` by digits of it, without looking at what else there is.

    Returns:
        The time, or None where it is written otherwise or may be part of a range.
    """
    start = place
    if text[start - 1 : start] in _MARKS and text[start - 2 : start - 1].isdigit():
        start -= 2
    if text[start - 1 : start].isdigit():
        start -= 1
    found = _DIGITS.match(text, start)
    if found is None or found.end() <= place or _GAP.match(text, found.end()):
        return None
    if text[max(0, start - 8) : start].rstrip().endswith(_RANGE_MARKS):
        return None
    return _clock(text, found)


# ---- digits ---------------------------------------------------------------------------


def _at_digits(text: str, word: Word) -> TimeFound | None:
    if len(word.text) > 4:
        return None
    if len(word.text) == 4 and (found := _COMPACT.match(text, word.start)):
        hour = int(found[1])
        return TimeFound(found.start(), found.end(), _time(hour, int(found[2]), "am" if hour < 12 else None))
    if len(word.text) > 2:
        return None
    if word.text == "12" and (found := _NAMED.match(text, word.start)):
        return _named(text, word)
    if found := _DIGITS.match(text, word.start):
        return _clock(text, found) or _minutes_past(text, word)
    found = _CJK.match(text, word.start)
    return _cjk(text, found) if found else None


def _minutes_past(text: str, word: Word) -> TimeFound | None:
    """Read `20 to 8`; `8 to 20` and `10 to 12` are ranges of hours."""
    return _at_word(text, word) if word.text > "12" and _PAST_DIGITS.match(text, word.start) else None


def _clock(text: str, found: Found) -> TimeFound | None:
    """Read `3:30`, `3 PM`, `3 o'clock`; a bare number and `3.30` are no times."""
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    half = _half(found)
    if half is None and not found["clock"]:
        if found["minute"] is None or (found["mark"] == "." and not found["hours"]):
            return None
    elif found["hours"] and found["minute"] is None:
        return None
    if hour > 23 or minute > 59 or (found["meridiem"] and hour > 12):
        return None
    padded = len(found["hour"]) == 2 and found["hour"][0] == "0"
    value = _time(hour, minute, half or ("am" if padded and not found["clock"] else None))
    head = None
    if text[max(0, found.start() - 7) : found.start()].rstrip().endswith(_RANGE_MARKS):
        head = _RANGE_HEAD.search(text, max(0, found.start() - 20), found.start())
    if (
        head is not None
        and int(head["hour"]) <= 23
        and int(head["minute"] or 0) <= 59
        and not ends_a_label(text, head.start(), head.end("minute" if head["minute"] else "hour"), head.end())
    ):
        return TimeFound(
            head.start(), found.end(), _time(int(head["hour"]), int(head["minute"] or 0), half), value
        )
    return TimeFound(found.start(), found.end(), value)


def _cjk(text: str, found: Found) -> TimeFound | None:
    hour, minute = int(found[1]), 30 if found[2] else int(found[3] or 0)
    if hour > 23 or minute > 59:
        return None
    before = _CJK_HALF.search(text, max(0, found.start() - 4), found.start())
    half = None if before is None else "pm" if before[1] in ("下午", "午後", "오후") else "am"
    return TimeFound(found.start(), found.end(), _time(hour, minute, half))


# ---- words ----------------------------------------------------------------------------


def _named(text: str, word: Word) -> TimeFound | None:
    found = _NAMED.match(text, word.start)
    if found is None:
        return None
    value = TimeValue(0, 0, "am") if found[1] == "midnight" else TimeValue(12, 0, "pm")
    return TimeFound(found.start(), found.end(), value)


def _at_word(text: str, word: Word) -> TimeFound | None:
    found = _SPOKEN.match(text, word.start)
    minute = 0
    if found is not None:
        minute = _spoken_minute(found["minute"])
        told = (
            found["clock"]
            or found["past"]
            or (minute and _AT.search(text, max(0, found.start() - 8), found.start()))
        )
    else:
        found = _PAST_DIGITS.match(text, word.start)
        told = "past"
    half = _half(found) if found is not None else None
    if found is None or not (half or told):
        return None  # "three" alone is a number
    written = found["hour"]
    hour = int(written) if written.isdigit() else _HOURS.index(written) + 1
    if found["past"]:
        minute = _PAST_MINUTES.get(found["past"]) or int(found["past"])
        if found["way"] in _TOWARDS:
            hour, minute = (hour - 1) or 12, 60 - minute
    return TimeFound(found.start(), found.end(), _time(hour, minute, half)) if hour <= 23 else None


_AT = LazyPattern(r"\b(?:at|by|until|till|from|around|about)\s\Z")


def _spoken_minute(words: str | None) -> int:
    if not words:
        return 0
    return int(parse_number_words(words.removeprefix("oh ").removeprefix("oh-")) or 0)


def _half(found: Found) -> str | None:
    """Return the half of the day that a pattern with `_HALF_OF_DAY` found."""
    if found["meridiem"]:
        return "am" if found["meridiem"].startswith("a") else "pm"
    if found["part"]:
        return _PART[found["part"]]
    return "pm" if found["night"] else None


def _time(hour: int, minute: int, half: str | None) -> TimeValue:
    """Return a time with its hour on the 24-hour clock where the half of the day is known."""
    if half == "am":
        return TimeValue(0 if hour == 12 else hour, minute, "am")
    if half == "pm":
        return TimeValue(hour if hour >= 12 else hour + 12, minute, "pm")
    if hour == 0 or hour > 12:
        return TimeValue(hour, minute, "am" if hour == 0 else "pm")
    return TimeValue(hour, minute, None)


# ---- ranges ---------------------------------------------------------------------------

_RANGE_MARKS = ("-", "–", "—", "to", "until", "till", "and")
_RANGE_HEAD = LazyPattern(
    r"(?<![\w.,:/$-])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?"
    r"(?:\s?[-–—]\s?|\s+(?:to|until|till)\s+|(?<=between \d)\s+and\s+|(?<=between \d\d)\s+and\s+)\Z"
)
_GAP = LazyPattern(r"\s?[-–—]\s?|\s+(?:to|until|till|through)\s+|\s+and\s+")
_BETWEEN = LazyPattern(r"\bbetween\s\Z")
_CHANGED = LazyPattern(
    r"\b(?:chang|mov|reschedul|push|shift|switch|postpon|delay|brought|correct|updat|bump)\w*\b[^.;!?]{0,40}\Z"
)


def _join_ranges(text: str, found: list[TimeFound]) -> list[TimeFound]:
    joined = found[:1]
    for time in found[1:]:
        last = joined[-1]
        if last.high is None and time.high is None and _is_range(text, last, time):
            low = last.value
            if low.half is None and time.value.half is not None:
                low = _time(low.hour, low.minute, time.value.half)
            joined[-1] = TimeFound(last.start, time.end, low, time.value)
        else:
            joined.append(time)
    return joined


def _is_range(text: str, low: TimeFound, high: TimeFound) -> bool:
    if high.start - low.end > 12 or not _GAP.fullmatch(text, low.end, high.start):
        return False
    if ends_a_label(text, low.start, low.end, high.start) or says_something_else(
        text, low.end, high.start, high.end
    ):
        return False
    before = max(0, low.start - 60)
    if text[low.end : high.start].strip() == "and":
        return _BETWEEN.search(text, before, low.start) is not None
    return _CHANGED.search(text, before, low.start) is None
