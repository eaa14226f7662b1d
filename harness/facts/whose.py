"""Whose is it? A word further on in the sentence may set aside another value than the one looked at.

`May 14 was offered, and you declined it` is about May 14; `May 14, because you declined May 15`,
`May 14, as the May 15 slot was withdrawn` and `May 14; Dr. Hallam's slot fell through` are not.
"""

from __future__ import annotations

from harness.facts.patterns import MONTHS, LazyPattern
from harness.facts.surroundings import Surroundings

# After these something else is talked about as soon as it is named, …
_REASON = LazyPattern(r"\b(?:because|since|as|while|whereas|when|after|once)\b(?! well\b)")
# … and after these unless the word is about both, or comes back to the value by a pronoun.
_TURN = LazyPattern(r"[;(—–]|\s-\s")
# Where another value of the kind follows one of these, not even a pronoun leads back.
_NEW_CLAUSE = LazyPattern(r"[;(—–:](?!\d)|\s-\s|,\s+(?:with|though|although|but)\b")
_GOES_ON = LazyPattern(r".*\b(?:and|but|though|so|then)\b")
_BOTH = LazyPattern(r"\b(?:were|are|both|neither|all|none)\b")
_PRONOUN = LazyPattern(r"(?:\w+\s+)*?(?:it|that|this|them|those)\b")
_NAMED = LazyPattern(r"\d|\b(?!I\b)[A-ZÀ-Þ]")
_BRACKETS = LazyPattern(r"\([^()]*\)")
# `declined May 15` takes its object with it; `was declined on May 15` and `which you declined` do not.
_TRANSITIVE = LazyPattern(
    r"(?:declined|refused|rejected|turned\s+down|(?:gave|given)\s+up|withdrew|crossed\s+out|released|forgot|overlooked|ignored|swapped(?:\s+out\s+of)?)"
)
_OBJECT = LazyPattern(r"\s+(?:the\s+|your\s+|his\s+|her\s+|their\s+)?(?:[$€£]?\d|[A-ZÀ-Þ])")
_PASSIVE_OR_RELATIVE = LazyPattern(
    r"\b(?:was|were|been|is|are|being|got)\s+(?:\w+\s+)?\Z|\b(?:which|that|whom?)\b[^,;]{0,30}\Z"
)


_KINDS = (
    LazyPattern(r"[$€£₹]\s?\d"),
    LazyPattern(r"\d:\d\d|\d\s?[ap]\.?m\b"),
    LazyPattern(r"\d\s?%"),
    LazyPattern(rf"\b(?:{MONTHS})[a-z]*\.?\s\d|\d\s(?:{MONTHS})|\d(?:st|nd|rd|th)\b"),
)


def has_another(value: Surroundings, start: int, end: int) -> bool:
    """Say whether another value of the kind stands between two places."""
    own = value.text[value.start : value.end]
    return any([kind.search(own) and kind.search(value.text, start, end) for kind in _KINDS])


def is_about(value: Surroundings, cue: tuple[int, int]) -> bool:
    """Say whether a cue after the value, at a span of the text, speaks of the value."""
    start, end = cue
    between = without_brackets(value.cased[value.end : start])
    if (reason := _REASON.search(between)) and _NAMED.search(between, reason.end()):
        return False
    comes_back = _PRONOUN.match(value.text, start, end + 6) is not None
    if (turn := _NEW_CLAUSE.search(between)) and has_another(value, turn.end() + value.end, start):
        return False
    if not comes_back:
        if (turn := _TURN.search(between)) and _NAMED.search(between, turn.end()):
            return False
        if (
            (goes_on := _GOES_ON.match(between))
            and _NAMED.search(between, goes_on.end())
            and not _BOTH.search(between, goes_on.end())
        ):
            return False
    return (
        _TRANSITIVE.fullmatch(value.text, start, end) is None
        or _OBJECT.match(value.cased, end) is None
        or _PASSIVE_OR_RELATIVE.search(between) is not None
    )


# A cue before the value that is the predicate of another one, or has an object of its own.
_NAMES = (
    r"(?:\d|\b(?!(?:I|The|It|That|This|You|Your|He|She|They|We|My|His|Her|Their|Our|An?|In|On|At|So|But|And|If|When|First|Originally|"
    r"Both|What|Which|There|No|Not|Yes|Since|Because|As|After|Before|For|With|From)\b)[A-ZÀ-Þ])"
)
_PREDICATE = LazyPattern(
    rf"{_NAMES}[^.;:]{{0,40}}\b(?:(?:was|were|is|are|been|being|got)\s+(?:\w+\s+)?(?:(?:an?|the|only|just)\s+){{0,2}}|no\s+)\Z"
)
_LINK = LazyPattern(r"\b(?:and|then|so|but|now|while)\b|[:,;–—]")
_OBJECT_DONE = LazyPattern(
    r"\d[^.;]*?(?::\s|,\s+\w|\b(?:and|then|so|but)\s+(?!(?:(?:the|on|at|for|also|then|a|an|your|later)\s+)*\Z)\w)"
    r"|\d[^.;]*?\bfor\s+(?:(?:the|a|an|your)\s+)?\Z"
)


def belongs_to_another(value: Surroundings, at: int) -> bool:
    """Say whether a cue before the value, at a place of the text, speaks of another value.

    `X was declined and Y accepted` and `forget X: it's Y` say nothing against Y; `not X and Y` does.
    """
    between = value.text[at : value.start]
    if _LINK.search(between) and _PREDICATE.search(value.cased, value.opening, at):
        return True
    return _OBJECT_DONE.search(between) is not None


def without_brackets(text: str) -> str:
    """Return a text with blanks for what stands in brackets."""
    return _BRACKETS.sub(lambda found: " " * len(found[0]), text) if "(" in text else text
