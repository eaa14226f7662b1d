"""One declaration, two uses: the JSON schema sent and the reading of what comes back."""

from __future__ import annotations

from typing import Any

import pytest

from harness.llm.reply_error import ReplyError
from harness.llm.schema import Choice, Flag, Items, Number, ReplySchema, Text

JUDGE = ReplySchema(
    "verdicts",
    (
        Text("reasoning", description="Think first."),
        Items(
            "criteria",
            (Text("quote"), Choice("verdict", ("met", "not_met"))),
            ids=("c1", "c2"),
            description="One for each.",
        ),
        Items("wrong", (Text("quote"), Flag("stated")), ids=("w1",), key="value"),
        Items("unsupported", (Text("claim", required=False),)),
        Number("score", 0, 1),
    ),
)


def test_the_json_schema() -> None:
    assert JUDGE.json_schema() == {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string", "description": "Think first."},
            "criteria": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string", "enum": ["c1", "c2"]},
                        "quote": {"type": "string"},
                        "verdict": {"type": "string", "enum": ["met", "not_met"]},
                    },
                    "required": ["id", "quote", "verdict"],
                    "additionalProperties": False,
                },
                "minItems": 2,
                "maxItems": 2,
                "description": "One for each.",
            },
            "wrong": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "value": {"type": "string", "enum": ["w1"]},
                        "quote": {"type": "string"},
                        "stated": {"type": "boolean"},
                    },
                    "required": ["value", "quote", "stated"],
                    "additionalProperties": False,
                },
                "minItems": 1,
                "maxItems": 1,
            },
            "unsupported": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"claim": {"type": "string"}},
                    "required": ["claim"],
                    "additionalProperties": False,
                },
            },
            "score": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["reasoning", "criteria", "wrong", "unsupported", "score"],
        "additionalProperties": False,
    }


def test_reasoning_is_asked_for_first() -> None:
    assert next(iter(JUDGE.json_schema()["properties"])) == "reasoning"
    assert list(JUDGE.json_schema()["properties"]["criteria"]["items"]["properties"])[-1] == "verdict"


def test_an_empty_list_of_ids_asks_for_an_empty_list() -> None:
    none = ReplySchema("none", (Items("wrong", (Flag("stated"),), ids=()),))
    listed = none.json_schema()["properties"]["wrong"]
    assert "enum" not in listed["items"]["properties"]["id"]
    assert (listed["minItems"], listed["maxItems"]) == (0, 0)
    assert none.read({"wrong": []}, set()) == {"wrong": {}}
    flags: set[str] = set()
    assert none.read({"wrong": [{"id": "w1", "stated": True}]}, flags) == {"wrong": {}}
    assert flags == {"unknown_id"}


def test_reading() -> None:
    flags: set[str] = set()
    read = JUDGE.read(
        {
            "reasoning": "r",
            "criteria": [
                {"id": "c2", "quote": "", "verdict": "Not met"},
                {"id": "c1", "quote": "q", "verdict": "met"},
            ],
            "wrong": [{"value": "w1", "quote": "", "stated": False}],
            "unsupported": [{}, {"claim": "c"}],
            "score": "1",
        },
        flags,
    )
    assert read == {
        "reasoning": "r",
        "criteria": {"c1": {"quote": "q", "verdict": "met"}, "c2": {"quote": "", "verdict": "not_met"}},
        "wrong": {"w1": {"quote": "", "stated": False}},
        "unsupported": ({"claim": None}, {"claim": "c"}),
        "score": 1.0,
    }
    assert flags == {"coerced"}


def test_a_missing_verdict_is_named_before_missing_words() -> None:
    with pytest.raises(ReplyError, match="missing_criteria"):
        JUDGE.read({}, set())


@pytest.mark.parametrize("said", ["10", "1", 10])
def test_ids_that_are_numbers(said: Any) -> None:
    schema = ReplySchema("s", (Items("criteria", (Flag("met"),), ids=("1", "10")),))
    other = "1" if str(said) == "10" else "10"
    entries = [{"id": said, "met": True}, {"id": other, "met": False}]
    read = schema.read({"criteria": entries}, set())
    assert read["criteria"] == {str(said): {"met": True}, other: {"met": False}}


def test_ids_that_differ_in_case_alone_are_never_mixed_up() -> None:
    schema = ReplySchema("s", (Items("criteria", (Flag("met"),), ids=("a", "A")),))
    read = schema.read({"criteria": [{"id": "A", "met": True}, {"id": "a", "met": False}]}, set())
    assert read["criteria"] == {"a": {"met": False}, "A": {"met": True}}
    with pytest.raises(ReplyError, match="incomplete"):
        schema.read({"criteria": [{"id": " a ", "met": True}, {"id": "A", "met": True}]}, set())


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"score": 85}, "`score` is 85; a number from 0 to 1 was asked for."),
        ({"score": 1.00001}, "`score` is 1.00001; a number from 0 to 1 was asked for."),
        ({"score": "high"}, '`score` is "high"; a number was asked for.'),
        ({"score": True}, "`score` is a boolean; a number was asked for."),
        ({"score": None}, "`score` is null."),
        ({}, "`score` is absent."),
    ],
)
def test_messages_tell_the_model_what_to_mend(value: dict[str, Any], words: str) -> None:
    with pytest.raises(ReplyError) as caught:
        ReplySchema("s", (Number("score", 0, 1),)).read(value, set())
    assert caught.value.message == words


def test_agreement_leaves_out_words_beside_a_verdict() -> None:
    schema = ReplySchema("s", (Text("reasoning"), Number("score", 0, 1)))
    assert schema.agree({"reasoning": "a", "score": 0.5}, {"reasoning": "b", "score": 0.5})
    assert not schema.agree({"reasoning": "a", "score": 0.5}, {"reasoning": "a", "score": 0.0})
