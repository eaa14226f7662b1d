"""What a run would do, before it does anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.adapters.registry import AdapterInfo
from harness.naming import Spec
from harness.runs.delivery import conversations_for
from harness.runs.sittings import haystacks, sittings
from harness.suite import Suite

_MOST_STEPS = 15


class Planned(NamedTuple):
    """The work of one system.

    Attributes:
        system: its label.
        cases: how many are asked.
        answers: questions asked, repeats included.
        conversations: how many are ingested; those of a haystack once, however many questions are asked of it.
        messages: how many are in them.
        words: words in them.
        calls: fewest and most chat requests that the harness makes for it; retries come on top.
    """

    system: str
    cases: int
    answers: int
    conversations: int
    messages: int
    words: int
    calls: tuple[int, int]


def plan(
    suite: Suite, systems: Sequence[tuple[Spec, AdapterInfo]], *, reader: str, repeats: int
) -> list[Planned]:
    """Return the work of each system over a suite; it reads the conversations."""
    totals = [[0, 0, 0] for _ in systems]
    for cases in haystacks(suite):
        talks = cases[0].conversations()
        for (_, info), total in zip(systems, totals, strict=True):
            for asked in sittings(info, cases):
                for talk in conversations_for(info, asked[0], talks):
                    total[0] += 1
                    total[1] += len(talk.messages)
                    total[2] += talk.words
    planned = []
    for (spec, info), (count, messages, words) in zip(systems, totals, strict=True):
        asks = info.name == "openai_chat" or (reader == "llm" and info.kind != "cheater")
        read = len(suite) if asks else 0
        given = spec.options.get("steps")  # whether it fits is for the strategy to say
        steps = given if type(given) is int else _MOST_STEPS
        written = count if info.kind == "strategy" else 0
        planned.append(
            Planned(
                spec.label,
                len(suite),
                len(suite) * repeats,
                count * repeats,
                messages * repeats,
                words * repeats,
                ((read + written) * repeats, (read + written * steps) * repeats),
            )
        )
    return planned
