"""Match a gold fact against an answer: typed values by their parts, phrases by their words.

`match_fact` is the whole interface. An answer that several facts are matched against is
read once when it is handed over as an `AnswerText`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

from harness.facts import abstention, assertion, past
from harness.facts.alternatives import (
    is_clause_alternative,
    is_joined,
    may_offer_another,
    phrase_alternative,
    typed_alternatives,
)
from harness.facts.answer import AnswerText, overlaps
from harness.facts.forms import Form, Rivals, compile_forms
from harness.facts.locales import DEFAULT_LOCALE
from harness.facts.model import NO_MATCH, FactMatch, FactType, GoldFact
from harness.facts.sentences import Span
from harness.facts.surroundings import CLAIM_CUES, Surroundings

_KEPT = 4096
_NO_FLAGS: frozenset[str] = frozenset()
_ENOUGH = 64  # mentions of one value in one answer that are looked at


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
    gold = fact if isinstance(fact, GoldFact) else _from_mapping(fact)
    text = answer if isinstance(answer, AnswerText) else _read(answer, locale)
    if gold.type is FactType.ABSTAIN:
        return _match_abstention(text)
    forms = _forms(gold, text.locale)
    best = _best(text, forms, siblings)
    if best is None:
        return NO_MATCH
    match, span = best
    if match.asserted and gold.stale:
        return _with_stale(text, gold, match, span)
    return match


def match_wrong(answer: AnswerText, wrong: GoldFact) -> FactMatch:
    """Say whether the answer mentions a wrong value, and whether it states it as true.

    A value that is negated, asked, left open, called past or set aside is not stated as true;
    the flags of the match then say which.
    """
    forms = _forms(wrong, answer.locale)
    first: FactMatch | None = None
    for form in forms:
        for span in form.find(answer)[:_ENOUGH]:
            flags, sentence = _assess(answer, form, span, forms, (), is_wrong=True)
            asserted = not flags & assertion.RESOLVING
            if asserted or first is None:
                first = _found(answer, form, span, sentence, flags, asserted=asserted)
            if asserted:
                return first
    return first or NO_MATCH


def states_as_true(answer: AnswerText, wrong: GoldFact) -> FactMatch | None:
    """Return the match of a wrong value that the answer states as true, else None (see `match_wrong`)."""
    match = match_wrong(answer, wrong)
    return match if match.asserted else None


def typed_values(answer: AnswerText, kind: FactType) -> list[Span]:
    """Return where values of a type stand in the folded answer (text facts have none)."""
    match kind:
        case FactType.ID:
            return answer.id_like
        case FactType.DATE:
            return [(date.start, date.end) for date in answer.dates if date.value.day is not None]
        case FactType.TIME:
            return [(time.start, time.end) for time in answer.times]
        case FactType.MONEY:
            return [(n.start, n.end) for n in answer.numbers if n.amount.currency not in ("", "%")]
        case FactType.PERCENT:
            return [(n.start, n.end) for n in answer.numbers if n.amount.currency == "%"]
        case FactType.NUMBER | FactType.QUANTITY:
            return [(n.start, n.end) for n in answer.numbers if n.amount.currency == ""]
        case _:
            return []


# ---- reading once ---------------------------------------------------------------------


@lru_cache(maxsize=8)
def _read(answer: str, locale: str) -> AnswerText:
    """Read an answer, or take one of the last few: facts come one by one for the same answer."""
    return AnswerText(answer, locale)


_recent_forms: dict[int, tuple[GoldFact, str, tuple[Form, ...]]] = {}
_recent_facts: dict[tuple[Any, ...], GoldFact] = {}


def _forms(gold: GoldFact, locale: str) -> tuple[Form, ...]:
    """Return the compiled forms of a fact; hashing a fact costs more than matching it does."""
    kept = _recent_forms.get(id(gold))
    if kept is None or kept[0] is not gold or kept[1] != locale:
        kept = gold, locale, compile_forms(gold, locale)
        if len(_recent_forms) >= _KEPT:
            _recent_forms.clear()
        _recent_forms[id(gold)] = kept
    return kept[2]


def _from_mapping(fact: Mapping[str, Any]) -> GoldFact:
    """Return the fact of a mapping, the same object for the same values."""
    get = fact.get
    parts = (
        get("fact"),
        get("type"),
        *get("accepted", ()),
        None,
        *get("accept", ()),
        None,
        *get("stale", ()),
        None,
        get("id"),
    )
    if not all([type(part) is str or part is None for part in parts]):
        return GoldFact.from_mapping(fact)
    gold = _recent_facts.get(parts)
    if gold is None:
        gold = GoldFact.from_mapping(fact)
        if len(_recent_facts) >= _KEPT:
            _recent_facts.clear()
        _recent_facts[parts] = gold
    return gold


# ---- the verdict ----------------------------------------------------------------------


def _best(
    answer: AnswerText, forms: tuple[Form, ...], siblings: Sequence[GoldFact]
) -> tuple[FactMatch, Span] | None:
    """Return the first asserted match, else the first mention."""
    first: tuple[FactMatch, Span] | None = None
    is_ascii = answer.text.isascii()
    undone: list[Span] = []
    for form in forms:
        if is_ascii and form.is_fallback:
            continue
        for span in form.find(answer)[:_ENOUGH]:
            if undone and any([start <= span[0] and span[1] <= end for start, end in undone]):
                continue  # `Chen` in a `Sarah Chen` that is denied
            flags, sentence = _assess(answer, form, span, forms, siblings)
            asserted = not flags or not flags & assertion.UNDOING
            if asserted or first is None:
                found = _found(answer, form, span, sentence, flags, asserted=asserted), span
                if asserted:
                    return found
                first = found
            undone.append(span)
    return first


def _assess(
    answer: AnswerText,
    form: Form,
    span: Span,
    forms: tuple[Form, ...],
    siblings: Sequence[GoldFact],
    *,
    is_wrong: bool = False,
) -> tuple[frozenset[str], Span]:
    """Return every flag of the value at `span`, and the bounds of its sentence."""
    text = answer.text
    first = last = answer.sentence_at(span[0])
    if span[1] > first.end:
        last = answer.sentence_at(span[1] - 1)
    bounds = (first.start, last.end)
    flags: frozenset[str] = _NO_FLAGS
    if (
        is_wrong
        or last is not first
        or first.is_cued(CLAIM_CUES)
        or answer.has_items
        or past.is_corrected_next(text, first.end)
    ):
        value = Surroundings(answer, span, first, last, is_text=form.rivals is None, is_wrong=is_wrong)
        flags = assertion.assess(value, is_wrong=is_wrong)
    if form.rivals is not None:
        if is_joined(text, span):
            neighbours = _Neighbours(answer, form.rivals, forms, siblings)
            flags |= typed_alternatives(text, span, bounds, neighbours)
    elif may_offer_another(text, first.vocabulary, bounds):
        flags |= _phrase_alternatives(answer, form, span, bounds, forms, siblings, first.vocabulary)
    return flags, bounds


class _Neighbours:
    """The values of an answer that may rival one form of a fact."""

    def __init__(
        self, answer: AnswerText, rivals: Rivals, forms: tuple[Form, ...], siblings: Sequence[GoldFact]
    ) -> None:
        self._answer = answer
        self._rivals = rivals
        self._forms = forms
        self._siblings = siblings
        self._own: list[Span] | None = None

    def values_at(self, place: int) -> list[Span]:
        return self._rivals(self._answer, self._answer.sentence_index(place))

    def is_rival(self, value: Span) -> bool:
        if self._own is None:
            self._own = _places(self._answer, self._forms, self._siblings)
        return not overlaps(value, self._own)


def _phrase_alternatives(
    answer: AnswerText,
    form: Form,
    span: Span,
    bounds: Span,
    forms: tuple[Form, ...],
    siblings: Sequence[GoldFact],
    words: AbstractSet[str],
) -> set[str]:
    (start, end), (opening, closing) = span, bounds
    opening, closing = max(opening, start - 120), min(closing, end + 120)
    text, cased = answer.text, answer.cased
    if is_clause_alternative(text[opening:start], text[end:closing], words):
        return {"alternatives"}
    place = phrase_alternative(
        text[opening:start], text[end:closing], cased[opening:start], cased[end:closing], is_name=form.is_name
    )
    if place is None:
        return set()
    base = start if place[0] < 0 else end
    other = base + place[0], base + place[1]
    return set() if overlaps(other, _places(answer, forms, siblings)) else {"alternatives"}


def _places(answer: AnswerText, forms: Iterable[Form], siblings: Sequence[GoldFact]) -> list[Span]:
    """Return where the fact's own forms and its siblings' stand, in order."""
    own = {span for form in forms for span in form.find(answer)}
    own.update(
        span for fact in siblings for form in _forms(fact, answer.locale) for span in form.find(answer)
    )
    return sorted(own)


def _found(
    answer: AnswerText, form: Form, span: Span, sentence: Span, flags: frozenset[str], *, asserted: bool
) -> FactMatch:
    begin, stop = answer.source_span(sentence)
    return FactMatch(
        True,
        asserted,
        form.written,
        answer.source_span(span),
        answer.raw[begin:stop].strip(),
        (*form.flags, *sorted(flags)) if flags or form.flags else (),
    )


def _with_stale(answer: AnswerText, gold: GoldFact, match: FactMatch, span: Span) -> FactMatch:
    """Undo a match when a superseded value is stated as true beside it."""
    for written in gold.stale:
        forms = _forms(_stale_fact(written, gold.type), answer.locale)
        for form in forms:
            for other in form.find(answer)[:_ENOUGH]:
                if overlaps(other, [span]):
                    continue
                flags, sentence = _assess(answer, form, other, forms, (), is_wrong=True)
                if not flags & assertion.RESOLVING:
                    begin, stop = answer.source_span(sentence)
                    clause = answer.raw[begin:stop].strip()
                    return FactMatch(True, False, match.form, match.span, clause, (*match.flags, "stale"))
    return match


@lru_cache(maxsize=_KEPT)
def _stale_fact(written: str, kind: FactType) -> GoldFact:
    return GoldFact(written, kind)


def _match_abstention(answer: AnswerText) -> FactMatch:
    span = abstention.abstains(answer)
    if span is None:
        return NO_MATCH
    begin, stop = answer.source_span(span)
    return FactMatch(True, True, "abstains", (begin, stop), answer.raw[begin:stop].strip())
