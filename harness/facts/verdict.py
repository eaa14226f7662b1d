"""One form of a fact in one answer: what the answer says of each place where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from harness.facts import assertion, past
from harness.facts.alternatives import (
    is_clause_alternative,
    is_joined,
    may_offer_another,
    phrase_alternative,
    typed_alternatives,
)
from harness.facts.answer import AnswerText, overlaps
from harness.facts.forms import Form
from harness.facts.model import FactMatch
from harness.facts.sentences import Sentence, Span
from harness.facts.surroundings import CLAIM_CUES, Surroundings

_NO_FLAGS: frozenset[str] = frozenset()
_REACH = 120  # characters around a phrase in which another one can be offered


class Verdicts:
    """The verdicts on one form of a fact, place by place.

    Args:
        answer: the answer.
        form: the form.
        own_places: returns where the forms of the fact, and of the case's other facts, stand; these
            do not rival it. Called only where something might.
    """

    __slots__ = ("_own", "_own_places", "_values", "answer", "form")

    def __init__(self, answer: AnswerText, form: Form, own_places: Callable[[], Iterable[Span]]) -> None:
        self.answer = answer
        self.form = form
        self._own_places = own_places
        self._own: list[Span] | None = None
        self._values: dict[int, Sequence[Span]] = {}

    def flags(self, span: Span, *, is_wrong: bool = False) -> tuple[frozenset[str], Span]:
        """Return every flag of the value at `span`, and the bounds of its sentence."""
        answer, text = self.answer, self.answer.text
        first = last = answer.sentence_at(span[0])
        if span[1] > first.end:
            last = answer.sentence_at(span[1] - 1)
        bounds = (first.start, last.end)
        flags = _NO_FLAGS
        if is_wrong or last is not first or _is_cued(answer, first):
            is_text = self.form.rivals is None
            value = Surroundings(answer, span, first, last, is_text=is_text, is_wrong=is_wrong)
            flags = assertion.assess(value, is_wrong=is_wrong)
        if self.form.rivals is not None:
            if is_joined(text, span):
                flags |= typed_alternatives(text, span, bounds, self)
        elif may_offer_another(text, first.vocabulary, bounds):
            flags |= self._phrase_alternatives(span, bounds, first)
        return flags, bounds

    def match(self, span: Span, sentence: Span, flags: frozenset[str], *, asserted: bool) -> FactMatch:
        """Return the match at `span` with its evidence."""
        answer, form = self.answer, self.form
        return FactMatch(
            True,
            asserted,
            form.written,
            answer.source_span(span) if answer.is_moved else span,
            answer.source(sentence).strip(),
            (*form.flags, *sorted(flags)) if flags or form.flags else (),
        )

    # ---- what may rival it ------------------------------------------------------------

    def values_at(self, place: int) -> Sequence[Span]:
        """Return the values of the form's type in the sentence that `place` stands in, in order."""
        index = self.answer.sentence_index(place)
        values = self._values.get(index)
        if values is None:
            values = self._values[index] = self.form.rivals(self.answer, index) if self.form.rivals else ()
        return values

    def is_rival(self, value: Span) -> bool:
        """Say whether a value is neither the fact's own nor one of the case's other facts."""
        if self._own is None:
            self._own = sorted(self._own_places())
        return not overlaps(value, self._own)

    def _phrase_alternatives(self, span: Span, bounds: Span, sentence: Sentence) -> set[str]:
        (start, end), (opening, closing) = span, bounds
        opening, closing = max(opening, start - _REACH), min(closing, end + _REACH)
        text, cased = self.answer.text, self.answer.cased
        left, right = text[opening:start], text[end:closing]
        if is_clause_alternative(left, right, sentence.vocabulary):
            return {"alternatives"}
        place = phrase_alternative(
            left, right, cased[opening:start], cased[end:closing], is_name=self.form.is_name
        )
        if place is None:
            return set()
        base = start if place[0] < 0 else end
        return {"alternatives"} if self.is_rival((base + place[0], base + place[1])) else set()


def _is_cued(answer: AnswerText, sentence: Sentence) -> bool:
    """Say whether a sentence has anything that could undo a claim."""
    if sentence.cues(CLAIM_CUES) or answer.has_items or sentence.asks:
        return True
    return past.is_corrected_next(answer.text, sentence.end)
