"""The one-document form: every variant that existing suites use, and what is still refused."""

from datetime import datetime
from pathlib import Path

import pytest

from harness.errors import SuiteError
from harness.suite import Case, load_suite, read_suite
from harness.suite.source import read_source

LEGACY = """\
test_id: layer1_01_bank_account
category: layer1
title: Bank account
description: Recall of the account number
conversation_histories:
- conversation_id: bank_001
  timestamp: '2024-11-15 10:30:00'
  metadata:
    business: First Bank
    call_duration: 47 minutes
  messages:
  - role: user
    content: I'd like to open an account.
  - role: assistant
    content: 'Done: it is 4429853327.'
user_question: What was my account number?
evaluation_criteria: |
  Gives the number 4429853327.
expected_behavior: The agent should give the number.
"""


@pytest.fixture
def legacy_case(tmp_path: Path) -> Path:
    path = tmp_path / "layer1" / "01_bank_account_setup.yaml"
    path.parent.mkdir()
    path.write_text(LEGACY)
    return path


def rewrite(path: Path, *changes: tuple[str, str]) -> Path:
    text = path.read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text)
    return path


def only_case(path: Path) -> Case:
    (case,) = load_suite(path)
    return case


def test_the_plain_form(legacy_case: Path) -> None:
    case = only_case(legacy_case)
    assert (case.id, case.category, case.form) == ("layer1_01_bank_account", "layer1", "legacy")
    assert (case.domain, case.locale, case.question_time) == ("", "en-US", None)
    assert case.expected_behavior == "The agent should give the number."
    assert [(item.id, item.text, item.kind) for item in case.criteria] == [
        ("criteria", "Gives the number 4429853327.", "behaviour")
    ]
    assert not case.gold.annotated
    (conversation,) = case.conversations()
    assert (conversation.id, conversation.timestamp) == ("bank_001", datetime(2024, 11, 15, 10, 30))
    assert conversation.metadata == {"business": "First Bank", "call_duration": "47 minutes"}
    assert [(message.role, message.text) for message in conversation.messages] == [
        ("user", "I'd like to open an account."),
        ("assistant", "Done: it is 4429853327."),
    ]


def test_a_directory_of_them(tmp_path: Path, legacy_case: Path) -> None:
    other = legacy_case.with_name("02_other.yml")
    other.write_text(LEGACY.replace("layer1_01_bank_account", "any_name"))
    assert load_suite(tmp_path).ids == ("any_name", "layer1_01_bank_account")


MESSAGES = """\
  - role: user
    content: I'd like to open an account.
  - role: assistant
    content: 'Done: it is 4429853327.'
"""


@pytest.mark.parametrize(
    "messages",
    [
        "  - user: I'd like to open an account.\n  - assistant: 'Done: it is 4429853327.'\n",
        "  - user: I'd like to open an account.\n  - representative: 'Done: it is 4429853327.'\n",
        "  - user: I'd like to open an account.\n  - agent: 'Done: it is 4429853327.'\n",
        MESSAGES.replace("role: assistant", "role: representative"),
        MESSAGES.replace("role: assistant", "role: agent"),
    ],
)
@pytest.mark.parametrize("key", ["messages", "conversation"])
def test_names_of_turns_and_roles(legacy_case: Path, messages: str, key: str) -> None:
    before = only_case(legacy_case).conversations()
    rewrite(legacy_case, (MESSAGES, messages), ("  messages:", f"  {key}:"))
    assert only_case(legacy_case).conversations() == before


def test_further_variants_of_a_conversation(legacy_case: Path) -> None:
    rewrite(
        legacy_case,
        ("conversation_id: bank_001", "id: bank_001"),
        ("'2024-11-15 10:30:00'", "2024-11-15"),
        ("47 minutes", "[long, 47]"),
        ("business: First Bank", "business:"),
        ("    content: I'd like", "    timestamp: 2024-11-15T10:31:00\n    content: I'd like"),
    )
    (conversation,) = only_case(legacy_case).conversations()
    assert (conversation.id, conversation.timestamp) == ("bank_001", datetime(2024, 11, 15))
    assert conversation.metadata == {"business": "", "call_duration": '["long", "47"]'}
    assert [message.timestamp for message in conversation.messages] == [
        datetime(2024, 11, 15, 10, 31),
        None,
    ]


def test_criteria_as_a_mapping(legacy_case: Path) -> None:
    rewrite(
        legacy_case,
        (
            "evaluation_criteria: |\n  Gives the number 4429853327.\n",
            "evaluation_criteria:\n"
            "  description: Recalls the account.\n"
            "  required_information:\n    - The number\n    - Number: 4429853327\n"
            "  success_indicators: [Exact digits]\n"
            "  failure_indicators: [Guesses]\n",
        ),
    )
    assert [(item.id, item.text) for item in only_case(legacy_case).criteria] == [
        ("description", "Recalls the account."),
        ("required_1", "The number"),
        ("required_2", "Number: 4429853327"),
        ("success_1", "Exact digits"),
        ("failure_1", "Avoids this: Guesses"),
    ]


