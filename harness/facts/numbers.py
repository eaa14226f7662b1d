"""Numbers in an answer, read as values: amount, sign, currency, percent, range.

- grouping and decimal marks follow the locale: `1,234.00` and `1 234` are 1234 in en-US
- a number is whole: 234 is not in `1,234`, 5 not in `25`, 12 not in `12.5`, nothing in `1.5.2`
- digits inside ids, dates, clock times and versions are not numbers
- a range (`5–7`, `$60 to $80`) is a value of its own and matches neither end
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from harness.facts import units
from harness.facts.locales import LocaleRules
from harness.facts.normalise import FRACTIONS
from harness.facts.words import NUMBER_WORDS, number_runs

_LETTER = r"a-z_\u00aa\u00b5\u00c0-\u024f\u0370-\u052f"
_VULGAR = "".join(FRACTIONS)
_SCALE = re.compile(r"[\s-]?(thousand|million|billion|trillion|hundred|lakh|crore)s?(?![\w])")
_SHORT_SCALE = re.compile(rf"\s?(k|m|mm|mn|mio|bn|b|tn)(?![{_LETTER}0-9/²³])")
_SCALES = {
    "hundred": 10**2, "thousand": 10**3, "k": 10**3, "lakh": 10**5, "million": 10**6, "m": 10**6, "mm": 10**6,
    "mn": 10**6, "mio": 10**6, "crore": 10**7, "billion": 10**9, "bn": 10**9, "b": 10**9, "trillion": 10**12,
    "tn": 10**12,
}  # fmt: skip
_PERCENT = re.compile(r"[\s-]?(?:%|percent|per\s?cent|pct\.?)(?![\w])(?!\s?-?points?)")
_MERIDIEM = re.compile(r"\s?(?:[ap]\.?\s?m\b|o'clock\b|h\d\d\b)")
_CENTS_TAIL = re.compile(r"\s+and\s+(\d{1,2})\s+(?:cents?|pence)\b")
_SIGN_WORD = re.compile(r"\b(?:minus|negative)\s$")
_RANGE_GAP = re.compile(r"\s?[-–—]\s?|\s+(?:to|through|thru)\s+")
_TRANSITION = re.compile(
    r"\b(?:from|chang\w*|mov\w*|went|go(?:es|ing)?|rais\w*|ris\w*|rose|increas\w*|dropp?\w*|drops|fell|fall\w*|"
    r"cut|reduc\w*|lower\w*|updat\w*|revis\w*|shift\w*|switch\w*|pushed|push|bumped|bump\w*|jump\w*|up|down|"
    r"correct\w*|adjust\w*|renegotiat\w*|upgrad\w*|downgrad\w*|postpon\w*|reschedul\w*|extend\w*)\b[^.;!?]{0,40}$"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as a value; `currency` is a code, `%`, or empty. `high` makes it a range."""

    number: Decimal
    currency: str = ""
    high: Decimal | None = None


@dataclass(frozen=True, slots=True)
class NumberFound:
    """An amount and where it stands: the whole of it, and where its digits end."""

    start: int
    end: int
    number_end: int
    amount: Amount
    in_range: bool = False


@lru_cache(maxsize=32)
def _number_pattern(decimal: str, groups: str) -> re.Pattern[str]:
    mark = re.escape(decimal)
    by_groups = "|".join(
        rf"\d{{1,3}}(?:{re.escape(group)}\d{{3}})+(?!{re.escape(group)}?\d)" for group in groups
    )
    lakh = r"|\d{1,2}(?:,\d{2})+,\d{3}(?!,?\d)" if "," in groups else ""
    other = re.escape("".join(sorted({".", ","})))
    return re.compile(
        rf"(?<![{_LETTER}0-9])(?<![0-9][{other}:/'])(?<![{_LETTER}0-9][-–])(?<![{_LETTER}]/)"
        rf"(?:(?P<whole>(?:{by_groups}{lakh}|\d+)(?:{mark}\d+)?)(?:\s?(?P<vulgar>[{_VULGAR}]))?"
        rf"|(?P<alone>[{_VULGAR}])|(?P<point>{mark}\d+))"
        rf"(?![0-9]|[{other}][0-9]|:[0-9])(?!-[0-9])"
    )


