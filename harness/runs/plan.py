"""What a run would do, before it does anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.adapters.memories.cards import load_strategy
from harness.adapters.memories.chunking import chunk_conversation
from harness.adapters.registry import AdapterInfo
from harness.runs.delivery import conversations_for
from harness.runs.manifest import Manifest
from harness.runs.sittings import haystacks, sittings
from harness.suite import Conversation, Suite


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


def plan(suite: Suite, systems: Sequence[tuple[AdapterInfo, Manifest]]) -> list[Planned]:
    """Return the work of each system over a suite; it reads the conversations.

    Args:
        suite: the cases asked.
        systems: each adapter with what its run would be.
    """
    totals = [_Total() for _ in systems]
    writers = [_Writer(info, manifest) for info, manifest in systems]
    for cases in haystacks(suite):
        talks = cases[0].conversations()
        for (info, _), writer, total in zip(systems, writers, totals, strict=True):
            for asked in sittings(info, cases):
                for talk in conversations_for(info, asked[0], talks):
                    total.conversations += 1
                    total.messages += len(talk.messages)
                    total.words += talk.words
                    least, most = writer.calls(talk)
                    total.least += least
                    total.most += most
    planned = []
    for (info, manifest), total in zip(systems, totals, strict=True):
        read = len(suite) if manifest.reader.kind == "llm" or info.name == "openai_chat" else 0
        repeats = manifest.repeats
        planned.append(
            Planned(
                manifest.system.label,
                len(suite),
                len(suite) * repeats,
                total.conversations * repeats,
                total.messages * repeats,
                total.words * repeats,
                ((read + total.least) * repeats, (read + total.most) * repeats),
            )
        )
    return planned


@dataclass(slots=True)
class _Total:
    conversations: int = 0
    messages: int = 0
    words: int = 0
    least: int = 0
    most: int = 0


class _Writer:
    """What a model writes for a system while it takes conversations in.

    That is a strategy's steps, at least one for each conversation, and a prefix for each chunk.
    """

    def __init__(self, info: AdapterInfo, manifest: Manifest) -> None:
        options = manifest.system.options
        self._steps = int(options["steps"]) if info.kind == "strategy" else 0
        self._chunks: tuple[int, int] | None = None
        if info.kind != "retrieval":
            return
        if options["over"]:
            self._steps = int(load_strategy(options["over"]).options.model_dump()["steps"])
        if options["prefix"]:
            self._chunks = options["rounds"], options["overlap"]

    def calls(self, talk: Conversation) -> tuple[int, int]:
        """Return the fewest and the most requests for one conversation."""
        prefixes = len(chunk_conversation(talk, *self._chunks)) if self._chunks else 0
        return prefixes + bool(self._steps), prefixes + self._steps
