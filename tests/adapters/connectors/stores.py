"""What the tests of connected stores share: talks, spaces, agents on a model server's embeddings."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import uuid4

from harness.adapters.hosts import Timeouts, make_host
from harness.adapters.protocol import Adapter, Memory, Question, Space
from harness.adapters.registry import find_adapter, make_adapter
from harness.llm.models import Models, ModelSettings
from harness.naming import Spec
from harness.suite import Conversation, Message
from tests.model_server import Server

BEGAN = datetime(2025, 3, 4, 10, 15, tzinfo=timezone(-timedelta(hours=5)))
FACT = "My locker at the swimming pool is number 4417."
QUESTION = Question("Which number is my locker at the swimming pool?", datetime(2025, 4, 1, tzinfo=UTC))
SUBJECTS = "gravel tulips kayaks violins curtains walnuts lanterns saddles".split()


def talk(rounds: int, planted: int | None = None, name: str = "conv_001") -> Conversation:
    """Return a conversation with a time at every message, and the fact in one round, counted from 0."""
    messages = []
    for number in range(rounds):
        said = f"Tell me thing {number} about {SUBJECTS[number % len(SUBJECTS)]}, please."
        messages.append(("user", FACT if number == planted else said))
        messages.append(("assistant", f"Here is remark {number}: they vary a good deal by season."))
    return Conversation(
        id=name,
        timestamp=BEGAN,
        metadata={"business": "Harbor Lane Pool", "channel": "chat"},
        messages=tuple(
            Message(role, text, BEGAN + timedelta(minutes=number))  # type: ignore[arg-type]
            for number, (role, text) in enumerate(messages)
        ),
    )


def spec(name: str, server: Server, **options: Any) -> Spec:
    """Return the spec of a system that has its texts embedded by the model server."""
    embedded = {"embedder": "endpoint", "embedding_model": f"words@{server.base_url}", **options}
    return Spec(name, name, embedded, name)


def adapter(name: str, server: Server, **options: Any) -> Adapter:
    """Load an adapter by its registered name."""
    asked = spec(name, server, **options)
    return make_adapter(find_adapter(asked), asked)


def space(folder: Path, models: ModelSettings | None = None) -> Space:
    """Return a fresh space with an empty folder of its own."""
    namespace = uuid4().hex
    (folder / namespace).mkdir()
    return Space(namespace, folder / namespace, Models(models or ModelSettings(), {}))


@contextmanager
def opened(made: Adapter, where: Space) -> Iterator[Any]:
    """Open an agent; at the end it is closed, and has left neither threads nor files."""
    before = set(threading.enumerate())
    agent = made.open(where)
    try:
        yield agent
    finally:
        agent.close()
    left = [thread.name for thread in set(threading.enumerate()) - before]
    assert not left, left
    assert not list(where.folder.rglob("*"))


def texts(memories: list[Memory]) -> list[str]:
    return [memory.text for memory in memories]


def check_everything_arrives(made: Adapter, folder: Path) -> None:
    """Check that each message is stored once, in order, with its time and its place."""
    first, second = talk(3), talk(2, name="conv_002")
    with opened(made, space(folder)) as agent:
        agent.ingest(first)
        agent.ingest(second)
        stored = agent.list()
    told = [
        (f"{talk_.id}#{number}", f"{message.role}: {message.text}", message.timestamp)
        for talk_ in (first, second)
        for number, message in enumerate(talk_.messages, start=1)
    ]
    assert [(*memory.source_refs, memory.text, memory.created_at) for memory in stored] == told


def check_rounds(made: Adapter, folder: Path) -> None:
    """Check that a round is one text, and dated by its first message."""
    conversation = talk(2)
    with opened(made, space(folder)) as agent:
        agent.ingest(conversation)
        stored = agent.list()
    said = conversation.messages
    assert texts(stored) == [f"user: {said[n].text}\nassistant: {said[n + 1].text}" for n in (0, 2)]
    assert [memory.source_refs for memory in stored] == [
        ("conv_001#1", "conv_001#2"),
        ("conv_001#3", "conv_001#4"),
    ]
    assert [memory.created_at for memory in stored] == [said[0].timestamp, said[2].timestamp]


def check_planted_fact(made: Adapter, folder: Path) -> None:
    """Check that the one fact among 60 rounds is recalled first, with a score that falls after it."""
    with opened(made, space(folder)) as agent:
        agent.ingest(talk(60, planted=37))
        found = agent.recall(QUESTION, 5)
    assert FACT in found[0].text
    assert found[0].source_refs == ("conv_001#75", "conv_001#76")
    assert found[0].created_at == BEGAN + timedelta(minutes=74)
    assert 1 < len(found) <= 5
    scores = [memory.score for memory in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[1]


def check_apart(made: Adapter, folder: Path) -> None:
    """Check that two spaces side by side see nothing of each other, also when one is gone."""
    one, other = space(folder), space(folder)
    with opened(made, other) as stays:
        with opened(made, one) as goes:
            goes.ingest(talk(4, planted=1))
            stays.ingest(talk(4))
            assert FACT in texts(goes.recall(QUESTION, 10))[0]
            assert not [text for text in texts(stays.recall(QUESTION, 10)) if FACT in text]
        assert len(stays.list()) == 4
    with opened(made, one) as again:
        assert again.list() == []


def check_nothing_ingested(made: Adapter, folder: Path) -> None:
    """Check that an empty store, a blank question and a limit of 0 recall nothing."""
    with opened(made, space(folder)) as agent:
        assert agent.recall(QUESTION, 5) == []
        assert agent.list() == []
        agent.ingest(Conversation("empty", None, {}, ()))
        agent.ingest(talk(2))
        assert agent.recall(QUESTION, 0) == []
        assert agent.recall(Question("  \n"), 5) == []


def check_unicode(made: Adapter, folder: Path) -> None:
    """Check that any script comes back as it was, and that what has no time is given none."""
    said = "Zoë saß in 東京 — «Ёлка», 🎻 \u202eright to left\u202c, e\u0301, a'b\"c\\d; DROP TABLE store;"
    with opened(made, space(folder)) as agent:
        agent.ingest(Conversation("gespräch.1", None, {"ort": "Zürich"}, (Message("user", said),)))
        (memory,) = agent.recall(Question(said), 1)
    assert memory.text == f"user: {said}"
    assert memory.source_refs == ("gespräch.1#1",)
    assert memory.created_at is None


def check_add_and_delete(made: Adapter, folder: Path) -> None:
    """Check that one memory can be added, is found, and is gone after its deletion."""
    with opened(made, space(folder)) as agent:
        agent.ingest(talk(2))
        added = agent.add(FACT)
        assert [memory.id for memory in agent.recall(QUESTION, 1)] == [added]
        assert texts(agent.list())[-1] == FACT
        agent.delete(added)
        assert FACT not in texts(agent.list())
        assert FACT not in texts(agent.recall(QUESTION, 5))
        assert len(agent.list()) == 2


def check_users(made: Adapter, folder: Path) -> None:
    """Check that what is added for one user is not found for another."""
    with opened(made, space(folder)) as agent:
        of_one = agent.add(FACT, user="orla.brandt@example.com")
        of_other = agent.add("The swimming pool is closed on Mondays.", user="orla")
        assert [m.id for m in agent.list(user="orla.brandt@example.com")] == [of_one]
        assert [m.id for m in agent.recall(QUESTION, 5, user="orla")] == [of_other]
        assert [m.id for m in agent.list()] == [of_one, of_other]
        agent.delete(of_other)
        assert agent.list(user="orla") == []


async def through_a_worker(asked: Spec, folder: Path) -> tuple[str, tuple[Memory, ...], str]:
    """Return version, memories and what was printed, from an agent in a worker process."""
    host = make_host(find_adapter(asked), asked, Models(ModelSettings(), {}), Timeouts())
    log = folder / "worker.log"
    host.log_to(log)
    try:
        described = await host.start()
        async with host.session(uuid4().hex) as session:
            await session.ingest(talk(5, planted=2), 60)
            found = await session.recall(QUESTION, 3, 60)
    finally:
        await host.close()
    return described.version, found, log.read_text() if log.exists() else ""
