"""Which stored text is which expected fact, and what a stored text is supported by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from harness.effectiveness.dataset import Entry, ExpectedFact
from harness.errors import FactError
from harness.facts import AnswerText, FactType, GoldFact, match_fact, typed_values

Edges = Sequence[Sequence[bool]]
SUPPORT = 0.5
"""Share of a stored text's words that have to be said, for it to count as supported."""

_TYPED = (FactType.DATE, FactType.TIME, FactType.MONEY, FactType.PERCENT, FactType.ID, FactType.NUMBER)
_WORD = re.compile(r"[^\W_]+")
# A system may turn "next Friday" into a date that nobody said.
_RELATIVE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|next|last|this|coming|ago|in \w+ (?:days?|weeks?|months?|years?)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
_EMPTY = frozenset(
    "a about after all also an and any are as at be because been before being but by can could did do does "
    "for from get got had has have he her hers him his how i if in into is it its just me my no not now of on "
    "or our out over s she should so some t than that the their them then there these they this to too until "
    "up us very was we were what when where which who will with would you your user assistant users says said "
    "likes wants prefers mentioned stated told told".split()
)


@lru_cache(maxsize=4096)
def read(text: str) -> AnswerText:
    """Return a text as the matcher reads it; the same one is asked for many facts."""
    return AnswerText(text)


def edges_of(stored: Sequence[str], facts: Sequence[ExpectedFact]) -> list[list[bool]]:
    """Return, for each stored text, which facts it states."""
    return [[fact.stated_in(read(text)) for fact in facts] for text in stored]


def assignment(edges: Edges) -> dict[int, int]:
    """Return a largest one-to-one assignment of rows to columns that have an edge.

    Augmenting paths (H. W. Kuhn, The Hungarian method for the assignment problem, 1955; C. Berge,
    1957), rows in order. As edges are yes or no, it is as large as scipy's `linear_sum_assignment`
    makes it. Earlier rows keep an assignment, not always the same column.

    Args:
        edges: one row for each stored text, one column for each fact.
    """
    row_of: dict[int, int] = {}
    for row in range(len(edges)):
        _augment(row, edges, row_of)
    return {row: column for column, row in row_of.items()}


def _augment(start: int, edges: Edges, row_of: dict[int, int]) -> bool:
    """Find a free column for a row, moving others along the way; without recursion."""
    came_from: dict[int, int] = {}  # column: the row that looked at it
    column_of = {row: column for column, row in row_of.items()}
    waiting = [start]
    for row in waiting:
        for column, joined in enumerate(edges[row]):
            if not joined or column in came_from:
                continue
            came_from[column] = row
            if column in row_of:
                waiting.append(row_of[column])
                continue
            at: int | None = column
            while at is not None:
                row_of[at] = came_from[at]
                at = column_of.get(came_from[at])
            return True
    return False


def is_supported(stored: str, entry: Entry) -> bool:
    """Say, by rule, whether what was said supports a stored text.

    - Every typed value in it (id, date, time, money, percent, number) has to be said, whatever its
      notation. Dates are let through where something was dated by words ("next Friday"), and the
      date of the conversation counts as said.
    - At least half of its other words have to be said.

    It knows no meaning: a wrong claim in the right words passes, which a judge would see.
    """
    said = _said(entry)
    text = read(stored)
    relative = bool(_RELATIVE.search(said.raw))
    typed: list[tuple[int, int]] = []
    for kind in _TYPED:
        for span in typed_values(text, kind):
            if any(start < span[1] and span[0] < end for start, end in typed):
                continue
            typed.append(span)
            if kind is FactType.DATE and relative:
                continue
            if not _is_said(text.source(span), kind, said):
                return False
    words = _words(stored)
    known = _words(said.raw)
    return not words or len(words & known) >= SUPPORT * len(words)


def _said(entry: Entry) -> AnswerText:
    when = (
        f"\n{entry.timestamp:%Y-%m-%d}.\n{entry.timestamp:%A, %B %d, %Y}.\n{entry.timestamp:%H:%M}."
        if entry.timestamp
        else ""
    )
    return read(entry.text + when)


def _is_said(value: str, kind: FactType, said: AnswerText) -> bool:
    try:
        if match_fact(said, GoldFact(value, kind)).mentioned:
            return True
        return match_fact(said, GoldFact(value)).mentioned
    except FactError:
        return True


def _words(text: str) -> set[str]:
    """Return the words that carry meaning, cut to what inflections share."""
    found = (word.casefold() for word in _WORD.findall(text))
    return {word[:5] for word in found if word not in _EMPTY and not word.isdigit()}
