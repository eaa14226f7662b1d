from __future__ import annotations

import json
from typing import Any

import pytest

from tests.adapters.strategies.agents import ASKED, DONE, FIRST, SECOND, remember, texts
from tests.adapters.strategies.scripted import serving

# By strategy: an entry, how it reads; a partial change of it, how it reads then.
ENTRIES: dict[str, tuple[dict[str, Any], str, dict[str, Any], str]] = {
    "simple_notes": (
        {"text": "The account number is 4429853327.", "tags": "bank, id"},
        "The account number is 4429853327. [bank, id]",
        {"text": "The checking account number is 4429853327."},
        "The checking account number is 4429853327. [bank, id]",
    ),
    "enhanced_notes": (
        {"text": "On the phone the user opened an account, 4429853327.", "tags": ["bank", "id"]},
        "On the phone the user opened an account, 4429853327. [bank, id]",
        {"tags": "bank"},
        "On the phone the user opened an account, 4429853327. [bank]",
    ),
    "json_cards": (
        {"category": "bank", "subcategory": "checking", "key": "number", "value": 4429853327},
        "bank > checking > number: 4429853327",
        {"subcategory": "joint account"},
        "bank > joint account > number: 4429853327",
    ),
    "advanced_json_cards": (
        {
            "person": "Orla",
            "relationship": "self",
            "category": "bank",
            "key": "checking",
            "backstory": "Opened by phone.",
            "values": [{"name": "number", "value": "4429853327"}, {"name": "fee", "value": "$30"}],
        },
        "bank > checking, of Orla (self): number: 4429853327; fee: $30\n"
        "backstory: Opened by phone.\ndate_created: 2025-03-04",
        {"values": {"fee": "$45"}},
        "bank > checking, of Orla (self): number: 4429853327; fee: $45\n"
        "backstory: Opened by phone.\ndate_created: 2025-03-04",
    ),
}
ALL = pytest.mark.parametrize("name", ENTRIES)


def step(*operations: dict[str, Any], done: bool = False) -> dict[str, Any]:
    return {"operations": list(operations), "done": done}


def results(model: Any, at: int = -1) -> list[str]:
    """The results that the request `at` gives back."""
    lines = model.requests[at]["messages"][-1]["content"].splitlines()
    return [line.partition(". ")[2] for line in lines if line[:1].isdigit() and ". " in line[:4]]


@ALL
def test_add_update_and_delete(name: str) -> None:
    entry, said, change, changed = ENTRIES[name]
    other = {key: f"other {key}" for key in entry if key != "values"}
    if "values" in entry:
        other = {**other, "values": {"number": "1"}}
    with serving(
        step({"op": "add", **entry, "messages": "2"}, {"op": "add", **other}),
        step({"op": "delete", "id": "n2" if "notes" in name else "c2"}, done=True),
        step({"op": "update", "id": "n1" if "notes" in name else "C1", **change, "messages": [1]}, done=True),
    ) as model:
        first = remember(name, model.base_url, [FIRST])
        assert list(texts(first).values()) == [said]
        assert first.list()[0].created_at == FIRST.timestamp
        assert first.list()[0].source_refs == ("conv_001#2",)
        model.script[:0] = [step({"op": "add", **entry, "messages": "2"}, done=True)]
        agent = remember(name, model.base_url, [FIRST, SECOND])
    assert texts(agent) == {("n1" if "notes" in name else "c1"): changed}
    (memory,) = agent.recall(ASKED, 1)
    assert memory.created_at == SECOND.timestamp
    assert memory.source_refs == ("conv_001#2", "conv_002#1")
    assert [one.finished for one in agent.log] == [True, True]
    assert agent.cut_short == ()


@ALL
def test_what_makes_no_sense_is_said_to_the_model_and_changes_nothing(name: str) -> None:
    entry, said, change, _ = ENTRIES[name]
    noun = "note" if "notes" in name else "card"
    with serving(
        step(
            {"op": "add", **entry},
            {"op": "update", "id": "x9", **change},
            {"op": "delete", "id": "x9"},
            {"op": "delete"},
            {"op": "merge", "id": f"{noun[0]}1"},
            {"id": f"{noun[0]}1"},
            {"op": "add"},
            {"op": "add", **entry},
            {"op": "update", "id": f"{noun[0]}1"},
        ),
        DONE,
    ) as model:
        agent = remember(name, model.base_url)
    assert texts(agent) == {f"{noun[0]}1": said}
    got = results(model)
    assert got[0] == f"added {noun[0]}1"
    assert got[1] == got[2] == f'error: there is no {noun} "x9"; ids: {noun[0]}1'
    assert '"merge" is no operation; they are add, update, delete' in got[4]
    assert f"a {noun} needs" in got[6]
    assert f"{noun[0]}1 has the same" in got[7]
    assert "names nothing to change" in got[8]
    assert all(line.startswith("error: ") for line in got[1:])
    assert (agent.log[0].steps, agent.log[0].done, agent.log[0].refused) == (2, 1, 8)


