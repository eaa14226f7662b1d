"""Delivery: what a system is handed of a case, and that one can see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
import yaml

from harness.adapters.registry import AdapterInfo, find_adapter
from harness.naming import parse_spec
from harness.runs.delivery import conversations_for, delivered, in_order_of_time
from harness.runs.scoring import score_run
from harness.scoring import find_scorer
from harness.suite import Case, Conversation, Message, Suite, load_suite
from tests.conftest import TALK as TALK_DATA
from tests.conftest import case_header
from tests.runs.conftest import Go
from tests.runs.probe import WHEN, built_in

ORACLE = find_adapter(parse_spec("oracle", "--system"))
BUNDLED = load_suite()


def places(conversations: tuple[Conversation, ...], whole: tuple[Conversation, ...]) -> list[str]:
    """Return what was handed over as `conversation#message`, by the texts."""
    texts = {
        (talk.id, message.text): f"{talk.id}#{number}"
        for talk in whole
        for number, message in enumerate(talk.messages, start=1)
    }
    return [texts[talk.id, message.text] for talk in conversations for message in talk.messages]


@pytest.mark.parametrize("case", list(BUNDLED), ids=lambda case: case.id)
def test_the_oracle_is_handed_the_cited_messages_in_order(case: Case) -> None:
    whole = case.conversations()
    given = conversations_for(ORACLE, case, whole)
    cited = {place for fact in case.gold.required for place in (*fact.evidence, *fact.derived_from)}
    order = [f"{talk.id}#{number}" for talk in whole for number in range(1, len(talk.messages) + 1)]
    assert places(given, whole) == [place for place in order if place in cited]
    assert len(places(given, whole)) == len(cited)
    for talk in given:
        source = next(one for one in whole if one.id == talk.id)
        assert (talk.timestamp, talk.metadata) == (source.timestamp, source.metadata)


def test_what_a_derived_fact_follows_from_is_cited_too(fees: Callable[..., Suite]) -> None:
    derived = {"id": "rise", "fact": "$15", "type": "money", "derived_from": ["conv_001#2", "conv_001#1"]}
    optional = {"id": "other", "fact": "$99", "type": "money", "evidence": ["conv_001#4"]}
    (case,) = fees(1, gold_facts={"required": [derived], "optional": [optional]}, evaluation_criteria=[])
    whole = case.conversations()
    given = conversations_for(ORACLE, case, whole)
    assert places(given, whole) == ["conv_001#1", "conv_001#2"]


def test_the_oracle_is_handed_nothing_where_nothing_is_cited(fees: Callable[..., Suite]) -> None:
    (case,) = fees(
        1,
        answerable=False,
        gold_facts={"required": [{"id": "none", "fact": "__ABSTAIN__", "type": "abstain"}]},
        evaluation_criteria=[],
    )
    assert conversations_for(ORACLE, case, case.conversations()) == ()


@pytest.mark.parametrize(
    "info",
    [
        find_adapter(parse_spec("bm25", "--system")),
        find_adapter(parse_spec("full_context", "--system")),
        ORACLE._replace(source="a-plugin"),
        AdapterInfo("mine:oracle", "mine:oracle", "own", ""),
    ],
    ids=lambda info: f"{info.name}-{info.source}",
)
def test_every_other_system_is_handed_everything(info: AdapterInfo) -> None:
    case = BUNDLED.cases[0]
    assert conversations_for(info, case, case.conversations()) == case.conversations()


TALK = Conversation(
    "conv_001",
    WHEN,
    {"business": "Harbor"},
    (Message("user", "So the fee is $45?"), Message("assistant", "Yes.", WHEN)),
)


def test_what_was_handed_over_can_be_read() -> None:
    found = delivered(TALK)
    assert found[:-1] == ("conv_001", 2, 1, 6, "2025-03-04T10:15:00+00:00", ("business",))
    assert len(found.digest) == 12
    assert delivered(replace(TALK, timestamp=None)).timestamp is None


@pytest.mark.parametrize(
    "change",
    [
        {"id": "conv_002"},
        {"timestamp": WHEN.replace(second=1)},
        {"timestamp": WHEN.replace(tzinfo=None)},
        {"timestamp": None},
        {"metadata": {"business": "Harbour"}},
        {"metadata": {"Business": "Harbor"}},
        {"metadata": {}},
        {"messages": (Message("user", "So the fee is $45!"), TALK.messages[1])},
        {"messages": (Message("user", "So the fee is $45? "), TALK.messages[1])},
        {"messages": (Message("assistant", "So the fee is $45?"), TALK.messages[1])},
        {"messages": (Message("user", "So the fee is $45?", WHEN), TALK.messages[1])},
        {"messages": (TALK.messages[0], Message("assistant", "Yes."))},
        {"messages": TALK.messages[::-1]},
        {"messages": TALK.messages[:1]},
        {"messages": (*TALK.messages, Message("user", "\ud800"))},
    ],
    ids=str,
)
def test_the_digest_is_of_everything(change: dict[str, Any]) -> None:
    assert delivered(replace(TALK, **change)).digest != delivered(TALK).digest


def test_the_same_conversation_has_the_same_digest() -> None:
    two = {"channel": "phone", "business": "Harbor"}
    one = replace(TALK, metadata=dict(reversed(two.items())))
    assert delivered(one).digest == delivered(replace(TALK, metadata=two)).digest
    case = BUNDLED.cases[0]
    assert list(map(delivered, case.conversations())) == list(map(delivered, case.conversations()))


def test_the_bounds_are_bounds_on_the_bundled_cases(go: Go) -> None:
    done = go(BUNDLED, built_in("no_memory", "last_conversation", "full_context", "oracle"))
    scorer = find_scorer("evidence-recall")
    cases = [case for case in BUNDLED if case.category != "layer1"]
    rewards = [
        [score.reward for score in score_run(folder, cases, scorer).scores.scores] for folder in done.folders
    ]
    nothing, last, everything, cited = rewards
    assert set(nothing) == {0.0}
    assert set(everything) == set(cited) == {1.0}
    assert all(score is not None and score < 1.0 for score in last), "some fact is in an earlier conversation"
    assert sum(score or 0.0 for score in last) > 0.0
    assert done.failed == 0


@pytest.mark.parametrize(
    ("times", "order"),
    [
        (["2025-03-04T10:00", "2025-03-02T10:00", "2025-03-03T10:00"], [1, 2, 0]),
        (["2025-03-04T10:00+00:00", "2025-03-04T11:00+02:00"], [1, 0]),
        (["2025-03-04T10:00", "2025-03-04T11:00+02:00"], [0, 1]),
        (["2025-03-04T10:00", "2025-03-04T10:00"], [0, 1]),
        (["2025-03-04T10:00", None, "2025-03-02T10:00"], [0, 1, 2]),
        (["2025-03-04T10:00", "2025-03-04", "2025-03-03T09:00"], [2, 0, 1]),
        ([], []),
    ],
)
def test_conversations_are_put_in_order_of_time(times: list[str | None], order: list[int]) -> None:
    talks = [
        Conversation(str(at), time and datetime.fromisoformat(time), {}, ())  # type: ignore[arg-type]
        for at, time in enumerate(times)
    ]
    assert [int(talk.id) for talk in in_order_of_time(talks)] == order


def test_a_system_is_handed_a_case_in_order_of_time(write_suite: Any, go: Go) -> None:
    later = {**TALK_DATA, "conversation_id": "conv_002", "timestamp": "2025-03-20T09:00:00-05:00"}
    root = write_suite(case_header("layer2_01_fee"))
    path = next(root.rglob("*.yaml"))
    header = yaml.safe_load_all(path.read_text(encoding="utf-8")).__next__()
    path.write_text(yaml.safe_dump_all([header, later, TALK_DATA], sort_keys=False), encoding="utf-8")
    done = go(load_suite(root), built_in("full_context", "last_conversation"))
    assert done.sorted == 1
    for folder in done.folders:
        (record,) = folder.records()
        assert [one.id for one in record.delivered] == [TALK_DATA["conversation_id"], "conv_002"]
        refs = {memory.source_refs[0].partition("#")[0] for memory in record.memories or ()}
        assert refs == {"conv_002"} | ({TALK_DATA["conversation_id"]} if folder is done.folders[0] else set())
    assert go(BUNDLED.select(layer="layer2"), built_in("last_conversation")).sorted == 0
