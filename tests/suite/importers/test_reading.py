"""Files of JSON and of JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.suite.importers.reading import read_json, without_lone_surrogates


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85"], ids=ascii)
def test_lines_end_at_line_feeds_only(tmp_path: Path, odd: str) -> None:
    text = json.dumps({"a": f"one{odd}two"}, ensure_ascii=False) + "\r\n"
    path = tmp_path / "a.jsonl"
    path.write_bytes((text * 2).encode())
    found, _ = read_json(path)
    assert found == [json.loads(text)] * 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"q1": "x", "q1": "y"}', r"a\.json:1: is no sound JSON: the key 'q1' stands twice.*Keep one"),
        ('{\n "q1": {"answer": 1, "answer": 2}\n}', r"a\.json: is no sound JSON: the key 'answer' stands twice"),
        ('{"q1": "x"}\n{"q2": 1, "q2": 2}\n', r"a\.json:2: is no sound JSON: the key 'q2' stands twice"),
        ('{\n "q1": NaN\n}', r"a\.json: is no sound JSON: NaN is no JSON number"),
        ('{"q1": "x"}\n{"q2": \n', r"a\.json:2: is no JSON line"),
        ('{\n "q1": \n', r"a\.json: is no JSON: Expecting value"),
        (" \n", "is empty"),
    ],
)  # fmt: skip
def test_json_is_read_strictly(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_json(path)


def test_half_a_surrogate_pair_is_replaced_and_told() -> None:
    data = {"a": ["fine", "torn \ud83d"], "b\udc00": {"c": "\U0001f600"}}
    whole, places = without_lone_surrogates(data)
    assert whole == {"a": ["fine", "torn \ufffd"], "b\ufffd": {"c": "\U0001f600"}}
    assert places == ["a[1]", "a key of "]
