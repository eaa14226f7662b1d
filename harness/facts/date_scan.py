"""Find the dates in one sentence of an answer.

Each word that a date can begin with (digits, a month, a weekday, an ordinal) is tried with
the patterns that fit it, and the longest reading counts. Numeric dates are read in the
locale's order; one that is no date in that order (`24/03/2025` in en-US) in the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from harness.facts.dates import DateFound, DateValue, existing
from harness.facts.labels import ends_a_label, says_something_else
from harness.facts.locales import LocaleRules
from harness.facts.patterns import Found, LazyPattern, alternation, lexicon
from harness.facts.sentences import Sentence, Word
from harness.facts.words import ORDINAL_WORDS, ordinal_word, parse_number_words

_ORDINAL = (
    r"(?:twenty|thirty)[\s-](?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|first|second|third|"
    r"fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|"
    r"seventeenth|eighteenth|nineteenth|twentieth|thirtieth"
)
_DAY = rf"(?:\d{{1,2}}(?!\d)(?:\s?(?:st\b|nd\b|rd\b|th\b|er\b)|°)?|(?:{_ORDINAL})\b)"
_SPOKEN_DAY = (
    r"(?:(?:twenty|thirty)[\s-](?:one|two|three|four|five|six|seven|eight|nine)|ten|eleven|twelve|thirteen|fourteen|"
    r"fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty)\b"
)
_YEAR = r"(?:(?:19|20|21)\d\d(?!\d|[:,.]\d)|'\d\d(?!\d))"
_THRU = r"(?:\s?[-–—]\s?|\s+(?:to|through|thru|until|till)\s+(?:the\s+)?)"
_LIST = r"(?:\s?,\s?(?:and\s+|or\s+)?|\s+(?:and|or)\s+|\s?[&/]\s?)(?:the\s+)?"
_NOT_TIME = r"(?!\s?(?::\d|[ap]\.?m\b|%|o'clock|€|£))"


class _Patterns(NamedTuple):
    month_first: LazyPattern
    day_first: LazyPattern
    month_only: LazyPattern
    weekday_only: LazyPattern
    names: frozenset[str]
    starts: frozenset[str]


@lru_cache(maxsize=16)
def _patterns(rules: LocaleRules) -> _Patterns:
    month_names, weekday_names = alternation(list(rules.months)), alternation(list(rules.weekdays))
    month = rf"(?P<month>{month_names})\b\.?"
    weekday = (
        rf"(?:(?P<weekday>{weekday_names})\b\.?,?\s+(?:then,?\s+)?(?:the\s+|den\s+|le\s+|el\s+)?(?:of\s+)?)?"
    )
    # In `first - September 11` the first word is a label.
    joint = r"(?:\s+(?:of|de|del|di)\s+|-\s*|\s+-\s*(?!\w+\.?\s+\d{1,2}(?!\d))|\s*[,./]\s*|\.?\s+)"
    tail_year = rf"(?:\s*\(\s*(?:{weekday_names})\s*\))?(?:(?:\s*,\s*|\s+of\s+|\s+de[l]?\s+|\s+in\s+|[-/.]|\s+)(?P<year>{_YEAR}))?"
    # `May 20 (a Tuesday)`; in `May 20, Monday June 2` the weekday begins the next date.
    weekday_after = (
        rf"(?:\s*[,(]\s*(?:a\s+)?(?P<weekday_after>{weekday_names})\b"
        rf"(?!\.?,?\s+(?:the\s+)?(?:(?:{month_names})\b|{_DAY}{_NOT_TIME}))\)?)?"
    )
    return _Patterns(
        month_first=LazyPattern(
            rf"(?<!\w){weekday}{month}(?:\s+(?:the\s+)?|-|\s*[,(]\s*(?:on\s+)?(?=the\s))(?:the\s+)?"
            rf"(?P<day>{_DAY}|{_SPOKEN_DAY}){_NOT_TIME}(?!,\d{{3}}(?!\d)|\.\d)"
            rf"(?:{_THRU}(?:(?P<month_b>{month_names})\b\.?\s+)?(?P<edge>{_DAY}){_NOT_TIME}(?![-–]\d))?"
            rf"(?P<more>(?:{_LIST}{_DAY}(?![\w:.]{{0,4}}\d){_NOT_TIME}(?!\s+(?:{month_names})\b)){{0,20}})"
            rf"{tail_year}{weekday_after}"
        ),
        day_first=LazyPattern(
            rf"(?<![\w.,:/])(?<!\d[-–])(?:{weekday.replace('<weekday>', '<weekday_a>')}(?P<edge>{_DAY})\.?"
            rf"(?:\s+(?:of\s+)?(?P<month_b>{month_names})\b\.?)?{_THRU})?"
            rf"{weekday}(?P<more>(?:{_DAY}{_LIST}){{0,20}})(?P<day>{_DAY}){joint}{month}"
            rf"(?!\s+\d{{1,2}}(?:st|nd|rd|th)\b){tail_year}{weekday_after}"
        ),
        month_only=LazyPattern(
            rf"(?<!\w){month}(?!\s+\d{{1,2}}(?!\d)|-[a-z])(?:,?\s+(?:of\s+|de\s+)?(?P<year>{_YEAR}))?(?!\w)"
        ),
        weekday_only=LazyPattern(
            rf"(?<!\w)(?P<weekday>{weekday_names})\b\.?"
            rf"(?:,?\s+(?:the\s+)?(?P<day>{_DAY})(?!\s?(?:[ap]\.?m\b|:\d|o'clock|%|-\w)|[/.]\d))?"
        ),
        names=frozenset(name.split()[0].partition(".")[0] for name in rules.months),
        starts=frozenset(name.split()[0].partition(".")[0] for name in (*rules.months, *rules.weekdays))
        | ORDINAL_WORDS
        | {"twenty", "thirty"},
    )


def scan_dates(text: str, cased: str, sentence: Sentence, rules: LocaleRules) -> list[DateFound]:
    """Return the dates in one sentence of folded `text`, in order."""
    patterns = _patterns(rules)
    has_name = not sentence.vocabulary.isdisjoint(patterns.names)
    found: list[DateFound] = []
    done = 0
    for word in sentence.digits_and_words(patterns.starts):
        if word.start < done:
            continue
        read = (
            _at_word(text, cased, word, patterns, rules)
            if word.text[0].isalpha()
            else _at_digits(text, word, patterns, rules, has_name=has_name)
        )
        if read:
            found.extend(read)
            done = max(date.end for date in read)
    return _join_ranges(text, found) if len(found) > 1 else found


# ---- one date by itself ---------------------------------------------------------------

_RANGE_MARKS = ("-", "–", "—", " to", " through", " thru", " until", " till", " and", " or", ",", "&", "/")


def read_alone(text: str, place: int, rules: LocaleRules) -> DateFound | None:
    """Read `Monday, March 24, 2025` by the digits of its day, without looking at what else there is.

    Returns:
        The date, or None where it is written otherwise or may be part of a range or a list.
    """
    start = _name_before(text, place, rules.months)
    if start is None:
        return None
    start = _name_before(text, start, rules.weekdays) or start
    found = _patterns(rules).month_first.match(text, start)
    if (
        found is None
        or found["more"]
        or found["edge"]
        or text[max(0, start - 8) : start].rstrip().endswith(_RANGE_MARKS)
    ):
        return None
    if found.start("day") > place or _RANGE_GAP.match(text, found.end()):
        return None
    read = _with_month(text, found, rules)
    return read[0] if read else None


def _name_before(text: str, at: int, names: Mapping[str, int]) -> int | None:
    """Return where a month or weekday begins whose name ends right before `at`."""
    end = at
    while end and text[end - 1] in " ,.":
        end -= 1
    start = end
    while start and text[start - 1].isalpha():
        start -= 1
    return start if end < at and text[start:end] in names else None


# ---- dates with a month's or a weekday's name -----------------------------------------


def _at_word(text: str, cased: str, word: Word, patterns: _Patterns, rules: LocaleRules) -> list[DateFound]:
    """Read the date that begins with a month, a weekday or an ordinal."""
    for pattern in (patterns.month_first, patterns.day_first):
        if (found := pattern.match(text, word.start)) and (read := _with_month(text, found, rules)):
            return read
    read = _weekday(text, cased, patterns.weekday_only.match(text, word.start), rules)
    return (
        read
        or _month(text, cased, patterns.month_only.match(text, word.start), rules)
        or _lone_day(text, word)
    )


def _with_month(text: str, found: Found, rules: LocaleRules) -> list[DateFound]:
    """Read a day and a month, with the further days or the range that they stand for."""
    month, year = rules.months[found["month"]], _year(found["year"])
    named = found["weekday_after"] or found["weekday"]
    value = existing(DateValue(year, month, _day(found["day"]), rules.weekdays[named] if named else None))
    if value is None:
        return []
    if found["edge"]:
        other = existing(
            DateValue(
                year, rules.months[found["month_b"]] if found["month_b"] else month, _day(found["edge"])
            )
        )
        if found.start("edge") > found.start("day"):
            return _range(text, found, value, other, found.end("day"))
        return _range(text, found, other, value, found.end("month_b" if found["month_b"] else "edge"))
    if not found["more"]:
        return [DateFound(found.start(), found.end(), value)]
    day = found.start("day")
    more = list(_further_days(found, found["more"], year, month))
    start = day if more and more[0].start < day else found.start()
    end = found.end("day") if more and more[-1].start > day else found.end()
    return sorted([DateFound(start, end, value), *more])


def _range(
    text: str, found: Found, low: DateValue | None, high: DateValue | None, cut: int
) -> list[DateFound]:
    """Return a range, or both its days where the text says that one became the other."""
    if low is None or high is None:
        return []
    joint = _JOINT.match(text, cut)
    if (joint and says_something_else(text, cut, joint.end(), found.end())) or _CHANGED.search(
        text, max(0, found.start() - 60), found.start()
    ):
        return [
            DateFound(found.start(), cut, low),
            DateFound(joint.end() if joint else cut, found.end(), high),
        ]
    return [DateFound(found.start(), found.end(), low, high)]


def _further_days(found: Found, written: str, year: int | None, month: int) -> Iterator[DateFound]:
    """Yield the other days of `March 5, 6 and 7`."""
    for more in _ONE_DAY.finditer(written):
        value = existing(DateValue(year, month, _day(more[0])))
        if value is not None:
            at = found.start("more") + more.start()
            yield DateFound(at, at + len(more[0]), value)


def _weekday(text: str, cased: str, found: Found | None, rules: LocaleRules) -> list[DateFound]:
    if found is None:
        return []
    name, day = found["weekday"], _day(found["day"])
    if name in ("sun", "sat", "wed", "mon", "fri") and day is None and not cased[found.start()].isupper():
        return []  # "the sun", "she sat"
    if existing(DateValue(day=day)) is None:
        day = None
    end = found.end() if day is not None else found.end("weekday")
    return [DateFound(found.start(), end, DateValue(day=day, weekday=rules.weekdays[name]))]


def _month(text: str, cased: str, found: Found | None, rules: LocaleRules) -> list[DateFound]:
    if found is None:
        return []
    name, year = found["month"], _year(found["year"])
    if year is None and name in _ALSO_WORDS and not _is_month(text, cased, found.start()):
        return []  # "you may", "a march"
    return [DateFound(found.start(), found.end(), DateValue(year, rules.months[name]))]


def _is_month(text: str, cased: str, at: int) -> bool:
    if _MONTH_CUE.search(text, max(0, at - 10), at):
        return True
    before = text[max(0, at - 20) : at].rstrip(" \"'(")
    opens = not before or before[-1] in ".!?\n\x00\x01"
    return cased[at].isupper() and not (opens and _MODAL_MAY.match(text, at))


def _lone_day(text: str, word: Word) -> list[DateFound]:
    """Read `on the 24th` and `by the fifth`, a day of a month that is not named."""
    found = _DAY_ALONE.match(text, word.start)
    if found is None or not _DAY_CUE.search(text, max(0, word.start - 5), word.start):
        return []
    value = existing(DateValue(day=_day(found[0])))
    return [DateFound(found.start(), found.end(), value)] if value else []


_CHANGED = LazyPattern(
    r"\b(?:chang\w*|mov\w*|reschedul\w*|push\w*|shift\w*|switch\w*|postpon\w*|delay\w*|brought|bring\w*|correct\w*|"
    r"updat\w*|revis\w*|went|extend\w*|slipp?\w*|bump\w*|put back|swapp?\w*|preferr?\w*)\b[^.;!?]{0,40}\Z"
)
_JOINT = LazyPattern(r"[^\w]*(?:to|until|till|through|thru)?\s*(?:the\s+)?")
_ONE_DAY = LazyPattern(_DAY)
_ALSO_WORDS = lexicon("may march mar dec sept jan jun jul apr aug")
_MONTH_CUE = LazyPattern(
    r"\b(?:in|of|last|next|this|early|late|mid|mid-|by|until|till|since|through|during|every|each|before|after|to|from|"
    r"and|or|between)[\s-]\Z"
)
_MODAL_MAY = LazyPattern(r"\w+\.?\s+(?:i|you|we|they|he|she|it|the|on|along|up|be|not)\b")
_DAY_ALONE = LazyPattern(rf"(?:\d{{1,2}}(?:st|nd|rd|th)|{_ORDINAL})\b(?!\s+(?:of\s+)?[a-z]+day\b)")
_DAY_CUE = LazyPattern(r"\b(?:the|on|by)\s+\Z")


# ---- numeric dates --------------------------------------------------------------------

_CENTURIES = frozenset({"19", "20", "21"})
_ISO = LazyPattern(
    r"(?<![\w])(?<![-/.]\b)((?:19|20|21)\d\d)([-/.–])(\d{1,2})\2(\d{1,2})(?![-/.]?\d)(?=t\d|\W|\Z)"
)
_ISO_MONTH = LazyPattern(r"(?<![\w/.-])((?:19|20|21)\d\d)-(0[1-9]|1[0-2])(?![\w-])")
_NUMERIC = LazyPattern(r"(?<![\w/.,-])(\d{1,2})([-/.])(\d{1,2})\2((?:19|20|21)?\d\d)(?![\w]|[-/.,]\d)")
_NUMERIC_SHORT = LazyPattern(r"(?<![\w/.,$€£-])(\d{1,2})/(\d{1,2})(?![\w/]|[-.,]\d|\s?%)")
_CJK = LazyPattern(r"(?:((?:19|20|21)\d\d)\s?[年년]\s?)?(\d{1,2})\s?[月월](?:\s?(\d{1,2})\s?[日号號일])?")
_YEAR_ALONE = LazyPattern(
    r"(?<![\w.,$€£¥₹#/-])((?:19|20|21)\d\d)(?!\d|[.,:/-]\d|[%a-z_]|\s?(?:%|usd|eur|gbp|dollars|euros|pounds))"
)
_YEAR_RANGE = LazyPattern(r"(?<![\w-])((?:19|20|21)\d\d)\s?[-–—]\s?((?:19|20|21)?\d\d)(?![\w-])")


def _at_digits(
    text: str, word: Word, patterns: _Patterns, rules: LocaleRules, *, has_name: bool
) -> list[DateFound]:
    """Read the date that begins with digits; `has_name` says whether a month is named in the sentence."""
    at, length = word.start, len(word.text)
    if length > 2:
        return _iso(text, at) if length == 4 and word.text[:2] in _CENTURIES else []
    following = text[word.end : word.end + 1]
    if (
        following
        and following in "/-."
        and ((found := _NUMERIC.match(text, at)) or (found := _NUMERIC_SHORT.match(text, at)))
    ):
        return _numeric(found, rules)
    if has_name and (found := _day_first(text, at, patterns)) and (read := _with_month(text, found, rules)):
        return read
    if not following.isascii() or following == " ":
        if (found := _CJK.match(text, at)) and (value := _cjk(found)):
            return [DateFound(at, found.end(), value)]
        return []
    return _lone_day(text, word) if following.isalpha() else []


def _day_first(text: str, at: int, patterns: _Patterns) -> Found | None:
    """Match `3 October` at a place, or behind the number of a thing that stands there: `check 1 - 3 October`."""
    found = patterns.day_first.match(text, at)
    if found is None or not found["edge"] or found["month_b"]:
        return found
    gap = _RANGE_GAP.match(text, found.end("edge"))
    if gap and ends_a_label(text, found.start("edge"), found.end("edge"), gap.end()):
        return patterns.day_first.match(text, gap.end())
    return found


def _iso(text: str, at: int) -> list[DateFound]:
    if found := _ISO.match(text, at):
        value = existing(DateValue(int(found[1]), int(found[3]), int(found[4])))
        return [DateFound(at, found.end(), value)] if value else []
    if found := _ISO_MONTH.match(text, at):
        return [DateFound(at, found.end(), DateValue(int(found[1]), int(found[2])))]
    if (found := _CJK.match(text, at)) and (value := _cjk(found)):
        return [DateFound(at, found.end(), value)]
    if found := _YEAR_RANGE.match(text, at):
        low, high = int(found[1]), int(found[2] if len(found[2]) == 4 else found[1][:2] + found[2])
        if low < high:
            return [DateFound(at, found.end(), DateValue(low), DateValue(high))]
    found = _YEAR_ALONE.match(text, at)
    return [DateFound(at, found.end(), DateValue(int(found[1])))] if found else []


def _numeric(found: Found, rules: LocaleRules) -> list[DateFound]:
    """Read `3/5/2024` in the locale's order, and in the other when that is no date."""
    year = _year(found[4]) if found.lastindex == 4 else None
    first, second = int(found[1]), int(found[3] if found.lastindex == 4 else found[2])
    day_first = rules.date_order.index("d") < rules.date_order.index("m")
    for month, day in ((second, first), (first, second)) if day_first else ((first, second), (second, first)):
        if value := existing(DateValue(year, month, day)):
            return [DateFound(found.start(), found.end(), value)]
    return []


