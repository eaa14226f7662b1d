"""What is asked of a model, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple

from harness.errors import EndpointError
from harness.llm.replies import ReplyError
from harness.llm.schema import ReplySchema
from harness.llm.usage import Spent


class ChatRequest(NamedTuple):
    """What is asked, apart from who is asked and how the wire wants it.

    Attributes:
        messages: role and content of each.
        schema: the form of the reply; None for one in plain words, whose value is its text.
        parameters: temperature, max_tokens and so on, as meant.
        repeat: which of several askings of the same this is, from 0.
        label: what it is about, for messages to the user.
        cut: whether a reply in words that ends at the token limit is taken as far as it goes.
    """

    messages: tuple[Mapping[str, str], ...]
    schema: ReplySchema | None
    parameters: Mapping[str, Any]
    repeat: int = 0
    label: str = ""
    cut: bool = False


class Served(NamedTuple):
    """How a reply came to be: by whom, at what cost.

    Attributes:
        provider: name of the provider.
        model: the model as the server named it, None when it did not.
        sent: the parameters that the server accepted, as canonical JSON.
        spent: tokens and cost over all attempts, stored ones included.
        asked: replies that went over the wire now; 0 when all came from the cassette.
    """

    provider: str
    model: str | None
    sent: str
    spent: Spent
    asked: int


class Answered(NamedTuple):
    """A usable reply: what `read` made of it, its flags, and how it came."""

    value: Any
    flags: tuple[str, ...]
    served: Served


class Unanswered(Exception):
    """No usable reply came; `error` is the last one's trouble."""

    def __init__(self, error: ReplyError, served: Served) -> None:
        super().__init__(str(error))
        self.error = error
        self.served = served


class BudgetSpent(Exception):
    """The limit of `max_cost` is reached; no further request is sent."""


class Unrecorded(EndpointError):
    """A cassette that is replayed holds no reply to this."""


async def settled(questions: Iterable[Callable[[], Awaitable[Any]]]) -> list[Any]:
    """Wait for several questions about one answer; what is paid for is kept when the budget ends among them.

    Raises:
        BudgetSpent: once all others have their replies.
    """
    asked = list(questions)
    if len(asked) == 1:
        return [await asked[0]()]  # the usual case, and no task for it

    async def kept(question: Callable[[], Awaitable[Any]]) -> Any:
        try:
            return await question()
        except BudgetSpent as spent:
            return spent

    replies = await asyncio.gather(*map(kept, asked))
    spent = next((reply for reply in replies if isinstance(reply, BudgetSpent)), None)
    if spent is not None:
        raise spent
    return replies
