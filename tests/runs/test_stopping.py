"""Runs that are stopped: by an endpoint, by Ctrl-C, by a kill, or by another run of the same."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import EndpointError, InputError, SettingsError
from harness.runs.execute import execute
from harness.runs.folder import RunFolder, find_runs
from harness.runs.journal import lines
from harness.runs.preparing import Settings
from harness.runs.scoring import rows, score_run
from harness.scoring import find_scorer
from harness.suite import Suite
from tests.model_server import Server
from tests.runs.conftest import Go, models_at
from tests.runs.probe import Watch, entrant, failing, rendezvous

Fees = Callable[..., Suite]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_an_endpoint_that_a_system_cannot_reach_stops_the_run(
    fees: Fees, go: Go, tmp_path: Path, concurrency: int
) -> None:
    suite = fees(6)
    refused = EndpointError("openai/x: auth: Incorrect API key.")
    watch = Watch(failing("recall", refused, on="_05_"))
    with pytest.raises(EndpointError) as raised:
        go(suite, [entrant(watch)], concurrency=concurrency)
    assert raised.value is refused
    (run,) = find_runs(tmp_path / "runs")
    kept = {record.case for record in run.records()}
    assert "layer1_05_fee" not in kept
    assert {"layer1_01_fee"} <= kept
    again = Watch()
    done = go(suite, [entrant(again)])
    assert (done.fresh, done.failed) == (6 - len(kept), 0)
    assert not {f"What is the fee in {case}?" for case in kept} & set(again.of("recall"))


def test_several_that_stop_at_once_are_one_error(fees: Fees, go: Go) -> None:
    there = rendezvous(4)

    async def act(phase: str, what: str) -> None:
        await there(phase, what)
        if phase == "recall":
            raise EndpointError(f"no key for {what}")

    with pytest.raises(EndpointError, match="no key for What is the fee"):
        go(fees(6), [entrant(Watch(act))], concurrency=4)


def test_a_refused_key_of_the_reader_stops_the_run(
    fees: Fees, go: Go, tmp_path: Path, model_server: Server
) -> None:
    model_server.set_faults([{"when": {"after": 2}, "do": "unauthorized"}])
    suite = fees(5)
    with pytest.raises(EndpointError, match="key"):
        go(suite, [entrant(Watch())], reader="llm", server=model_server, concurrency=1)
    (run,) = find_runs(tmp_path / "runs")
    assert [record.failure for record in run.records()] == [None, None]
    model_server.set_faults([])
    done = go(suite, [entrant(Watch())], reader="llm", server=model_server, concurrency=1)
    assert (done.fresh, done.failed) == (3, 0)


def test_a_reader_without_a_model_stops_before_anything_is_made(fees: Fees, go: Go, tmp_path: Path) -> None:
    with pytest.raises(SettingsError):
        go(fees(1), [entrant(Watch())], reader="llm")
    assert not (tmp_path / "runs").exists()


def test_a_cancelled_run_leaves_readable_journals_and_no_lock(fees: Fees, go: Go, tmp_path: Path) -> None:
    suite = fees(6)
    hanging = asyncio.Event()

    async def hang(phase: str, what: str) -> None:
        if phase == "recall" and "_03_" in what:
            hanging.set()
            await asyncio.sleep(60)

    watch = Watch(hang)

    async def cancelled() -> None:
        models = models_at(None)
        settings = Settings(concurrency=1)
        task = asyncio.create_task(execute(suite, [entrant(watch)], settings, models, tmp_path / "runs"))
        await hanging.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert watch.in_flight == 0
    (run,) = find_runs(tmp_path / "runs")
    assert [record.case for record in run.records()] == list(suite.ids[:2])
    assert len(run.attempts()) == 3
    done = go(suite, [entrant(Watch())])
    assert (done.fresh, [record.attempt for record in done.folders[0].records()].count(2)) == (4, 1)


def test_a_broken_journal_is_named_before_any_work(fees: Fees, go: Go) -> None:
    suite = fees(2)
    path = go(suite, [entrant(Watch())]).folders[0].path
    (path / "answers.jsonl").write_text('{"case": \n{"case": "layer1_01_fee", "repeat": 0}\n')
    watch = Watch()
    with pytest.raises(InputError, match=r"answers\.jsonl:1: no JSON object"):
        go(suite, [entrant(watch)])
    assert watch.seen == []


# A run in a process of its own: its memory waits at one case for a file that never comes.
PROGRAM = """
import asyncio, sys
from pathlib import Path
from harness.adapters.registry import find_adapter
from harness.llm.models import Models, ModelSettings
from harness.naming import parse_spec
from harness.runs.execute import execute
from harness.runs.preparing import Entrant, Settings
from harness.suite import load_suite
spec = parse_spec("slow=waiting:Memory", "--system", labelled=True)
models = Models(ModelSettings(), {})
asyncio.run(execute(load_suite(Path("suite")), [Entrant(spec, find_adapter(spec))], Settings(concurrency=2), models, Path("runs")))
"""
MEMORY = """
import time
from pathlib import Path
class Memory:
    def __init__(self, space):
        self.said = []
    def ingest(self, conversation):
        self.said += [message.text for message in conversation.messages]
    def recall(self, question, limit):
        end = time.monotonic() + 60
        while "_04_" in question.text and not Path("go").exists() and time.monotonic() < end:
            time.sleep(0.01)
        return self.said
