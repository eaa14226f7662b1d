from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters import AgentFailure, Memory, Question, wire
from harness.suite import Conversation, Message
from harness.suite.answer import Answer

# Every code point, the halves of surrogate pairs too: the JSON decoders of systems let them through.
TEXT = st.text(st.characters(codec=None, categories=None))
ZONES = st.one_of(
    st.none(),
    st.integers(-86_399, 86_399).map(lambda seconds: timezone(timedelta(seconds=seconds))),
)
TIMES = st.one_of(st.none(), st.datetimes(timezones=ZONES))
FIGURES = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
MESSAGES = st.builds(Message, st.sampled_from(["user", "assistant"]), TEXT, TIMES)
CONVERSATIONS = st.builds(
    Conversation,
    TEXT,
    TIMES,
    st.dictionaries(TEXT, TEXT, max_size=4),
    st.lists(MESSAGES, max_size=4).map(tuple),
)
MEMORIES = st.builds(
    Memory,
    TEXT,
    TEXT,
    FIGURES,
    TIMES,
    st.lists(TEXT, max_size=3).map(tuple),
    st.one_of(st.none(), TEXT),
    st.one_of(st.none(), st.floats(1, 10)),
)
ANSWERS = st.builds(
    Answer,
    TEXT,
    st.one_of(st.none(), st.lists(TEXT, max_size=3).map(tuple)),
    tokens=st.one_of(st.none(), st.integers(0, 10**9)),
)


def over_the_line(data: Any) -> Any:
    line = json.dumps(data).encode()
    assert b"\n" not in line
    return json.loads(line)


@given(CONVERSATIONS)
def test_conversations_go_there_and_back(conversation: Conversation) -> None:
    assert wire.conversation_from(over_the_line(wire.conversation_data(conversation))) == conversation


@given(st.builds(Question, TEXT, TIMES))
def test_questions_go_there_and_back(question: Question) -> None:
    assert wire.question_from(over_the_line(wire.question_data(question))) == question


@given(MEMORIES)
def test_memories_go_there_and_back(memory: Memory) -> None:
    assert wire.memory_from(over_the_line(wire.memory_data(memory))) == memory


@given(ANSWERS)
def test_answers_go_there_and_back(answer: Answer) -> None:
    assert wire.answer_from(over_the_line(wire.answer_data(answer))) == answer


@given(st.lists(MEMORIES, max_size=4))
def test_memories_pass_the_check_unchanged(memories: list[Memory]) -> None:
    assert wire.checked_memories(memories) == tuple(memories)


ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT, st.binary(), st.datetimes()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["id", "text", "score", "created_at", "source_refs", "answer", "memory", "x"]),
            inner,
            max_size=4,
        ),
        st.builds(Memory, inner, inner, inner, inner, inner, inner, inner),
        st.builds(Answer, inner, inner, tokens=inner),
    ),
    max_leaves=12,
)


def attempted(check: Callable[[Any], Any], value: Any) -> tuple[Any, str | None]:
    try:
        return check(value), None
    except AgentFailure as failure:
        return None, failure.kind


@given(st.one_of(ANYTHING, st.lists(ANYTHING, max_size=3)))
def test_whatever_recall_returns_is_memories_or_a_recorded_failure(value: Any) -> None:
    memories, kind = attempted(wire.checked_memories, value)
    if kind is not None:
        assert kind == "bad_value"
    else:
        back = tuple(wire.memory_from(over_the_line(wire.memory_data(memory))) for memory in memories)
        assert back == memories


@given(ANYTHING)
def test_whatever_answer_returns_is_an_answer_or_a_recorded_failure(value: Any) -> None:
    answer, kind = attempted(wire.checked_answer, value)
    if kind is not None:
        assert kind == "bad_value"
    else:
        assert wire.answer_from(over_the_line(wire.answer_data(answer))).text == answer.text


@pytest.mark.parametrize(
    ("value", "memories"),
    [
        ([], ()),
        ((), ()),
        (["one", "two"], (Memory("1", "one"), Memory("2", "two"))),
        ([{"text": "x"}], (Memory("1", "x"),)),
        ([{"id": "a", "text": "x", "score": 1}], (Memory("a", "x", score=1.0),)),
        (
            [{"text": "x", "created_at": "2025-03-04", "source_refs": ["conv_001#1"]}],
            (Memory("1", "x", created_at=datetime(2025, 3, 4), source_refs=("conv_001#1",)),),
        ),
        ([Memory("a", "x", source_refs=["r"])], (Memory("a", "x", source_refs=("r",)),)),  # type: ignore[arg-type]
        ([{"text": "x", "type": 3}], (Memory("1", "x", type="3"),)),
    ],
)
def test_what_counts_as_memories(value: Any, memories: tuple[Memory, ...]) -> None:
    assert wire.checked_memories(value) == memories


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "returned None; expected a list of memories, an empty one when there are none"),
        ("x", "returned a str; expected a list of memories"),
        ([{"text": "x", "rank": 1}], "memory 1 has text, rank; expected text and, at most, created_at, id,"),
        (["x", 3], "memory 2 is an int; expected a Memory, a string or an object"),
        ([Memory("1", "x", score=float("nan"))], "memory 1: score is nan; expected a finite number"),
        ([{"text": "x", "created_at": "May"}], "memory 1: created_at 'May' is no ISO 8601 time"),
        ([{}], "memory 1 has no fields"),
    ],
)
def test_a_wrong_value_says_what_is_wrong_and_what_is_expected(value: Any, said: str) -> None:
    with pytest.raises(AgentFailure) as caught:
        wire.checked_memories(value)
    assert caught.value.message.startswith(said)


def test_size_is_bounded_to_the_character() -> None:
    most = wire.MOST_TEXT - 1  # the id that a string gets is one character
    assert len(wire.checked_memories(["x" * most])) == 1
    with pytest.raises(AgentFailure) as caught:
        wire.checked_memories(["x" * (most + 1)])
    assert caught.value.kind == "oversized"
    assert caught.value.message == "returned 4,000,001 characters; at most 4,000,000 are taken"


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("It is 45.", Answer("It is 45.")),
        ("", Answer("")),
        ({"answer": "x"}, Answer("x")),
        ({"answer": "x", "memory": ["m"], "tokens": 7}, Answer("x", memory=("m",), tokens=7)),
        ({"answer": "x", "memory": [Memory("1", "m")]}, Answer("x", memory=("m",))),
        (Answer("x", memory=()), Answer("x", memory=())),
    ],
)
def test_what_counts_as_an_answer(value: Any, answer: Answer) -> None:
    assert wire.checked_answer(value) == answer
