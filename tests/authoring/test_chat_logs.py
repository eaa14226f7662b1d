"""Chat exports of all kinds become skeletons; nothing of them is lost in silence."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from harness.authoring.chat_logs import at_gaps, read_logs
from harness.authoring.chat_messages import moment_of
from harness.authoring.skeletons import highest_number, skeletons_of, slug, unmapped_text, write_skeletons
from harness.errors import InputError, SuiteError
from harness.suite import load_suite, read_suite

ASK = {"role": "user", "content": "When is it due?"}
SAY = {"role": "assistant", "content": "On March 24."}
TALK = [("user", "When is it due?"), ("assistant", "On March 24.")]
CHATGPT = {
    "title": "Fees",
    "create_time": 1741000000.5,
    "current_node": "c",
    "mapping": {
        "root": {"message": None, "parent": None},
        "a": {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["When is it due?"]}, "create_time": 1741000000}, "parent": "root"},
        "b": {"message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["On May 1."]}}, "parent": "a"},
        "c": {"message": {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["On March 24."]}}, "parent": "a"},
    },
}  # fmt: skip
CLAUDE = {
    "uuid": "x1",
    "name": "Fees",
    "created_at": "2025-03-04T10:15:00Z",
    "chat_messages": [
        {"sender": "human", "text": "When is it due?", "created_at": "2025-03-04T10:15:00Z"},
        {"sender": "assistant", "text": "On March 24."},
    ],
}


def write(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "log.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ([ASK, SAY], 1),
        ({"messages": [ASK, SAY]}, 1),
        ([{"messages": [ASK, SAY]}, {"messages": [ASK, SAY]}], 2),
        ({"one": [ASK, SAY], "two": {"messages": [ASK, SAY]}}, 2),
        ({"conversations": {"one": [ASK, SAY]}}, 1),
        ({"conversations": [{"id": "one", "turns": [ASK, SAY]}]}, 1),
        ([{"user": "When is it due?"}, {"assistant": "On March 24."}], 1),
        ([{"speaker": "Customer", "text": "When is it due?"}, {"speaker": "Agent", "text": "On March 24."}], 1),
        ([{**ASK, "thread_id": 1}, {**ASK, "thread_id": 2}, {**SAY, "thread_id": 1}, {**SAY, "thread_id": 2}], 2),
        (lines(ASK, SAY), 1),
        (lines({"messages": [ASK, SAY]}, {"messages": [ASK, SAY]}), 2),
        ([CHATGPT, CLAUDE], 2),
        ("\ufeff" + json.dumps([ASK, SAY]), 1),
    ],
    ids=["list", "messages", "list of talks", "mapping", "conversations by id", "conversations", "short", "speakers", "threads", "JSONL messages", "JSONL talks", "ChatGPT and Claude", "BOM"],
)  # fmt: skip
def test_every_form_is_read(tmp_path: Path, value: Any, count: int) -> None:
    logs, _ = read_logs(write(tmp_path, value))
    assert [[(message.role, message.text) for message in log.messages] for log in logs] == [TALK] * count


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ({"role": "system", "content": "Be kind."}, "'system' is neither user nor assistant"),
        ({"role": "tool", "content": "42", "tool_call_id": "x"}, "'tool' is neither user nor assistant"),
        ({"role": "assistant", "content": None, "tool_calls": [{"id": "x"}]}, "has no text"),
        ({"role": "user", "content": ""}, "has no text"),
        ({"what": "ever"}, "is no message"),
        ("words", "is no message"),
        ({**ASK, "name": "Orla"}, "a message has no such label"),
        ({**ASK, "timestamp": "yesterday"}, "is no time that can be read"),
        ({"role": "user", "content": [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "x"}}]}, "is no text"),
        ({"role": "user", "content": "a\u0007\ud800b"}, "characters that no YAML file can hold were replaced"),
    ],
    ids=["system", "tool", "tool call", "empty", "something", "words", "name", "time", "image", "control"],
)  # fmt: skip
def test_what_has_no_place_is_listed_with_where_it_stood(tmp_path: Path, item: Any, why: str) -> None:
    _, unmapped = read_logs(write(tmp_path, [ASK, SAY, item]))
    (left,) = unmapped
    assert left.where.startswith("$[2]")
    assert left.why.startswith(why)
    listed = unmapped_text(tmp_path / "log.json", unmapped)
    assert left.where in listed
    assert json.dumps(left.content) in listed


def test_an_abandoned_branch_is_listed(tmp_path: Path) -> None:
    _, unmapped = read_logs(write(tmp_path, CHATGPT))
    assert "On May 1." in json.dumps([left.content for left in unmapped])


def test_a_role_can_be_named(tmp_path: Path) -> None:
    value = [{"role": "Orla", "content": "When is it due?"}, SAY]
    logs, unmapped = read_logs(write(tmp_path, value), {"Orla": "user"})
    assert (len(logs[0].messages), unmapped) == (2, [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ("[]", "holds no conversation"),
        ("7", r"holds no conversation \(\$: is no conversation\)"),
        ('{"a": [], "a": []}', "the key 'a' stands twice"),
        (lines(ASK) + "{oops\n" + lines(SAY), r"1 of 3 lines are not JSON \(lines 2\)"),
        ('[{"role": "narrator", "content": "x"}]', "'narrator' is neither user nor assistant"),
    ],
    ids=["broken", "empty", "number", "key twice", "line", "nobody"],
)
def test_what_is_no_log_is_one_clear_error(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_logs(write(tmp_path, text))


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("2025-03-04T10:15:00Z", datetime(2025, 3, 4, 10, 15, tzinfo=UTC)),
        ("2025-03-04", datetime(2025, 3, 4)),
        (1741000000, datetime(2025, 3, 3, 11, 6, 40, tzinfo=UTC)),
        (1741000000123, datetime(2025, 3, 3, 11, 6, 40, tzinfo=UTC)),
        ("1741000000.9", datetime(2025, 3, 3, 11, 6, 40, tzinfo=UTC)),
        (True, None),
        ("soon", None),
        (1e40, None),
        (10**400, None),
        (float("nan"), None),
    ],
)
def test_times(value: Any, read: datetime | None) -> None:
    assert moment_of(value) == read


def skeleton(tmp_path: Path, value: Any, layer: Any = "layer1", each: int = 1) -> Path:
    logs, _ = read_logs(write(tmp_path, value))
    folder = tmp_path / "out"
    made = skeletons_of(logs, layer, each, highest_number(folder, layer))
    write_skeletons(made, folder, "en-US")
    return folder


def test_a_skeleton_is_refused_until_it_is_filled(tmp_path: Path) -> None:
    folder = skeleton(tmp_path, CLAUDE)
    path = folder / "layer1" / "01_fees.yaml"
    with pytest.raises(SuiteError) as refused:
        load_suite(folder)
    text = path.read_text()
    for problem in refused.value.problems:
        assert "TODO" in text.splitlines()[problem.line - 1]
    assert [problem.field for problem in refused.value.problems] == [
        "user_question",
        "evaluation_criteria[0].text",
        "gold_facts.required[0].fact",
    ]
    for field, value in (("user_question", "When?"), ("text", "Says when."), ("fact", "March 24")):
        text = text.replace(f"{field}: # TODO", f"{field}: {value} # TODO")
    path.write_text(text)
    (case,) = load_suite(folder)
    (talk,) = case.conversations()
    assert [(message.role, message.text) for message in talk.messages] == TALK
    assert talk.timestamp == datetime(2025, 3, 4, 10, 15, tzinfo=UTC)
    assert talk.metadata == {"source_id": "x1", "title": "Fees", "begun": "2025-03-04T10:15:00+00:00"}
    assert "# conv_001#1, 2025-03-04T10:15:00+00:00" in text


def test_awkward_texts_come_through(tmp_path: Path) -> None:
    said = ["null", "- a: b\n---\n# c", "yes", "'\"", "a\tb\r\nc", "\N{SNOWMAN}\U0001f600", "word " * 60]
    value = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
    folder = skeleton(tmp_path, value)
    path = folder / "layer1" / "01_chat.yaml"
    head = "title: t\nuser_question: q\n"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        f"test_id: layer1_01_chat\ncategory: layer1\n{head}{text[text.index('---') :]}", encoding="utf-8"
    )
    (case,) = load_suite(folder)
    read = [message.text for message in case.conversations()[0].messages]
    assert read == [text.strip() for text in said]


def test_conversations_are_sorted_into_cases_by_time(tmp_path: Path) -> None:
    value = [
        {"id": f"n{day}", "messages": [{**ASK, "timestamp": f"2025-03-{day:02}"}, SAY]} for day in (9, 2, 5)
    ]
    folder = skeleton(tmp_path, value, "layer3", 3)
    text = (folder / "layer3" / "01_n9.yaml").read_text()
    assert [text.index(f"source_id: n{day}") for day in (2, 5, 9)] == sorted(
        text.index(f"source_id: n{day}") for day in (2, 5, 9)
    )
    assert "question_time: 2025-03-10" in text


def test_messages_of_one_speaker_in_a_row_are_joined(tmp_path: Path) -> None:
    logs, _ = read_logs(write(tmp_path, [ASK, ASK, SAY]))
    (made,) = skeletons_of(logs, "layer1", 1)
    assert made.joined == 1
    assert [message.text for message in made.logs[0].messages] == [
        "When is it due?\nWhen is it due?",
        "On March 24.",
    ]


def test_numbers_go_on_and_nothing_is_overwritten(tmp_path: Path) -> None:
    skeleton(tmp_path, [ASK, SAY])
    folder = skeleton(tmp_path, [ASK, SAY])
    assert [path.name for path in sorted((folder / "layer1").iterdir())] == ["01_chat.yaml", "02_chat.yaml"]
    logs, _ = read_logs(tmp_path / "log.json")
    with pytest.raises(InputError, match="is there already"):
        write_skeletons(skeletons_of(logs, "layer1", 1), folder, "en-US")


def test_a_log_is_cut_where_nothing_was_said_for_long(tmp_path: Path) -> None:
    at = ("2025-03-04T10:00:00", "2025-03-04T10:05:00", "2025-03-06T10:00:00", None)
    value = [{**(ASK if number % 2 == 0 else SAY), "timestamp": when} for number, when in enumerate(at)]
    logs, _ = read_logs(write(tmp_path, value))
    assert [len(log.messages) for log in at_gaps(logs[0], timedelta(hours=6))] == [2, 2]
    assert len(at_gaps(logs[0], timedelta(days=9))) == 1


def test_the_last_day_of_the_calendar_has_no_day_after(tmp_path: Path) -> None:
    folder = skeleton(tmp_path, [{**ASK, "timestamp": "9999-12-31T10:30:00"}, SAY])
    (file,) = folder.rglob("*.yaml")
    assert "question_time: 9999-12-31T10:00:00" in file.read_text()


def test_what_could_not_be_mapped_does_not_disturb_the_suite(tmp_path: Path) -> None:
    folder = skeleton(tmp_path, [ASK, SAY])
    (folder / "NOT_MAPPED.md").write_text("x")
    suite, problems = read_suite(folder)
    assert not [problem for problem in problems if problem.rule == "stray-file"]
    assert len(suite) == 0


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("New phone, who dis?", "new_phone_who_dis"),
        ("Überweisung!", "uberweisung"),
        ("東京", ""),
        ("a" * 90, "a" * 40),
    ],
)
def test_slugs(text: str, made: str) -> None:
    assert slug(text) == made


def test_what_stands_beside_a_text_is_listed_too(tmp_path: Path) -> None:
    author = {"role": "user", "name": "Orla", "metadata": {}}
    content = {"content_type": "text", "parts": ["When?"], "language": "en"}
    part = {"type": "output_text", "text": "Soon.", "annotations": [{"url": "x"}]}
    value = [{"author": author, "content": content}, {"role": "assistant", "content": [part]}]
    _, unmapped = read_logs(write(tmp_path, value))
    assert [left.where for left in unmapped] == [
        "$[0].content.language",
        "$[0].author.name",
        "$[1].content[0].annotations",
    ]
