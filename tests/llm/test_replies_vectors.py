"""The worked examples, every key of what they expect."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness.llm.replies import Parsed, RawReply, ReplyError, read_reply
from harness.llm.schema import Flag, Items, Number, ReplySchema, Text

VECTORS = json.loads((Path(__file__).parent / "vectors" / "judge_replies.json").read_text(encoding="utf-8"))
KEYS = {"ok", "score", "criteria", "flags", "error", "retry", "action", "wait_s", "param"}


def schema_of(contract: str) -> ReplySchema:
    if contract == "score01":
        return ReplySchema("score01", (Text("reasoning", required=False), Number("score", 0, 1)))
    listed = re.fullmatch(r"criteria\[(.*)\]", contract)
    assert listed, contract
    return ReplySchema("criteria", (Items("criteria", (Flag("met"),), ids=tuple(listed[1].split(","))),))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vector(vector: dict[str, Any]) -> None:
    expect = vector["expect"]
    assert set(expect) <= KEYS
    raw = RawReply(vector["http_status"], vector["headers"], vector["body"])
    schema = schema_of(vector["contract"])
    if not expect["ok"]:
        with pytest.raises(ReplyError) as caught:
            read_reply(raw, schema)
        error = caught.value
        assert (error.kind, error.retry) == (expect["error"], expect["retry"])
        assert error.action == expect["action"] if expect["action"] else error.action
        assert error.message.endswith((".", "!", "?", "…"))
        for key in ("wait_s", "param"):
            if key in expect:
                assert getattr(error, key) == expect[key]
        return
    parsed = read_reply(raw, schema)
    assert list(parsed.flags) == expect["flags"]
    assert score_of(parsed) == pytest.approx(expect["score"], abs=5e-5)
    if "criteria" in expect:
        assert {name: item["met"] for name, item in parsed.value["criteria"].items()} == expect["criteria"]


def score_of(parsed: Parsed) -> float:
    if "score" in parsed.value:
        return float(parsed.value["score"])
    met = [item["met"] for item in parsed.value["criteria"].values()]
    return sum(met) / len(met)


def test_no_vector_lost_its_sense() -> None:
    assert len(VECTORS) >= 53
    assert {vector["expect"]["ok"] for vector in VECTORS} == {True, False}
