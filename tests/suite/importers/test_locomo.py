"""LoCoMo as a suite, on a sample of the same form."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import InputError
from harness.scoring import find_scorer
from harness.suite import Suite, load_suite
from harness.suite.answer import Answer
from harness.suite.importers import Imported, import_files, write_suite
from tests.suite.importers.synthetic import locomo_sample, written


@pytest.fixture
def imported(tmp_path: Path) -> Imported:
    return import_files([written(tmp_path / "talks.json", [locomo_sample()])])


@pytest.fixture
def suite(imported: Imported, tmp_path: Path) -> Suite:
    write_suite(imported, tmp_path / "suite")
    return load_suite(tmp_path / "suite")


def test_every_question_is_a_case_of_its_group(suite: Suite) -> None:
    assert suite.ids == (
        "adversarial_talk-1_q005", "adversarial_talk-1_q006", "multi-hop_talk-1_q003",
        "open-domain_talk-1_q004", "single-hop_talk-1_q002", "single-hop_talk-1_q007", "temporal_talk-1_q001",
    )  # fmt: skip
    assert {case.cluster for case in suite} == {"talk-1"}
    assert suite.groups == ("adversarial", "multi-hop", "open-domain", "single-hop", "temporal")


def test_sessions_are_in_order_dated_and_name_their_speakers(suite: Suite) -> None:
    first, second = suite.cases[0].conversations()
    assert [first.id, second.id] == ["session_1", "session_2"]
    assert first.timestamp is not None
    assert second.timestamp is not None
    assert first.timestamp.isoformat() == "2023-05-08T13:56:00"
    assert second.timestamp.isoformat() == "2023-06-03T00:05:00"
    assert first.metadata == {"user": "Ada", "assistant": "Ben"}
    assert [(message.role, message.text) for message in second.messages] == [
        ("assistant", "Ben: The kiln came to $300 in the end."),
        ("user", "Ada: [shares an image: a photo of a kiln]"),
        ("assistant", "Cleo: Hello from the back."),
    ]


def test_a_fact_is_cited_where_it_stands_and_derived_where_not(suite: Suite) -> None:
    (date,) = suite.get("temporal_talk-1_q001").gold.required
    assert (date.type, date.evidence, date.derived_from) == ("date", (), ("session_1#1",))
    (age,) = suite.get("single-hop_talk-1_q002").gold.required
    assert (age.fact, age.type, age.evidence) == ("3", "number", ("session_1#2",))
    (kiln,) = suite.get("multi-hop_talk-1_q003").gold.required
    assert (kiln.type, kiln.derived_from) == ("text", ("session_2#1", "session_2#2"))


def test_an_adversarial_item_wants_an_abstention(suite: Suite) -> None:
    case = suite.get("adversarial_talk-1_q005")
    assert not case.answerable
    assert [fact.type for fact in case.gold.required] == ["abstain"]
    assert [fact.fact for fact in case.gold.forbidden] == ["three years old"]
    assert case.evidence == ("session_1#2",)
    scorer = find_scorer("keyword-recall")
    assert scorer.score(case, Answer(case.expected_behavior)).reward == 1.0
    assert scorer.score(case, Answer("Her parrot is three years old.")).reward == 0.0
    answered = suite.get("adversarial_talk-1_q006")
    assert (answered.answerable, answered.expected_behavior) == (True, "No")


def test_every_repair_is_told(imported: Imported) -> None:
    found = [(one.kind, one.where, one.done) for one in imported.report.findings]
    assert found == [
        ("date-without-session", "talk-1", "excluded"),
        ("empty-message", "talk-1 session_2 D2:3", "excluded"),
        ("third-speaker", "talk-1 session_2", "kept"),
        ("bad-date", "talk-1 session_4", "kept"),
        ("empty-session", "talk-1 session_4", "excluded"),
        ("integer-answer", "talk-1_q002", "repaired"),
        ("bad-evidence", "talk-1_q002", "repaired"),
        ("bad-evidence", "talk-1_q003", "repaired"),
        ("bad-evidence", "talk-1_q004", "excluded"),
        ("bad-evidence", "talk-1_q004", "excluded"),
        ("no-evidence", "talk-1_q004", "kept"),
        ("no-answer", "talk-1_q005", "repaired"),
        ("adversarial-with-answer", "talk-1_q006", "kept"),
        ("duplicate-question", "talk-1_q007", "kept"),
        ("no-answer", "talk-1_q008 single-hop", "excluded"),
        ("no-question", "talk-1_q009", "excluded"),
    ]
    assert "1 of its 10 conversations" in imported.report.notes[0]
    assert "NC" in imported.report.licence


def test_ten_conversations_with_other_counts_are_refused(tmp_path: Path) -> None:
    names = [f"conv-{number}" for number in (26, 30, 41, 42, 43, 44, 47, 48, 49, 50)]
    path = written(tmp_path / "ten.json", [locomo_sample(name) for name in names])
    with pytest.raises(InputError, match=r"multi-hop 10 \(not 282\)"):
        import_files([path])
    nine = written(tmp_path / "nine.json", [locomo_sample(name) for name in names[:9]])
    assert len(import_files([nine]).questions) == 63


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"a": 1}, "no locomo or longmemeval"),
        ([], "no locomo"),
        ([locomo_sample(), {"qa": []}], r"\[1\]\.conversation: is missing"),
    ],
)
def test_what_is_no_data_set_is_refused(tmp_path: Path, data: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        import_files([written(tmp_path / "x.json", data)])


def test_a_place_that_is_taken_stays_as_it_is(imported: Imported, suite: Suite, tmp_path: Path) -> None:
    before = suite.hash
    with pytest.raises(InputError, match="is there already"):
        write_suite(imported, tmp_path / "suite")
    assert load_suite(tmp_path / "suite").hash == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
