"""Carrying out runs: order, concurrency, what is finished, what is done again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.adapters.protocol import AgentFailure
from harness.errors import InputError
from harness.runs.execute import Done, Tick
from harness.runs.folder import RunFolder
from harness.runs.record import Record
from harness.suite import Suite
from tests.runs.conftest import Go
from tests.runs.probe import Watch, built_in, entrant, failing, nothing, rendezvous

Fees = Callable[..., Suite]


def records(done: Done, at: int = 0) -> list[Record]:
    return list(done.folders[at].records())


def test_every_system_is_asked_every_case(fees: Fees, go: Go) -> None:
    suite = fees(3)
    watches = [Watch(), Watch()]
    done = go(suite, [entrant(watches[0], label="one"), entrant(watches[1], label="two")])
    assert [folder.manifest.system.label for folder in done.folders] == ["one", "two"]
    assert (done.fresh, done.failed, done.stopped) == (6, 0, "")
    for at in (0, 1):
        assert sorted(record.case for record in records(done, at)) == list(suite.ids)
        assert len(set(watches[at].of("open"))) == 3


def test_a_repeat_is_a_record_of_its_own(fees: Fees, go: Go) -> None:
    suite = fees(2)
    watch = Watch()
    done = go(suite, [entrant(watch)], repeats=3)
    assert {record.key for record in records(done)} == {(name, n) for name in suite.ids for n in range(3)}
    assert len(watch.of("ingest")) == done.fresh == done.folders[0].manifest.asked == 6


def test_so_many_cases_are_in_flight_and_never_more(fees: Fees, go: Go) -> None:
    watch = Watch(rendezvous(3))
    done = go(fees(9), [entrant(watch)], concurrency=3)
    assert (watch.most, done.fresh, done.failed) == (3, 9, 0)


def test_the_bound_is_over_all_systems(fees: Fees, go: Go) -> None:
    act = rendezvous(4)
    all_of_them = Watch(act)
    entrants = [entrant(all_of_them, label=label) for label in ("one", "two", "three")]
    done = go(fees(4), entrants, concurrency=4)
    assert (all_of_them.most, done.fresh, done.failed) == (4, 12, 0)


def test_one_at_a_time_keeps_the_order_of_cases(fees: Fees, go: Go) -> None:
    suite = fees(3)
    watch = Watch()
    go(suite, [entrant(watch, label="one"), entrant(watch, label="two")], concurrency=1)
    assert watch.most == 1
    assert watch.of("recall") == [case.question for case in suite for _ in range(2)]


def test_conversations_are_read_once_for_all_systems(
    fees: Fees, go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.suite import source

    read: list[str] = []
    real = source.read_conversations
    monkeypatch.setattr(source, "read_conversations", lambda case: read.append(case.id) or real(case))
    suite = fees(5)
    go(suite, [entrant(Watch(), label=label) for label in "abc"], repeats=2, concurrency=2)
    assert read == list(suite.ids)


def test_finished_work_is_not_done_again(fees: Fees, go: Go) -> None:
    suite = fees(3)
    before = [record.as_data() for record in records(go(suite, [entrant(Watch())]))]
    watch = Watch()
    done = go(suite, [entrant(watch)])
    assert watch.seen == []
    assert (done.fresh, done.failed) == (0, 0)
    assert [record.as_data() for record in records(done)] == before


def test_a_new_system_joins_finished_ones(fees: Fees, go: Go) -> None:
    suite = fees(2)
    go(suite, [entrant(Watch(), label="old")])
    old, new = Watch(), Watch()
    done = go(suite, [entrant(old, label="old"), entrant(new, label="new")])
    assert (len(old.seen), len(new.of("ingest")), done.fresh) == (0, 2, 2)


def test_other_options_are_another_run(fees: Fees, go: Go) -> None:
    suite = fees(1)
    paths = {
        go(suite, [entrant(Watch(), **options)], **settings).folders[0].path
        for options, settings in [({}, {}), ({"k": 2}, {}), ({}, {"budget": 9}), ({}, {"limit": 9}), ({}, {"repeats": 2})]
    }  # fmt: skip
    assert len(paths) == 5
    assert go(suite, [entrant(Watch(), k=1)]).folders[0].path in paths  # the default, written out


def test_failures_stay_unless_they_are_to_be_done_again(fees: Fees, go: Go) -> None:
    suite = fees(3)
    failed = go(suite, [entrant(Watch(failing("recall", RuntimeError("busy"), on="_02_")))])
    assert failed.failed == 1
    watch = Watch()
    again = go(suite, [entrant(watch)])
    assert (again.fresh, again.failed, watch.seen) == (0, 1, [])
    mended = go(suite, [entrant(watch)], retry_errors=True)
    assert (mended.fresh, mended.failed) == (1, 0)
    assert watch.of("recall") == ["What is the fee in layer1_02_fee?"]
    found = {record.case: record for record in records(mended)}
    assert len(found) == 3
    assert (found["layer1_02_fee"].attempt, found["layer1_02_fee"].failure) == (2, None)
    assert len((mended.folders[0].path / "answers.jsonl").read_text().splitlines()) == 4


def test_what_fails_again_is_a_failure_still(fees: Fees, go: Go) -> None:
    suite = fees(2)
    go(suite, [entrant(Watch(failing("recall", RuntimeError("first"))))])
    done = go(suite, [entrant(Watch(failing("recall", RuntimeError("second"))))], retry_errors=True)
    assert (done.fresh, done.failed) == (2, 2)
    assert {record.failure.message for record in records(done) if record.failure} == {"RuntimeError: second"}


def cut_answers(folder: RunFolder, keep: int) -> None:
    """Leave a run as if it was killed after so many answers, in the middle of the next."""
    path = folder.path / "answers.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:keep]) + lines[keep][:20])


@pytest.mark.parametrize("target", ["Recalling", "Discarding"])
def test_what_was_begun_and_not_finished_is_begun_anew(fees: Fees, go: Go, target: str) -> None:
    suite = fees(3)
    first = go(suite, [entrant(Watch(), target)], concurrency=1)
    whole = {record.case: record for record in records(first)}
    cut_answers(first.folders[0], 1)
    watch = Watch()
    done = go(suite, [entrant(watch, target)], concurrency=1)
    found = {record.case: record for record in records(done)}
    assert done.fresh == 2
    assert [found[name].attempt for name in suite.ids] == [1, 2, 2]
    assert not {whole[name].namespace for name in suite.ids} & set(watch.of("open"))
    left = [whole[name].namespace for name in suite.ids[1:]]
    assert watch.of("discard") == (left if target == "Discarding" else [])
    for name in suite.ids:
        one, two = whole[name], found[name]
        assert (one.memories, one.kept, one.answer, one.delivered) == (
            two.memories, two.kept, two.answer, two.delivered,
        )  # fmt: skip


def test_a_store_that_cannot_clean_up_does_not_spoil_the_new_attempt(fees: Fees, go: Go) -> None:
    suite = fees(2)
    cut_answers(go(suite, [entrant(Watch(), "Discarding")], concurrency=1).folders[0], 0)
    watch = Watch(failing("discard", AgentFailure("unreachable", "gone")))
    done = go(suite, [entrant(watch, "Discarding")])
    assert (len(watch.of("discard")), done.failed, done.fresh) == (2, 0, 2)


def test_too_many_errors_stop_new_work(fees: Fees, go: Go) -> None:
    suite = fees(10)
    watch = Watch(failing("recall", RuntimeError("no")))
    done = go(suite, [entrant(watch)], concurrency=1, max_errors=0.3)
    assert (done.fresh, done.failed, len(watch.of("open"))) == (4, 4, 4)
    assert done.stopped == "4 system errors in 10 answers, more than --max-errors 0.3"
    assert len(records(done)) == 4


def test_as_many_errors_as_allowed_stop_nothing(fees: Fees, go: Go) -> None:
    done = go(
        fees(10),
        [entrant(Watch(failing("recall", RuntimeError("no"), on="_0")))],
        concurrency=1,
        max_errors=0.9,
    )
    assert (done.fresh, done.failed, done.stopped) == (10, 9, "")


def test_what_is_in_flight_when_new_work_stops_is_finished(fees: Fees, go: Go) -> None:
    there = rendezvous(3)
    failed = asyncio.Event()

    async def act(phase: str, what: str) -> None:
        await there(phase, what)
        if phase == "recall" and "_01_" in what:
            raise RuntimeError("no")
        if phase == "recall":
            await failed.wait()
        if phase == "close":
            failed.set()

    done = go(fees(10), [entrant(Watch(act))], concurrency=3, max_errors=0.0)
    assert (done.fresh, done.failed, len(records(done))) == (3, 1, 3)


def test_errors_of_an_earlier_run_count_until_they_are_done_again(fees: Fees, go: Go) -> None:
    suite = fees(4)
    go(suite, [entrant(Watch(failing("recall", RuntimeError("no"))))], concurrency=1, max_errors=0.3)
    watch = Watch()
    again = go(suite, [entrant(watch)], max_errors=0.3)
    assert (again.fresh, again.failed, watch.seen) == (0, 2, [])
    assert again.stopped.startswith("2 system errors in 4 answers")
    mended = go(suite, [entrant(watch)], max_errors=0.3, retry_errors=True)
    assert (mended.fresh, mended.failed, mended.stopped) == (4, 0, "")


def test_progress_counts_what_was_finished_before(fees: Fees, go: Go) -> None:
    suite = fees(4)
    first = go(suite, [entrant(Watch(failing("recall", RuntimeError("no"), on="_01_")))], concurrency=1)
    cut_answers(first.folders[0], 2)
    ticks: list[Tick] = []
    go(suite, [entrant(Watch())], progress=ticks.append, concurrency=1)
    assert [(tick.done, tick.of, tick.failed) for tick in ticks] == [(2, 4, 1), (3, 4, 1), (4, 4, 1)]
    assert ticks[0].record is None
    assert [tick.record.case for tick in ticks if tick.record] == list(suite.ids[2:])
    assert {tick.system for tick in ticks[1:]} == {"probe"}


def test_a_label_twice_is_refused_before_anything_is_made(fees: Fees, go: Go, tmp_path: Path) -> None:
    entrants = [entrant(Watch()), entrant(Watch(), k=2)]
    with pytest.raises(InputError, match=r"--system probe: named twice\. Give one of them a label"):
        go(fees(1), entrants)
    with pytest.raises(InputError, match="named twice"):
        go(fees(1), [*built_in("bm25"), *built_in("bm25")])
    assert not (tmp_path / "runs").exists()


def test_two_labels_are_two_runs_of_one_system(fees: Fees, go: Go) -> None:
    done = go(fees(1), built_in("a=bm25(rounds=2)", "b=bm25(rounds=2)"))
    assert len({folder.path for folder in done.folders}) == 2


def test_a_system_that_cannot_be_loaded_stops_before_any_work(fees: Fees, go: Go) -> None:
    watch = Watch()
    broken = entrant(Watch(), label="broken", colour="red")
    with pytest.raises(InputError, match=r"--system broken: colour"):
        go(fees(1), [entrant(watch), broken])
    assert watch.seen == []


def test_a_users_own_module_runs_in_a_process(
    fees: Fees, go: Go, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_memory.py").write_text(
        "import os\n"
        "class Mine:\n"
        "    def __init__(self, space, crash: str = ''):\n"
        "        self.crash, self.said = crash, []\n"
        "    def ingest(self, conversation):\n"
        "        self.said += [message.text for message in conversation.messages]\n"
        "    def recall(self, question, limit):\n"
        "        if self.crash and self.crash in question.text:\n"
        "            os._exit(7)\n"
        "        return self.said\n"
    )
    monkeypatch.chdir(tmp_path)
    done = go(fees(3), built_in("my_memory:Mine(crash='_02_')"), concurrency=1)
    good, crashed, after = records(done)
    assert good.memories is not None
    assert after.memories is not None
    assert [memory.text for memory in good.memories] == [memory.text for memory in after.memories]
    assert crashed.failure is not None
    assert (crashed.failure.kind, crashed.failure.phase) == ("crashed", "recall")
    assert "exit status 7" in crashed.failure.message
    assert "source " in done.folders[0].manifest.system.version


def test_namespaces_are_never_used_twice(fees: Fees, go: Go) -> None:
    suite = fees(4)
    watch = Watch(failing("recall", RuntimeError("no")))
    go(suite, [entrant(watch, label="a"), entrant(watch, label="b")], repeats=2)
    go(suite, [entrant(watch, label="a"), entrant(watch, label="b")], repeats=2, retry_errors=True)
    counts = Counter(watch.of("open"))
    assert len(counts) == 32
    assert set(counts.values()) == {1}


@pytest.mark.parametrize("count", [1, 7])
def test_more_workers_than_work_do_no_harm(fees: Fees, go: Go, count: int) -> None:
    watch = Watch(nothing)
    done: Any = go(fees(count), [entrant(watch)], concurrency=64)
    assert (done.fresh, len(watch.of("ingest"))) == (count, count)