"""


def started(folder: Path, root: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def waited(process: subprocess.Popen[bytes], folder: Path, answers: int) -> RunFolder:
    """Wait until a run in a process has so many answers."""
    for _ in range(3000):
        found = list((folder / "runs").glob("*/manifest.json"))
        if found and len(list(lines(found[0].parent / "answers.jsonl"))) >= answers:
            return RunFolder.load(found[0].parent)
        assert process.poll() is None, process.communicate()[1].decode()
        time.sleep(0.01)
    raise AssertionError("it never got so far")


def finish(folder: Path, root: Path) -> None:
    with started(folder, root) as process:
        _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said.decode()


def results(folder: Path, suite: Suite) -> list[Any]:
    (run,) = find_runs(folder / "runs")
    own = ("attempt", "namespace", "timings")
    kept = [
        {name: value for name, value in record.as_data().items() if name not in own}
        for record in run.records()
    ]
    scorer = find_scorer("evidence-recall")
    return [sorted(map(json.dumps, kept)), list(rows(score_run(run, suite.cases, scorer), scorer))]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda n: n.name)
def test_a_stopped_run_goes_on_and_ends_like_an_undisturbed_one(
    fees: Fees, tmp_path: Path, root: Path, number: signal.Signals
) -> None:
    suite = fees(6)
    (tmp_path / "waiting.py").write_text(MEMORY)
    with started(tmp_path, root) as process:
        try:
            run = waited(process, tmp_path, 4)
            process.send_signal(number)
            process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode != 0
    begun = run.attempts()
    finished = set(run.finished())
    assert set(begun) > finished
    (tmp_path / "go").write_text("")
    finish(tmp_path, root)
    counted = {key: len(namespaces) for key, namespaces in run.attempts().items()}
    assert set(counted) == {(name, 0) for name in suite.ids}
    assert {key for key, count in counted.items() if count > 1} == set(begun) - finished
    resumed = results(tmp_path, suite)
    (tmp_path / "runs").rename(tmp_path / "stopped")
    finish(tmp_path, root)
    assert results(tmp_path, suite) == resumed


def test_two_processes_on_one_run_is_an_error_in_the_second(fees: Fees, tmp_path: Path, root: Path) -> None:
    fees(6)
    (tmp_path / "waiting.py").write_text(MEMORY)
    with started(tmp_path, root) as first:
        try:
            run = waited(first, tmp_path, 2)
            with started(tmp_path, root) as second:
                _, said = second.communicate(timeout=60)
            assert second.returncode != 0
            assert f"runs/{run.path.name}: another process works on this run" in said.decode()
            (tmp_path / "go").write_text("")
            _, said = first.communicate(timeout=60)
            assert first.returncode == 0, said.decode()
        finally:
            first.kill()
    assert all(len(namespaces) == 1 for namespaces in run.attempts().values())
    assert len(list(run.records())) == 6
