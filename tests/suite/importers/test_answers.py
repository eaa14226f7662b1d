"""Others' answers matched to cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.suite import Suite, load_suite
from harness.suite.importers import Fields, import_files, read_answers, write_suite
from tests.suite.importers.synthetic import lme_item, locomo_sample, written


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    write_suite(import_files([written(tmp_path / "talks.json", [locomo_sample()])]), tmp_path / "suite")
    return load_suite(tmp_path / "suite")


AGE = "single-hop_talk-1_q002"


@pytest.mark.parametrize(
    "data",
    [
        [{"test_id": AGE, "response": "Three."}],
        [{"question_id": "talk-1_q002", "hypothesis": "Three.", "answer": "3"}],
        {AGE: "Three."},
        {AGE: {"answer": "Three."}},
        {"talk-1_q002": {"prediction": "Three.", "answer": "gold"}},
        {"0": [{"question": "how old is  Kiwi?", "answer": "3", "response": "Three."}]},
    ],
    ids=["id", "own-id", "texts", "rows-by-id", "rows-by-own-id", "lists-by-key"],
)
def test_rows_are_found_in_the_usual_forms(suite: Suite, tmp_path: Path, data: Any) -> None:
    supplied = read_answers(written(tmp_path / "a.json", data), suite, Fields())
    assert {name: answer.text for name, answer in supplied.answers.items()} == {AGE: "Three."}


def test_every_scalar_under_a_key_is_an_answer(suite: Suite, tmp_path: Path) -> None:
    data = {"talk-1_q001": "7 May 2023", "talk-1_q002": 2022, "talk-1_q003": True, "talk-1_q004": None}
    found = read_answers(written(tmp_path / "a.json", data), suite, Fields()).answers
    assert {name.rpartition("_")[2]: answer.text for name, answer in found.items()} == {
        "q001": "7 May 2023", "q002": "2022", "q003": "yes", "q004": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (["Three.", "Four."], r'the list, item 1 is "Three.", which is no row'),
        ({"rows": [{"test_id": AGE, "response": "x"}, 7]}, r"rows, item 2 is 7, which is no row"),
        ({"a": {"b": [None]}}, r"a\.b, item 1 is null"),
        ({AGE: ["Three."]}, rf"{AGE}, item 1 is"),
        ({AGE: [], "talk-1_q001": "x"}, rf"{AGE} has \[\], which is neither an answer nor a row"),
        ({AGE: {"text": "Three."}}, rf"{AGE} has {{"),
        ([{"test_id": AGE, "response": ["Three."]}], r"row 1 .*response is \[.*no text.*--answer"),
        ([{"test_id": AGE, "response": {"text": "x"}}], r"row 1 .*response is {"),
    ],
)  # fmt: skip
def test_nothing_is_left_out_in_silence(suite: Suite, tmp_path: Path, data: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_answers(written(tmp_path / "a.json", data), suite, Fields())


def test_json_lines_are_rows(tmp_path: Path) -> None:
    write_suite(
        import_files([written(tmp_path / "l.json", [lme_item("q1"), lme_item("q2")])]), tmp_path / "suite"
    )
    suite = load_suite(tmp_path / "suite")
    path = tmp_path / "hypotheses.jsonl"
    path.write_text("".join(json.dumps({"question_id": f"q{at}", "hypothesis": at}) + "\n" for at in (2, 1)))
    supplied = read_answers(path, suite, Fields())
    assert [(name, one.text) for name, one in supplied.answers.items()] == [
        ("multi-session_q1", "1"), ("multi-session_q2", "2"),
    ]  # fmt: skip


def test_a_question_asked_twice_is_answered_in_order(suite: Suite, tmp_path: Path) -> None:
    rows = [{"question": "How old is Kiwi?", "response": text} for text in ("first", "second")]
    supplied = read_answers(written(tmp_path / "a.json", rows), suite, Fields())
    assert [one.text for one in supplied.answers.values()] == ["first", "second"]


def test_fields_are_mapped(suite: Suite, tmp_path: Path) -> None:
    row = {
        "meta": {"key": "talk-1_q002"}, "out": {"text": "Three."}, "ctx": [{"memory": "Kiwi is three."}, "more"],
        "ms": {"total": 1.5}, "used": 12,
    }  # fmt: skip
    fields = Fields("meta.key", "q", "out.text", "ctx", "ms.total", "used", "failed", "results.rows")
    path = written(tmp_path / "a.json", {"results": {"rows": [row]}})
    # rows without a usual name need to be told apart by --rows
    (answer,) = read_answers(path, suite, fields).answers.values()
    assert answer.text == "Three."
    assert answer.memory == ("Kiwi is three.", "more")
    assert (answer.latency_s, answer.tokens) == (1.5, 12)


def test_an_error_is_no_answer(suite: Suite, tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", [{"test_id": AGE, "response": "", "error": "timeout"}])
    (answer,) = read_answers(path, suite, Fields(error="error")).answers.values()
    assert (answer.text, answer.error) == (None, "timeout")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([{"test_id": "single-hop_talk-1_q02", "response": "x"}], r"1 of 1 rows fit no case.*talk-1_q002"),
        ([{"test_id": AGE, "said": "x"}], "--answer"),
        ([{"test_id": AGE, "response": "x"}] * 2, "a second time"),
        ([], "no rows"),
    ],
)
def test_what_does_not_fit_is_told(suite: Suite, tmp_path: Path, data: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_answers(written(tmp_path / "a.json", data), suite, Fields())


def test_rows_of_no_case_can_be_left_out(suite: Suite, tmp_path: Path) -> None:
    rows = [{"test_id": AGE, "response": "3"}, {"test_id": "other", "response": "x"}]
    supplied = read_answers(written(tmp_path / "a.json", rows), suite, Fields(), skip_unknown=True)
    assert (len(supplied.answers), supplied.unknown) == (1, ("other",))


def test_a_question_of_two_groups_is_answered_in_the_order_of_the_file(tmp_path: Path) -> None:
    sample = locomo_sample()
    sample["qa"] = [
        {"question": "How old is Kiwi?", "answer": "3", "evidence": ["D1:2"], "category": 4},
        {"question": "How old is Kiwi?", "adversarial_answer": "3", "evidence": ["D1:2"], "category": 5},
    ]
    write_suite(import_files([written(tmp_path / "t.json", [sample])]), tmp_path / "suite")
    rows = [{"question": "How old is Kiwi?", "response": text} for text in ("3", "Nobody said.")]
    supplied = read_answers(written(tmp_path / "a.json", rows), load_suite(tmp_path / "suite"), Fields())
    assert {name: answer.text for name, answer in supplied.answers.items()} == {
        "single-hop_talk-1_q001": "3",
        "adversarial_talk-1_q002": "Nobody said.",
    }
