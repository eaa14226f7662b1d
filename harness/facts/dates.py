"""Dates in an answer, read as components: year, month, day, weekday.

- a gold date matches where each component it has is stated: `March 5` is in
  `March 5, 2024`, `March 5, 2024` is not in `March 5` nor in `2024`
- the weekday of a full date need not be said; one that contradicts the date undoes it
- a range (`March 5–7`) is a value of its own and matches none of its days
- numeric dates are read in the locale's order, ISO dates everywhere
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from harness.facts.locales import LocaleRules
from harness.facts.words import ordinal_word


@dataclass(frozen=True, slots=True)
class DateValue:
    """The stated components of a date; None where nothing is said."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None

    def states(self, gold: DateValue) -> bool:
        """Say whether this date states every component of `gold` and contradicts none."""
        if gold.year is not None and self.year != gold.year:
            return False
        if gold.month is not None and self.month != gold.month:
            return False
        if gold.day is not None and self.day != gold.day:
            return False
        full = gold.year is not None and gold.month is not None and gold.day is not None
        if full:
            weekday = datetime.date(gold.year or 1, gold.month or 1, gold.day or 1).weekday()
            return self.weekday is None or self.weekday == weekday
        if gold.weekday is None:
            return True
        if self.weekday is None:  # the day and month are as good as the weekday's name
            return gold.day is not None and gold.month is not None
        return self.weekday == gold.weekday


@dataclass(frozen=True, slots=True)
class DateFound:
    """A date, or a range when `high` is set, and where it stands."""

    start: int
    end: int
    value: DateValue
    high: DateValue | None = None


_ORD = (
    r"(?:twenty|thirty)[\s-](?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|first|second|third|"
    r"fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|"
    r"seventeenth|eighteenth|nineteenth|twentieth|thirtieth"
)
_DAY = rf"(?:\d{{1,2}}(?!\d)(?:\s?(?:st\b|nd\b|rd\b|th\b|er\b)|°)?|(?:{_ORD})\b)"
_YEAR = r"(?:(?:19|20|21)\d\d(?!\d|[:,.]\d)|'\d\d(?!\d))"
_THRU = r"(?:\s?[-–—]\s?|\s+(?:to|through|thru|until|till)\s+(?:the\s+)?)"
_LIST = r"(?:\s?,\s?(?:and\s+|or\s+)?|\s+(?:and|or)\s+|\s?[&/]\s?)(?:the\s+)?"
_NOT_TIME = r"(?!\s?(?::\d|[ap]\.?m\b|%|o'clock))"


