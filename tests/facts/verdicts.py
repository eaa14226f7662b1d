"""What the tables of this folder are written with."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark.structures import ParameterSet

from harness.facts import FactMatch, match_fact


def match(
    fact: str, kind: str, answer: str, *, accept: Iterable[str] = (), stale: Iterable[str] = ()
) -> FactMatch:
    return match_fact(answer, {"fact": fact, "type": kind, "accepted": list(accept), "stale": list(stale)})


def rows(*blocks: tuple[str, str], **named: str) -> list[ParameterSet]:
    """Return a row per line of each block `(fact, lines)`; a line that begins with `- ` is no match."""
    made = []
    for fact, lines in blocks:
        for line in filter(None, map(str.strip, lines.splitlines())):
            expected = not line.startswith("- ")
            answer = line.removeprefix("- ").replace("\\n", "\n")
            made.append(pytest.param(fact, answer, expected, id=f"{fact} | {line}"))
    return made