@ALL
def test_when_the_steps_run_out_what_is_stored_stays_and_it_is_said(name: str) -> None:
    entry, _, change, changed = ENTRIES[name]
    ident = "n1" if "notes" in name else "c1"
    with serving(step({"op": "add", **entry}), step({"op": "update", "id": ident, **change}), DONE) as model:
        agent = remember(f"{name}(steps=2)", model.base_url, [FIRST, SECOND])
    assert texts(agent) == {ident: changed}
    assert agent.cut_short == ("conv_001",)
    assert [one.finished for one in agent.log] == [False, True]
    assert "1 reply left" in model.requests[1]["messages"][-1]["content"]


def test_there_are_fifteen_steps_at_most() -> None:
    script = [step({"op": "add", "text": f"Fact number {n}."}) for n in range(15)]
    with serving(*script) as model:
        agent = remember("simple_notes", model.base_url)
    assert len(agent.list()) == len(model.requests) == 15
    assert agent.cut_short == ("conv_001",)


@pytest.mark.parametrize("options", ["steps=0", "steps=16", "max_tokens=1", "stepz=3"])
def test_options_that_do_not_fit_are_refused(options: str) -> None:
    from harness.errors import InputError
    from tests.adapters.strategies.agents import adapter

    with pytest.raises(InputError, match=options.partition("=")[0]):
        adapter(f"simple_notes({options})")


@pytest.mark.parametrize(
    "end", [DONE, {"operations": []}, {"done": True}, {"done": "yes", "operations": None}]
)
def test_an_empty_list_or_done_ends_it(end: dict[str, Any]) -> None:
    with serving(end) as model:
        agent = remember("simple_notes", model.base_url)
    assert agent.list() == []
    assert agent.log[0].finished


def test_a_reply_without_operations_is_asked_for_again() -> None:
    with serving({"notes": ["The account is open."]}, "Sure!", DONE) as model:
        remember("simple_notes", model.base_url)
    assert "`operations` is absent" in model.requests[1]["messages"][-1]["content"]


def test_the_reply_and_its_results_go_back_in_order() -> None:
    operation = {"op": "add", "text": "The account is open.", "tags": "", "id": "", "messages": ""}
    with serving(step(operation), DONE) as model:
        remember("simple_notes", model.base_url)
    system, user, said, back = model.requests[1]["messages"]
    assert [system, user] == model.requests[0]["messages"]
    used = {"op": "add", "text": "The account is open."}
    assert said["role"] == "assistant"
    assert json.loads(said["content"]) == {"operations": [used], "done": False}
    assert back["role"] == "user"
    assert "1. added n1" in back["content"]


def test_message_numbers_that_do_not_exist_are_left_out_and_said() -> None:
    with serving(step({"op": "add", "text": "It is open.", "messages": "1-3, 99"}), DONE) as model:
        agent = remember("simple_notes", model.base_url)
    assert agent.list()[0].source_refs == ("conv_001#1", "conv_001#2", "conv_001#3")
    assert results(model) == ["added n1 (no such message: 99)"]


def test_everything_is_recalled_last_written_first() -> None:
    adds = [{"op": "add", "text": f"Fact {n}."} for n in range(3)]
    with serving(step(*adds, {"op": "update", "id": "n1", "tags": "new"}, done=True)) as model:
        agent = remember("simple_notes", model.base_url)
    assert [memory.id for memory in agent.recall(ASKED, 1)] == ["n1", "n3", "n2"]
    assert [memory.id for memory in agent.list()] == ["n1", "n2", "n3"]


def test_people_stay_apart_and_a_value_can_be_removed() -> None:
    def card(person: str) -> dict[str, Any]:
        return {
            "op": "add",
            "person": person,
            "category": "bank",
            "key": "account",
            "values": {"id": person, "fee": "$1"},
        }

    with serving(
        step(card("Orla"), card("Ilse"), card("orla ")),
        step(
            {"op": "update", "id": "c1", "values": [{"name": "fee", "value": ""}]},
            {"op": "update", "id": "c2", "values": {"id": "", "fee": ""}},
            {"op": "update", "id": "c2", "person": "Orla"},
            done=True,
        ),
        DONE,
    ) as model:
        agent = remember("advanced_json_cards", model.base_url)
    assert len(model.requests) == 3  # done, and yet shown what was refused
    assert results(model)[2].startswith("error: c1 has the same person, category, key")
    assert [text.splitlines()[0] for text in texts(agent).values()] == [
        "bank > account, of Orla: id: Orla",
        "bank > account, of Ilse: id: Ilse; fee: $1",
    ]
    assert agent.log[0].refused == 3