@lru_cache(maxsize=32)
def _patterns(month_names: tuple[str, ...], weekday_names: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    month = rf"(?P<month>{_names(month_names)})\b\.?"
    weekday = rf"(?:(?P<weekday>{_names(weekday_names)})\b\.?,?\s+(?:the\s+|den\s+|le\s+|el\s+)?(?:of\s+)?)?"
    joint = r"(?:\s+(?:of|de|del|di)\s+|\s*[-,./]\s*|\.?\s+)"
    tail_year = rf"(?:(?:\s*,\s*|\s+of\s+|\s+de[l]?\s+|\s+in\s+|[-/.]|\s+)(?P<year>{_YEAR}))?"
    after_weekday = rf"(?P<weekday_after>\s*[,(]\s*(?:a\s+)?(?P<weekday2>{_names(weekday_names)})\b\)?)?"
    month_first = re.compile(
        rf"(?<![\w]){weekday}{month}(?:\s+(?:the\s+)?|-)(?P<day>{_DAY}){_NOT_TIME}(?!,\d{{3}}(?!\d)|\.\d)"
        rf"(?:{_THRU}(?:(?P<month_b>{_names(month_names)})\b\.?\s+)?(?P<high>{_DAY}){_NOT_TIME}(?![-–]\d))?"
        rf"(?P<more>(?:{_LIST}{_DAY}(?![\w:.]*\d){_NOT_TIME}(?!\s+(?:{_names(month_names)})\b))*){tail_year}{after_weekday}"
    )
    day_first = re.compile(
        rf"(?<![\w.,:/])(?<!\d[-–])(?:{weekday}(?P<low>{_DAY})\.?"
        rf"(?:\s+(?:of\s+)?(?P<month_a>{_names(month_names)})\b\.?)?{_THRU})?"
        rf"{weekday.replace('<weekday>', '<weekday_b>')}(?P<more>(?:{_DAY}{_LIST})*)(?P<day>{_DAY}){joint}{month}"
        rf"(?!\s+\d{{1,2}}(?:st|nd|rd|th)\b){tail_year}{after_weekday}"
    )
    month_only = re.compile(rf"(?<![\w]){month}(?!\s+\d{{1,2}}(?!\d))(?:,?\s+(?:of\s+|de\s+)?(?P<year>{_YEAR}))?(?![\w])")
    weekday_only = re.compile(
        rf"(?<![\w])(?P<weekday>{_names(weekday_names)})\b\.?(?:,?\s+(?:the\s+)?(?P<day>{_DAY})(?!\s?(?:[ap]\.?m\b|:\d|o'clock)))?"
    )
    return month_first, day_first, month_only, weekday_only


def _names(names: tuple[str, ...]) -> str:
    return "|".join(re.escape(name) for name in names)


_ISO = re.compile(r"(?<![\w])(?<![-/.]\b)((?:19|20|21)\d\d)([-/.–])(\d{1,2})\2(\d{1,2})(?![-/.]?\d)(?=t\d|[^\w]|$)")
_ISO_MONTH = re.compile(r"(?<![\w/.-])((?:19|20|21)\d\d)-(0[1-9]|1[0-2])(?![\w-])")
_NUMERIC = re.compile(r"(?<![\w/.,-])(\d{1,2})([-/.])(\d{1,2})\2((?:19|20|21)?\d\d)(?![\w]|[-/.,]\d)")
_NUMERIC_SHORT = re.compile(r"(?<![\w/.,$€£-])(\d{1,2})/(\d{1,2})(?![\w/]|[-.,]\d|\s?%)")
_CJK = re.compile(r"(?:((?:19|20|21)\d\d)\s?[年년]\s?)?(\d{1,2})\s?[月월](?:\s?(\d{1,2})\s?[日日号號일])?")
_YEAR_ALONE = re.compile(r"(?<![\w.,$€£¥₹#/-])((?:19|20|21)\d\d)(?!\d|[.,:/-]\d|[%a-z_]|\s?(?:%|usd|eur|gbp|dollars|euros|pounds))")
_DAY_ALONE = re.compile(rf"\b(?:the|on|by)\s+(?P<day>(?:\d{{1,2}}(?:st|nd|rd|th)|{_ORD}))\b(?!\s+(?:of\s+)?[a-z]+day\b)")
_YEAR_RANGE = re.compile(r"(?<!\w)((?:19|20|21)\d\d)\s?[-–—]\s?((?:19|20|21)?\d\d)(?![\w-])")
_FROM = re.compile(r"\b(?:from|between)\s+(?:the\s+)?$")
_MONTH_CUE = re.compile(
    r"\b(?:in|of|last|next|this|early|late|mid|mid-|by|until|till|since|through|during|every|each|before|after|to|from|"
    r"and|or|between)[\s-]$"
)


def scan_dates(text: str, cased: str, wordset: frozenset[str], rules: LocaleRules) -> list[DateFound]:
    """Return the dates in folded `text`; where readings overlap, the longest one counts."""
    found: list[DateFound] = []
    has_digit = any(char in text for char in "0123456789")
    months, weekdays = _vocabulary(rules)
    month_first, day_first, month_only, weekday_only = _patterns(months, weekdays)
    if not wordset.isdisjoint(rules.months) or any(name in text for name in months if not name.isascii()):
        found.extend(_with_month(text, month_first, rules))
        found.extend(_with_month(text, day_first, rules))
        found.extend(_month_only(text, cased, month_only, rules))
    if has_digit:
        found.extend(_numeric(text, rules))
    if not wordset.isdisjoint(rules.weekdays):
        found.extend(_weekdays(text, cased, weekday_only, rules))
    if has_digit or "th" in text or "first" in text:
        found.extend(_days_alone(text))
    return _join(text, _longest(found))


@lru_cache(maxsize=8)
def _sorted_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(names, key=len, reverse=True))


