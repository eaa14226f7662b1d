"""Records, replies and ids, without a server."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.retrieval.dataset import StoredMemory
from harness.retrieval.memory_api import MemoryApiOptions
from harness.retrieval.memory_api.ids import IdBook
from harness.retrieval.memory_api.readiness import spread_out
from harness.retrieval.memory_api.records import chunks_of, id_of, record_of
from harness.retrieval.memory_api.replies import Counts, Hit, ids_given, read_counts, read_hits, words_of

OPTIONS = MemoryApiOptions(url="http://host/")
SENT = [("s1", "p/a", "a"), ("s2", "p/b", "b")]
NAMES = {"s1": "a", "p/a": "a", "s2": "b", "p/b": "b"}
LONG = "The boat was sold to Wendell in May, for much less than it was worth."


@given(
    st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=30),
    st.integers(1, 8),
    st.integers(600, 1500),
)
def test_chunks_hold_everything_once_and_in_order(texts: list[str], records: int, size: int) -> None:
    options = MemoryApiOptions(url="http://host", max_records=records, max_bytes=size)
    memories = [StoredMemory(f"m{at}", text) for at, text in enumerate(texts)]
    chunks = chunks_of(memories, "client", options)
    bodies = [json.loads(chunk.body) for chunk in chunks]
    assert [one["key"] for body in bodies for one in body["data"]] == [memory.id for memory in memories]
    assert all(len(chunk.body) <= size and 0 < len(chunk.memories) <= records for chunk in chunks)
    assert all(body["operator_approved"] is True for body in bodies)
    for one, two in itertools.pairwise(bodies):
        joined = {**one, "data": [*one["data"], two["data"][0]]}
        encoded = json.dumps(joined, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        assert len(one["data"]) == records or len(encoded) > size, "no chunk is smaller than it has to be"


def test_a_record_keeps_title_and_time() -> None:
    memory = StoredMemory("a", "Body.", title="Title", created_at=datetime(2025, 3, 4, 10, tzinfo=UTC))
    record = record_of(memory, "client", OPTIONS)
    assert record["content"] == "Title\nBody."
    assert record["created_at"] == "2025-03-04T10:00:00+00:00"
    assert OPTIONS.url == "http://host"
    assert id_of(memory, "client") != id_of(memory, "another")


@pytest.mark.parametrize(
    ("data", "counts"),
    [
        ({"imported": 3}, Counts(3)),
        ({"imported": 3, "skipped": 1, "errors": 0}, Counts(3, 1)),
        ({"imported": ["x", "y"], "skipped": ["z"]}, Counts(2, 1)),
        ({"imported": 1, "errors": [{"id": "s2", "error": "no"}]}, Counts(1, 0, 1, ("b: no",))),
        (
            {"imported": 1, "errors": [{"key": "p/a", "message": "no"}, "oh"]},
            Counts(1, 0, 2, ("a: no", "oh")),
        ),
        ({"imported": 1, "errors": 2, "details": ["x", "y"]}, Counts(1, 0, 2, ("x", "y"))),
        ({"imported": True}, None),
        ({"imported": -1}, None),
        ({"skipped": 1}, None),
        ([], None),
        (None, None),
    ],
)
def test_counts(data: Any, counts: Counts | None) -> None:
    assert read_counts(data, NAMES) == counts


@pytest.mark.parametrize(
    ("data", "all_in", "found"),
    [
        ({"ids": {"s1": "x", "s2": 7}}, False, {"x": "a", "7": "b"}),
        ({"id_map": {"s1": "x", "p/b": "y", "?": "z"}}, False, {"x": "a", "y": "b"}),
        (
            {"results": [{"id": "x", "key": "p/a"}, {"id": "y", "original_id": "s2"}]},
            False,
            {"x": "a", "y": "b"},
        ),
        ({"ids": ["x", "y"]}, True, {"x": "a", "y": "b"}),
        ({"ids": ["x", "y"]}, False, {}),
        ({"ids": ["x"]}, True, {}),
        ({"ids": ["x", "x"]}, True, {}),
        ({"ids": "x"}, True, {}),
        ({"imported": 2}, True, {}),
        ([], True, {}),
    ],
)
def test_ids_that_a_reply_names(data: Any, all_in: bool, found: dict[str, str]) -> None:
    assert ids_given(data, SENT, all_in=all_in) == found


@pytest.mark.parametrize(
    ("score", "read"), [(0.5, 0.5), (3, 3.0), (None, None), ("0.5", None), (True, None), (float("nan"), None)]
)
def test_scores(score: Any, read: float | None) -> None:
    (hit,) = read_hits({"results": [{"id": 7, "effective_score": score, "summary": "s"}]})
    assert hit == Hit("7", read, None, "s")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"error": "no", "query": "q"}, "no"),
        ({"error": {"message": "deep"}}, "deep"),
        ({"error": "no", "message": "really\nno"}, "no: really no"),
        ("<html>\n502", "<html> 502"),
        (None, ""),
    ],
)
def test_words(data: Any, said: str) -> None:
    assert words_of(data) == said


def book(*texts: str) -> IdBook:
    return IdBook([StoredMemory(f"m{at}", text) for at, text in enumerate(texts)], "me", "p/")


@pytest.mark.parametrize(
    ("hit", "name"),
    [
        (Hit("x", key="p/m1"), "m1"),
        (Hit("x", key="m1"), None),
        (Hit("x", text=f" {LONG}\n"), "m0"),
        (Hit("x", text=LONG[:40] + "…"), "m0"),
        (Hit("x", text=LONG[:40] + "..."), "m0"),
        (Hit("x", text=LONG[:40]), None),
        (Hit("x", text="The…"), None),
        (Hit("x", key="p/m1", client="me"), "m1"),
        (Hit("x", key="p/m1", text=LONG, client="user-7"), None),
    ],
)
def test_how_a_record_is_known(hit: Hit, name: str | None) -> None:
    assert book(LONG, "The car.").name_of(hit) == name


def test_twins_get_an_id_each_and_a_server_that_keeps_ids_is_not_read_back() -> None:
    twins = book(LONG, LONG)
    assert [twins.name_of(Hit(id, text=LONG)) for id in "xyzx"] == ["m0", "m1", None, "m0"]
    kept = book(LONG, "The car.")
    assert kept.name_of(Hit(id_of(StoredMemory("m1", ""), "me"))) == "m1"
    assert kept.name_of(Hit("x", text=LONG)) is None
    assert kept.settled("m1")
    assert not kept.settled("m0")


@pytest.mark.parametrize(("count", "picked"), [(3, [0, 1, 2]), (16, [1, 3, 5, 7, 9, 11, 13, 15])])
def test_probes_come_from_all_over(count: int, picked: list[int]) -> None:
    memories = [StoredMemory(str(at), "text") for at in range(count)]
    assert [int(one.id) for one in spread_out(memories, 8)] == picked
