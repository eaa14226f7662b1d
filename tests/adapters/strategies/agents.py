"""Strategies opened on a scripted model, and small conversations for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.adapters import Question, Space
from harness.adapters.registry import find_adapter, make_adapter
from harness.adapters.strategies.writer import Strategy, WriterAgent
from harness.llm.models import Models, ModelSettings
from harness.naming import parse_spec
from harness.suite import Conversation
from harness.suite.models import Message

FIRST = Conversation(
    "conv_001",
    datetime.fromisoformat("2025-03-04T10:15:00-05:00"),
    {"business": "Harbor Lane Bank", "channel": "phone"},
    (
        Message("user", "Hello, I would like to open a checking account."),
        Message("assistant", "Your new account number is 4429853327."),
        Message("user", "Thank you, and my mother Ilse has an account as well."),
    ),
)
SECOND = Conversation(
    "conv_002",
    datetime.fromisoformat("2025-03-20T09:00:00-05:00"),
    {"business": "Harbor Lane Bank"},
    (
        Message("user", "Has the fee changed?", datetime.fromisoformat("2025-03-20T09:01:00-05:00")),
        Message("assistant", "It is $45 from May on."),
    ),
)
DONE = {"operations": [], "done": True}
ASKED = Question("What is the account number?")


def adapter(name: str) -> Strategy:
    """Make a strategy as the command line does, options in brackets."""
    spec = parse_spec(name, "--system")
    made = make_adapter(find_adapter(spec), spec)
    assert isinstance(made, Strategy)
    return made


def with_agents(
    name: str,
    base_url: str,
    work: Callable[..., Any],
    *,
    agents: int = 1,
    cassette: Path | None = None,
    mode: Any = "auto",
    repeat: int = 0,
) -> Any:
    """Run `work(agent, …)` with as many agents of one adapter, each in a space of its own."""

    async def run() -> Any:
        settings = ModelSettings(
            model="scripted",
            base_url=base_url,
            cassette=str(cassette) if cassette else None,
            cassette_mode=mode,
        )
        models = Models(settings, {})
        try:
            made = adapter(name)
            opened = [made.open(Space(f"{n:032d}", Path("unused"), models, repeat)) for n in range(agents)]
            return await work(*opened)
        finally:
            await models.close()

    return asyncio.run(run())


def remember(
    name: str, base_url: str, conversations: Sequence[Conversation] = (FIRST,), **options: Any
) -> WriterAgent:
    """Return an agent that has taken the conversations in."""

    async def work(agent: WriterAgent) -> WriterAgent:
        for conversation in conversations:
            await agent.ingest(conversation)
        return agent

    agent = with_agents(name, base_url, work, **options)
    assert isinstance(agent, WriterAgent)
    return agent


def texts(agent: WriterAgent) -> dict[str, str]:
    return {memory.id: memory.text for memory in agent.list()}