def _vocabulary(rules: LocaleRules) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return _sorted_names(tuple(rules.months)), _sorted_names(tuple(rules.weekdays))


def _with_month(text: str, pattern: re.Pattern[str], rules: LocaleRules) -> Iterator[DateFound]:
    for m in pattern.finditer(text):
        groups = m.groupdict()
        month = rules.months[groups["month"]]
        year = _year(groups["year"])
        named = groups.get("weekday2") or groups.get("weekday_b") or groups["weekday"]
        day, low, high = _day(groups["day"]), _day(groups.get("low")), _day(groups.get("high"))
        value = _checked(DateValue(year, month, day, rules.weekdays.get(named or "")))
        if value is None:
            continue
        if low is not None or high is not None:
            if _CHANGED.search(text, max(0, m.start() - 60), m.start()):  # moved from March 3 to March 5
                yield from _both(text, m, DateValue(year, rules.months.get(groups.get("month_a") or "", month), low), value)
                continue
            other = rules.months.get(groups.get("month_a") or groups.get("month_b") or "", month)
            first = DateValue(year, other, low) if low is not None else value
            last = value if low is not None else DateValue(year, other, high)
            yield DateFound(m.start(), m.end(), first, last)
            continue
        yield DateFound(m.start(), m.end(), value)
        for more in re.finditer(_DAY, groups["more"] or ""):
            another = _checked(DateValue(year, month, _day(more[0])))
            if another is not None:
                at = m.start("more") + more.start()
                yield DateFound(at, at + len(more[0]), another)


def _both(text: str, m: re.Match[str], low: DateValue, value: DateValue) -> Iterator[DateFound]:
    """Split what looks like a range into the day before a change and the day after it."""
    groups = m.groupdict()
    if groups.get("low"):
        first, second = low, value
        cut = m.end("low")
    else:
        month_b = groups.get("month_b")
        first, second = value, DateValue(value.year, value.month, _day(groups["high"]))
        cut = m.end("day")
        if month_b:
            cut = m.end("day")
    yield DateFound(m.start(), cut, first)
    start = re.compile(r"[^\w]*(?:to|until|till|through|thru)?\s*(?:the\s+)?").match(text, cut)
    yield DateFound(start.end() if start else cut, m.end(), second)


def _month_only(text: str, cased: str, pattern: re.Pattern[str], rules: LocaleRules) -> Iterator[DateFound]:
    for m in pattern.finditer(text):
        name = m["month"]
        year = _year(m["year"])
        if year is None and name in ("may", "march", "mar", "dec", "sept", "jan", "jun", "jul", "apr", "aug") and not (
            _MONTH_CUE.search(text, max(0, m.start() - 10), m.start())
            or (cased[m.start()].isupper() and not _opens_sentence(text, m.start()))
        ):
            continue  # "you may", "a march"
        yield DateFound(m.start(), m.end(), DateValue(year, rules.months[name]))


def _opens_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \"'(")
    after = re.match(r"\w+\.?\s+(?:i|you|we|they|he|she|it|the|on|along|up|be|not)\b", text[at : at + 20])
    return (not before or before[-1] in ".!?\n") and after is not None


def _numeric(text: str, rules: LocaleRules) -> Iterator[DateFound]:
    for m in _ISO.finditer(text):
        if value := _checked(DateValue(int(m[1]), int(m[3]), int(m[4]))):
            yield DateFound(m.start(), m.end(), value)
    for m in _ISO_MONTH.finditer(text):
        yield DateFound(m.start(), m.end(), DateValue(int(m[1]), int(m[2])))
    for m in _NUMERIC.finditer(text):
        order = "dmy" if m[2] == "." and rules.date_order != "mdy" else rules.date_order
        month, day = _month_day(int(m[1]), int(m[3]), order)
        if value := _checked(DateValue(_year(m[4]), month, day)):
            yield DateFound(m.start(), m.end(), value)
    for m in _NUMERIC_SHORT.finditer(text):
        month, day = _month_day(int(m[1]), int(m[2]), rules.date_order)
        if value := _checked(DateValue(None, month, day)):
            yield DateFound(m.start(), m.end(), value)
    for m in _CJK.finditer(text):
        value = _checked(DateValue(int(m[1]) if m[1] else None, int(m[2]), int(m[3]) if m[3] else None))
        if value:
            yield DateFound(m.start(), m.end(), value)
    for m in _YEAR_RANGE.finditer(text):
        low, high = int(m[1]), int(m[2]) if len(m[2]) == 4 else int(m[1][:2] + m[2])
        if low < high:
            yield DateFound(m.start(), m.end(), DateValue(low), DateValue(high))
    for m in _YEAR_ALONE.finditer(text):
        yield DateFound(m.start(), m.end(), DateValue(int(m[1])))


