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
What undoes that of a wrong value too, and is not looked at for others:
    `past`          previously X · the old X (see `past`)
    `dismissed`     you'd hoped for X · X is off (see `dismissal`)
What is only noted: `hedged` (probably X).
"""

from __future__ import annotations

from harness.facts import dismissal, negation, past
from harness.facts.markdown import ITEM
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
    r"\b(?:probably|maybe|perhaps|possibly|(?<=\bi\s)think|(?<=\bi\s)believe|guess|might|could be|likely|seems?|appears?|"
    r"not sure|not certain|unsure|presumably|apparently"
    r"|(?<!\bin\s)(?<!\bof\s)(?<!\bby\s)(?<!\bthis\s)(?<!\blast\s)(?<!\bnext\s)(?<!\d\s)(?<!\d(?:st|nd|rd|th)\s)"
    r"may(?=\s+[a-z]))\b"
)


_WHETHER = LazyPattern(
    r"\b(?:check|see|confirm|find out|ask|verify|know|sure|certain|clear|tell|wonder|wondering|depends? on)\s+(?:\w+\s+)?"
    r"(?:whether|if)\s+(?:(?:it|that|this|the\s+\w+|your\s+\w+)(?:'s|\s+is|\s+was)\s+)?(?:(?:on|at|in|for|really|still)\s+)*\Z"
)
# Two values, and no saying which holds; not: `I'm not sure which one you mean`.
_WHICH = LazyPattern(
    r"(?:\b(?:can't|cannot|couldn't|could not)\s+(?:tell|say|determine)|\b(?:not|n't)\s+(?:sure|certain|clear|know)|\bunclear)\s+which\b"
    r"(?![^.?!]{0,30}\byou(?:'re|\s+(?:mean|meant|are|want))\b)|\baccording to one\b[^.?!]{0,60}\banother\b"
)
# A question which of two is meant takes what it says of each for granted.
_MEANT = LazyPattern(
    r"\b(?:mean|meant|asking about|asking|referring to|talking about|thinking of|interested in)\b[^.?!]{0,160}"
    r"(?:\([^()]{0,60}|\b(?:the|your)\s+[\w-]+(?:\s+[\w-]+){0,4}[\s,]+(?:on|at|in|for|which|that|who)\b[^?]{0,40})\Z"
)


def assess(value: Surroundings, *, is_wrong: bool = False) -> frozenset[str]:
    """Return the flags that the sentence around a value earns it, alternatives aside.

    Args:
        value: the value in its sentence.
        is_wrong: whether it is a wrong one, for which it matters too if it is called past or set aside.
    """
    flags: set[str] = set()
    if past.is_replaced(value):
        flags.add("replaced")
    if value.cues:
        if negated := negation.negation(value):
            flags.add(negated)
        if not value.is_text and not value.cues.isdisjoint(BOUNDING) and past.is_bounded(value):
            flags.add("bounded")
        if not value.cues.isdisjoint(HEDGING) and _is_hedged(value):
            flags.add("hedged")
    if ("whether" in value.words or "if" in value.words) and _WHETHER.search(value.left[-60:]):
        flags.add("unsure")
    if ("which" in value.words or "according" in value.words) and _WHICH.search(value.left + value.right):
        flags.add("unsure")
    if _is_question(value):
        flags.add("question")
    if not is_wrong and ((ITEM in value.text and dismissal.is_void(value)) or past.gives_way(value)):
        flags.add("replaced")
    if is_wrong and not flags & RESOLVING:
        if past.is_past(value):
            flags.add("past")
        elif dismissal.is_dismissed(value):
            flags.add("dismissed")
    return frozenset(flags) if flags else _NOTHING


def _is_hedged(value: Surroundings) -> bool:
    if any([_HEDGE.match(value.text, at) for at in value.places_before(value.cues & HEDGING)]):
        return True
    return _HEDGE.match(value.right.lstrip(" ,")) is not None


def _is_question(value: Surroundings) -> bool:
    """Say whether the value is part of what its sentence asks."""
    if "?" not in value.right and "？" not in value.right:
        return False
    left = value.left
    sentence = left + value.text[value.start : value.end] + value.right
    if not sentence.rstrip(" \"')]\n\x00\x01").endswith(("?", "？")):
        return False
    if _MEANT.search(left):
        return False
    if _ASKING.match(sentence.lstrip()):
        return True
    asked_from = 0
    for found in _ASKING.finditer(sentence):
        asked_from = found.start()
    return len(left) >= asked_from
