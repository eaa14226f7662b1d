"""Numbers in an answer, read as values: amount, sign, currency, percent, range.

- grouping and decimal marks follow the locale: `1,234.00` and `1 234` are 1234 in en-US
- a number is whole: 234 is not in `1,234`, 5 not in `25`, 12 not in `12.5`, nothing in `1.5.2`
- digits inside ids, dates, clock times and versions are not numbers
- a range (`5–7`, `$60 to $80`) is a value of its own and matches neither end
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

from harness.facts import units
from harness.facts.currencies import CURRENCY_WORDS, SIGNS, currency_after, currency_before
from harness.facts.labels import ends_a_label, says_something_else
from harness.facts.locales import LocaleRules
from harness.facts.normalise import FRACTIONS
from harness.facts.patterns import Found, LazyPattern, lexicon
from harness.facts.sentences import Sentence, Word
from harness.facts.words import number_runs

_LETTER = r"a-z_\u00aa\u00b5\u00c0-\u024f\u0370-\u052f"
_VULGAR = "".join(FRACTIONS)
_LONGEST = 40  # digits; anything longer is no quantity
_BEFORE_SIGN = frozenset(" \n(:=\"'|\x00\x01" + SIGNS)
_SCALES = {
    "hundred": 10**2, "thousand": 10**3, "lakh": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9,
    "trillion": 10**12, "k": 10**3, "m": 10**6, "mm": 10**6, "mn": 10**6, "mio": 10**6, "bn": 10**9, "b": 10**9,
    "tn": 10**12,
}  # fmt: skip
_LONG_SCALE = LazyPattern(r"[\s-]?(thousand|million|billion|trillion|hundred|lakh|crore)s?(?!\w)")
_SHORT_SCALE = LazyPattern(rf"(?:\s?(k|m|mm|mn|mio|bn|tn)|(b))(?![{_LETTER}0-9/²³])")
_PERCENT = LazyPattern(r"[\s-]?(?:%|percent(?:age)?|per\s?cent|pct\.?)(?!\w)(?!\s?-?points?)")
_MERIDIEM = LazyPattern(r"\s?(?:[ap]\.?\s?m\b|o'clock\b|h\d\d\b)")
_CENTS_TAIL = LazyPattern(r"\s+and\s+(\d{1,2})\s+(?:cents?|pence)\b")
_PAST_HOUR = LazyPattern(r"\b(?:half|quarter)\s+(?:past|to|after)\s\Z")
_SIGN_WORD = LazyPattern(r"\b(?:minus|negative)\s\Z")
_RANGE_GAP = LazyPattern(r"\s?[-–—]\s?|\s+(?:to|through|thru)\s+")
_BETWEEN = LazyPattern(r"\bbetween\s\Z")
_TRANSITION = LazyPattern(
    r"\b(?:chang\w*|mov\w*|went|go(?:es|ing)?|rais\w*|ris\w*|rose|increas\w*|dropp?\w*|drops|fell|fall\w*|"
    r"cut|reduc\w*|lower\w*|updat\w*|revis\w*|shift\w*|switch\w*|pushed|push|bumped|bump\w*|jump\w*|up|down|"
    r"correct\w*|adjust\w*|renegotiat\w*|upgrad\w*|downgrad\w*|postpon\w*|reschedul\w*|extend\w*)\b[^.;!?]{0,40}\Z"
)
_MIXED = LazyPattern(r"(?<![\w.,/])(?:(\d+)\s+)?(\d{1,2})/(2|3|4|5|6|8|10|16)(?![\d/]|[.,]\d)")
_HYPHEN_RANGE = LazyPattern(
    rf"(?<![\w.,/-])(?<![\w][-–])(?P<low>\d[\d,.]{{0,15}})(?P<percent>\s?%)?\s?[-–—]\s?[{SIGNS}]?"
    r"(?P<high>\d[\d,.]{0,15})(?(percent)(?=\s?%))(?![\d/:]|[-–]\d|[.,]\d)"
)


class Amount(NamedTuple):
    """A number as a value; `currency` is a code, `%`, or empty. `high` makes it a range."""

    number: Decimal
    currency: str = ""
    high: Decimal | None = None


class NumberFound(NamedTuple):
    """An amount and where it stands: the whole of it, and where its digits end."""

    start: int
    end: int
    number_end: int
    amount: Amount


class _Spot(NamedTuple):
    """The digits or words of a number; `low` is the lower end when they are a range."""

    start: int
    end: int
    value: Decimal
    low: Decimal | None = None


def scan_numbers(text: str, sentence: Sentence, rules: LocaleRules) -> list[NumberFound]:
    """Return every number in one sentence of folded `text`, in order."""
    spots = list(_digits(text, sentence.digits, rules))
    if runs := number_runs(text, sentence):
        spots.extend(_Spot(*run) for run in runs)
        spots.sort(key=lambda spot: spot.start)
    found: list[NumberFound] = []
    done = 0
    for spot in spots:
        read = _read(text, spot, rules) if spot.start >= done else None
        if read is not None:
            found.append(read)
            done = read.end
    return _join_ranges(text, found) if len(found) > 1 else found


# ---- digits ---------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _number_pattern(decimal: str, groups: str) -> LazyPattern:
    mark = rf"[{decimal}]"
    grouped = "|".join(rf"\d{{1,3}}(?:[{group}]\d{{3}}){{1,8}}(?![{group}]?\d)" for group in groups)
    lakh = r"|\d{1,2}(?:,\d{2}){1,6},\d{3}(?!,?\d)" if "," in groups else ""
    return LazyPattern(
        rf"(?<![{_LETTER}0-9])(?<![0-9][.,:/'])(?<![{_LETTER}0-9][-–])(?<![{_LETTER}]/)"
        rf"(?:(?P<whole>(?:{grouped}{lakh}|\d+)(?:{mark}\d+)?)(?:\s?(?P<vulgar>[{_VULGAR}]))?"
        rf"|(?P<alone>[{_VULGAR}])|(?P<point>{mark}\d+))"
        r"(?![0-9]|[.,][0-9]|:[0-9])(?!-[0-9])"
    )


def _digits(text: str, words: Sequence[Word], rules: LocaleRules) -> Iterator[_Spot]:
    if not words:
        return
    reach = words[0].start, words[-1].end
    has_dash = any([text.find(dash, *reach) >= 0 for dash in "-–—"])
    has_slash = text.find("/", *reach) >= 0
    done = 0
    for word in words:
        start = word.start
        if start < done:
            continue
        if has_dash and (span := _HYPHEN_RANGE.match(text, start)) and not _says_of_a_thing(text, span):
            low, high = _value(span["low"].rstrip(".,"), rules), _value(span["high"].rstrip(".,"), rules)
            if low is not None and high is not None and low < high and not _padded(span["low"], span["high"]):
                done = span.end("high") - (span["high"][-1] in ".,")
                yield _Spot(start, done, high, low)
                continue
        if has_slash and (mixed := _MIXED.match(text, start)):
            whole, top, bottom = mixed.groups()
            done = mixed.end()
            if len(whole or "") < _LONGEST:
                yield _Spot(start, done, Decimal(whole or 0) + Decimal(top) / Decimal(bottom))
            continue
        spot, done = _spot(text, start, rules)
        if spot is not None:
            yield spot


def _spot(text: str, start: int, rules: LocaleRules) -> tuple[_Spot | None, int]:
    """Read the number whose digits begin at `start`, and say where they end."""
    if text[start - 1 : start] == rules.decimal and not text[start - 2 : start - 1].isalnum():
        start -= 1
    found = _number_pattern(rules.decimal, rules.groups).match(text, start)
    if found is None:
        return None, start
    end = found.end()
    written = found[0]
    if written.isdecimal() and len(written) <= _LONGEST and not text.startswith("/", end):
        return _Spot(start, end, Decimal(written)), end
    value = _value(found["whole"] or found["point"] or "0", rules)
    if value is None or (text.startswith("/", end) and text[end + 1 : end + 2].isdigit()):
        return None, end
    if vulgar := found["vulgar"] or found["alone"]:
        top, _, bottom = FRACTIONS[vulgar].partition("/")
        value += Decimal(top) / Decimal(bottom)
    return _Spot(start, end, value), end


def _says_of_a_thing(text: str, span: Found) -> bool:
    """Say whether a dash parts the number of a thing from what is said of it: `year 5 - $70`, `check #1 - $40`."""
    at = span.start("high")
    signed = text[at - 1] in SIGNS
    if says_something_else(
        text, span.end("percent" if span["percent"] else "low"), at - signed, span.end("high")
    ):
        return True
    if signed:
        before = text[max(0, span.start("low") - 2) : span.start("low")].rstrip()
        return not before or before[-1] not in SIGNS
    return ends_a_label(text, span.start("low"), span.end("low"), at)


# ---- one number by itself -------------------------------------------------------------

_RANGE_BEFORE = LazyPattern(
    rf"(?:[-–—]\s?|\b(?:to|through|thru)\s+|\bbetween\b.{{1,24}}\band\s+)[{SIGNS}]?\s?\Z"
)
_RANGE_MARKS = ("-", "–", "—", " to", " through", " thru", " and", "\nto", "\nand")
_UP_TO = (" up to", "\nup to")
_UP_TO_SIGN = " \n" + SIGNS
_RANGE_AFTER = LazyPattern(r"\s?[-–—/]\s?\S|\s+(?:to|through|thru|and)\b")


def read_alone(text: str, place: int, rules: LocaleRules) -> tuple[bool, NumberFound | None]:
    """Read the number whose digits hold the one at `place`, without reading its sentence.

    Returns:
        Whether it can be read so, and the number. It cannot where it may be part of a range.
    """
    start = place
    while start and (
        text[start - 1].isdigit() or (text[start - 1] in " ,.'" and text[start - 2 : start - 1].isdigit())
    ):
        start -= 1
        if place - start > _LONGEST:
            return False, None
    near = text[max(0, start - 12) : start].rstrip(_UP_TO_SIGN)
    if (
        near.endswith(_RANGE_MARKS)
        and not near.endswith(_UP_TO)
        and _RANGE_BEFORE.search(text, max(0, start - 32), start)
    ):
        return False, None
    spot, end = None, start
    while start <= place:
        spot, end = _spot(text, start, rules)
        if spot is not None and end > place:
            break
        spot, start = None, max(end, start + 1)
        while start <= place and not (text[start].isdigit() and not text[start - 1].isdigit()):
            start += 1
    if spot is None:
        return True, None
    number = _read(text, spot, rules)
    if _RANGE_AFTER.match(text, number.end if number else spot.end):
        return False, None
    return True, number


def _value(digits: str, rules: LocaleRules) -> Decimal | None:
    if len(digits) > _LONGEST:
        return None
    if digits.isdigit():
        return Decimal(digits)
    for group in rules.groups:
        digits = digits.replace(group, "")
    try:
        return Decimal(digits.replace(rules.decimal, "."))
    except InvalidOperation:
        return None


def _padded(*parts: str) -> bool:
    """Say whether one of the parts is written like a code: `007-010` is no range."""
    return any(part[0] == "0" and part[1:2].isdigit() for part in parts)


# ---- what stands around a number ------------------------------------------------------


# Words after a number that change what it is; any other word leaves it alone.
_TELLING = lexicon(
    "st nd rd th a p am pm o'clock h pct percent percentage percentages thousand thousands million millions billion billions trillion "
    "trillions hundred hundreds lakh lakhs crore crores k m mm mn mio bn b tn and"
) | set(CURRENCY_WORDS)
_NEXT_WORD = LazyPattern(r"[\s-]?([^\W\d_]{1,24})")


def _read(text: str, spot: _Spot, rules: LocaleRules) -> NumberFound | None:
    """Read sign, currency, scale and percent; None when the digits are something else."""
    start, end = spot.start, spot.end
    if text[start - 2 : start] in _HOUR_JOINTS and _PAST_HOUR.search(text, max(0, start - 16), start):
        return None  # a clock time
    before = currency_before(text, start, rules.dollar) if start else None
    begin, negative = _sign(text, before.edge if before else start) if start else (0, False)
    value, code, number_end = spot.value, before.code if before else "", end
    following = text[end : end + 1]
    if following not in _PLAIN_END:
        word = _NEXT_WORD.match(text, end)
        if (
            word is None
            or word[1] in _TELLING
            or not word[1].isascii()
            or text.startswith("per cent", word.start(1))
        ):
            if _is_other(text, end):
                return None
            value, code, number_end, end = _tail(text, value, end, code, rules)
        if (
            end == spot.end
            and following.isalpha()
            and following < "\u0530"
            and not units.is_attached(text, end)
        ):
            return None  # 12B is no number
    if spot.low is not None:
        scaled = spot.low * (value / spot.value) if spot.value else spot.low
        return NumberFound(begin, end, number_end, Amount(scaled, code, value))
    return NumberFound(begin, end, number_end, Amount(-value if negative else value, code))


_HOUR_JOINTS = frozenset(("t ", "o ", "r "))
_PLAIN_END = frozenset(("", ".", ",", ";", ":", "!", "?", ")", "\x00", "\x01"))


def _tail(
    text: str, value: Decimal, end: int, code: str, rules: LocaleRules
) -> tuple[Decimal, str, int, int]:
    """Read what follows a number; return value, currency, and where digits and amount end."""
    if factor := _scale(text, end, bool(code)):
        value *= factor[0]
        end = factor[1]
    number_end = end
    if percent := _PERCENT.match(text, end):
        return value, "%", number_end, percent.end()
    if code:
        value, end = _cents(text, value, end)
        after = currency_after(text, end, rules.dollar)
        if after is not None and not after.is_hundredth:  # $50 USD
            return value, after.code if code == rules.dollar else code, number_end, after.edge
    elif after := currency_after(text, end, rules.dollar):
        code, end = after.code, after.edge
        if after.is_hundredth:
            return value / 100, code, number_end, end
        value, end = _cents(text, value, end)
    return value, code, number_end, end


def _is_other(text: str, end: int) -> bool:
    """Say whether the digits that end at `end` are an ordinal or a clock time."""
    if text.startswith(("st", "nd", "rd", "th"), end) and not text[end + 2 : end + 3].isalnum():
        return True
    return _MERIDIEM.match(text, end) is not None


def _scale(text: str, end: int, is_money: bool) -> tuple[int, int] | None:
    """Return the factor that a scale word after a number stands for, and where it ends."""
    found = _LONG_SCALE.match(text, end)
    if found is None and (is_money or text.startswith("k", end)):
        found = _SHORT_SCALE.match(text, end)
    return (_SCALES[found[found.lastindex or 1]], found.end()) if found else None


def _cents(text: str, value: Decimal, end: int) -> tuple[Decimal, int]:
    """Add the cents of `5 dollars and 20 cents`."""
    tail = _CENTS_TAIL.match(text, end)
    return (value + Decimal(tail[1]) / 100, tail.end()) if tail else (value, end)


def _sign(text: str, begin: int) -> tuple[int, bool]:
    """Return where the number begins with its sign, and whether it is negative."""
    mark = text[begin - 1 : begin]
    if mark and mark in "-–+":
        before = text[begin - 2 : begin - 1]
        if not before or before in _BEFORE_SIGN:
            return begin - 1 - (before in SIGNS if before else 0), mark != "+"
    elif mark == " " and (word := _SIGN_WORD.search(text, max(0, begin - 10), begin)):
        return word.start(), True
    return begin, False


# ---- ranges ---------------------------------------------------------------------------


def _join_ranges(text: str, found: list[NumberFound]) -> list[NumberFound]:
    """Make `5 to 7` one range, unless the text says that 5 became 7."""
    joined = found[:1]
    for number in found[1:]:
        last = joined[-1]
        if _is_range(text, last, number):
            low, high = last.amount, number.amount
            amount = Amount(low.number, high.currency or low.currency, high.number)
            joined[-1] = NumberFound(last.start, number.end, number.number_end, amount)
        else:
            joined.append(number)
    return joined


def _is_range(text: str, low: NumberFound, high: NumberFound) -> bool:
    if high.start - low.end > 12 or low.amount.high is not None or high.amount.high is not None:
        return False
    if low.amount.number >= high.amount.number or low.amount.currency not in ("", high.amount.currency):
        return False
    if not low.amount.currency and text[high.start] in SIGNS:
        return False  # `year 5 - $70`: the sign of a range stands before its first number
    if ends_a_label(text, low.start, low.end, high.start) or says_something_else(
        text, low.end, high.start, high.end
    ):
        return False
    before = max(0, low.start - 60)
    if text[low.end : high.start].split() == ["and"]:
        return _BETWEEN.search(text, before, low.start) is not None
    if not _RANGE_GAP.fullmatch(text, low.end, high.start):
        return False
    return _TRANSITION.search(text, before, low.start) is None