def _cjk(found: Found) -> DateValue | None:
    year, month, day = found[1], found[2], found[3]
    return existing(DateValue(int(year) if year else None, int(month), int(day) if day else None))


def _day(written: str | None) -> int | None:
    if not written:
        return None
    digits = written[:2].rstrip("°strndhe ")
    if digits.isdigit():
        return int(digits)
    tens, _, last = written.replace("-", " ").replace("\n", " ").rpartition(" ")
    if last in ORDINAL_WORDS:
        return ordinal_word(last, tens.strip() or None)
    value = parse_number_words(written)
    return int(value) if value is not None else None


def _year(written: str | None) -> int | None:
    if not written:
        return None
    digits = written.strip("'")
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


# ---- ranges ---------------------------------------------------------------------------

_AND = LazyPattern(r"\s+and\s+(?:the\s+)?")
_BETWEEN = LazyPattern(r"\bbetween\s+(?:the\s+)?\Z")
_RANGE_GAP = LazyPattern(_THRU)
_DASHES = ("-", "–", "—")


def _join_ranges(text: str, found: list[DateFound]) -> list[DateFound]:
    """Make `March 5 to April 2` and `between May 3 and May 9` one range each."""
    joined = found[:1]
    for date in found[1:]:
        last = joined[-1]
        if _is_range(text, last, date):
            joined[-1] = DateFound(last.start, date.end, last.value, date.value)
        else:
            joined.append(date)
    return joined


def _is_range(text: str, low: DateFound, high: DateFound) -> bool:
    if low.high or high.high or not 0 <= high.start - low.end <= 16:
        return False
    if (low.value.day is None) != (high.value.day is None):
        return False
    before = max(0, low.start - 60)
    if _AND.fullmatch(text, low.end, high.start):
        return _BETWEEN.search(text, before, low.start) is not None
    if not _RANGE_GAP.fullmatch(text, low.end, high.start):
        return False
    if says_something_else(text, low.end, high.start, high.end):
        return False
    if (
        low.value.month is None
        and text[low.end : high.start].strip() in _DASHES
        and text[high.start].isalpha()
    ):
        return False  # `first - September 11`: a label, and a date
    return _CHANGED.search(text, before, low.start) is None
