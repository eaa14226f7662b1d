"""Match a gold fact against an answer: typed values by their parts, phrases by their words.

`match_fact` is the whole interface. An answer that several facts are matched against is
read once when it is handed over as an `AnswerText`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from harness.facts import abstention, assertion
from harness.facts.answer import AnswerText
from harness.facts.forms import Form, compile_forms
from harness.facts.locales import DEFAULT_LOCALE
from harness.facts.model import NO_MATCH, FactMatch, FactType, GoldFact
from harness.facts.sentences import Span
from harness.facts.verdict import Verdicts

_KEPT = 8192
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
    first: FactMatch | None = None
    for verdicts, span in _mentions(answer, _forms(wrong, answer.locale)):
        flags, sentence = verdicts.flags(span, is_wrong=True)
        asserted = not flags & assertion.RESOLVING
        if asserted or first is None:
            first = verdicts.match(span, sentence, flags, asserted=asserted)
        if asserted:
            return first
    return first or NO_MATCH


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


def _mentions(
    answer: AnswerText, forms: tuple[Form, ...], siblings: Sequence[GoldFact] = ()
) -> Iterator[tuple[Verdicts, Span]]:
    """Yield each place where a form stands, with what gives the verdict on it."""

    def own_places() -> Iterator[Span]:
        for form in (*forms, *(form for fact in siblings for form in _forms(fact, answer.locale))):
            yield from form.find(answer)

    is_ascii = answer.text.isascii()
    for form in forms:
        spans = () if is_ascii and form.is_fallback else form.find(answer)
        if spans:
            verdicts = Verdicts(answer, form, own_places)
            for span in spans[:_ENOUGH]:
                yield verdicts, span


def _best(
    answer: AnswerText, forms: tuple[Form, ...], siblings: Sequence[GoldFact]
) -> tuple[FactMatch, Span] | None:
    """Return the first asserted match, else the first mention."""
    first: tuple[FactMatch, Span] | None = None
    undone: list[Span] = []
    for verdicts, span in _mentions(answer, forms, siblings):
        if undone and any([start <= span[0] and span[1] <= end for start, end in undone]):
            continue  # `Chen` in a `Sarah Chen` that is denied
        flags, sentence = verdicts.flags(span)
        asserted = not flags or not flags & assertion.UNDOING
        if asserted:
            return verdicts.match(span, sentence, flags, asserted=True), span
        if first is None:
            first = verdicts.match(span, sentence, flags, asserted=False), span
        undone.append(span)
    return first


def _with_stale(answer: AnswerText, gold: GoldFact, match: FactMatch, span: Span) -> FactMatch:
    """Undo a match when a superseded value is stated as true beside it."""
    for written in gold.stale:
        for verdicts, other in _mentions(answer, _forms(_stale_fact(written, gold.type), answer.locale)):
            if other[0] < span[1] and span[0] < other[1]:
                continue
            flags, sentence = verdicts.flags(other, is_wrong=True)
            if not flags & assertion.RESOLVING:
                clause = answer.source(sentence).strip()
                return FactMatch(True, False, match.form, match.span, clause, (*match.flags, "stale"))
    return match


@lru_cache(maxsize=_KEPT)
def _stale_fact(written: str, kind: FactType) -> GoldFact:
    return GoldFact(written, kind)


def _match_abstention(answer: AnswerText) -> FactMatch:
    span = abstention.abstains(answer)
    if span is None:
        return NO_MATCH
    return FactMatch(True, True, "abstains", answer.source_span(span), answer.source(span).strip())
