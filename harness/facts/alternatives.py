"""Does the answer leave a value open between several?

Typed values: rivals of the same type that stand in a row with the value, joined by `or`,
a slash or `maybe` (`alternatives`), or four and more in a list (`enumeration`).
Phrases: `X or Y` where Y is another thing of the same look.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from harness.facts.patterns import LazyPattern, lexicon
from harness.facts.sentences import Span

_OPENING = (
    r"(?:maybe|perhaps|possibly|probably|even|else|either|(?:but|though|although)\s+it\s+(?:could|might|may)(?:\s+(?:also|well))?"
    r"\s+be|it's|it\s+is|was\s+it|it\s+was|is\s+it|it\s+(?:could|might|may)(?:\s+(?:also|well))?\s+be|on|at|in|by|for|around|"
    r"about|the|a|an|your)"
)
_JOINT = LazyPattern(
    rf"\s*(?:[.?]\s+(?=(?:or|maybe|perhaps|possibly)\b))?(?:[,;/|&\s\x00\x01(]|\band\b|\bor\b)*(?:{_OPENING}\s+)*"
)
_OPEN = LazyPattern(
    r"\bor\b|/|\b(?:maybe|perhaps|possibly)\b|\b(?:could|might|may)(?:\s+(?:also|well))?\s+be\b"
)
_LIST_CUE = LazyPattern(
    r"\b(?:possible|possibly|could be|might be|may be|one of|candidates?|options?|maybe|perhaps|among|guess(?:es)?)\b"
)
_REACH = 80  # characters between two values of a row
# What a value can begin with, the names of months, weekdays and numbers among it.
_VALUE_START = LazyPattern(
    r"[^a-z]|[a-z]{0,12}[-–]?\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|one|two|"
    r"three|four|five|six|seven|eight|nine|ten|eleven|twelve|thir|fif|twen|for|six|eigh|nine|zero|half|quarter|noon|midday|"
    r"midnight|first|second|minus|negative|a\s|us|usd|eur|gbp|[a-z]{1,4}\.?\s?[$€£₹]?\d)"
)
# What can stand right before a value that another one is joined to.
_JOINING = frozenset(",;/|&(\x00\x01")
_JOINING_WORDS = frozenset(
    ("and", "or", "maybe", "perhaps", "possibly", "either", "else", "even", "probably")
)
_JOINTS_AFTER = tuple(
    f"{space}{joint}" for space in " \n" for joint in ("and", "or", "maybe", "perhaps", "&", "/", "(", "|")
)
_JOINTS_AFTER += (". or", ". maybe", ". perhaps", "? or")
_OPEN_MARKS = (" or ", "/", "maybe ", "perhaps ", "possibly ", "could ", "might ", "may ")
_OPENING_WORDS = lexicon("be it's is it was on at in by for around about the a an your")
_LONGEST_ROW = 12
_SPACE = " \n\x00\x01,;/|&("


class Neighbours(Protocol):
    """What a row of values is looked for in."""

    def values_at(self, place: int) -> Sequence[Span]:
        """Return the values of the same type in the sentence that `place` stands in, in order."""

    def is_rival(self, value: Span) -> bool:
        """Say whether a value is neither the fact's own nor one of the case's other facts."""


def typed_alternatives(text: str, span: Span, sentence: Span, neighbours: Neighbours) -> set[str]:
    """Return the flags that rival values in a row with the one at `span` earn it.

    Args:
        text: the folded answer.
        span: where the value stands.
        sentence: the bounds of its sentence.
        neighbours: the other values of the answer.
    """
    chain = [span]
    is_open = False
    for has_joint, step in ((_is_joined_after, _next_value), (_is_joined_before, _value_before)):
        edge = span
        while has_joint(text, edge) and len(chain) < _LONGEST_ROW:
            other = step(text, edge, neighbours)
            if other is None or not neighbours.is_rival(other):
                break
            is_open = is_open or _OPEN.search(text, *_between(edge, other)) is not None
            chain.append(other)
            edge = other
    if len(chain) == 1:
        return set()
    flags = {"alternatives"} if is_open else set()
    distinct = {text[start:end] for start, end in chain}
    if len(distinct) >= 4 or (len(distinct) >= 3 and _LIST_CUE.search(text, *sentence)):
        flags.add("enumeration")
    return flags


def is_joined(text: str, span: Span) -> bool:
    """Say whether what stands next to a value could join it to another one."""
    return _is_joined_after(text, span) or _is_joined_before(text, span)


def _is_joined_after(text: str, span: Span) -> bool:
    """Say whether what follows a value could join it to another one."""
    end = span[1]
    return text[end : end + 1] in _JOINING or text.startswith(_JOINTS_AFTER, end)


def _is_joined_before(text: str, span: Span) -> bool:
    """Say whether what stands before a value could join it to another one."""
    near = text[max(0, span[0] - 32) : span[0]].rstrip(" \n")
    if near[-1:] in _JOINING:
        return True
    last = near.replace("\n", " ").rpartition(" ")[2]
    if last in _JOINING_WORDS:
        return True
    return last in _OPENING_WORDS and any([mark in near for mark in _OPEN_MARKS])


def _between(one: Span, other: Span) -> Span:
    return (one[1], other[0]) if one < other else (other[1], one[0])


def _next_value(text: str, edge: Span, neighbours: Neighbours) -> Span | None:
    joint = _JOINT.match(text, edge[1], edge[1] + _REACH)
    at = joint.end() if joint else edge[1]
    if at in (edge[1], len(text)) or not _VALUE_START.match(text, at):
        return None
    values = neighbours.values_at(at)
    for value in values[bisect_left(values, (edge[1], 0)) :]:
        if value[0] > at:
            break
        if at < value[1]:
            return value
    return None


def _value_before(text: str, edge: Span, neighbours: Neighbours) -> Span | None:
    near = max(0, edge[0] - _REACH)
    for at in (edge[0], max(near, len(text[near : edge[0]].rstrip(_SPACE)) + near - 1)):
        values = neighbours.values_at(at)
        last = bisect_left(values, (edge[0], 0)) - 1
        while last >= 0 and values[last][1] > edge[0]:
            last -= 1
        if last >= 0 and values[last][0] >= near:
            return values[last] if _JOINT.fullmatch(text, values[last][1], edge[0]) else None
    return None


# ---- phrases --------------------------------------------------------------------------

_HEDGES = r"(?:maybe|perhaps|possibly|it\s+(?:could|might|may)\s+be)"
_AFTER = LazyPattern(
    rf"(?:(?:\s*,)?\s+or\s+|,\s+(?={_HEDGES}\s))(?:{_OPENING}\s+)*(?P<word>[\w$€£#'-]+)|\s?/\s?(?P<slash>[^\W\d_][\w'-]*)"
)
_BEFORE = LazyPattern(
    rf"(?P<word>[\w'-]+)(?:,?\s+or\s+|,\s+(?={_HEDGES}\s))(?:{_OPENING}\s+)*\Z|(?<!\d\s)(?<![\w'-])(?P<slash>[\w'-]*[^\W\d_])\s?/\s?\Z"
)
_IDIOMS = lexicon(
    "so more less later earlier sooner better worse call contact ask check visit if when you i we they it else "
    "whether not just email phone online see let tell something anything another other otherwise any higher lower "
    "above below over under longer shorter greater fewer nearby similar equivalent all both neither none to use say "
    "try he she there have want need would should could can at in on by as is are was were do does did until before "
    "after because"
)


# Alternatives that are whole clauses: `either X … or`, `because X, or because`, `may have X, or be`.
_EITHER = LazyPattern(r"\beither\b(?!\s+(?:way|case|of)\b)[^.;!?]{0,60}\Z")
_OR_LATER = LazyPattern(r"[^.;!?]{0,80}?\bor\b")
_MAY = LazyPattern(r"(?:\bmight|\bcould|\bmay(?=\s+[a-z]))\b[^.;!?]{0,40}\Z")
_OR_BE = LazyPattern(r"[^.;!?]{0,80}?\bor\s+(?:be|have|has|had|it|they|you|there)\b")
_BECAUSE = LazyPattern(r"\bbecause\b[^.;!?]{0,40}\Z")
_OR_BECAUSE = LazyPattern(r"[^.;!?]{0,100}?\bor\s+because\b")


def is_clause_alternative(left: str, right: str, words: AbstractSet[str]) -> bool:
    """Say whether a phrase stands in one of several clauses that the sentence leaves open.

    Args:
        left: the sentence up to the phrase, folded.
        right: the sentence after it, folded.
        words: the words of the sentence.
    """
    if "or" not in words:
        return False
    pairs = (
        ("either", _EITHER, _OR_LATER),
        ("because", _BECAUSE, _OR_BECAUSE),
        ("may", _MAY, _OR_BE),
        ("might", _MAY, _OR_BE),
        ("could", _MAY, _OR_BE),
    )
    return any(word in words and before.search(left) and after.match(right) for word, before, after in pairs)


def may_offer_another(text: str, words: AbstractSet[str], sentence: Span) -> bool:
    """Say whether a sentence has anything that could join a phrase to another one."""
    return "or" in words or "maybe" in words or "perhaps" in words or text.find("/", *sentence) >= 0


def phrase_alternative(
    left: str, right: str, text_before: str, text_after: str, *, is_name: bool
) -> Span | None:
    """Look for `X or Y` around a phrase; return Y's place in `left` (below 0) or in `right`.

    Args:
        left: the sentence up to the phrase, folded.
        right: the sentence after it, folded.
        text_before: `left` with its case kept.
        text_after: `right` with its case kept.
        is_name: whether the phrase is written with a capital, so that only a name rivals it.
    """
    if after := _AFTER.match(right):
        group = "word" if after["word"] else "slash"
        if after[group] not in _IDIOMS and not (is_name and text_after[after.start(group)].islower()):
            return after.span(group)
    if before := _BEFORE.search(left):
        group = "word" if before["word"] else "slash"
        start, end = before.span(group)
        if before[group] not in _IDIOMS and not (is_name and text_before[start].islower()):
            return start - len(left), end - len(left)
    return None
