"""Compile the accepted forms of a gold fact: where each stands in an answer, and what rivals it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from harness.facts import ids, phrases, units
from harness.facts.answer import AnswerText, overlaps
from harness.facts.dates import DateFound, DateValue
from harness.facts.locales import LocaleRules, locale_rules
from harness.facts.model import FactType, GoldFact
from harness.facts.numbers import NumberFound
from harness.facts.patterns import LazyPattern
from harness.facts.places import date_places, number_places, ordinal_places, time_places
from harness.facts.sentences import Span
from harness.facts.times import TimeFound, TimeValue
from harness.facts.words import DIGIT_WORDS, ORDINAL_WORDS

Finder = Callable[[AnswerText], list[Span]]
Rivals = Callable[[AnswerText, int], list[Span]]


class Form(NamedTuple):
    """One accepted form.

    Attributes:
        written: the form as the author wrote it.
        find: returns where it stands in an answer.
        rivals: returns where values of its type stand in a sentence; None for phrases.
        is_name: whether a phrase is written with a capital.
        is_fallback: whether it finds nothing in an answer of ASCII letters.
        flags: what a match of this form is marked with.
    """

    written: str
    find: Finder
    rivals: Rivals | None = None
    is_name: bool = False
    is_fallback: bool = False
    flags: tuple[str, ...] = ()


@lru_cache(maxsize=8192)
def compile_forms(gold: GoldFact, locale: str) -> tuple[Form, ...]:
    """Compile the fact and its accepted forms; one that cannot be read as its type is a phrase."""
    made: list[Form] = []
    seen: set[object] = set()
    whole = _value(AnswerText(gold.fact, locale), gold.type)
    for written in gold.forms:
        form = AnswerText(written, locale)
        value = whole if written == gold.fact else _value(form, gold.type)
        key = _key(form, value)
        if key is not None and key in seen:
            continue  # `March 24` and `24 March` are one value
        seen.add(key)
        made.extend(_compile(written, form, value, whole, gold.type, locale))
    return tuple(made)


_Value = DateFound | TimeFound | NumberFound
_FILLER = LazyPattern(
    r"(?:\b(?:the|on|at|of|by|a|an|in|from|then|around|about|approximately|exactly|clock)\b|[\s,.;:~()'-])*"
)


def _value(form: AnswerText, kind: FactType) -> _Value | None:
    """Return the typed value that a form stands for, when it says nothing else."""
    match kind:
        case FactType.DATE:
            dates = form.dates
            best = max(dates, key=lambda date: date.value.depth) if dates else None
            found: _Value | None = best
        case FactType.TIME:
            found = next(iter(form.times), None)
        case FactType.NUMBER | FactType.MONEY | FactType.PERCENT | FactType.QUANTITY:
            if not form.numbers or not _FILLER.fullmatch(form.text, 0, form.numbers[0].start):
                return None
            number, *others = form.numbers
            # "one eight nine" is how a number is read out, and not a one.
            read_out = others and not form.text[number.end : others[0].start].strip(" -")
            return None if read_out else number
        case _:
            return None
    if found is None or not _FILLER.fullmatch(form.text, 0, found.start):
        return None
    return found if kind is FactType.TIME or _FILLER.fullmatch(form.text, found.end) else None


def _key(form: AnswerText, value: _Value | None) -> object:
    """Return what two forms of one value have in common, None for a phrase."""
    if value is None:
        return None
    if isinstance(value, NumberFound):
        return value.amount, units.unit_name(form.text[value.number_end :].strip(" -."))
    return value.value, value.high


def _compile(
    written: str, form: AnswerText, value: _Value | None, whole: _Value | None, kind: FactType, locale: str
) -> list[Form]:
    """Compile one form of a fact whose value is `whole`."""
    rules = locale_rules(locale)
    if kind is FactType.ID:
        return _id_forms(written, form)
    if isinstance(value, DateFound):
        return [
            _date_form(written, value, whole.value if isinstance(whole, DateFound) else DateValue(), rules)
        ]
    if isinstance(value, TimeFound):
        return [_time_form(written, value, whole.value if isinstance(whole, TimeFound) else None)]
    if isinstance(value, NumberFound) and (made := _amount_form(written, form, value, kind, rules)):
        return [made]
    return _text_forms(written, form)


# ---- ids ------------------------------------------------------------------------------


def _id_forms(written: str, form: AnswerText) -> list[Form]:
    folded, cased = form.text.strip(), form.cased.strip()
    chars = ids.id_characters(folded)
    if chars is None:
        return _text_forms(written, form)
    shape = ids.id_shape(folded)

    def find(answer: AnswerText) -> list[Span]:
        spans: list[Span] = []
        if chars in answer.text or chars in answer.unseparated:
            spans = ids.find_id(answer.text, answer.cased, cased, chars)
        if not spans and chars.isdecimal() and len(chars) >= 3:
            return _spelled(answer, chars)
        return spans

    def rivals(answer: AnswerText, index: int) -> list[Span]:
        return [
            span for span in answer.ids_in(index) if ids.id_shape(answer.text[span[0] : span[1]]) == shape
        ]

    return [Form(written, find, rivals)]


_DIGIT_NAME = {digit: word for word, digit in DIGIT_WORDS.items() if word not in ("oh", "nought")}


def _spelled(answer: AnswerText, digits: str) -> list[Span]:
    """Find digits that are spelled one by one."""
    if any(_DIGIT_NAME[digit] not in answer.text for digit in set(digits) - {"0"}):
        return []
    return [(start, end) for start, end, spelled in answer.spelled_digits if spelled == digits]


# ---- dates and times ------------------------------------------------------------------


def _date_form(written: str, wanted: DateFound, whole: DateValue, rules: LocaleRules) -> Form:
    places = date_places(wanted.value, rules.months, rules.weekdays)

    def find(answer: AnswerText) -> list[Span]:
        return [
            (date.start, date.end)
            for date in answer.dates_near(places)
            # A short form such as "the 24th" must not take a date of another month.
            if date.states(wanted) and not date.value.clashes(whole)
        ]

    def rivals(answer: AnswerText, index: int) -> list[Span]:
        return [
            (d.start, d.end)
            for d in answer.dates_in(index)
            if d.value.day is not None or wanted.value.day is None
        ]

    return Form(written, find, rivals)


def _time_form(written: str, wanted: TimeFound, whole: TimeValue | None) -> Form:
    places = time_places(wanted.value)

    def find(answer: AnswerText) -> list[Span]:
        return [
            (time.start, time.end)
            for time in answer.times_near(places)
            if time.states(wanted) and not _other_half(time.value, whole)
        ]

    return Form(
        written, find, lambda answer, index: [(time.start, time.end) for time in answer.times_in(index)]
    )


def _other_half(time: TimeValue, whole: TimeValue | None) -> bool:
    """Say whether a time that a short form fits is in the other half of the day than the fact."""
    return whole is not None and None not in (whole.half, time.half) and time.hour != whole.hour


# ---- amounts --------------------------------------------------------------------------

_RATE = LazyPattern(
    r"\s*(?:(?:/|per|an?|each|every)\s?(?P<per>hour|hr|day|night|week|month|mo|year|yr|person|head)\b"
    r"|(?P<ly>hourly|daily|nightly|weekly|monthly|yearly|annual|annually)\b)"
)
_RATES = {
    "hr": "hour",
    "mo": "month",
    "yr": "year",
    "daily": "day",
    "annual": "year",
    "annually": "year",
    "head": "person",
}


def _amount_form(
    written: str, form: AnswerText, wanted: NumberFound, kind: FactType, rules: LocaleRules
) -> Form | None:
    amount = wanted.amount
    if kind is FactType.PERCENT and amount.currency != "%":
        return None
    tail = form.text[wanted.number_end :].strip(" -.")
    # A number may come with what it counts: `12 guests`.
    unit = (
        units.unit_name(tail) if kind in (FactType.QUANTITY, FactType.NUMBER) and not amount.currency else ""
    )
    if kind is FactType.QUANTITY and tail and amount.currency == "GBP":  # 12 pounds
        unit = units.unit_name(tail)
    rate = _rate(form.text, wanted.end)
    has_unit = _unit_check(unit) if unit else None
    one_of_unit = units.one_pattern(unit) if unit and amount.number == 1 else None
    places = number_places(amount.number, rules.decimal + rules.groups)

    def of_kind(text: str, found: NumberFound) -> bool:
        if has_unit is not None:
            return has_unit(text, found)
        if amount.currency and kind is not FactType.NUMBER:
            return found.amount.currency == amount.currency
        return found.amount.currency != "%" or amount.currency == "%"

    def agrees(answer: AnswerText, found: NumberFound) -> bool:
        if found.amount.number != amount.number or found.amount.high != amount.high:
            return False
        if not of_kind(answer.text, found) or (not unit and _is_day(answer, found, rules)):
            return False
        return not rate or _rate(answer.text, found.end) in ("", rate)

    def find(answer: AnswerText) -> list[Span]:
        spans = [
            (number.start, number.end)
            for number in answer.numbers_near(places.within(answer.text))
            if agrees(answer, number)
        ]
        if not spans and one_of_unit is not None:  # an hour, a week
            return [found.span() for found in one_of_unit.finditer(answer.text)]
        return spans

    def rivals(answer: AnswerText, index: int) -> list[Span]:
        return [
            (n.start, n.end)
            for n in answer.numbers_in(index)
            if n.amount.high is None and of_kind(answer.text, n)
        ]

    return Form(written, find, rivals)


def _unit_check(unit: str) -> Callable[[str, NumberFound], bool]:
    """Return what says whether a number carries the unit, and is not part of a compound of units."""
    pattern, finer, coarser = units.unit_pattern(unit), units.finer_part(unit), units.coarser_part(unit)

    def has_unit(text: str, found: NumberFound) -> bool:
        tail = pattern.match(text, found.number_end)
        if tail is None or found.amount.currency not in ("", "GBP", "$"):
            return False
        if finer and finer.match(text, tail.end()):
            return False
        return not (coarser and coarser.search(text, max(0, found.start - 24), found.start))

    return has_unit


def _rate(text: str, at: int) -> str:
    """Return the period that an amount is for, such as `month`, or an empty string."""
    found = _RATE.match(text, at)
    if found is None:
        return ""
    name: str = found["per"] or found["ly"]
    return _RATES.get(name) or name.removesuffix("ly")


def _is_day(answer: AnswerText, number: NumberFound, rules: LocaleRules) -> bool:
    """Say whether a small number is the day of a date: `March 5` has no 5 in it."""
    amount = number.amount
    if amount.currency or not 1 <= amount.number <= 31:
        return False
    index = answer.sentence_index(number.start)
    if answer.text.isascii() and rules.months.keys().isdisjoint(answer.sentence(index).vocabulary):
        return False
    return overlaps((number.start, number.end), answer.days_in(index))


# ---- phrases --------------------------------------------------------------------------

_ORDINAL = LazyPattern(r"\d{1,4}(?:st|nd|rd|th)")


def _text_forms(written: str, form: AnswerText) -> list[Form]:
    folded, cased = form.text.strip(), form.cased.strip()
    if (
        _ORDINAL.fullmatch(folded)
        or (
            folded.replace("-", " ").split()[-1:][:1]
            and folded.replace("-", " ").split()[-1] in ORDINAL_WORDS
        )
    ) and (made := _ordinal_forms(written, form)):
        return made
    phrase = phrases.compile_phrase(folded, cased)
    if phrase is None:
        return []
    is_name = cased[:1].isupper()

    def find(answer: AnswerText) -> list[Span]:
        return phrases.find_phrase(answer.text, answer.cased, phrase)

    def find_bare(answer: AnswerText) -> list[Span]:
        return [] if find(answer) else phrases.find_without_marks(answer.text, answer.cased, folded)

    made = [Form(written, find, is_name=is_name)]
    if phrase.cased is None:
        made.append(
            Form(written, find_bare, is_name=is_name, is_fallback=folded.isascii(), flags=("diacritics",))
        )
    return made


def _ordinal_forms(written: str, form: AnswerText) -> list[Form]:
    wanted = form.ordinals
    if len(wanted) != 1 or wanted[0][:2] != (0, len(form.text)):
        return []
    rank = wanted[0][2]
    places = ordinal_places(rank)

    def find(answer: AnswerText) -> list[Span]:
        return [
            (start, end)
            for index in answer.sentences_near(places)
            for start, end, value in answer.ordinals_in(index)
            if value == rank
        ]

    return [
        Form(
            written, find, lambda answer, index: [(start, end) for start, end, _ in answer.ordinals_in(index)]
        )
    ]
