"""The plan of a run, beside what the run then does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.suite import Suite, load_suite
from tests.model_server import Server
from tests.runs.conftest import Go, planned_for
from tests.runs.probe import Watch, built_in, entrant

Fees = Callable[..., Suite]


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_run_does_what_was_planned(go: Go, repeats: int) -> None:
    suite = load_suite()
    entrants = built_in("bm25", "oracle", "no_memory", "echo")
    planned = planned_for(suite, entrants, repeats=repeats)
    done = go(suite, entrants, repeats=repeats)
    for one, folder in zip(planned, done.folders, strict=True):
        records = list(folder.records())
        given = [talk for record in records for talk in record.delivered]
        assert one == (
            folder.manifest.system.label,
            len(suite),
            len(records),
            len(given),
            sum(talk.messages for talk in given),
            sum(talk.words for talk in given),
            (0, 0),
        )
        assert sum(record.words_in for record in records) == one.words


def test_the_calls_of_a_reader_are_those_planned(fees: Fees, go: Go, model_server: Server) -> None:
    suite = fees(3)
    entrants = [entrant(Watch()), *built_in("no_memory", "full_context", "echo")]
    planned = planned_for(suite, entrants, model_server, reader="llm", repeats=2)
    assert [one.calls for one in planned] == [(6, 6), (6, 6), (6, 6), (0, 0)]
    done = go(suite, entrants, reader="llm", repeats=2, server=model_server)
    assert done.failed == 0
    assert model_server.stats()["chat"] == sum(one.calls[0] for one in planned)


def test_a_plan_opens_no_agent(fees: Fees) -> None:
    watch = Watch()
    planned_for(fees(2), [entrant(watch)], reader="llm")
    assert watch.seen == []


def test_a_strategy_writes_after_each_conversation(fees: Fees) -> None:
    both = built_in("simple_notes", "few=simple_notes(steps=4)")
    default, few = planned_for(fees(3), both, repeats=2)
    assert (default.conversations, default.calls) == (6, (6, 90))
    assert few.calls == (6, 24)
    (read,) = planned_for(fees(3), built_in("few=simple_notes(steps=4)"), reader="llm", repeats=2)
    assert read.calls == (12, 30)


def test_what_a_model_writes_for_an_index_is_counted(fees: Fees) -> None:
    suite = load_suite().select(layer="layer1")
    cards, both, plain = planned_for(
        suite, built_in("bm25(over='json_cards')", "bm25(over='simple_notes(steps=2)', prefix=True)", "bm25")
    )
    assert cards.calls == (cards.conversations, 15 * cards.conversations)
    assert plain.calls == (0, 0)
    prefixes = both.calls[0] - both.conversations
    assert prefixes > 15 * both.conversations, "one for each three rounds of fifty or more"
    assert both.calls == (both.conversations + prefixes, 2 * both.conversations + prefixes)


def test_the_calls_for_prefixes_are_those_planned(fees: Fees, go: Go, model_server: Server) -> None:
    model_server.set_faults([{"do": {"text": "About a fee."}}])
    suite, entrants = fees(3), built_in("bm25(rounds=1, prefix=True)")
    (planned,) = planned_for(suite, entrants, model_server)
    asked = model_server.stats()["chat"]
    assert go(suite, entrants, server=model_server).failed == 0
    assert planned.calls == (model_server.stats()["chat"] - asked,) * 2 != (0, 0)


def test_a_system_that_answers_by_itself_is_read_by_nobody(fees: Fees) -> None:
    both = [entrant(Watch(), "Both", label="both"), entrant(Watch(), "Answering", label="own")]
    assert [one.calls for one in planned_for(fees(2), both, reader="own")] == [(0, 0), (0, 0)]
    assert [one.calls for one in planned_for(fees(2), both, reader="llm")] == [(2, 2), (0, 0)]
    (chat,) = planned_for(fees(2), built_in("openai_chat"))
    assert chat.calls == (2, 2)
