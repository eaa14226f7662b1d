from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="needs the extra dask: pip install 'recallbench[dask]'")

# Slow enough that a worker can be killed while cases are in flight; it says what it was given.
ADAPTER = '''
import os, time
from pathlib import Path

class Told:
    """Writes down each conversation that it is given, and recalls them all."""

    def __init__(self, space):
        self.namespace, self.said = space.namespace, []

    def ingest(self, conversation):
        time.sleep(0.15)
        with open(os.environ["TOLD"], "a") as file:
            file.write(f"{self.namespace} {conversation.id}\\n")
        self.said += [message.text for message in conversation.messages]

    def recall(self, question, limit):
        return self.said
'''


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and two workers on loopback, each a process of its own."""
    (tmp_path / "told.py").write_text(ADAPTER, encoding="utf-8")
    env = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "TOLD": str(tmp_path / "told.txt"),
        "PYTHONUNBUFFERED": "1",
    }
    # A lost worker is noticed by its closed connection; the time limits are for ones that hang.
    env["DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES"] = "5"
    place = tmp_path / "scheduler.json"
    started: list[subprocess.Popen[bytes]] = []

    def start(*args: str) -> subprocess.Popen[bytes]:
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

    try:
        start(
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
            start("dask_worker", address, "--host", "127.0.0.1", "--nthreads", "2", "--no-nanny", "--no-dashboard",
                  "--local-directory", str(tmp_path / f"scratch{number}"))
            for number in range(2)
        ]  # fmt: skip
        from distributed import Client

        with Client(address, timeout=30, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address.replace("tcp://", "dask://"), workers
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
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path, write_suite: Any
) -> None:
    address, workers = cluster
    suite = write_suite(*(f"layer1_{number:02}_fee" for number in range(1, 13)))
    local = run(tmp_path, suite, "--runs", "local")
    there = run(tmp_path, suite, "--runs", "remote", "--executor", address)
    told = tmp_path / "told.txt"
    for _ in range(600):  # half-way through
        if told.exists() and len(told.read_text().splitlines()) >= 4:
            break
        time.sleep(0.05)
    os.killpg(workers[0].pid, signal.SIGKILL)
    for process in (local, there):
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert "Traceback" not in err
    assert answers(tmp_path / "remote") == answers(tmp_path / "local")
    assert len(answers(tmp_path / "remote")) == 12 * 6
    ingested = told.read_text().splitlines()
    assert len(ingested) == len(set(ingested)), "a namespace was used twice"


def test_no_scheduler_is_one_clear_message(tmp_path: Path, write_suite: Any) -> None:
    suite = write_suite("layer1_01_fee")
    process = subprocess.run(
        [sys.executable, "-m", "harness", "run", "--suite", str(suite), "--system", "bm25",
         "--executor", "dask://127.0.0.1:9"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )  # fmt: skip
    assert process.returncode == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in process.stderr
    assert "Traceback" not in process.stderr