def _month_day(first: int, second: int, order: str) -> tuple[int, int]:
    return (second, first) if order.index("d") < order.index("m") else (first, second)


def _weekdays(text: str, cased: str, pattern: re.Pattern[str], rules: LocaleRules) -> Iterator[DateFound]:
    for m in pattern.finditer(text):
        if m["weekday"] in ("sun", "sat", "wed", "mon", "fri") and not (cased[m.start()].isupper() or m["day"]):
            continue  # "the sun", "she sat"
        day = _day(m["day"])
        end = m.end() if day is not None else m.end("weekday")
        yield DateFound(m.start(), end, DateValue(day=day, weekday=rules.weekdays[m["weekday"]]))


def _days_alone(text: str) -> Iterator[DateFound]:
    for m in _DAY_ALONE.finditer(text):
        yield DateFound(m.start("day"), m.end("day"), DateValue(day=_day(m["day"])))


def _day(written: str | None) -> int | None:
    if not written:
        return None
    if digits := re.match(r"\d+", written):
        return int(digits[0])
    tens, _, last = written.replace("-", " ").rpartition(" ")
    return ordinal_word(last, tens or None)


def _year(written: str | None) -> int | None:
    if not written:
        return None
    digits = written.strip("'")
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


def _checked(value: DateValue) -> DateValue | None:
    """Return the date unless no such day exists."""
    if value.month is not None and not 1 <= value.month <= 12:
        return None
    if value.day is None:
        return value
    try:
        datetime.date(value.year or 2000, value.month or 1, value.day)
    except ValueError:
        return None
    return value


def _longest(found: list[DateFound]) -> list[DateFound]:
    """Keep, of overlapping readings, the longest; list days (`March 5 and 6`) stand inside one."""
    kept: list[DateFound] = []
    for date in sorted(found, key=lambda d: (d.start, -(d.end - d.start))):
        inside = kept and date.end <= kept[-1].end
        part = inside and _informative(date) < _informative(kept[-1])
        if not part and not (inside and date.value == kept[-1].value):
            kept.append(date)
    return kept


def _informative(date: DateFound) -> int:
    value = date.value
    known = (value.year, value.month, value.day, value.weekday)
    return sum(part is not None for part in known[1:3]) * 2 + (date.high is not None) * 4


def _join(text: str, found: list[DateFound]) -> list[DateFound]:
    """Make `March 5 to April 2` and `between May 3 and May 9` one range each."""
    joined: list[DateFound] = []
    for date in found:
        last = joined[-1] if joined else None
        if last is not None and _is_range(text, last, date):
            joined[-1] = DateFound(last.start, date.end, last.value, date.value)
        else:
            joined.append(date)
    return joined


def _is_range(text: str, low: DateFound, high: DateFound) -> bool:
    if low.high or high.high or low.end > high.start:
        return False
    if _informative(low) != _informative(high):
        return False
    gap = text[low.end : high.start]
    before = text[max(0, low.start - 60) : low.start]
    if re.fullmatch(r"\s+and\s+", gap):
        return re.search(r"\bbetween\s+(?:the\s+)?$", before) is not None
    if not re.fullmatch(_THRU, gap):
        return False
    return _CHANGED.search(before) is None


_CHANGED = re.compile(
    r"\b(?:chang\w*|mov\w*|reschedul\w*|push\w*|shift\w*|switch\w*|postpon\w*|delay\w*|brought|bring\w*|correct\w*|"
    r"updat\w*|revis\w*|went|extend\w*|slipp?\w*|bump\w*|put back|swapp?\w*)\b[^.;!?]{0,40}$"
)
