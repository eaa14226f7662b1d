"""An answer, read for matching.

It is folded once and cut into sentences, and each kind of value is looked for only in the
sentences that a fact has a reason to look at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from harness.facts import date_scan, ids, times
from harness.facts.dates import DateFound
from harness.facts.locales import DEFAULT_LOCALE, locale_rules
from harness.facts.markdown import ITEM
from harness.facts.normalise import normalise
from harness.facts.numbers import NumberFound, read_alone, scan_numbers
from harness.facts.places import Places
from harness.facts.sentences import Sentence, Span, sentence_ends, without_marks
from harness.facts.times import TimeFound
from harness.facts.words import digit_runs, ordinals

# How far a date or a time may reach from the digits or the word that gives it away.
_BEFORE, _AFTER = 64, 40
_PLACE = itemgetter(0, 1)


class AnswerText:
    """An answer as the matcher reads it; several facts may share one.

    Attributes:
        raw: the answer as given.
        locale: how its numbers and numeric dates are read.
        text: the answer rendered, normalised and casefolded; spans inside the package refer to it.
        cased: the same, of the same length, with its case kept.
        is_moved: whether its characters stand elsewhere than in the answer as given.
        has_items: whether it has a list or a table.
    """

    def __init__(self, raw: str, locale: str = DEFAULT_LOCALE) -> None:
        self.raw = raw
        self.locale = locale
        self._normalised = normalise(raw)
        self.text = self._normalised.text
        self.cased = self._normalised.cased
        self.is_moved = bool(self._normalised.origins)
        self.has_items = ITEM in self.text
        self._sentences: dict[int, Sentence] = {}
        self._read: dict[tuple[str, int], list[Any]] = {}
        # Read on demand; functools.cached_property takes a lock at each first use.
        self._ends: list[int] | None = None
        self._near: dict[int, tuple[Places, list[Any]]] = {}
        self._unmarked: str | None = None
        self._unseparated: str | None = None
        self._spelled: list[tuple[int, int, str]] | None = None

    def source_span(self, span: Span) -> Span:
        """Return a span of the folded text as a span of the answer as given."""
        return self._normalised.source_span(*span)

    def source(self, span: Span) -> str:
        """Return a span of the folded text in the words of the answer as given."""
        start, end = self.source_span(span) if self.is_moved else span
        return self.raw[start:end]

    @property
    def ends(self) -> list[int]:
        """Where each sentence ends."""
        if self._ends is None:
            self._ends = sentence_ends(
                self.text, self.cased, dotted_days=locale_rules(self.locale).dotted_days
            )
        return self._ends

    @property
    def unseparated(self) -> str:
        """The folded text without what may part the characters of an id."""
        if self._unseparated is None:
            self._unseparated = self.text.translate(ids.SEPARATORS)
        return self._unseparated

    def sentence(self, index: int) -> Sentence:
        """Return a sentence by its number."""
        read = self._sentences.get(index)
        if read is None:
            ends = self.ends
            if self._unmarked is None:
                self._unmarked = without_marks(self.text)
            start, end = ends[index - 1] if index else 0, ends[index]
            read = self._sentences[index] = Sentence(self.text, self._unmarked, start, end)
        return read

    def sentence_index(self, at: int) -> int:
        """Return the number of the sentence that the character at `at` stands in."""
        ends = self.ends
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

    def days_in(self, index: int) -> list[Span]:
        """Return where the days of a sentence stand that are named with their month."""
        return self._reading("day", index, self._scan_days)

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
        return date_scan.scan_dates(self.text, self.cased, sentence, locale_rules(self.locale))

    def _scan_days(self, sentence: Sentence) -> list[Span]:
        dates = self.dates_in(self.sentence_index(sentence.start))
        return [(d.start, d.end) for d in dates if None not in (d.value.day, d.value.month)]

    def _scan_times(self, sentence: Sentence) -> list[TimeFound]:
        return times.scan_times(self.text, sentence)

    def _scan_ordinals(self, sentence: Sentence) -> list[tuple[int, int, int]]:
        return ordinals(self.text, sentence)

    def _scan_ids(self, sentence: Sentence) -> list[Span]:
        return ids.id_like(self.text, sentence)

    # ---- values of the whole answer ---------------------------------------------------

    @property
    def indices(self) -> range:
        """The numbers of its sentences."""
        return range(len(self.ends))

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

    @property
    def spelled_digits(self) -> list[tuple[int, int, str]]:
        """The digits spelled one by one, as `(start, end, digits)`."""
        if self._spelled is None:
            self._spelled = digit_runs(self.text)
        return self._spelled

    def numbers_near(self, places: list[int]) -> list[NumberFound]:
        """Return the numbers at `places`, and those of a sentence where one cannot be read alone."""
        found: list[NumberFound] = []
        sentences: set[int] = set()
        for place in places:
            if self.text[place].isdigit():
                alone, number = read_alone(self.text, place, locale_rules(self.locale))
                if alone:
                    if number is not None:
                        found.append(number)
                    continue
            sentences.add(self.sentence_index(place))
        for index in sentences:
            found += self.numbers_in(index)
        return sorted(set(found), key=_PLACE) if len(found) > 1 else found

    def sentences_near(self, places: Places) -> list[int]:
        """Return the numbers of the sentences that hold one of `places`, in order."""
        found = places.within(self.text)
        if len(found) < 2:
            return [self.sentence_index(at) for at in found]
        return sorted({self.sentence_index(at) for at in found})

    def dates_near(self, places: Places) -> list[DateFound]:
        """Return the dates around `places`, in order."""
        rules = locale_rules(self.locale)
        return self._read_near(
            "date", places, lambda at: date_scan.read_alone(self.text, at, rules), self._scan_dates
        )

    def times_near(self, places: Places) -> list[TimeFound]:
        """Return the clock times around `places`, in order."""
        return self._read_near("time", places, lambda at: times.read_alone(self.text, at), self._scan_times)

    def _read_near(
        self, kind: str, places: Places, alone: Callable[[int], Any], scan: Callable[[Sentence], list[Any]]
    ) -> list[Any]:
        """Read what stands at `places`, alone or by a scan around it, once for all forms that share them."""
        kept = self._near.get(id(places))
        if kept is None or kept[0] is not places:
            found: list[Any] = []
            whole: set[int] = set()
            for at in places.within(self.text):
                value = alone(at) if self.text[at].isdigit() else None
                if value is not None:
                    found.append(value)
                    continue
                index = self.sentence_index(at)
                read = self._read.get((kind, index))
                if read is None:
                    found += scan(self.sentence(index).part(at - _BEFORE, at + _AFTER))
                elif index not in whole:
                    whole.add(index)
                    found += read
            kept = self._near[id(places)] = (
                places,
                sorted(set(found), key=_PLACE) if len(found) > 1 else found,
            )
        return kept[1]


def overlaps(span: Span, spans: list[Span]) -> bool:
    """Say whether a span shares a character with one of `spans`, which are in order."""
    at = bisect_left(spans, (span[1], 0))
    return any(start < span[1] and span[0] < end for start, end in spans[max(0, at - 4) : at])
