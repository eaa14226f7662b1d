"""The plan of a run, beside what the run then does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.runs.plan import plan
from harness.suite import Suite, load_suite
from tests.model_server import Server
from tests.runs.conftest import Go
from tests.runs.probe import Watch, built_in, entrant

Fees = Callable[..., Suite]


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_run_does_what_was_planned(go: Go, repeats: int) -> None:
    suite = load_suite()
    entrants = built_in("bm25", "oracle", "no_memory", "echo")
    planned = plan(suite, entrants, reader="extractive", repeats=repeats)
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
    planned = plan(suite, entrants, reader="llm", repeats=2)
    assert [one.calls for one in planned] == [(6, 6), (6, 6), (6, 6), (0, 0)]
    done = go(suite, entrants, reader="llm", repeats=2, server=model_server)
    assert done.failed == 0
    assert model_server.stats()["chat"] == sum(one.calls[0] for one in planned)


def test_a_plan_touches_no_system(fees: Fees) -> None:
    watch = Watch()
    plan(fees(2), [entrant(watch)], reader="llm", repeats=1)
    assert watch.seen == []


def test_a_strategy_writes_after_each_conversation(fees: Fees) -> None:
    (default, few) = plan(
        fees(3), built_in("simple_notes", "few=simple_notes(steps=4)"), reader="extractive", repeats=2
    )
    assert (default.conversations, default.calls[0]) == (6, 6)
    assert few.calls == (6, 24)
    (read,) = plan(fees(3), built_in("few=simple_notes(steps=4)"), reader="llm", repeats=2)
    assert read.calls == (12, 30)


def test_steps_that_are_no_number_are_for_the_strategy_to_refuse(fees: Fees) -> None:
    (one,) = plan(fees(1), built_in("simple_notes(steps='x')"), reader="extractive", repeats=1)
    (default,) = plan(fees(1), built_in("simple_notes"), reader="extractive", repeats=1)
    assert one.calls == default.calls
