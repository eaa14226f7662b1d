"""Figures in the tables of evaluations, and results read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.evaluation import Evaluation, Item, Metric
from harness.report.evaluation_view import as_json, cell, read_json

ONE = Evaluation(
    "overall",
    "mine",
    "set",
    (Metric("score", 0.5, 2, 2, low=0.25, high=0.75), Metric("none", None, 0, 2, reason="nothing")),
    (Item("a", "A", {"score": 0.5, "none": None}, True, ("tag",), "", {"relevant": True}),),
)


@pytest.mark.parametrize(
    ("metric", "shown"),
    [
        (Metric("m", 0.5, 2, 2, low=0.5, high=0.5), "0.500 n=2"),
        (Metric("m", 0.5, 2, 2), "0.500 n=2"),
        (Metric("m", 0.5, 2, 2, low=0.25, high=0.5), "0.500 n=2 [0.250–0.500]"),
        (Metric("m", 0.5, 2, 2, low=0.5, high=0.75), "0.500 n=2 [0.500–0.750]"),
        (Metric("m", 0.5, 2, 2, low=0.50001, high=0.49999), "0.500 n=2"),
        (Metric("m", 0.5, 1, 2, low=0.5, high=0.5), "0.500 1/2 [0.500–0.500]"),
        (Metric("m", 0.5, 1, 2), "0.500 1/2"),
        (Metric("m", None, 0, 2, reason="nothing"), "– (nothing)"),
    ],
)
def test_a_figure_has_bounds_where_they_say_more(metric: Metric, shown: str) -> None:
    assert cell(metric) == shown


def test_a_result_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(as_json([ONE]), encoding="utf-8")
    assert read_json(path) == (ONE,)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "it has no schema"),
        ("{}", "it has no schema"),
        ("7", "it has no schema"),
        ("", "it is no sound JSON"),
        ('{"schema": 1, "schema": 2}', "stands twice"),
        ('{"schema": "recallbench.report/1"}', "its schema is 'recallbench.report/1', and this version reads"),
        ('{"schema": "recallbench.evaluation/1"}', "evaluations: input should be a valid array"),
        ('{"schema": "recallbench.evaluation/1", "evaluations": {"a": 1}}', "evaluations: input should be a valid"),
        ('{"schema": "recallbench.evaluation/1", "evaluations": [7]}', "evaluations[0]: "),
    ],
)  # fmt: skip
def test_a_file_that_is_no_result_is_told_in_plain_words(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "one.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_json(path)
    assert str(caught.value).startswith(f"{path}: is no result that --format json wrote: ")
    assert told in str(caught.value)
    assert str(caught.value).endswith("Name the JSON file that -o wrote.")


@pytest.mark.parametrize(
    ("at", "value", "told"),
    [
        (("metrics",), None, "evaluations[0].metrics: input should be a valid"),
        (("metrics", 0, "value"), "x", "evaluations[0].metrics[0].value: input should be a valid number"),
        (("metrics", 0, "n"), ..., "evaluations[0].metrics[0].n: is missing"),
        (("items", 0, "values", "score"), True, "evaluations[0].items[0].values.score: "),
        (("at",), "yesterday", "evaluations[0].at: "),
        (("sections",), {"a": "b"}, "evaluations[0].sections.a: "),
    ],
)
def test_a_result_that_was_edited_is_told_by_its_place(
    tmp_path: Path, at: tuple[Any, ...], value: Any, told: str
) -> None:
    data = json.loads(as_json([ONE]))
    holder = data["evaluations"][0]
    for step in at[:-1]:
        holder = holder[step]
    if value is ...:
        del holder[at[-1]]
    else:
        holder[at[-1]] = value
    path = tmp_path / "one.json"
    path.write_text(json.dumps(data))
    with pytest.raises(InputError) as caught:
        read_json(path)
    assert told in str(caught.value)
