"""Contextual prefixes: one sentence of a model's for each chunk, that places it in its conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache, partial

from harness.adapters.memories.chunking import Chunk, written
from harness.llm.client import ChatModel
from harness.llm.exchange import ChatRequest, settled
from harness.llm.replies import ReplyError
from harness.llm.templates import Templates, neutralised
from harness.suite import Conversation

IN_FLIGHT = 8
"""Most prefixes of one conversation that are asked for at once."""
PROMPT = "chunk_prefix.j2"
_PARAMETERS = {"temperature": 0, "max_tokens": 256}
_MOST_WORDS = 60


async def write_prefixes(
    chat: ChatModel, repeat: int, conversation: Conversation, chunks: Sequence[Chunk]
) -> list[str]:
    """Return a prefix for each chunk of a conversation, each one line.

    Raises:
        Unanswered: when there is no usable prefix for a chunk: without it the memory would be another.
        EndpointError, BudgetSpent: as `ChatModel.ask` has them.
    """
    places = asyncio.Semaphore(IN_FLIGHT)
    whole = written(conversation.messages)

    async def ask(chunk: Chunk) -> str:
        request = ChatRequest(
            messages=({"role": "user", "content": _prompt(conversation, whole, chunk)},),
            schema=None,
            parameters=_PARAMETERS,
            repeat=repeat,
            label=f"prefix of {chunk.id}",
        )
        async with places:
            answered = await chat.ask(request, _one_line)
        return str(answered.value)

    return await settled([partial(ask, chunk) for chunk in chunks])


def _prompt(conversation: Conversation, whole: str, chunk: Chunk) -> str:
    when = conversation.timestamp
    return templates().render(
        PROMPT,
        {
            "counterpart": neutralised(_counterpart(conversation.metadata)),
            "day": f"{when:%A, %Y-%m-%d}" if when else None,
            "conversation": neutralised(whole),
            "part": neutralised(chunk.text),
        },
    )


def _counterpart(metadata: Mapping[str, str]) -> str:
    """Return whom the user talks to, as far as the conversation's labels say."""
    return ", ".join(str(metadata[name]) for name in ("business", "department") if metadata.get(name))


def _one_line(text: str) -> str:
    """Return a reply as one line of bounded length.

    Raises:
        ReplyError: when it has no words.
    """
    words = text.split()
    if not any(char.isalnum() for char in text):
        raise ReplyError("empty", "The reply has no words; one sentence was asked for.")
    return " ".join(words[:_MOST_WORDS])


@cache
def templates() -> Templates:
    """Return the prompt, with its hash."""
    return Templates(PROMPT)
