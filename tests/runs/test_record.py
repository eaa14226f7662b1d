"""Records: what became of a question, in and out of the journal."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.protocol import AgentFailure, Memory
from harness.runs.reader import within_budget
from harness.runs.record import Delivered, Failure, Record, record_from

WHEN = datetime(2025, 3, 4, 10, 15, tzinfo=timezone(timedelta(hours=-5)))
TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
FIGURE = st.none() | st.floats(allow_nan=False, allow_infinity=False)
TIME = st.none() | st.datetimes() | st.datetimes(timezones=st.just(WHEN.tzinfo))
MEMORIES = st.lists(
    st.builds(
        Memory, TEXT, TEXT, FIGURE, TIME, st.lists(TEXT, max_size=2).map(tuple), st.none() | TEXT, FIGURE
    ),
    max_size=4,
).map(tuple)
DELIVERED = st.builds(
    Delivered,
    TEXT,
    st.integers(0, 99),
    st.integers(0, 99),
    st.integers(0, 9999),
    st.none() | TEXT,
    st.lists(TEXT, max_size=2).map(tuple),
    TEXT,
)


@st.composite
def records(draw: st.DrawFn) -> Record:
    memories = draw(st.none() | MEMORIES)
    if memories is None:
        kept = draw(st.none() | st.lists(TEXT, max_size=3).map(tuple))
    else:
        budget = draw(st.none() | st.integers(0, 12))
        given = memories if budget is None else within_budget(memories, budget)
        kept = draw(st.sampled_from([None, tuple(memory.text for memory in given)]))
    return Record(
        draw(TEXT),
        draw(st.integers(0, 9)),
        draw(st.integers(1, 9)),
        draw(TEXT),
        draw(st.none() | TEXT),
        memories,
        kept,
        draw(st.none() | st.integers(0, 10**6)),
        draw(st.lists(DELIVERED, max_size=2).map(tuple)),
        draw(st.dictionaries(TEXT, st.integers(0, 10**9).map(lambda n: n / 10**6), max_size=3)),
        failure=draw(st.none() | st.builds(Failure, TEXT, TEXT, TEXT)),
        report=draw(st.dictionaries(TEXT, st.none() | st.integers() | TEXT, max_size=2)),
    )


@given(records())
def test_a_record_survives_the_journal(record: Record) -> None:
    data = json.loads(json.dumps(record.as_data(), allow_nan=False))
    assert record_from(data) == record


def memories(*texts: str) -> tuple[Memory, ...]:
    return tuple(Memory(str(number), text) for number, text in enumerate(texts))


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        (memories("one two", "three four"), ("one two", "three four")),
        (memories("one two", "three four"), ("one two", "three")),
        (memories("one two", "three four"), ("one",)),
        (memories("one two"), ()),
        ((), ()),
        (None, ("what the system says it read",)),
        (None, ()),
        (None, None),
        (memories("one two"), None),
    ],
    ids=["whole", "last_cut", "first_cut", "nothing", "no_memories", "own", "own_none", "unknown", "unread"],
)
def test_what_was_read_is_kept(found: tuple[Memory, ...] | None, kept: tuple[str, ...] | None) -> None:
    record = Record("a", 0, 1, "n", memories=found, kept=kept)
    data = json.loads(json.dumps(record.as_data()))
    assert record_from(data).kept == kept


def test_memories_are_not_written_twice() -> None:
    text = "a memory of some length, " * 20
    whole = Record("a", 0, 1, "n", memories=memories(text), kept=(text,))
    assert json.dumps(whole.as_data()).count("a memory of some length") == 20


@pytest.mark.parametrize(
    ("dates", "stamp", "expected"),
    [
        ([WHEN], "2025-03-04", True),
        ([None, WHEN], "2025-03-04", True),
        ([None, None], "2025-03-04", False),
        ([None], None, None),
        ([], "2025-03-04", None),
        (None, "2025-03-04", None),
    ],
)
def test_dates_can_be_lost_only_where_there_were_any(
    dates: list[datetime | None] | None, stamp: str | None, expected: bool | None
) -> None:
    found = None if dates is None else tuple(Memory("m", "x", created_at=date) for date in dates)
    given = (Delivered("conv", 1, 1, 1, stamp, (), "0"),)
    assert Record("a", 0, 1, "n", memories=found, delivered=given).dated is expected


def test_as_an_answer_it_has_what_was_read_and_what_asking_took() -> None:
    timings = {"open": 1.0, "ingest": 2.0, "recall": 0.25, "read": 0.5, "close": 4.0}
    record = Record("a", 0, 1, "n", "It is $45.", memories("one two three"), ("one two",), 9, timings=timings)
    answer = record.as_answer()
    assert (answer.text, answer.memory, answer.tokens, answer.error) == ("It is $45.", ("one two",), 9, None)
    assert (answer.latency_s, answer.memory_words) == (0.75, 2)
    assert Record("a", 0, 1, "n").as_answer().latency_s is None


def test_a_failure_is_said_with_its_kind_and_phase() -> None:
    failure = Failure.of(AgentFailure("timeout", "wait took longer than 2 s", "wait"))
    record = Record("a", 0, 1, "n", failure=failure)
    answer = record.as_answer()
    assert (answer.error_kind, answer.error) == ("timeout", "in wait: wait took longer than 2 s")
    assert record.as_answer().text is None
    assert record.as_data()["outcome"] == "system_error"
    assert Record("a", 0, 1, "n", "x").as_data()["outcome"] == "answered"
    assert str(failure) == "timeout in wait: wait took longer than 2 s"
    assert str(Failure("options", "k is no number", "")) == "options: k is no number"
    assert Failure("options", "k is no number", "").cause == "k is no number"


def test_words_are_those_handed_over_and_back() -> None:
    given = (Delivered("a", 2, 1, 30, None, (), "0"), Delivered("b", 2, 1, 12, None, (), "0"))
    record = Record("a", 0, 1, "n", memories=memories("one two", "three"), kept=("one",), delivered=given)
    assert (record.words_in, record.words_out) == (42, 3)
    assert Record("a", 0, 1, "n").words_out is None
