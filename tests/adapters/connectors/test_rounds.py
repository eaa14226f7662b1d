from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.connectors.rounds import Per, memory_from, pieces, place_in_order
from harness.suite import Conversation, Message

WHEN = datetime(2025, 3, 4, 15, 15, tzinfo=UTC)
TIMES = st.one_of(st.none(), st.datetimes(), st.datetimes(timezones=st.just(UTC)))
MESSAGES = st.lists(
    st.builds(Message, st.sampled_from(["user", "assistant"]), st.text(), TIMES), max_size=12
).map(tuple)


@given(messages=MESSAGES, began=TIMES, per=st.sampled_from(["message", "round"]))
def test_each_message_is_in_one_piece_in_order(
    messages: tuple[Message, ...], began: datetime | None, per: Per
) -> None:
    cut = pieces(Conversation("c#1", began, {}, messages), per)
    assert [message for piece in cut for message in piece.messages] == list(messages)
    refs = [ref for piece in cut for ref in piece.source_refs]
    assert refs == [f"c#1#{number}" for number in range(1, len(messages) + 1)]
    for piece in cut:
        assert piece.text == "\n".join(f"{message.role}: {message.text}" for message in piece.messages)
        assert all(message.role == "assistant" for message in piece.messages[1:])
        if per == "message":
            assert len(piece.messages) == 1


@given(messages=MESSAGES, began=TIMES)
def test_what_is_stored_survives_json(messages: tuple[Message, ...], began: datetime | None) -> None:
    for number, piece in enumerate(pieces(Conversation("c", began, {"a": "b"}, messages), "round")):
        stored = json.loads(json.dumps(piece.stored(number)))
        memory = memory_from("id", piece.text, 0.5, stored)
        assert memory.created_at == (piece.messages[0].timestamp or began)
        assert memory.source_refs == piece.source_refs
        assert stored["labels"] == {"a": "b"}
        assert place_in_order(stored) == number


def test_a_round_is_a_user_message_with_its_replies() -> None:
    said = "assistant user assistant assistant user user assistant".split()
    messages = tuple(Message(role, "x") for role in said)  # type: ignore[arg-type]
    cut = pieces(Conversation("c", WHEN, {}, messages), "round")
    assert [len(piece.messages) for piece in cut] == [1, 3, 1, 2]
    assert {piece.said_at for piece in cut} == {WHEN}


@pytest.mark.parametrize("stored", [None, {}])
def test_a_memory_of_which_nothing_is_known(stored: dict[str, str] | None) -> None:
    memory = memory_from("id", "text", None, stored)
    assert (memory.created_at, memory.source_refs, memory.score) == (None, (), None)
    assert place_in_order(stored) < 0
