"""Does the answer state a value as true, or deny it, ask it, leave it open, call it past?

Every rule looks at the sentence around the value, and no further than `_REACH` characters.

What undoes an assertion:
    `negated`       not X · X is not the … · rather than X (see `negation`)
    `replaced`      no longer X · changed from X to Y · X, sorry, Y (see `past`)
    `unsure`        I don't know whether it is X
    `question`      Is it X?
    `alternatives`  X or Y (see `alternatives`)
    `enumeration`   possible values: W, X, Y, Z
    `bounded`       it was before X · it costs over X
What is only noted: `past` (previously X, the old X), `dismissed` (you'd hoped for X) and
`hedged` (probably X).
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import NamedTuple

from harness.facts import negation, past
from harness.facts.patterns import LazyPattern
from harness.facts.sentences import Span

UNDOING = frozenset({"negated", "unsure", "question", "alternatives", "enumeration", "replaced", "bounded"})
# A wrong value that is called past or set aside, or that is undone, is not stated as true.
RESOLVING = UNDOING | {"past", "dismissed"}
_REACH = 320
_NOTHING: frozenset[str] = frozenset()

_ASKING = LazyPattern(
    r"(?:^|[,;:—–]\s+|\s-\s)(?:(?:but|and|or|so|then)\s+)?(?:do|does|did|would|shall|should|can|could|may|might|is|are|was|were|"
    r"have|has|will|which|what|who|whose|when|where|how|why|want|right|correct|need|anything)\b"
)
_HEDGES = frozenset(
    ["probably", "maybe", "perhaps", "possibly", "think", "believe", "guess", "might", "may", "could", "likely", "seem", "seems", "appear", "appears", "sure", "certain", "unsure", "presumably", "apparently"]
)
_HEDGE = LazyPattern(
    r"\b(?:probably|maybe|perhaps|possibly|i think|i believe|i guess|guess|might|may|could be|likely|seems?|appears?|"
    r"not sure|not certain|unsure|presumably|apparently)\b"
)
_BOUNDING = frozenset(["before", "after", "prior", "more", "over", "less", "under", "above", "below", "fewer"])


class Surroundings(NamedTuple):
    """A value in its sentence.

    Attributes:
        text: the folded answer.
        span: where the value stands in it.
        sentence: the bounds of its sentence.
        words: the words of the sentence.
        is_text: whether the value is a phrase, and no typed value.
    """

    text: str
    span: Span
    sentence: Span
    words: AbstractSet[str]
    is_text: bool

    @property
    def left(self) -> str:
        """The sentence up to the value."""
        start = self.span[0]
        return self.text[max(self.sentence[0], start - _REACH) : start]

    @property
    def right(self) -> str:
        """The sentence after the value."""
        end = self.span[1]
        return self.text[end : min(self.sentence[1], end + _REACH)]


def assess(value: Surroundings) -> frozenset[str]:
    """Return the flags that the sentence around a value earns it, alternatives aside."""
    text, (start, end), words = value.text, value.span, value.words
    left, right = value.left, value.right
    flags = past.past(left, right, text[end : end + 110], words)
    if not words.isdisjoint(negation.CUES) or "n't" in left or "n't" in right:
        digits = text[start].isdigit() and text[end - 1].isdigit()
        if flag := negation.negation(left, right, is_text=value.is_text, is_plain_digits=digits):
            flags.add(flag)
    if not value.is_text and not words.isdisjoint(_BOUNDING) and past.is_bounded(left):
        flags.add("bounded")
    if ("?" in right or "？" in right) and _is_question(left + text[start:end] + right, len(left)):
        flags.add("question")
    if not words.isdisjoint(_HEDGES) and (_HEDGE.search(left) or _HEDGE.match(right.lstrip(" ,"))):
        flags.add("hedged")
    return frozenset(flags) if flags else _NOTHING


def _is_question(sentence: str, at: int) -> bool:
    """Say whether the words at `at` are part of what the sentence asks."""
    if not sentence.rstrip(" \"')]\n\x00").endswith(("?", "？")):
        return False
    if _ASKING.match(sentence.lstrip()):
        return True
    asked_from = 0
    for found in _ASKING.finditer(sentence):
        asked_from = found.start()
    return at >= asked_from
