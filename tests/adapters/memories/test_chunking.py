from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.memories.chunking import chunk_conversation
from harness.suite import Conversation, Message

WHEN = datetime(2025, 3, 4, 10, 15, tzinfo=UTC)


def talk(roles: str, **changes: object) -> Conversation:
    """Return a conversation of messages numbered from 1; roles are letters, u and a."""
    messages = tuple(
        Message("user" if role == "u" else "assistant", f"message {number}")
        for number, role in enumerate(roles, start=1)
    )
    fields: dict[str, object] = {"timestamp": WHEN, "metadata": {"business": "Harbor"}, **changes}
    return Conversation("conv_001", messages=messages, **fields)  # type: ignore[arg-type]


def cut(roles: str, rounds: int = 1, overlap: int = 0) -> list[str]:
    return [chunk.id.removeprefix("conv_001#") for chunk in chunk_conversation(talk(roles), rounds, overlap)]


CUTS = {
    "a round each": ("uaua", 1, 0, ["1-2", "3-4"]),
    "the last has fewer": ("uauaua", 2, 0, ["1-4", "5-6"]),
    "one shared": ("uauauaua", 2, 1, ["1-4", "3-6", "5-8"]),
    "one shared, nothing left alone": ("uauaua", 3, 1, ["1-6"]),
    "one shared, fewer in the last": ("uauauaua", 3, 1, ["1-6", "5-8"]),
    "fewer than are shared": ("ua", 4, 3, ["1-2"]),
    "a reply before the first user": ("aua", 1, 0, ["1", "2-3"]),
    "a user without a reply": ("uauua", 1, 0, ["1-2", "3", "4-5"]),
    "two replies": ("uaau", 1, 0, ["1-3", "4"]),
    "replies only": ("aa", 1, 0, ["1-2"]),
    "nothing": ("", 3, 1, []),
}


@pytest.mark.parametrize("name", CUTS)
def test_chunks_are_whole_rounds(name: str) -> None:
    roles, rounds, overlap, expected = CUTS[name]
    assert cut(roles, rounds, overlap) == expected


def test_a_chunk_knows_where_it_is_from() -> None:
    _, chunk = chunk_conversation(talk("uaua"))
    assert chunk.text == "user: message 3\nassistant: message 4"
    assert chunk.source_refs == ("conv_001#3", "conv_001#4")
    assert chunk.created_at == WHEN
    assert chunk.metadata == {"business": "Harbor"}


def test_the_time_of_a_message_goes_before_that_of_the_conversation() -> None:
    said = datetime(2025, 3, 4, 11, 0, tzinfo=UTC)
    conversation = Conversation("c", WHEN, {}, (Message("user", "Hello.", said), Message("assistant", "Hi.")))
    assert [chunk.created_at for chunk in chunk_conversation(conversation)] == [said]


@pytest.mark.parametrize(("rounds", "overlap"), [(1, 1), (2, 3), (1, -1), (0, 0)])
def test_sizes_without_meaning_are_refused(rounds: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="below rounds"):
        cut("ua", rounds, overlap)


@given(st.text("ua", max_size=60), st.integers(1, 6), st.data())
def test_no_message_is_lost_and_overlap_is_exact(roles: str, rounds: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, rounds - 1))
    chunks = chunk_conversation(talk(roles), rounds, overlap)
    numbers = [[int(ref.partition("#")[2]) for ref in chunk.source_refs] for chunk in chunks]
    assert {number for some in numbers for number in some} == set(range(1, len(roles) + 1))
    for some in numbers:
        assert some == list(range(some[0], some[-1] + 1))
    begun = [number for number, role in enumerate(roles, start=1) if number == 1 or role == "u"]
    for before, after in pairwise(numbers):
        assert before[0] < after[0]
        assert before[-1] < after[-1]
        shared = set(before) & set(after)
        assert sum(number in shared for number in begun) == overlap
    for some in numbers:
        held = sum(number in begun for number in some)
        assert held == rounds or (some is numbers[-1] and overlap < held <= rounds) or len(numbers) == 1
