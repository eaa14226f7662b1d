"""Match a gold fact against an answer: typed values by their parts, phrases by their words.

`match_fact` is the whole interface. An answer that several facts are matched against is
read once when it is handed over as an `AnswerText`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from harness.facts import abstention, assertion, ids, phrases, units
from harness.facts.dates import DateFound, DateValue, scan_dates
from harness.facts.locales import DEFAULT_LOCALE, locale_rules
from harness.facts.model import NO_MATCH, FactMatch, FactType, GoldFact
from harness.facts.normalise import Normalised, normalise
from harness.facts.numbers import Amount, NumberFound, scan_numbers
from harness.facts.times import TimeFound, TimeValue, scan_times
from harness.facts.words import ORDINAL_WORDS, ordinals

Span = tuple[int, int]
T = TypeVar("T")
_WORDS = re.compile(r"[^\W\d_]+")


class AnswerText:
    """An answer read for matching; each kind of value is scanned for once, on demand."""

    def __init__(self, raw: str, locale: str = DEFAULT_LOCALE) -> None:
        self.raw = raw
        self.locale = locale
        self._normalised: Normalised = normalise(raw)
        self.text = self._normalised.text
        self.cased = self._normalised.cased

    @cached_property
    def words(self) -> frozenset[str]:
        """The set of its words, folded."""
        return frozenset(_WORDS.findall(self.text))

    @cached_property
    def numbers(self) -> list[NumberFound]:
        """Every number, with currency and percent."""
        return scan_numbers(self.text, self.words, locale_rules(self.locale))

    @cached_property
    def dates(self) -> list[DateFound]:
        """Every date."""
        return scan_dates(self.text, self.cased, self.words, locale_rules(self.locale))

    @cached_property
    def times(self) -> list[TimeFound]:
        """Every clock time."""
        return scan_times(self.text, self.words)

    @cached_property
    def ordinals(self) -> list[tuple[int, int, int]]:
        """Every ordinal."""
        return ordinals(self.text)

    @cached_property
    def sentence_ends(self) -> list[int]:
        """Where each sentence ends."""
        return assertion.sentence_ends(self.text, self.cased)

    def source_span(self, span: Span) -> Span:
        """Return a span of the folded text as a span of the answer as given."""
        return self._normalised.source_span(*span)


@dataclass(frozen=True, slots=True)
class _Form:
    """One accepted form, compiled: where it stands in an answer, and which values rival it."""

    written: str
    find: Callable[[AnswerText], list[Span]]
    rivals: Callable[[AnswerText], list[Span]] | None = None
    flags: tuple[str, ...] = ()


def match_fact(
    answer: str | AnswerText,
    fact: GoldFact | Mapping[str, Any],
    *,
    locale: str = DEFAULT_LOCALE,
    siblings: Sequence[GoldFact] = (),
) -> FactMatch:
    """Say whether `answer` mentions a fact, and whether it states it as true.

    Args:
        answer: the answer as given, or an `AnswerText` that several facts share.
        fact: the fact, or its mapping form `{fact, accepted, type, stale}`.
        locale: how numbers and numeric dates are read; an `AnswerText` brings its own.
        siblings: other gold facts of the case; their values do not count as rivals.

    Returns:
        The match with its evidence; `asserted` implies `mentioned`.

    Raises:
        FactError: when the mapping is no fact (see `GoldFact.from_mapping`).
    """
    gold = fact if isinstance(fact, GoldFact) else GoldFact.from_mapping(fact)
    text = answer if isinstance(answer, AnswerText) else AnswerText(answer, locale)
    if gold.type is FactType.ABSTAIN:
        return _match_abstention(text)
    best = _best(text, _forms(gold, text.locale), siblings)
    if best is None:
        return NO_MATCH
    match, span = best
    if match.asserted and gold.stale:
        match = _with_stale(text, gold, match, span)
    return match


def states_as_true(answer: AnswerText, wrong: GoldFact) -> FactMatch | None:
    """Return the match of a wrong value that the answer states as true, else None.

    A value that is negated, asked, left open or called past is not stated as true.
    """
    for form in _forms(wrong, answer.locale):
        for span in form.find(answer):
            flags, sentence = _assess(answer, form, span, ())
            if not flags & assertion.RESOLVING:
                return _found(answer, form, span, sentence, flags, asserted=True)
    return None


def typed_values(answer: AnswerText, kind: FactType) -> list[Span]:
    """Return where values of a type stand in the answer (text facts have none)."""
    return _values(answer, kind)


def _best(answer: AnswerText, forms: Iterable[_Form], siblings: Sequence[GoldFact]) -> tuple[FactMatch, Span] | None:
    """Return the first asserted match, else the first mention."""
    first: tuple[FactMatch, Span] | None = None
    for form in forms:
        for span in form.find(answer):
            flags, sentence = _assess(answer, form, span, siblings)
            asserted = not flags & assertion.UNDOING
            if asserted or first is None:
                found = _found(answer, form, span, sentence, flags, asserted=asserted), span
                if asserted:
                    return found
                first = found
    return first


def _assess(answer: AnswerText, form: _Form, span: Span, siblings: Sequence[GoldFact]) -> tuple[frozenset[str], Span]:
    rivals: list[Span] | None = None
    if form.rivals is not None:
        same = set(form.find(answer))
        rivals = [rival for rival in form.rivals(answer) if rival not in same]
        if rivals and siblings:
            known = {s for sibling in siblings for other in _forms(sibling, answer.locale) for s in other.find(answer)}
            rivals = [rival for rival in rivals if not any(_overlap(rival, other) for other in known)]
    return assertion.assess(answer.text, answer.cased, answer.sentence_ends, span, rivals=rivals)


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _found(
    answer: AnswerText, form: _Form, span: Span, sentence: Span, flags: frozenset[str], *, asserted: bool
) -> FactMatch:
    begin, stop = answer.source_span(sentence)
    return FactMatch(
        mentioned=True,
        asserted=asserted,
        form=form.written,
        span=answer.source_span(span),
        clause=answer.raw[begin:stop].strip(),
        flags=(*form.flags, *sorted(flags)),
    )


def _with_stale(answer: AnswerText, gold: GoldFact, match: FactMatch, span: Span) -> FactMatch:
    """Undo a match when a superseded value is stated as true beside it."""
    for written in gold.stale:
        stale = GoldFact(written, gold.type)
        for form in _forms(stale, answer.locale):
            for other in form.find(answer):
                if _overlap(other, span):
                    continue
                flags, _ = _assess(answer, form, other, ())
                if not flags & assertion.RESOLVING:
                    return FactMatch(True, False, match.form, match.span, match.clause, (*match.flags, "stale"))
    return match


def _match_abstention(answer: AnswerText) -> FactMatch:
    values = [(n.start, n.end) for n in answer.numbers if n.amount.number != 1 or n.amount.currency]
    values += [(d.start, d.end) for d in answer.dates if d.value.day is not None]
    values += [(t.start, t.end) for t in answer.times]
    values += _id_like(answer)
    span = abstention.abstains(answer.text, values)
    if span is None:
        return NO_MATCH
    begin, stop = answer.source_span(span)
    return FactMatch(True, True, "abstains", (begin, stop), answer.raw[begin:stop].strip())


# ---- compiling forms ------------------------------------------------------------------


@lru_cache(maxsize=8192)
def _forms(gold: GoldFact, locale: str) -> tuple[_Form, ...]:
    return tuple(form for written in gold.forms for form in _compile(written, gold, locale))


def _compile(written: str, gold: GoldFact, locale: str) -> list[_Form]:
    """Compile one form by its type; one that cannot be read as that type is a phrase."""
    form = AnswerText(written, locale)
    match gold.type:
        case FactType.ID:
            return _id_forms(written, form)
        case FactType.DATE if (wanted := _first(form.dates)) is not None:
            return [_date_form(written, wanted, _first(AnswerText(gold.fact, locale).dates))]
        case FactType.TIME if (time := _first(_times_of_form(form))) is not None:
            return [_time_form(written, time, _first(AnswerText(gold.fact, locale).times))]
        case FactType.NUMBER | FactType.MONEY | FactType.PERCENT | FactType.QUANTITY if (
            number := _first(form.numbers)
        ) is not None and not form.text[: number.start].strip(" ~"):
            return [_amount_form(written, form, number, gold.type)]
        case _:
            return _text_forms(written, form)


def _first(found: Sequence[T]) -> T | None:
    return found[0] if found else None


def _times_of_form(form: AnswerText) -> list[TimeFound]:
    return form.times


def _id_forms(written: str, form: AnswerText) -> list[_Form]:
    folded = form.text.strip()
    pattern = ids.id_pattern(folded)
    if pattern is None:
        return _text_forms(written, form)
    digits = "".join(char for char in folded if char.isalnum())

    def find(answer: AnswerText) -> list[Span]:
        spans = ids.find_id(answer.text, answer.cased, form.cased.strip(), pattern)
        if not spans and digits.isdecimal():
            return ids.find_spelled(answer.text, answer.words, digits)
        return spans

    shape = _id_shape(folded)
    return [_Form(written, find, lambda answer: [s for s in _id_like(answer) if _id_shape(answer.text[s[0] : s[1]]) == shape])]


_ID_LIKE = re.compile(r"(?<![\w.,-])(?=[\w-]*\d)[a-z]*[\w]+(?:[-–./ ]?\w*\d\w*)*(?![\w])")
_ID_TOKEN = re.compile(r"(?<![\w$€£.,-])(?=[a-z-]*\d)[a-z0-9]+(?:[-–][a-z0-9]+)*(?!\w|[.,:]\d|\s?%)")


def _id_like(answer: AnswerText) -> list[Span]:
    """Return tokens that look like an id: digits in them, three characters or more."""
    return [m.span() for m in _ID_TOKEN.finditer(answer.text) if m.end() - m.start() >= 3]


def _id_shape(written: str) -> tuple[int, bool]:
    chars = [char for char in written if char.isalnum()]
    return len(chars), any(char.isalpha() for char in chars)


def _date_form(written: str, wanted: DateFound, gold: DateFound | None) -> _Form:
    whole = gold.value if gold is not None else DateValue()

    def agrees(found: DateFound) -> bool:
        if (found.high is None) != (wanted.high is None) or not found.value.states(wanted.value):
            return False
        if wanted.high is not None and not (found.high and found.high.states(wanted.high)):
            return False
        # A short form such as "the 24th" must not take a date of another month.
        value = found.value
        clash = [(value.year, whole.year), (value.month, whole.month)]
        return all(stated is None or known is None or stated == known for stated, known in clash)

    def find(answer: AnswerText) -> list[Span]:
        return [(d.start, d.end) for d in answer.dates if agrees(d)]

    def rivals(answer: AnswerText) -> list[Span]:
        return [(d.start, d.end) for d in answer.dates if d.value.day is not None or wanted.value.day is None]

    return _Form(written, find, rivals)


def _time_form(written: str, wanted: TimeFound, gold: TimeFound | None) -> _Form:
    whole: TimeValue | None = gold.value if gold is not None else None

    def agrees(found: TimeFound) -> bool:
        if (found.high is None) != (wanted.high is None) or not found.value.states(wanted.value):
            return False
        if wanted.high is not None and not (found.high and found.high.states(wanted.high)):
            return False
        return whole is None or whole.half is None or found.value.half is None or found.value.hour == whole.hour

    def find(answer: AnswerText) -> list[Span]:
        return [(t.start, t.end) for t in answer.times if agrees(t)]

    return _Form(written, find, lambda answer: [(t.start, t.end) for t in answer.times])


def _amount_form(written: str, form: AnswerText, wanted: NumberFound, kind: FactType) -> _Form:
    amount = wanted.amount
    unit = units.unit_name(form.text[wanted.number_end :].strip(" -.")) if kind is FactType.QUANTITY else ""
    if kind is FactType.PERCENT and amount.currency != "%":
        return _text_forms(written, form)[0]

    def of_kind(text: str, found: NumberFound) -> bool:
        currency = found.amount.currency
        if kind is FactType.QUANTITY and unit:
            return _has_unit(text, found, unit)
        if kind in (FactType.MONEY, FactType.PERCENT) and amount.currency:
            return currency == amount.currency
        return currency != "%"

    def find(answer: AnswerText) -> list[Span]:
        return [
            (n.start, n.end)
            for n in answer.numbers
            if n.amount.number == amount.number
            and n.amount.high == amount.high
            and of_kind(answer.text, n)
            and not _part_of_date(answer, n)
        ] or _one_of_unit(answer, amount, unit)

    def rivals(answer: AnswerText) -> list[Span]:
        return [(n.start, n.end) for n in answer.numbers if n.amount.high is None and of_kind(answer.text, n)]

    return _Form(written, find, rivals)


def _has_unit(text: str, found: NumberFound, unit: str) -> bool:
    tail = units.unit_pattern(unit).match(text, found.number_end)
    if tail is None or found.amount.currency not in ("", "GBP", "$"):
        return False
    finer, coarser = units.finer_part(unit), units.coarser_part(unit)
    if finer and finer.match(text, tail.end()):
        return False
    return not (coarser and coarser.search(text, max(0, found.start - 24), found.start))


def _one_of_unit(answer: AnswerText, amount: Amount, unit: str) -> list[Span]:
    """Read `an hour` and `a week` as one."""
    if not unit or amount.number != Decimal(1):
        return []
    starts = re.finditer(r"(?<!half )\ban?(?=\s)", answer.text)
    spans = ((m.start(), units.unit_pattern(unit).match(answer.text, m.end())) for m in starts)
    return [(start, tail.end()) for start, tail in spans if tail]


def _part_of_date(answer: AnswerText, number: NumberFound) -> bool:
    """Say whether a small number is the day of a date: `March 5` has no 5 in it."""
    value = number.amount.number
    if number.amount.currency or not 1 <= value <= 31:
        return False
    return any(
        date.start <= number.start and number.end <= date.end and date.value.day is not None and date.value.month is not None
        for date in answer.dates
    )


_ORDINAL_FORM = re.compile(r"\d{1,4}(?:st|nd|rd|th)")


def _text_forms(written: str, form: AnswerText) -> list[_Form]:
    folded, cased = form.text.strip(), form.cased.strip()
    phrase = phrases.compile_phrase(folded, cased)
    made: list[_Form] = []
    if phrase is not None:

        def find(answer: AnswerText) -> list[Span]:
            return phrases.find_phrase(answer.text, answer.cased, phrase)

        def find_bare(answer: AnswerText) -> list[Span]:
            return [] if find(answer) else phrases.find_without_marks(answer.text, answer.cased, folded)

        made.append(_Form(written, find))
        if phrase.cased is None:
            made.append(_Form(written, find_bare, flags=("diacritics",)))
    if _ORDINAL_FORM.fullmatch(folded) or folded.replace("-", " ").split()[-1:] and folded.replace("-", " ").split()[-1] in ORDINAL_WORDS:
        made = _ordinal_forms(written, form) or made
    return made


def _ordinal_forms(written: str, form: AnswerText) -> list[_Form]:
    wanted = form.ordinals
    if len(wanted) != 1 or (wanted[0][0], wanted[0][1]) != (0, len(form.text)):
        return []
    rank = wanted[0][2]
    return [
        _Form(
            written,
            lambda answer: [(start, end) for start, end, value in answer.ordinals if value == rank],
            lambda answer: [(start, end) for start, end, _ in answer.ordinals],
        )
    ]


def _values(answer: AnswerText, kind: FactType) -> list[Span]:
    match kind:
        case FactType.ID:
            return _id_like(answer)
        case FactType.DATE:
            return [(d.start, d.end) for d in answer.dates if d.value.day is not None]
        case FactType.TIME:
            return [(t.start, t.end) for t in answer.times]
        case FactType.MONEY:
            return [(n.start, n.end) for n in answer.numbers if n.amount.currency not in ("", "%")]
        case FactType.PERCENT:
            return [(n.start, n.end) for n in answer.numbers if n.amount.currency == "%"]
        case FactType.NUMBER | FactType.QUANTITY:
            return [(n.start, n.end) for n in answer.numbers if n.amount.currency == ""]
        case _:
            return []
