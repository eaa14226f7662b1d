"""LongMemEval as a suite, on items of the same form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.suite import Suite, load_suite
from harness.suite.importers import Imported, import_files, write_suite
from tests.suite.importers.synthetic import lme_item, written


def made(tmp_path: Path, *items: dict[str, Any]) -> tuple[Imported, Suite]:
    imported = import_files([written(tmp_path / "lme.json", list(items))], "longmemeval")
    write_suite(imported, tmp_path / "suite")
    return imported, load_suite(tmp_path / "suite")


def test_sessions_are_sorted_masked_and_each_there_once(tmp_path: Path) -> None:
    imported, suite = made(tmp_path, lme_item())
    (case,) = suite
    talks = case.conversations()
    assert [talk.id for talk in talks] == ["session_001", "session_002", "session_003"]
    assert [talk.messages[0].text for talk in talks] == [
        "Tell me a joke.", "I put 10 fish into the small tank.", "The big tank has 7 now.",
    ]  # fmt: skip
    assert imported.report.renamed == {
        "q1": {"session_001": "filler_1", "session_002": "answer_7_1", "session_003": "answer_7_2"}
    }
    text = "".join(path.read_text() for path in (tmp_path / "suite").rglob("*.yaml"))
    assert "answer_7" not in text
    assert "has_answer" not in text


def test_the_gold_cites_the_marked_turns(tmp_path: Path) -> None:
    (case,) = made(tmp_path, lme_item())[1]
    (fact,) = case.gold.required
    assert (fact.fact, fact.type, fact.derived_from) == ("17", "number", ("session_002#1", "session_003#1"))
    assert case.question_time is not None
    assert case.question_time.isoformat() == "2023-05-27T17:21:00"


def test_every_repair_is_told(tmp_path: Path) -> None:
    imported, _ = made(tmp_path, lme_item(), lme_item())
    assert [(one.kind, one.done) for one in imported.report.findings] == [
        ("empty-message", "excluded"),
        ("duplicate-session", "excluded"),
        ("empty-session", "excluded"),
        ("unsorted-history", "repaired"),
        ("session-after-question", "kept"),
        ("integer-answer", "repaired"),
        ("duplicate-question", "excluded"),
    ]


def test_a_repeated_session_keeps_the_marks_of_both_copies(tmp_path: Path) -> None:
    copies = [
        [
            {"role": "user", "content": "I have 17 fish.", "has_answer": mark},
            {"role": "assistant", "content": "Oh."},
        ]
        for mark in (False, True)
    ]
    item = lme_item(
        haystack_sessions=copies,
        haystack_session_ids=["a", "b"],
        haystack_dates=["2023/05/20 (Sat) 02:21"] * 2,
    )
    imported, (case,) = made(tmp_path, item)
    assert imported.questions[0].evidence == ("session_001#1",)
    assert [len(talk.messages) for talk in case.conversations()] == [2]


def test_ids_that_fold_to_one_name_are_two_questions(tmp_path: Path) -> None:
    ids = ("x y_abs", "x y", "x-y", "x/y", "x y", "?")
    imported, suite = made(tmp_path, *(lme_item(id) for id in ids))
    assert [one.id for one in imported.questions] == ["x-y_abs", "x-y-2", "x-y", "x-y-3", "question"]
    assert len(suite) == 5
    assert [one.where for one in imported.report.findings if one.kind == "duplicate-question"] == ["x y"]
    renamed = {one.where: one.how for one in imported.report.findings if one.kind == "renamed-question"}
    assert renamed == {
        "x y_abs": "called x-y_abs", "x y": "called x-y-2", "x/y": "called x-y-3", "?": "called question",
    }  # fmt: skip


def test_a_type_in_another_spelling_is_a_group_that_loads(tmp_path: Path) -> None:
    (case,) = made(tmp_path, lme_item(question_type="Knowledge_Update"))[1]
    assert (case.category, case.abilities) == ("knowledge-update", ("knowledge_update",))


def test_an_abs_question_asks_for_nothing(tmp_path: Path) -> None:
    item = lme_item("q1_abs", answer="You mentioned fish, but no birds.")
    (case,) = made(tmp_path, item)[1]
    assert (case.answerable, case.abilities, case.evidence) == (False, ("abstention",), ())
    assert case.expected_behavior == "You mentioned fish, but no birds."


def test_a_rubric_is_for_judges_and_its_evidence_counts(tmp_path: Path) -> None:
    item = lme_item(question_type="single-session-preference", answer="The user would prefer fish.")
    (case,) = made(tmp_path, item)[1]
    assert not case.gold.annotated
    assert case.evidence == ("session_002#1", "session_003#1")
    assert case.criteria[0].text == "The user would prefer fish."


def test_two_acceptable_counts_are_forms_of_one_fact(tmp_path: Path) -> None:
    answer = "26 days. 27 days (including the last day) is also acceptable."
    (case,) = made(tmp_path, lme_item(answer=answer))[1]
    (fact,) = case.gold.required
    assert (fact.type, fact.forms) == ("quantity", ("26 days", "27 days"))


def test_questions_of_one_history_share_a_haystack(tmp_path: Path) -> None:
    other = lme_item("q3", haystack_sessions=[[{"role": "user", "content": "Hi."}]], haystack_dates=["2023/05/20"],
                     haystack_session_ids=["a"])  # fmt: skip
    imported, suite = made(tmp_path, lme_item(), lme_item("q2"), other)
    assert sorted(imported.haystacks) == ["q1", "q3"]
    assert [case.cluster for case in suite] == ["q1", "q1", "q3"]


def test_a_history_of_uneven_lists_is_left_out(tmp_path: Path) -> None:
    imported, suite = made(tmp_path, lme_item(), lme_item("q2", haystack_dates=[]))
    assert suite.ids == ("multi-session_q1",)
    assert imported.report.findings[-1].kind == "uneven-history"


def test_a_file_of_the_other_data_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no locomo file"):
        import_files([written(tmp_path / "lme.json", [lme_item()])], "locomo")