_MIXED = re.compile(r"(?<![\w.,/])(?:(\d+)\s+)?(\d{1,2})/(2|3|4|5|6|8|10|16)(?![\d/]|[.,]\d)")
_HYPHEN_RANGE = re.compile(
    r"(?<![\w.,/-])(?<![\w][-–])(?P<sign>[$€£¥₹]?)(?P<low>\d[\d,.]*)(?P<unit>\s?%)?\s?[-–—]\s?[$€£¥₹]?"
    r"(?P<high>\d[\d,.]*\d|\d)(?![\d/:]|[-–]\d|[.,]\d)"
)


def scan_numbers(text: str, wordset: frozenset[str], rules: LocaleRules) -> list[NumberFound]:
    """Return every number in folded `text`, in order; `wordset` is the set of its words."""
    spots: list[tuple[int, int, Decimal]] = []
    blocked: list[tuple[int, int]] = []
    found: list[NumberFound] = []
    if any(char in text for char in "0123456789" + _VULGAR):
        found, blocked = _hyphen_ranges(text, rules)
        spots = _digits(text, rules, blocked)
    if not NUMBER_WORDS.isdisjoint(wordset):
        spots.extend(number_runs(text))
        spots.sort()
    done = 0
    for start, end, value in spots:
        read = _read(text, start, end, value, rules) if start >= done else None
        if read is not None:
            found.append(read)
            done = read.end
    found.sort(key=lambda number: number.start)
    return _join_ranges(text, found)


def _digits(text: str, rules: LocaleRules, blocked: list[tuple[int, int]]) -> list[tuple[int, int, Decimal]]:
    spots = []
    taken = list(blocked)
    if "/" in text:
        for mixed in _MIXED.finditer(text):
            whole, top, bottom = mixed.groups()
            spots.append((mixed.start(), mixed.end(), Decimal(whole or 0) + Decimal(top) / Decimal(bottom)))
            taken.append(mixed.span())
    for m in _number_pattern(rules.decimal, rules.groups).finditer(text):
        start, end = m.span()
        if taken and any(start < stop and begin < end for begin, stop in taken):
            continue
        if text.startswith("/", end) and text[end + 1 : end + 2].isdigit():
            continue
        value = _value(m["whole"] or m["point"] or "0", rules)
        vulgar = m["vulgar"] or m["alone"]
        if value is not None and vulgar:
            top, _, bottom = FRACTIONS[vulgar].partition("/")
            value += Decimal(top) / Decimal(bottom)
        if value is not None:
            spots.append((start, end, value))
    return spots


def _value(digits: str, rules: LocaleRules) -> Decimal | None:
    for group in rules.groups:
        digits = digits.replace(group, "")
    try:
        return Decimal(digits.replace(rules.decimal, "."))
    except InvalidOperation:
        return None


