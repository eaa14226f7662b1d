"""Readers turn recalled memories into an answer: the same way, within the same budget, for every system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from harness.adapters.protocol import AgentFailure, Memory, Question
from harness.llm.exchange import ChatRequest, Unanswered
from harness.llm.models import Models
from harness.llm.templates import Templates, neutralised
from harness.suite.wording import first_words

DEFAULT_BUDGET = 1000
"""Words of recalled memory that a reader is given."""
DEFAULT_LIMIT = 100
"""Memories that a system is asked for; the budget decides how many of them are read."""
PROMPT = "reader.j2"
_MAX_TOKENS = 256


class Read(NamedTuple):
    """What a reader made of the memories.

    Attributes:
        text: the answer in words, None where the reader writes none.
        tokens: tokens it took, where known.
        cut: whether it ran into the reader's limit; it counts as far as it goes.
        model: the model as the server named it, None where it did not or none was asked.
        cost: US dollars, None where that is not known.
    """

    text: str | None
    tokens: int | None = None
    cut: bool = False
    model: str | None = None
    cost: float | None = None


class Reader(Protocol):
    """Writes an answer from memories that are within the budget already."""

    async def read(self, question: Question, memories: Sequence[Memory], repeat: int) -> Read:
        """Return the answer.

        Raises:
            AgentFailure: of the kind `reader`, when none came.
        """
        ...


def within_budget(memories: Sequence[Memory], budget: int) -> tuple[Memory, ...]:
    """Return the memories that fit into so many words, most relevant first; the last one is cut to fit."""
    kept: list[Memory] = []
    left = budget
    for memory in memories:
        if left <= 0:
            break
        words = memory.words
        kept.append(memory if words <= left else replace(memory, text=first_words(memory.text, left)))
        left -= words
    return tuple(kept)


class ExtractiveReader:
    """Writes no answer: what was recalled is scored itself, as evidence recall."""

    async def read(self, question: Question, memories: Sequence[Memory], repeat: int) -> Read:
        """Return no text."""
        return Read(None)


class LLMReader:
    """Has a model answer from the memories, with one prompt for every system.

    Args:
        models: the run's models; its own one reads.
    """

    def __init__(self, models: Models) -> None:
        self._chat = models.chat()
        self._templates = Templates(PROMPT)
        self.prompt_hash = self._templates.hashes[PROMPT]

    async def read(self, question: Question, memories: Sequence[Memory], repeat: int) -> Read:
        """Return the model's answer in plain words."""
        dated = [
            (
                memory.created_at.strftime("%A, %B %d, %Y") if memory.created_at else "",
                neutralised(memory.text),
            )
            for memory in memories
        ]
        asked_at = question.asked_at.strftime("%A, %B %d, %Y") if question.asked_at else ""
        values = {"memories": dated, "question": neutralised(question.text), "asked_at": asked_at}
        system, _, user = self._templates.render(PROMPT, values).partition("\n=====\n")
        request = ChatRequest(
            ({"role": "system", "content": system.strip()}, {"role": "user", "content": user.strip()}),
            None,
            {"temperature": 0.0, "max_tokens": _MAX_TOKENS},
            repeat,
            "the reader",
            cut=True,
        )
        try:
            answered = await self._chat.ask(request)
        except Unanswered as failed:
            raise AgentFailure("reader", f"{failed.error.kind}: {failed.error.message}", "read") from None
        served = answered.served
        return Read(
            str(answered.value).strip(),
            served.spent.tokens,
            "cut" in answered.flags,
            served.model,
            served.spent.cost,
        )
