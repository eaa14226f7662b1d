from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.adapters.memories.bm25 import Bm25
from harness.adapters.memories.words import WordIndex, match_expression
from harness.adapters.protocol import Memory, Question
from harness.adapters.registry import find_adapter, make_adapter
from harness.errors import InputError
from harness.naming import parse_spec
from harness.suite import Conversation, Message
from tests.adapters.memories.conftest import OpenSpace

T = TypeVar("T")
TALK = Conversation(
    "conv_001",
    datetime(2025, 3, 4, 10, 15, tzinfo=UTC),
    {"business": "Harbor Lane"},
    (
        Message("user", "My piano tuner is Ilse Varga."),
        Message("assistant", "Noted: Ilse Varga tunes the piano."),
        Message("user", "And the café opens at nine, not at eight."),
        Message("assistant", "Nine it is."),
        Message("user", "東京タワー is where we meet."),
        Message("assistant", "Fine."),
    ),
)


def with_agent(space: Any, work: Callable[[Any], Awaitable[T]], *talks: Conversation, **options: Any) -> T:
    async def run() -> T:
        agent = await Bm25(Bm25.Options(**{"rounds": 1, **options})).open(space)
        try:
            for talk in talks or (TALK,):
                await agent.ingest(talk)
            return await work(agent)
        finally:
            await agent.close()

    return asyncio.run(run())


def recalled(space: Any, question: str, limit: int = 5, **options: Any) -> list[Memory]:
    return with_agent(space, lambda agent: agent.recall(Question(question), limit), **options)


def test_a_memory_carries_where_it_is_from(open_space: OpenSpace) -> None:
    [memory] = recalled(open_space(), "Who tunes?")
    assert memory.id == "conv_001#1-2"
    assert memory.source_refs == ("conv_001#1", "conv_001#2")
    assert memory.created_at == TALK.timestamp
    assert memory.text == (
        "[2025-03-04 Tuesday]\nuser: My piano tuner is Ilse Varga.\nassistant: Noted: Ilse Varga tunes the piano."
    )
    assert memory.score is not None
    assert memory.score > 0


def test_without_dates_the_text_is_the_messages_alone(open_space: OpenSpace) -> None:
    [memory] = recalled(open_space(), "Who tunes?", dates=False)
    assert memory.text.startswith("user: ")


@pytest.mark.parametrize("question", ["CAFE?", "the cafés", "东京 or 東京?", "タワー", "opening"])
def test_words_are_found_in_other_forms(open_space: OpenSpace, question: str) -> None:
    expected = "conv_001#3-4" if question[0].isascii() else "conv_001#5-6"
    assert recalled(open_space(), question)[0].id == expected


def test_no_more_than_asked_for_come_back(open_space: OpenSpace) -> None:
    assert len(recalled(open_space(), "piano nine meet", 2)) == 2
    assert recalled(open_space(), "piano nine meet", 0) == []


def test_better_ones_come_first_and_equals_in_order_of_time(open_space: OpenSpace) -> None:
    talks = [
        Conversation(f"c{number}", None, {}, (Message("user", text),))
        for number, text in enumerate(["red apple", "green pear", "red apple", "red red apple apple"])
    ]
    space = open_space()
    found = with_agent(space, lambda agent: agent.recall(Question("red apple"), 9), *talks)
    assert [memory.id for memory in found] == ["c3#1", "c0#1", "c2#1"]
    assert found[1].score == found[2].score


OPERATORS = [
    'tuner" OR "nine', "NOT tuner", "tuner*", "-tuner", "text:tuner", "^tuner", "NEAR(tuner nine)", "(tuner", "tuner)",
    "tuner AND", "'tuner'", "tuner;--", "{tuner} : x", "🎂 tuner", "tuner\0x", "\ud83d tuner", "t̆uner tuner",
]  # fmt: skip


@pytest.mark.parametrize("question", OPERATORS)
def test_no_character_of_a_question_has_a_meaning(open_space: OpenSpace, question: str) -> None:
    assert "conv_001#1-2" in [memory.id for memory in recalled(open_space(), question)]


