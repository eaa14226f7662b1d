"""One attempt: its phases, their times, and what a failure in each leaves behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from harness.adapters.hosts import Timeouts
from harness.adapters.protocol import AgentFailure
from harness.runs.record import Record
from harness.suite import Suite, load_suite
from tests.conftest import TALK
from tests.model_server import Server
from tests.runs.conftest import Go
from tests.runs.probe import Watch, entrant, failing

Fees = Callable[..., Suite]
PHASES = ("open", "ingest", "wait", "recall", "close")


def only(done: Any) -> Record:
    (record,) = done.folders[0].records()
    found: Record = record
    return found


def test_the_phases_come_in_order_and_are_timed(fees: Fees, go: Go) -> None:
    watch = Watch()
    record = only(go(fees(1), [entrant(watch)]))
    assert tuple(phase for phase, _ in watch.seen) == PHASES
    assert list(record.timings) == [*PHASES, "read"]
    assert all(seconds >= 0 for seconds in record.timings.values())
    assert watch.seen[0] == ("open", record.namespace)
    assert (len(record.namespace), record.namespace.isalnum()) == (32, True)
    assert (record.attempt, record.failure, record.answer) == (1, None, None)
    assert record.memories is not None
    assert [memory.text for memory in record.memories] == [next(iter(m.values())) for m in TALK["messages"]]
    assert [(one.id, one.messages, one.metadata) for one in record.delivered] == [
        ("conv_001", 4, ("business",))
    ]


def test_a_phase_takes_the_time_that_is_spent_in_it(fees: Fees, go: Go) -> None:
    async def slow(phase: str, what: str) -> None:
        if phase == "wait":
            await asyncio.sleep(0.05)

    assert only(go(fees(1), [entrant(Watch(slow))])).timings["wait"] >= 0.05


def test_a_system_that_answers_is_asked_for_an_answer(fees: Fees, go: Go) -> None:
    watch = Watch()
    record = only(go(fees(1), [entrant(watch, "Answering")]))
    assert [phase for phase, _ in watch.seen] == ["open", "ingest", "wait", "answer", "close"]
    assert "recall" not in record.timings
    assert "read" not in record.timings
    assert (record.answer, record.memories, record.kept, record.tokens) == (
        "To What is the fee in layer1_01_fee? I say $45.",
        None,
        ("noted: $45",),
        7,
    )


def test_what_a_system_says_of_its_own_work_is_kept(fees: Fees, go: Go) -> None:
    suite = fees(1)
    assert only(go(suite, [entrant(Watch(), "Reporting")])).report == {"steps": 4}
    assert only(go(suite, [entrant(Watch(), label="silent")])).report == {}
    watch = Watch(failing("report", RuntimeError("no")))
    failed = only(go(suite, [entrant(watch, "Reporting", label="failing")]))
    assert failed.failure == ("raised", "RuntimeError: no", "report")
    assert watch.of("close")


@pytest.mark.parametrize(
    ("target", "reader", "kind", "phase"),
    [
        ("Both", "own", "own", "answer"),
        ("Both", "extractive", "extractive", "recall"),
        ("Answering", "extractive", "own", "answer"),
        ("Answering", "own", "own", "answer"),
        ("Recalling", "own", "extractive", "recall"),
        ("Recalling", "extractive", "extractive", "recall"),
    ],
)
def test_who_answers_depends_on_what_the_system_can_do(
    fees: Fees, go: Go, target: str, reader: str, kind: str, phase: str
) -> None:
    watch = Watch()
    done = go(fees(1), [entrant(watch, target)], reader=reader)
    assert done.folders[0].manifest.reader.kind == kind
    assert phase in dict(watch.seen)


def test_the_model_of_a_reader_is_part_of_the_runs_that_it_reads_only(
    fees: Fees, go: Go, model_server: Server
) -> None:
    entrants = [entrant(Watch(), "Both", label="reads"), entrant(Watch(), "Answering", label="writes")]
    reads, writes = go(fees(1), entrants, reader="llm", server=model_server).folders
    assert reads.manifest.reader.kind == "llm"
    assert reads.manifest.reader.model
    assert reads.manifest.reader.prompt
    assert (writes.manifest.reader.kind, writes.manifest.reader.model, writes.manifest.reader.prompt) == (
        "own", None, None,
    )  # fmt: skip
    assert model_server.stats()["chat"] == 1


@pytest.mark.parametrize("phase", PHASES)
def test_a_failure_in_a_phase_is_recorded_with_it_and_the_run_goes_on(fees: Fees, go: Go, phase: str) -> None:
    broken = [True]

    async def once(at: str, what: str) -> None:
        if at == phase and broken:
            broken.clear()
            raise RuntimeError("the store\nis full")

    watch = Watch(once)
    done = go(fees(3), [entrant(watch)], concurrency=1)
    first, *others = done.folders[0].records()
    assert (done.fresh, done.failed, done.stopped) == (3, 1, "")
    assert first.failure is not None
    assert first.failure == ("raised", "RuntimeError: the store is full", phase)
    assert first.answer is None
    assert tuple(first.timings) == PHASES[: PHASES.index(phase) + 1]
    assert len(first.delivered) == (phase not in ("open", "ingest"))
    assert [record.failure for record in others] == [None, None]
    assert len(watch.of("close")) == 3 - (phase == "open")


def test_a_failure_in_the_answer_is_recorded_with_it(fees: Fees, go: Go) -> None:
    watch = Watch(failing("answer", AgentFailure("unreachable", "nobody there")))
    record = only(go(fees(1), [entrant(watch, "Answering")]))
    assert record.failure == ("unreachable", "nobody there", "answer")
    assert watch.of("close")


def test_a_failure_of_the_reader_keeps_what_was_recalled(fees: Fees, go: Go, model_server: Server) -> None:
    model_server.set_faults([{"when": {"contains": "layer1_02_fee"}, "do": "context_length"}])
    done = go(fees(2), [entrant(Watch())], reader="llm", server=model_server, concurrency=1)
    good, failed = done.folders[0].records()
    assert good.failure is None
    assert good.answer
    assert failed.failure is not None
    assert (failed.failure.kind, failed.failure.phase) == ("reader", "read")
    assert failed.memories
    assert failed.kept
    assert "read" in failed.timings


@pytest.mark.parametrize("phase", PHASES)
def test_what_takes_too_long_is_a_timeout_of_its_phase(fees: Fees, go: Go, phase: str) -> None:
    async def hang(at: str, what: str) -> None:
        if at == phase:
            await asyncio.sleep(30)

    limits = Timeouts(**{phase: 0.05})
    record = only(go(fees(1), [entrant(Watch(hang))], timeouts=limits))
    assert record.failure == ("timeout", f"{phase} took longer than 0.05 s", phase)


@pytest.fixture
def talks(fees: Fees) -> Suite:
    """Write a case of four conversations."""
    root = fees(1).root
    (path,) = root.rglob("*.yaml")
    header, talk = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    more = [{**talk, "conversation_id": f"conv_00{number}"} for number in range(1, 5)]
    path.write_text(yaml.safe_dump_all([header, *more], sort_keys=False), encoding="utf-8")
    return load_suite(root)


def test_the_time_to_ingest_is_for_all_conversations_together(talks: Suite, go: Go) -> None:
    async def slow(phase: str, what: str) -> None:
        if phase == "ingest":
            await asyncio.sleep(0.2)

    record = only(go(talks, [entrant(Watch(slow))], timeouts=Timeouts(ingest=0.5)))
    assert record.failure == ("timeout", "ingest took longer than 0.5 s", "ingest")
    assert [one.id for one in record.delivered] == ["conv_001", "conv_002"]


def test_a_timeout_of_the_systems_own_is_told_in_its_words(talks: Suite, go: Go) -> None:
    watch = Watch(failing("ingest", AgentFailure("timeout", "the server took 30 s"), on="conv_002"))
    assert only(go(talks, [entrant(watch)])).failure == ("timeout", "the server took 30 s", "ingest")


def test_memories_are_cut_to_the_budget_and_the_limit(fees: Fees, go: Go) -> None:
    suite = fees(1)
    cut = only(go(suite, [entrant(Watch())], budget=7, limit=2))
    assert cut.memories is not None
    assert [memory.text for memory in cut.memories] == [
        "So the fee is $45 now?",
        "Yes, it was $30 last year.",
    ]
    assert cut.kept == ("So the fee is $45 now?", "Yes,")
    uncut = only(go(suite, [entrant(Watch(), label="bound", kind="control")], budget=7, limit=2))
    assert uncut.memories is not None
    assert len(uncut.memories) == len(uncut.kept or ()) == 4
