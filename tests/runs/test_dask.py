from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import HarnessError, InputError
from harness.runs import dask_cluster
from harness.runs.execute import Tick
from harness.suite import Suite
from tests.runs.conftest import Go
from tests.runs.probe import built_in

pytest.importorskip("distributed", reason="needs the extra dask: pip install 'recallbench[dask]'")

# Slow enough that a worker can be killed while cases are in flight; it says what it was given.
ADAPTER = '''
import os, time
from pathlib import Path

class Told:
    """Writes down each conversation that it is given, and recalls them all."""

    def __init__(self, space):
        self.namespace, self.said = space.namespace, []
        with open(os.environ["TOLD"] + ".opened", "a") as file:
            file.write(f"{self.namespace} {os.getppid()}\\n")  # the Dask worker that it is a child of

    def ingest(self, conversation):
        time.sleep(0.4)
        with open(os.environ["TOLD"], "a") as file:
            file.write(f"{self.namespace} {conversation.id}\\n")
        self.said += [message.text for message in conversation.messages]

    def recall(self, question, limit):
        return self.said
'''


Cluster = tuple[str, list[subprocess.Popen[bytes]]]
Start = Callable[[int], Cluster]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a scheduler and so many workers on loopback, each a process of its own, the scheduler's the last."""
    (tmp_path / "told.py").write_text(ADAPTER, encoding="utf-8")
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        "TOLD": str(tmp_path / "told.txt"),
        "PYTHONUNBUFFERED": "1",
    }
    # A lost worker is noticed by its closed connection; the time limits are for ones that hang.
    env["DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"] = "5"
    place = tmp_path / "scheduler.json"
    started: list[subprocess.Popen[bytes]] = []

    def one(*args: str) -> subprocess.Popen[bytes]:
        with (tmp_path / f"{args[0]}{len(started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "distributed.cli." + args[0], *args[1:]],
                cwd=tmp_path,
                env=env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        started.append(process)
        return process

    def cluster(count: int) -> Cluster:
        one(
            "dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(place),
        )
        for _ in range(600):
            if place.exists() and place.read_text():
                break
            time.sleep(0.05)
        address = json.loads(place.read_text())["address"]
        workers = [
            one("dask_worker", address, "--host", "127.0.0.1", "--nthreads", "2", "--no-nanny", "--no-dashboard",
                "--local-directory", str(tmp_path / f"scratch{number}"))
            for number in range(count)
        ]  # fmt: skip
        if count:
            from distributed import Client

            with Client(address, timeout=30, set_as_default=False) as client:
                client.wait_for_workers(count, timeout=60)
        return address.replace("tcp://", "dask://"), [*workers, started[0]]

    try:
        yield cluster
    finally:
        for process in started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def run(folder: Path, suite: Path, *args: str) -> subprocess.Popen[str]:
    env = {**os.environ, "TOLD": str(folder / "local.txt"), "PYTHONUTF8": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "harness", "run", "--suite", str(suite), "--system", "told:Told",
         "--system", "bm25", "--controls", *args],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def answers(root: Path) -> dict[str, Any]:
    found = {}
    for file in sorted(root.glob("*/answers.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            key = f"{file.parent.name} {record['case']} {record['repeat']}"
            assert key not in found, "a result is counted twice"
            found[key] = {
                name: record.get(name) for name in ("outcome", "answer", "memories", "kept", "delivered")
            }
    return found


def test_a_cluster_that_loses_a_worker_gives_what_a_local_run_gives(
    start: Start, tmp_path: Path, write_suite: Any
) -> None:
    address, workers = start(2)
    suite = write_suite(*(f"layer1_{number:02}_fee" for number in range(1, 13)))
    local = run(tmp_path, suite, "--runs", "local")
    there = run(tmp_path, suite, "--runs", "remote", "--executor", address)
    told = tmp_path / "told.txt"
    opened = tmp_path / "told.txt.opened"
    seen = 0
    for _ in range(3000):  # half-way through, and in the middle of a case
        lines = opened.read_text().splitlines() if opened.exists() else []
        if len(lines) > seen >= 4 and told.exists():
            break
        seen = len(lines)
        time.sleep(0.02)
    (busy,) = [worker for worker in workers if str(worker.pid) == lines[-1].split()[1]]
    os.killpg(busy.pid, signal.SIGKILL)
    for process in (local, there):
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert "Traceback" not in err
    assert answers(tmp_path / "remote") == answers(tmp_path / "local")
    assert len(answers(tmp_path / "remote")) == 12 * 6
    ingested = told.read_text().splitlines()
    assert len(ingested) == len(set(ingested)), "a namespace was used twice"
    begun, ended = (journal(tmp_path / "remote", name) for name in ("attempts.jsonl", "answers.jsonl"))
    assert {line.split()[0] for line in ingested} <= {one["namespace"] for one in begun}, "not journalled"
    last = {(one["run"], one["case"]): (one["attempt"], one["namespace"]) for one in begun}
    assert {(one["run"], one["case"]): (one["attempt"], one["namespace"]) for one in ended} == last
    assert max(one["attempt"] for one in begun) > 1, "no attempt was lost with the worker"


def journal(root: Path, name: str) -> list[dict[str, Any]]:
    return [
        {"run": file.parent.name, **json.loads(line)}
        for file in sorted(root.glob(f"*/{name}"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def test_a_cluster_takes_as_many_cases_at_once_as_its_workers_have_threads(start: Start) -> None:
    address, _ = start(2)

    async def connected() -> int:
        async with dask_cluster.Cluster(address) as cluster:
            return cluster.capacity

    assert asyncio.run(connected()) == 4


def test_a_cluster_without_workers_is_refused(
    start: Start, fees: Callable[..., Suite], go: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "_CONNECT_S", 1.0)
    address, _ = start(0)
    with pytest.raises(
        InputError, match=r"at tcp://127\.0\.0\.1:\d+ has no workers\. Start some: dask worker tcp://"
    ):
        go(fees(1), built_in("bm25"), executor=address)


def test_a_run_ends_when_its_cluster_has_lost_all_workers(
    start: Start, fees: Callable[..., Suite], go: Go, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(dask_cluster, "_WORKERLESS_S", 1.0)
    monkeypatch.setattr(dask_cluster, "_LOOK_S", 0.2)
    address, workers = start(1)

    def kill(tick: Tick) -> None:
        if tick.record is not None and workers[0].poll() is None:
            os.killpg(workers[0].pid, signal.SIGKILL)
            workers[0].wait()

    with pytest.raises(HarnessError, match="has had no workers for 1 s"):
        go(fees(30), built_in("bm25"), executor=address, progress=kill)
    assert 0 < len(journal(tmp_path / "runs", "answers.jsonl")) < 30


def test_a_run_ends_when_its_scheduler_is_lost(start: Start, fees: Callable[..., Suite], go: Go) -> None:
    address, (_, scheduler) = start(1)

    def kill(tick: Tick) -> None:
        if tick.record is not None and scheduler.poll() is None:
            os.killpg(scheduler.pid, signal.SIGKILL)
            scheduler.wait()

    with pytest.raises(HarnessError, match="the Dask scheduler"):
        go(fees(30), built_in("bm25"), executor=address, progress=kill)


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["run", "dry"])
def test_no_scheduler_is_one_clear_message(tmp_path: Path, write_suite: Any, more: tuple[str, ...]) -> None:
    suite = write_suite("layer1_01_fee")
    process = subprocess.run(
        [sys.executable, "-m", "harness", "run", "--suite", str(suite), "--system", "bm25",
         "--executor", "dask://127.0.0.1:9", *more],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )  # fmt: skip
    assert process.returncode == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in process.stderr
    assert "Traceback" not in process.stderr