@pytest.mark.parametrize("question", ["", "   ", "?!", "🎂", "***", '"', "\0"])
def test_a_question_without_words_recalls_nothing(open_space: OpenSpace, question: str) -> None:
    assert recalled(open_space(), question) == []


@settings(max_examples=200)
@given(st.text(max_size=60), st.text(max_size=60))
@example("AND", 'NEAR("a b", 2)')
@example("\ud800", "\udfff")
def test_any_text_can_be_kept_and_asked(text: str, question: str) -> None:
    async def run() -> list[Any]:
        index = WordIndex()
        try:
            await index.add([("one", text), ("two", "zebra")])
            return [await index.rank(f"{question} zebra", 5), await index.rank(f"{text} zebra", 5)]
        finally:
            index.close()

    for found in asyncio.run(run()):
        assert "two" in [ranked.id for ranked in found]
        assert all(ranked.score > 0 for ranked in found)


def test_a_very_long_question_is_asked_with_its_first_words() -> None:
    assert match_expression(" ".join(f"w{n}" for n in range(9000))).count(" OR ") == 499


def test_two_conversations_of_one_name_do_not_displace_each_other(open_space: OpenSpace) -> None:
    found = with_agent(open_space(), lambda agent: agent.recall(Question("tuner"), 9), TALK, TALK)
    assert [memory.id for memory in found] == ["conv_001#1-2", "conv_001#1-2 (2)"]


# add, list, delete, and users


def test_what_was_added_is_found_listed_and_deleted(open_space: OpenSpace) -> None:
    async def work(agent: Any) -> None:
        id = await agent.add("The spare key is at Odile's.")
        [found] = await agent.recall(Question("spare key"), 5)
        assert (found.id, found.text) == (id, "The spare key is at Odile's.")
        assert [memory.id for memory in await agent.list()][-1] == id
        await agent.delete(id)
        assert await agent.recall(Question("spare key"), 5) == []
        assert len(await agent.list()) == 3
        with pytest.raises(KeyError, match="no memory"):
            await agent.delete(id)
        assert await agent.add("Another.") != id

    with_agent(open_space(), work)


def test_users_are_kept_apart(open_space: OpenSpace) -> None:
    async def work(agent: Any) -> None:
        await agent.add("The code is 4711.", user="ana")
        his = await agent.add("The code is 1234.", user="ben")
        [found] = await agent.recall(Question("What is the code?"), 5, user="ben")
        assert (found.id, [memory.id for memory in await agent.list("ben")]) == (his, [his])
        assert await agent.list("nobody") == []
        assert len(await agent.recall(Question("code"), 5)) == 2

    with_agent(open_space(), work)


def test_agents_share_nothing(open_space: OpenSpace) -> None:
    async def run() -> list[Memory]:
        adapter = Bm25(Bm25.Options())
        one, other = await adapter.open(open_space()), await adapter.open(open_space())
        try:
            await one.ingest(TALK)
            return list(await other.recall(Question("tuner"), 5))
        finally:
            await one.close()
            await other.close()

    assert asyncio.run(run()) == []


# Options


def test_it_is_found_by_name_with_options() -> None:
    spec = parse_spec("bm25(rounds=2, overlap=1)", "--system")
    adapter = make_adapter(find_adapter(spec), spec)
    assert isinstance(adapter, Bm25)
    assert adapter.version().startswith("SQLite 3.")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("rounds=1, overlap=1", "overlap=1 has to be below rounds=1"),
        ("rounds=0", "greater than or equal to 1"),
        ("model='gpt-5'", "add prefix=True"),
        ("k1=1.2", "Its options: rounds"),
        ("over='simple_note'", "Did you mean simple_notes"),
    ],
)
def test_options_that_do_not_fit_are_said(options: str, said: str) -> None:
    spec = parse_spec(f"bm25({options})", "--system")
    with pytest.raises(InputError, match=said):
        make_adapter(find_adapter(spec), spec)


def test_each_word_of_a_question_stands_in_quotes() -> None:
    assert match_expression('NOT "a" NEAR a_b*') == '"not" OR "a" OR "near" OR "b"'
