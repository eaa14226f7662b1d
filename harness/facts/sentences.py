"""Cut folded text into sentences and words.

A full stop ends a sentence unless it belongs to an abbreviation (`Dr. Chen`, `No. 12`,
`on Mar. 5`, `3 p.m. on Monday`) or to a number; a `BREAK` between blocks always ends one.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from harness.facts.markdown import BREAKS
from harness.facts.patterns import LazyPattern

Span = tuple[int, int]

# The group takes part where a word of fewer than five letters stands before a full stop: it may be an abbreviation.
_END = LazyPattern(
    rf"[.!?{BREAKS}。！？](?:(?<=[^.])|(?<=[a-z]{{5}}\.)|())[.!?。！？]*[\"')\]]*(?:(?=[\s{BREAKS}])|(?<=[{BREAKS}。！？])|$)"
)
_TITLE, _NUMBERED, _WEEKDAY, _COMPANY = range(4)
_ABBREVIATIONS = {
    word: kind
    for kind, words in (
        (_TITLE, "dr mr mrs ms st vs e.g i.e eg ie jr sr dept prof mt rd blvd acct est tel cf ca"),
        (
            _NUMBERED,
            "no nos ref fig vol pp ext apt min max rm jan feb mar apr may jun jul aug sep sept oct nov dec art par sec ch",
        ),
        (_WEEKDAY, "mon tue tues wed thu thur fri sat sun"),
        (_COMPANY, "etc inc ltd co corp ave a.m p.m"),
    )
    for word in words.split()
}
_DAY = LazyPattern(r"(?<!\d)[0-9]{1,2}\.\Z")
_LONGEST = max(map(len, _ABBREVIATIONS)) + 2


def sentence_ends(text: str, cased: str, *, dotted_days: bool = False) -> list[int]:
    """Return where each sentence of folded `text` ends, in order, the last at its length.

    Args:
        text: the folded text.
        cased: the same with its case kept.
        dotted_days: whether a day is written with a full stop, `5. März`.
    """
    ends = []
    for found in _END.finditer(text):
        end = found.end()
        if found[1] is not None and _is_abbreviated(text, cased, found.start(), end):
            continue
        if dotted_days and _DAY.search(text, max(0, end - 4), end):
            continue
        ends.append(end)
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    return ends


def _is_abbreviated(text: str, cased: str, dot: int, end: int) -> bool:
    """Say whether the full stop at `dot` belongs to the word before it and the sentence goes on."""
    word = text[max(0, dot - _LONGEST) : dot].rpartition(" ")[2]
    if not word.isalnum():
        word = word.rpartition("\n")[2].lstrip("(\"'")
    kind = _ABBREVIATIONS.get(word)
    if kind is None and len(word) > 4:
        return False
    following = cased[end : end + 2].lstrip()[:1]
    if not following or following in BREAKS:
        return False
    if kind is None:
        if word[:1].isdigit() and word.endswith((".m", "am", "pm")):
            return not following.isupper()
        return len(word) == 1 and word.isalpha() and following.isalpha()
    if kind == _NUMBERED:
        return following.isdigit()
    if kind == _WEEKDAY:
        return following.isdigit() or following.isupper()
    return kind == _TITLE or not following.isupper()


class Word(NamedTuple):
    """A run of letters or of digits in folded text."""

    text: str
    start: int
    end: int


# The not of `don't` is a word of the vocabulary too.
CONTRACTED = "n't"
_DIGITS = LazyPattern(r"[0-9½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞][0-9]*")
_new = tuple.__new__  # what a named tuple's constructor does, without its frame
_MARKS = str.maketrans(dict.fromkeys('.,;:!?()[]{}<>|/\\"“”«»*_+=&%$€£¥#@~^…–—-。，、！？「」\x00\x01', " "))


def without_marks(text: str) -> str:
    """Return folded text with a space for each mark, of the same length; apostrophes stay."""
    return text.translate(_MARKS)


class Sentence:
    """A sentence of folded text: its bounds, its vocabulary and where words of interest stand."""

    __slots__ = ("_cues", "_digits", "end", "start", "text", "vocabulary")

    def __init__(self, text: str, unmarked: str, start: int, end: int) -> None:
        self.text = text
        self.start = start
        self.end = end
        words = set(unmarked[start:end].split())
        if unmarked.find("'", start, end) >= 0:
            for word in [word for word in words if "'" in word]:
                words.update((word.strip("'"), word.strip("'").partition("'")[0]))
            if text.find(CONTRACTED, start, end) >= 0:
                words.add(CONTRACTED)
        self.vocabulary = words
        self._digits: list[Word] | None = None
        self._cues: AbstractSet[str] | None = None

    def part(self, low: int, high: int) -> Sentence:
        """Return the part of it between two places, with the vocabulary of the whole."""
        part = Sentence.__new__(Sentence)
        part.text, part.vocabulary = self.text, self.vocabulary
        part.start, part.end = max(self.start, low), min(self.end, high)
        part._digits = part._cues = None
        return part

    def cues(self, lexicon: AbstractSet[str]) -> AbstractSet[str]:
        """Return its words that are in `lexicon`, which is the same at every call."""
        if self._cues is None:
            self._cues = self.vocabulary & lexicon
        return self._cues

    @property
    def asks(self) -> bool:
        """Whether it has a question mark."""
        return self.text.find("?", self.start, self.end) >= 0

    @property
    def digits(self) -> list[Word]:
        """The runs of digits, in order; a fraction such as ½ begins one too."""
        if self._digits is None:
            self._digits = [
                _new(Word, (found[0], *found.span()))
                for found in _DIGITS.finditer(self.text, self.start, self.end)
            ]
        return self._digits

    def words(self, lexicon: AbstractSet[str]) -> list[Word]:
        """Return the words that are in `lexicon`, in order."""
        found = [word for name in self.vocabulary & lexicon for word in self._all(name)]
        if len(found) > 1:
            found.sort(key=_by_place)
        return found

    def digits_and_words(self, lexicon: AbstractSet[str]) -> list[Word]:
        """Return the runs of digits and the words that are in `lexicon`, in order."""
        words = self.words(lexicon)
        return sorted((*self.digits, *words), key=_by_place) if words else self.digits

    def _all(self, name: str) -> Iterator[Word]:
        at = self.text.find(name, self.start, self.end)
        while at >= 0:
            end = at + len(name)
            if (
                not (self.text[at - 1 : at].isalpha() if at else False)
                and not self.text[end : end + 1].isalpha()
            ):
                yield Word(name, at, end)
            at = self.text.find(name, end, self.end)


def _by_place(word: Word) -> int:
    return word.start
