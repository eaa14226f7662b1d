"""JSON files under reading: the line of everything that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import SuiteError
from harness.json_file import JsonFile
from harness.json_places import places

ODD = ["\\ud83d\\ude00", "\\ud800", "😀", "\u2028", "\u0085", "\\/", "\\\\ud83d", "\t", "\u007f"]


@pytest.mark.parametrize("odd", ODD, ids=ascii)
@pytest.mark.parametrize("indent", ["  ", "\t"], ids=["spaces", "tabs"])
def test_lines_stay_whatever_is_said_above(tmp_path: Path, odd: str, indent: str) -> None:
    if odd == "\t":  # no text of JSON has it but as an escape
        odd = "\\t"
    path = tmp_path / "a.json"
    path.write_text(f'{{\n{indent}"a {odd}": "said {odd}",\n{indent}"b": [\n{indent}{{}},\n{indent}7]}}\n')
    file = JsonFile(path)
    assert file.line(("b",)) == 3
    assert file.line(("b", 1)) == 5
    assert file.line(("b", 9)) == 3
    assert file.line((json.loads(f'"a {odd}"'),)) == 2
    assert file.line(("nowhere", 0)) == 1


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        ('{\n"a": 1,\n"a": 2}', 3, "duplicate-key"),
        ('{"a": 1,\n"b": {"a": 1},\n"c": [{"a": 1,\n "a": 2}],\n "c": 1}', 4, "duplicate-key"),
        ('{"a": "NaN", "b":\n NaN}', 2, "bad-json"),
        ('[1,\n-Infinity]', 2, "bad-json"),
        (f'[1,\n\n{"9" * 5000}]', 3, "bad-json"),
        ('[1,\n', 2, "bad-json"),
    ],
)  # fmt: skip
def test_what_is_no_sound_json_has_its_line(tmp_path: Path, text: str, line: int, rule: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(SuiteError) as caught:
        JsonFile(path)
    (problem,) = caught.value.problems
    assert (problem.line, problem.rule) == (line, rule)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_every_value_has_its_place_in_order(value: Any, indent: Any, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    found = list(places(text))
    assert [one.path for one in found] == list(paths_of(value))
    lines = text.split("\n")
    assert all(one.text in lines[one.line - 1] for one in found)


def paths_of(value: Any, at: tuple[str | int, ...] = ()) -> Any:
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths_of(item, (*at, key))
