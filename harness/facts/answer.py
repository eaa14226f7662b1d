"""An answer, read for matching: folded once, cut into sentences, and each kind of value
looked for only in the sentences that a fact has a reason to look at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from harness.facts import ids
from harness.facts.date_scan import scan_dates
from harness.facts.dates import DateFound
from harness.facts.locales import DEFAULT_LOCALE, locale_rules
from harness.facts.normalise import normalise
from harness.facts.numbers import NumberFound, scan_numbers
from harness.facts.sentences import Sentence, Span, sentence_ends
from harness.facts.times import TimeFound, scan_times
from harness.facts.words import digit_runs, ordinals


class AnswerText:
    """An answer as the matcher reads it; several facts may share one.

    Attributes:
        raw: the answer as given.
        locale: how its numbers and numeric dates are read.
        text: the answer rendered, normalised and casefolded; spans inside the package refer to it.
        cased: the same, of the same length, with its case kept.
    """

    def __init__(self, raw: str, locale: str = DEFAULT_LOCALE) -> None:
        self.raw = raw
        self.locale = locale
        self._normalised = normalise(raw)
        self.text = self._normalised.text
        self.cased = self._normalised.cased
        self._sentences: dict[int, Sentence] = {}
        self._read: dict[tuple[str, int], list[Any]] = {}

    def source_span(self, span: Span) -> Span:
        """Return a span of the folded text as a span of the answer as given."""
        return self._normalised.source_span(*span)

    @cached_property
    def squeezed(self) -> str:
        """The folded text without the separators that an id may have."""
        return self.text.translate(ids.SEPARATORS)

    @cached_property
    def _ends(self) -> list[int]:
        return sentence_ends(self.text, self.cased)

    def sentence(self, index: int) -> Sentence:
        """Return a sentence by its number."""
        read = self._sentences.get(index)
        if read is None:
            ends = self._ends
            read = self._sentences[index] = Sentence(self.text, ends[index - 1] if index else 0, ends[index])
        return read

    def sentence_index(self, at: int) -> int:
        """Return the number of the sentence that the character at `at` stands in."""
        ends = self._ends
        return bisect_right(ends, at) if at < ends[-1] else len(ends) - 1

    def sentence_at(self, at: int) -> Sentence:
        """Return the sentence that the character at `at` stands in."""
        return self.sentence(self.sentence_index(at))

    # ---- values of one sentence -------------------------------------------------------

    def numbers_in(self, index: int) -> list[NumberFound]:
        """Return the numbers of a sentence, with currency and percent."""
        return self._reading("number", index, self._scan_numbers)

    def dates_in(self, index: int) -> list[DateFound]:
        """Return the dates of a sentence."""
        return self._reading("date", index, self._scan_dates)

    def times_in(self, index: int) -> list[TimeFound]:
        """Return the clock times of a sentence."""
        return self._reading("time", index, self._scan_times)

    def ordinals_in(self, index: int) -> list[tuple[int, int, int]]:
        """Return the ordinals of a sentence as `(start, end, rank)`."""
        return self._reading("ordinal", index, self._scan_ordinals)

    def ids_in(self, index: int) -> list[Span]:
        """Return the tokens of a sentence that look like an id."""
        return self._reading("id", index, self._scan_ids)

    def _reading(self, kind: str, index: int, scan: Callable[[Sentence], list[Any]]) -> list[Any]:
        found = self._read.get((kind, index))
        if found is None:
            found = self._read[kind, index] = scan(self.sentence(index))
        return found

    def _scan_numbers(self, sentence: Sentence) -> list[NumberFound]:
        return scan_numbers(self.text, sentence, locale_rules(self.locale))

    def _scan_dates(self, sentence: Sentence) -> list[DateFound]:
        return scan_dates(self.text, self.cased, sentence, locale_rules(self.locale))

    def _scan_times(self, sentence: Sentence) -> list[TimeFound]:
        return scan_times(self.text, sentence)

    def _scan_ordinals(self, sentence: Sentence) -> list[tuple[int, int, int]]:
        return ordinals(self.text, sentence)

    def _scan_ids(self, sentence: Sentence) -> list[Span]:
        return ids.id_like(self.text, sentence)

    # ---- values of the whole answer ---------------------------------------------------

    @property
    def indices(self) -> range:
        """The numbers of its sentences."""
        return range(len(self._ends))

    @property
    def numbers(self) -> list[NumberFound]:
        """Every number."""
        return [number for index in self.indices for number in self.numbers_in(index)]

    @property
    def dates(self) -> list[DateFound]:
        """Every date."""
        return [date for index in self.indices for date in self.dates_in(index)]

    @property
    def times(self) -> list[TimeFound]:
        """Every clock time."""
        return [time for index in self.indices for time in self.times_in(index)]

    @property
    def ordinals(self) -> list[tuple[int, int, int]]:
        """Every ordinal, as `(start, end, rank)`."""
        return [ordinal for index in self.indices for ordinal in self.ordinals_in(index)]

    @property
    def id_like(self) -> list[Span]:
        """Every token that looks like an id."""
        return [span for index in self.indices for span in self.ids_in(index)]

    @cached_property
    def spelled_digits(self) -> list[tuple[int, int, str]]:
        """The digits spelled one by one, as `(start, end, digits)`."""
        return digit_runs(self.text)

    def sentences_with(self, places: Iterable[int]) -> list[int]:
        """Return the numbers of the sentences that characters at `places` stand in, each once."""
        found = list(places)
        if len(found) < 2:
            return [self.sentence_index(at) for at in found]
        return sorted({self.sentence_index(at) for at in found})


def overlaps(span: Span, spans: list[Span]) -> bool:
    """Say whether a span shares a character with one of `spans`, which are in order."""
    at = bisect_left(spans, (span[1], 0))
    return any(start < span[1] and span[0] < end for start, end in spans[max(0, at - 4) : at])
