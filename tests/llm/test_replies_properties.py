"""What holds for any reply at all."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.llm.replies import Parsed, RawReply, ReplyError, read_reply, read_text
from harness.llm.schema import Choice, Flag, Items, Number, ReplySchema, Text

SCHEMA = ReplySchema(
    "verdicts",
    (
        Text("reasoning"),
        Number("score", 0, 1),
        Items("criteria", (Text("quote"), Choice("verdict", ("met", "not_met"))), ids=("c1", "c2")),
        Items("claims", (Text("claim"), Flag("stated"))),
    ),
)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
SPACE = st.text(" \t\r\n", max_size=5)
PROSE = st.text("abc XYZ.,!?:\n", max_size=30)
CRITERION = st.fixed_dictionaries({"quote": WORDS, "verdict": st.sampled_from(["met", "not_met"])})
VALUES = st.fixed_dictionaries(
    {
        "reasoning": WORDS,
        "score": st.floats(0, 1),
        "criteria": st.fixed_dictionaries({"c1": CRITERION, "c2": CRITERION}),
        "claims": st.lists(st.fixed_dictionaries({"claim": WORDS, "stated": st.booleans()}), max_size=3).map(
            tuple
        ),
    }
)


def written(value: dict[str, Any], **options: Any) -> str:
    items = [{"id": name, **item} for name, item in value["criteria"].items()]
    return json.dumps({**value, "criteria": items}, **options)


def read(content: str, finish: str | None = "stop") -> Parsed:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    return read_reply(RawReply(200, {}, {"choices": [choice]}), SCHEMA)


@given(VALUES, SPACE, SPACE, st.booleans(), st.sampled_from([None, 0, 2]))
def test_a_plain_reply_reads_as_written(
    value: dict[str, Any], left: str, right: str, ascii: bool, indent: int | None
) -> None:
    parsed = read(left + written(value, ensure_ascii=ascii, indent=indent) + right)
    assert parsed.value == value
    assert parsed.flags == ()


@given(VALUES, PROSE, PROSE, st.sampled_from(["", "json", "JSON", "json5"]), st.booleans())
def test_a_fence_or_prose_changes_nothing(
    value: dict[str, Any], before: str, after: str, tongue: str, fenced: bool
) -> None:
    text = written(value, ensure_ascii=False)
    parsed = read(f"{before}\n```{tongue}\n{text}\n```\n{after}" if fenced else f"{before} {text} {after}")
    assert parsed.value == value
    words = (before + after).strip()
    assert parsed.flags == (("fence",) if fenced else ("extra_text",) if words else ())


@given(VALUES, VALUES, st.sampled_from(["<think>{}</think>", "{}</think>", "<thinking>\n{}\n</thinking>"]))
def test_thoughts_never_decide(value: dict[str, Any], draft: dict[str, Any], frame: str) -> None:
    thoughts = frame.format(written(draft).replace("<", "("))
    parsed = read(thoughts + written(value))
    assert parsed.value == value
    assert parsed.flags == ("think",)


@given(VALUES)
def test_python_writes_it_too(value: dict[str, Any]) -> None:
    parsed = read(repr(json.loads(written(value))))
    assert parsed.value == value
    assert parsed.flags == ("repaired",)


@given(VALUES, st.data(), st.sampled_from([json.dumps, repr]), st.sampled_from(["stop", "length", None]))
def test_no_prefix_is_a_verdict(
    value: dict[str, Any], data: st.DataObject, write: Callable[[Any], str], finish: str | None
) -> None:
    text = write(json.loads(written(value)))
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    for begun in (cut, f"Sure! {cut}", f"```json\n{cut}"):
        with pytest.raises(ReplyError):
            read(begun, finish)


PIECES = st.sampled_from(
    [
        *"{}[]\"':,“”‘’\\/#*`\n 01.-+eu",
        "```json",
        "<think>",
        "</think>",
        '{"score": 1}',
        "criteria",
        "true",
        "NaN",
    ]
)
JUNK = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=40).map("".join))
TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), JUNK),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                "choices message content error code type param metadata raw detail loc usage cost finish_reason "
                "tool_calls function arguments name function_call refusal index text score criteria id".split()
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=20,
)


@given(JUNK, st.sampled_from(["stop", "length", None]))
def test_any_text_gives_a_value_or_an_error(text: str, finish: str | None) -> None:
    with suppress(ReplyError):
        read(text, finish)


@given(st.sampled_from([200, 204, 400, 422, 429, 500]), TREES)
def test_any_body_gives_a_value_or_an_error(status: int, body: Any) -> None:
    for reading in (lambda raw: read_reply(raw, SCHEMA), read_text):
        for shaped in (
            body,
            {"choices": body},
            {"choices": [body]},
            {"choices": [{"message": body}]},
            {"error": body},
        ):
            with suppress(ReplyError):
                reading(RawReply(status, {}, shaped))


@given(TREES)
def test_any_object_gives_a_value_or_an_error(value: Any) -> None:
    filled = {"reasoning": "x", "score": value, "criteria": value, "claims": value}
    for content in (value, filled, {"criteria": [value, value]}):
        with suppress(ReplyError):
            read(json.dumps(content))


HOSTILE: dict[str, Callable[[int], str]] = {
    "braces": lambda n: "{" * n,
    "brackets": lambda n: "[" * n,
    "brackets and spaces": lambda n: "[ " * n,
    "one bracket, spaces": lambda n: "[" + " " * n + "x",
    "pairs": lambda n: "{}" * n,
    "nested objects": lambda n: '{"a":' * n,
    "nested and closed": lambda n: '{"a":' * n + "1" + "}" * n,
    "nested lists": lambda n: '{"a":' + "[" * n,
    "sloppy nested": lambda n: "{'a':" * n,
    "openings": lambda n: "<think>" * n,
    "closings": lambda n: "</think>" * n,
    "tags": lambda n: "<think></think>" * n,
    "fences": lambda n: "```" * n,
    "fence openings": lambda n: "```json\n" * n,
    "bare keys": lambda n: "{score:" * n,
    "other keys": lambda n: "{other:" * n,
    "quotes": lambda n: '{"' * n,
    "open string": lambda n: '{"reasoning": "' + "a" * n,
    "escapes": lambda n: "{'reasoning': '" + "\\" * n,
    "comments": lambda n: "{'a': " + "/*" * n,
    "comment stars": lambda n: "{'a': /*" + "*" * n,
    "objects": lambda n: '{"score":1}' * n,
    "sloppy objects": lambda n: "{'score':1}" * n,
    "digits": lambda n: '{"score":' + "1" * n + "x}",
    "colons": lambda n: '{"score":1}' + '":' * n + "}",
    "spaces": lambda n: "x" + " " * n + "x",
    "closings, broken": lambda n: "{'a' b}" + "</think>{" * n,
    "spaces after a fence": lambda n: "{'a' b}</think>```\n" + " " * n + "x",
}


def steps(work: Callable[[], object]) -> int:
    """Return how many lines of Python some work takes."""
    count = 0

    def trace(*_: object) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_replies_take_linear_work(make: Callable[[int], str]) -> None:
    def attempt(size: int) -> None:
        with suppress(ReplyError):
            read(make(size))

    attempt(10)  # whatever is done once is done
    small, large = steps(lambda: attempt(2_000)), steps(lambda: attempt(8_000))
    assert large <= 4 * small + 200
    attempt(100_000)
