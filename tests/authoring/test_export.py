"""What is exported loads again as it was."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.authoring import export_suite
from harness.authoring.case_text import as_documents, as_legacy, header_data
from harness.authoring.folders import write_pieces
from harness.authoring.markdown import plain
from harness.errors import InputError
from harness.facts import FactType, GoldFact
from harness.suite import Case, Conversation, Criterion, GoldFacts, Message, Suite, load_suite
from tests.conftest import case_header

NAME = "layer1_01_fee"


def content(suite: Suite) -> list[Any]:
    return [
        (replace(case, path=Path(), form="documents", gold_path=None), case.conversations()) for case in suite
    ]


@pytest.fixture
def suite(write_suite: Any) -> Suite:
    return load_suite(write_suite(NAME, "layer2_01_fee"))


def test_the_legacy_form_loads_as_the_same_suite(suite: Suite, tmp_path: Path) -> None:
    list(export_suite(suite, "legacy", tmp_path / "old"))
    again = load_suite(tmp_path / "old")
    assert {case.form for case in again} == {"legacy"}
    assert content(again) == content(suite)


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_each_case_of_a_json_export_loads_as_the_same_case(suite: Suite, tmp_path: Path, form: str) -> None:
    text = "".join(export_suite(suite, form))
    cases = json.loads(text)["cases"] if form == "json" else list(map(json.loads, text.splitlines()))
    for case in cases:
        path = tmp_path / "again" / case["category"] / "01_fee.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(case, ensure_ascii=False), encoding="utf-8")
    assert content(load_suite(tmp_path / "again")) == content(suite)


def test_the_bundled_suite_survives_the_legacy_form(tmp_path: Path) -> None:
    whole = load_suite()
    some = Suite(whole.root, whole.cases[::12])
    list(export_suite(some, "legacy", tmp_path / "old"))
    assert content(load_suite(tmp_path / "old")) == content(some)


def test_facts_of_a_gold_file_are_exported(write_suite: Any, tmp_path: Path) -> None:
    root = write_suite(NAME)
    (tmp_path / "gold.json").write_text(json.dumps({NAME: [{"fact": "$45", "type": "money"}]}))
    suite = load_suite(root, gold=tmp_path / "gold.json")
    list(export_suite(suite, "legacy", tmp_path / "old"))
    (again,) = load_suite(tmp_path / "old")
    assert again.gold == suite.cases[0].gold


def test_a_suite_that_shares_haystacks_has_no_legacy_form(suite: Suite, tmp_path: Path) -> None:
    shared = Suite(suite.root, tuple(replace(case, haystack=tmp_path / "h1.yaml") for case in suite))
    with pytest.raises(InputError, match="the legacy form has no place for"):
        list(export_suite(shared, "legacy", tmp_path / "old"))
    assert not (tmp_path / "old").exists()


def test_an_export_does_not_go_where_something_is(suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="there is something already"):
        list(export_suite(suite, "legacy", tmp_path / "old"))
    assert [path.name for path in (tmp_path / "old").iterdir()] == ["mine.txt"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_text)
        write_pieces(pipe, ["a", "b"])
        assert pipe.is_fifo()
        assert read.result(10) == "ab"


def test_a_broken_suite_leaves_nothing_behind(write_suite: Any, tmp_path: Path) -> None:
    suite = load_suite(write_suite(NAME, "layer2_01_fee"))
    path = suite.cases[1].path
    path.write_text(path.read_text().replace("messages:", "massages:"))
    with pytest.raises(InputError):
        list(export_suite(suite, "legacy", tmp_path / "old"))
    assert [path.name for path in tmp_path.iterdir()] == ["suite"]


def test_markdown_has_dialogues_criteria_and_gold(suite: Suite) -> None:
    text = "".join(export_suite(suite, "md"))
    assert text.startswith("# suite\n\n2 cases, hash `")
    for line in (
        "## layer1\\_01\\_fee: Title of layer1\\_01\\_fee",
        "- **fee** (accuracy, fee): States the fee of $45.",
        "| required | due | March 24, 2025 | date | March 24 | conv\\_001\\#3 |  |",
        "3. **user**: And I pay it on Monday, March 24, 2025.",
    ):
        assert line in text.splitlines()


def test_markdown_shows_markup_as_text(write_suite: Any) -> None:
    question = "Is it <b>1</b> | *2* | [3](x)?\n\n# Four\n- five"
    (piece, *_) = (
        piece
        for piece in export_suite(load_suite(write_suite(case_header(NAME, user_question=question))), "md")
        if "Question" in piece
    )
    assert "\\<b\\>1\\</b\\> \\| \\*2\\* \\| \\[3\\](x)?\n\n\\# Four\\\n\\- five" in piece
    assert plain("a\nb | c") == "a b \\| c"


# Whatever text a case may hold: the loader strips it and takes no empty one.
_chars = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co"]) | st.sampled_from(
    "\n\t'\":#-{}[]|>&*!%@`~"
)
_text = st.text(_chars, min_size=1, max_size=40).map(str.strip).filter(bool)
_awkward = st.sampled_from(["yes", "null", "~", "12:30", "010", "1e3", "- a", "a: b", "--- ", "# no", "'", '"', "<<", "=", "2025-01-01", "a\n---\nb", "|", "\N{SNOWMAN}\U0001f600"])  # fmt: skip
texts = _text | _awkward.map(str.strip)
_zones = st.sampled_from([None, UTC, timezone(timedelta(hours=-5)), timezone(timedelta(hours=5, minutes=30))])
times = st.none() | st.datetimes(datetime(1990, 1, 1), datetime(2050, 1, 1), timezones=_zones)
facts = st.builds(
    GoldFact,
    fact=texts.map(lambda text: f"x {text}"),
    type=st.sampled_from([kind for kind in FactType if kind is not FactType.ABSTAIN]),
    accept=st.lists(texts.map(lambda text: f"x {text}"), max_size=2).map(tuple),
    evidence=st.lists(st.sampled_from(["conv_1#1", "conv_2#3"]), max_size=2).map(tuple),
    why=st.just("") | texts,
)
criteria = st.builds(
    Criterion,
    id=st.just("one"),
    text=texts,
    dimension=st.sampled_from([None, "accuracy", "context"]),
    weight=st.sampled_from([1.0, 2.0, 0.5]),
    kind=st.sampled_from(["fact", "behaviour"]),
)
cases = st.builds(
    Case,
    id=st.just(NAME),
    category=st.just("layer1"),
    title=texts,
    description=st.just("") | texts,
    domain=st.just("") | texts,
    abilities=st.lists(texts, max_size=2).map(tuple),
    locale=st.sampled_from(["en-US", "de-AT"]),
    cluster=st.none() | texts,
    entities=st.lists(texts, max_size=2).map(tuple),
    question_time=times,
    question=texts,
    criteria=st.lists(criteria, max_size=1).map(tuple),
    expected_behavior=st.just("") | texts,
    gold=st.builds(
        GoldFacts, required=st.lists(facts.map(lambda fact: replace(fact, id="a")), max_size=1).map(tuple)
    ),
    answerable=st.just(True),
    path=st.just(Path()),
)
talks = st.builds(
    Conversation,
    id=st.just("conv_1"),
    timestamp=times,
    metadata=st.dictionaries(texts, st.just("") | texts, max_size=2),
    messages=st.lists(
        st.builds(Message, role=st.sampled_from(["user", "assistant"]), text=texts), min_size=1, max_size=3
    ).map(tuple),
)


@pytest.mark.parametrize("write", [as_documents, as_legacy])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=cases, talk=talks)
def test_any_case_survives_both_forms(tmp_path: Path, write: Any, case: Case, talk: Conversation) -> None:
    path = tmp_path / "01_fee.yaml"
    path.write_text(write(header_data(case), [talk]), encoding="utf-8", newline="\n")
    (again,) = load_suite(path)
    assert replace(again, path=Path(), form="documents") == case
    assert again.conversations() == (talk,)