def _read(text: str, start: int, end: int, value: Decimal, rules: LocaleRules) -> NumberFound | None:
    """Read what stands around a number: sign, currency, scale, percent."""
    if text.startswith(("st", "nd", "rd", "th"), end) and not text[end + 2 : end + 3].isalnum():
        return None  # an ordinal
    if _MERIDIEM.match(text, end):
        return None  # a clock time
    before = units.CURRENCY_BEFORE.search(text, max(0, start - 4), start)
    begin = before.start() if before else start
    begin, negative = _sign(text, begin, before is not None)
    number_end = end
    scaled = _SCALE.match(text, end)
    if scaled is None and before is not None:
        scaled = _SHORT_SCALE.match(text, end)
    if scaled is None and text.startswith("k", end):
        scaled = _SHORT_SCALE.match(text, end)
    if scaled is not None:
        value *= _SCALES[scaled[1]]
        end = number_end = scaled.end()
    if negative:
        value = -value
    if percent := _PERCENT.match(text, end):
        return NumberFound(begin, percent.end(), number_end, Amount(value, "%"))
    if before is not None:
        code, _ = units.currency(before, rules.dollar)
        if tail := _CENTS_TAIL.match(text, end):
            value += Decimal(tail[1]) / 100
            end = tail.end()
        named = units.CURRENCY_AFTER.match(text, end)
        if named and named.lastgroup != "cents":  # $50 USD
            end = named.end()
            explicit = units.currency(named, rules.dollar)[0]
            code = explicit if code == rules.dollar else code
        return NumberFound(begin, end, number_end, Amount(value, code))
    if after := units.CURRENCY_AFTER.match(text, end):
        code, hundredths = units.currency(after, rules.dollar)
        value = value / 100 if hundredths else value
        end = after.end()
        if not hundredths and (tail := _CENTS_TAIL.match(text, end)):
            value += Decimal(tail[1]) / 100
            end = tail.end()
        return NumberFound(begin, end, number_end, Amount(value, code))
    if text[end : end + 1].isalpha() and text[end] < "\u0530" and not units.ATTACHED_UNIT.match(text, end):
        return None  # 12B is no number
    return NumberFound(begin, end, number_end, Amount(value))


def _sign(text: str, begin: int, money: bool) -> tuple[int, bool]:
    if begin and text[begin - 1] in "-–+" and (begin == 1 or text[begin - 2] in " \n(:=\"'$€£"):
        before = begin - 1
        if money is False and before and text[before - 1] in "$€£":
            before -= 1
        return before, text[begin - 1] != "+"
    if word := _SIGN_WORD.search(text, max(0, begin - 10), begin):
        return word.start(), True
    return begin, False


def _hyphen_ranges(text: str, rules: LocaleRules) -> tuple[list[NumberFound], list[tuple[int, int]]]:
    """Read `5-7`, `$50–60`, `10-15%`; not phone numbers, dates or ids."""
    found, blocked = [], []
    if not any(char in text for char in "-–—"):
        return found, blocked
    for m in _HYPHEN_RANGE.finditer(text):
        low, high = _value(m["low"].rstrip(".,"), rules), _value(m["high"], rules)
        padded = any(len(part) > 1 and part[0] == "0" and part[1].isdigit() for part in (m["low"], m["high"]))
        if low is None or high is None or low >= high or padded:
            continue
        read = _read(text, m.start("high"), m.end("high"), high, rules)
        if read is None:
            blocked.append(m.span())
            continue
        currency = read.amount.currency
        if m["sign"] and (sign := units.CURRENCY_BEFORE.search(m["sign"])):
            currency = units.currency(sign, rules.dollar)[0]
        scale = read.amount.number / high if high else 1
        amount = Amount(low * scale, currency, read.amount.number)
        found.append(NumberFound(m.start(), read.end, read.number_end, amount))
        blocked.append((m.start(), read.end))
    return found, blocked


def _join_ranges(text: str, found: list[NumberFound]) -> list[NumberFound]:
    """Make `5 to 7` one range, unless the text says that 5 became 7."""
    joined: list[NumberFound] = []
    for number in found:
        last = joined[-1] if joined else None
        if last is not None and _is_range(text, last, number):
            low, high = last.amount, number.amount
            joined[-1] = NumberFound(
                last.start, number.end, number.number_end, Amount(low.number, high.currency or low.currency, high.number)
            )
        else:
            joined.append(number)
    return joined


def _is_range(text: str, low: NumberFound, high: NumberFound) -> bool:
    if low.amount.high is not None or high.amount.high is not None or low.amount.number >= high.amount.number:
        return False
    if low.amount.currency not in ("", high.amount.currency):
        return False
    if not _RANGE_GAP.fullmatch(text, low.end, high.start):
        return False
    return _TRANSITION.search(text, max(0, low.start - 60), low.start) is None
