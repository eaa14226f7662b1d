"""Does the answer state a value as true, or deny it, ask it, leave it open, call it past?

Every rule looks at the sentence around the value, and no further than a few lines.

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

from harness.facts import negation, past
from harness.facts.patterns import LazyPattern
from harness.facts.surroundings import BOUNDING, HEDGING, Surroundings

UNDOING = frozenset({"negated", "unsure", "question", "alternatives", "enumeration", "replaced", "bounded"})
# A wrong value that is called past or set aside, or that is undone, is not stated as true.
RESOLVING = UNDOING | {"past", "dismissed"}
_NOTHING: frozenset[str] = frozenset()

_ASKING = LazyPattern(
    r"(?:^|[,;:—–]\s+|\s-\s)(?:(?:but|and|or|so|then)\s+)?(?:do|does|did|would|shall|should|can|could|may|might|is|are|was|were|"
    r"have|has|will)(?:n't)?\b"
    r"|(?:^|[,;:—–]\s+|\s-\s)(?:(?:but|and|or|so|then)\s+)?(?:which|what|who|whose|when|where|how|why|want|right|correct|need|anything)\b"
)
_HEDGE = LazyPattern(
    r"\b(?:probably|maybe|perhaps|possibly|i think|i believe|i guess|guess|might|could be|likely|seems?|appears?|"
    r"not sure|not certain|unsure|presumably|apparently"
    r"|(?<!\bin\s)(?<!\bof\s)(?<!\bby\s)(?<!\bthis\s)(?<!\blast\s)(?<!\bnext\s)(?<!\d\s)(?<!\d(?:st|nd|rd|th)\s)"
    r"may(?=\s+[a-z]))\b"
)


def assess(value: Surroundings) -> frozenset[str]:
    """Return the flags that the sentence around a value earns it, alternatives aside."""
    flags = past.past(value)
    if value.cues:
        if negated := negation.negation(value):
            flags.add(negated)
        if not value.is_text and not value.cues.isdisjoint(BOUNDING) and past.is_bounded(value):
            flags.add("bounded")
        if not value.cues.isdisjoint(HEDGING) and _is_hedged(value):
            flags.add("hedged")
    if _is_question(value):
        flags.add("question")
    return frozenset(flags) if flags else _NOTHING


def _is_hedged(value: Surroundings) -> bool:
    if any([_HEDGE.match(value.text, at) for at in value.places_before(HEDGING)]):
        return True
    return _HEDGE.match(value.right.lstrip(" ,")) is not None


def _is_question(value: Surroundings) -> bool:
    """Say whether the value is part of what its sentence asks."""
    if "?" not in value.right and "？" not in value.right:
        return False
    left = value.left
    sentence = left + value.text[value.start : value.end] + value.right
    if not sentence.rstrip(" \"')]\n\x00").endswith(("?", "？")):
        return False
    if _ASKING.match(sentence.lstrip()):
        return True
    asked_from = 0
    for found in _ASKING.finditer(sentence):
        asked_from = found.start()
    return len(left) >= asked_from
