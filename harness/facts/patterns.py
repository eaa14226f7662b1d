"""Regular expressions that are compiled on first use, and words as sets.

Importing the matcher compiles nothing, and a pattern of the matcher's own is compiled once
for all processes: see `kept`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from harness.facts import kept

Found = re.Match[str]
MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
"""What the names of the months begin with, in English."""


class LazyPattern:
    """A `re.Pattern` that is compiled when one of its methods is first called.

    The compiled methods are then set on the instance, so later calls cost nothing extra.

    Args:
        source: the pattern.
        flags: as for `re.compile`.
        keep: whether the compiled pattern is worth keeping for other processes; one that is
            made from a fact is not.
    """

    match: Callable[..., Found | None]
    search: Callable[..., Found | None]
    fullmatch: Callable[..., Found | None]
    finditer: Callable[..., Iterator[Found]]
    findall: Callable[..., list[Any]]
    split: Callable[..., list[Any]]
    sub: Callable[..., str]

    def __init__(self, source: str, flags: int = 0, *, keep: bool = True) -> None:
        self.source = source
        self.flags = flags
        self.keep = keep

    def __getattr__(self, name: str) -> Any:
        if name not in LazyPattern.__annotations__:
            raise AttributeError(name)
        compiled = (
            kept.compiled(self.source, self.flags) if self.keep else re.compile(self.source, self.flags)
        )
        for method in LazyPattern.__annotations__:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def alternation(forms: tuple[str, ...] | list[str]) -> str:
    """Return the forms as regex alternatives, the longest first so that it wins."""
    return "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))


def listing(*lines: str) -> tuple[str, ...]:
    """Return the words of a table that is written without commas, in order."""
    return tuple(" ".join(lines).split())


def lexicon(*lines: str) -> frozenset[str]:
    """Return the words of a table that is written without commas, as a set."""
    return frozenset(listing(*lines))
