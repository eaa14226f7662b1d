"""Files of the right name and the wrong shape: each problem with its place, and never a crash."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import InputError, SuiteError
from harness.suite import load_suite
from harness.suite.importers import import_files, write_suite
from tests.suite.importers.synthetic import lme_item, locomo_sample, written

Step = str | int


def changed(item: Any, at: tuple[Step, ...], value: Any) -> Any:
    """Return an item with another value at a place."""
    if not at:
        return value
    copy = json.loads(json.dumps(item))
    holder = copy
    for step in at[:-1]:
        holder = holder[step]
    holder[at[-1]] = value
    return copy


@pytest.mark.parametrize(
    ("item", "at", "value", "field", "told"),
    [
        (locomo_sample(), ("qa",), None, "[0].qa", "is None, and must be a list."),
        (locomo_sample(), ("conversation",), None, "[0].conversation", "must be an object"),
        (locomo_sample(), ("conversation",), [], "[0].conversation", "must be an object"),
        (locomo_sample(), ("conversation", "session_1"), "Hi.", "[0].conversation.session_1", "must be a list"),
        (locomo_sample(), ("conversation", "session_1"), 7, "[0].conversation.session_1", "must be a list"),
        (locomo_sample(), ("conversation", "session_1", 1), "Hi.", "[0].conversation.session_1[1]", "an object"),
        (locomo_sample(), ("conversation", "session_01"), [], "[0].conversation", "has session 1 twice"),
        (locomo_sample(), ("conversation", "session_1", 0, "text"), ["Hi."], "[0].conversation.session_1[0].text",
         "must be text or a number"),
        (locomo_sample(), ("qa", 2), "What?", "[0].qa[2]", "must be an object"),
        (locomo_sample(), ("qa", 2, "category"), [1], "[0].qa[2].category", "must be text or a number"),
        (locomo_sample(), ("qa", 2, "evidence"), 7, "[0].qa[2].evidence", "is 7, and must be a text or a list"),
        (locomo_sample(), ("qa", 2, "evidence"), [["D1:1"]], "[0].qa[2].evidence", "a list of texts"),
        (lme_item(), ("haystack_sessions",), None, "[0].haystack_sessions", "is None, and must be a list."),
        (lme_item(), ("haystack_sessions", 0), {"a": 1}, "[0].haystack_sessions[0]", "must be a list"),
        (lme_item(), ("haystack_sessions", 0, 1), "Hi.", "[0].haystack_sessions[0][1]", "must be an object"),
        (lme_item(), ("haystack_dates",), 7, "[0].haystack_dates", "is 7, and must be a list."),
        (lme_item(), ("answer_session_ids",), 7, "[0].answer_session_ids", "must be a list"),
        (lme_item(), ("question_id",), ["q"], "[0].question_id", "must be text or a number"),
    ],
)  # fmt: skip
def test_a_wrong_shape_is_a_problem(
    tmp_path: Path, item: Any, at: tuple[Step, ...], value: Any, field: str, told: str
) -> None:
    path = written(tmp_path / "file.json", [changed(item, at, value)])
    with pytest.raises(SuiteError) as caught:
        import_files([path])
    (problem,) = caught.value.problems
    assert (problem.path, problem.field, problem.rule) == (path, field, "bad-shape")
    assert told in problem.message
    assert problem.mend


def test_every_problem_of_a_file_is_told_with_the_item(tmp_path: Path) -> None:
    bad = changed(changed(locomo_sample("b"), ("qa", 0, "evidence"), 7), ("qa", 1, "category"), {})
    with pytest.raises(SuiteError) as caught:
        import_files([written(tmp_path / "file.json", [locomo_sample("a"), bad])])
    assert [one.field for one in caught.value.problems] == ["[1].qa[0].evidence", "[1].qa[1].category"]


@pytest.mark.parametrize(
    ("item", "at"),
    [
        (locomo_sample(), ("conversation", "session_1", 0, "text")),
        (locomo_sample(), ("qa", 0, "question")),
        (lme_item(), ("haystack_sessions", 0, 0, "content")),
        (lme_item(), ("answer",)),
    ],
)
def test_half_a_surrogate_pair_is_a_listed_repair(tmp_path: Path, item: Any, at: tuple[Step, ...]) -> None:
    path = written(tmp_path / "file.json", [changed(item, at, "half \ud800 gone")])
    imported = import_files([path])
    write_suite(imported, tmp_path / "suite")
    place = "[0]" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
    found = [one.where for one in imported.report.findings if one.kind == "lone-surrogate"]
    assert found == [f"file.json {place}"]
    text = "".join(each.read_text() for each in (tmp_path / "suite").rglob("*.yaml"))
    assert "half \ufffd gone" in text
    assert len(load_suite(tmp_path / "suite")) == len(imported.questions)


def test_sessions_in_another_spelling_are_read(tmp_path: Path) -> None:
    sample = locomo_sample()
    talks = sample["conversation"]
    talks["session_01"], talks["session_01_date_time"] = (
        talks.pop("session_1"),
        talks.pop("session_1_date_time"),
    )
    (haystack,) = import_files([written(tmp_path / "file.json", [sample])]).haystacks.values()
    assert [(one.id, one.timestamp is not None) for one in haystack] == [
        ("session_1", True),
        ("session_2", True),
    ]


PLACES: dict[str, Any] = {"locomo": locomo_sample(), "longmemeval": lme_item()}


def places_of(value: Any, at: tuple[Step, ...] = ()) -> list[tuple[Step, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, item in items for place in places_of(item, (*at, key)))]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([(name, at) for name, item in PLACES.items() for at in places_of(item)]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(["", "9" * 5000, "D9:9"]),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
        max_leaves=3,
    ),
)  # fmt: skip
def test_whatever_stands_anywhere_is_imported_or_refused(tmp_path: Path, where: Any, value: Any) -> None:
    name, at = where
    path = written(tmp_path / "file.json", [changed(PLACES[name], at, value)])
    with suppress(InputError):
        assert import_files([path]).report.files