@pytest.mark.parametrize(
    ("criteria", "ids"),
    [
        ("Gives the number.", ["criteria"]),
        ("{required_information: [The number]}", ["required_1"]),
        ("''", []),
    ],
)
def test_prose_for_criteria_in_our_own_form(tmp_path: Path, criteria: str, ids: list[str]) -> None:
    path = tmp_path / "01_a.yaml"
    head = "test_id: layer1_01_a\ncategory: layer1\ntitle: T\nuser_question: Q?\n"
    path.write_text(f"{head}evaluation_criteria: {criteria}\n---\nconversation_id: c\nmessages:\n- user: x\n")
    case = only_case(path)
    assert (case.form, [item.id for item in case.criteria]) == ("documents", ids)
    assert len(case.conversations()) == 1


def test_criteria_and_facts_of_our_own_form(legacy_case: Path) -> None:
    rewrite(
        legacy_case,
        (
            "evaluation_criteria: |\n  Gives the number 4429853327.\n",
            "evaluation_criteria: [{id: a, text: Gives it., facts: [n]}]\n"
            "gold_facts: {required: [{id: n, fact: '4429853327', type: id}]}\n",
        ),
    )
    case = only_case(legacy_case)
    assert [(item.id, item.facts, item.kind) for item in case.criteria] == [("a", ("n",), "fact")]
    assert [fact.id for fact in case.gold.required] == ["n"]


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "rule"),
    [
        pytest.param("title:", "titel:", 3, "titel", "unknown-key", id="unknown-key"),
        pytest.param("category: layer1", "category: layer2", 2, "category", "wrong-directory", id="folder"),
        pytest.param(
            "conversation_id: bank_001", "name: bank_001", 6, "conversation_histories[0].name", "unknown-key",
            id="unknown-key-of-conversation",
        ),
        pytest.param(
            "role: user", "role: system", 12, "conversation_histories[0].messages[0]", "bad-message",
            id="role",
        ),
        pytest.param(
            "content: I'd like to open an account.", "content:", 12, "conversation_histories[0].messages[0]",
            "bad-message", id="silent",
        ),
        pytest.param(
            "content: I'd like", "text: I'd like", 12, "conversation_histories[0].messages[0]", "bad-message",
            id="no-content",
        ),
        pytest.param(
            "'2024-11-15 10:30:00'", "yesterday", 7, "conversation_histories[0].timestamp", "bad-timestamp",
            id="timestamp",
        ),
        pytest.param(
            "    content: I'd", "    timestamp: now\n    content: I'd", 12,
            "conversation_histories[0].messages[0]", "bad-timestamp", id="timestamp-of-message",
        ),
        pytest.param(
            "  messages:", "  turns:", 11, "conversation_histories[0].turns", "unknown-key", id="no-turns"
        ),
        pytest.param(
            "evaluation_criteria: |\n  Gives", "evaluation_criteria:\n  needed: Gives", 18,
            "evaluation_criteria.needed", "unknown-key", id="criteria",
        ),
        pytest.param("expected_behavior:", "---\nexpected_behavior:", 1, "", "extra-document", id="document"),
    ],
)  # fmt: skip
def test_what_is_refused(legacy_case: Path, old: str, new: str, line: int, field: str, rule: str) -> None:
    problems = read_suite(rewrite(legacy_case, (old, new)))[1]
    found = [(problem.line, problem.field) for problem in problems if problem.rule == rule]
    assert found == [(line, field)]


@pytest.mark.parametrize("histories", ["conversation_histories: none\n", "conversation_histories: [a]\n"])
def test_histories_that_are_none(tmp_path: Path, histories: str) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(f"test_id: a\ncategory: layer1\ntitle: T\nuser_question: Q?\n{histories}")
    (problem,) = read_suite(path)[1]
    assert (problem.line, problem.rule) == (5, "bad-value")


def test_a_case_without_conversations_says_so_when_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "case.yaml"
    path.write_text("test_id: a\ncategory: layer1\ntitle: T\nuser_question: Q?\nconversation_histories: []\n")
    with pytest.raises(SuiteError, match="no conversation"):
        only_case(path).conversations()


def test_lines(legacy_case: Path) -> None:
    (transcript,) = read_source(only_case(legacy_case)).transcripts
    assert (transcript.line(), transcript.line("timestamp")) == (6, 7)
    assert [transcript.message_line(index) for index in (0, 1)] == [12, 14]
