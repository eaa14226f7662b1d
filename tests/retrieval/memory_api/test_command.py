"""The connector in `recallbench retrieval evaluate`, as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.retrieval.memory_api.server import KEY, MemoryServer, running

MEMORIES = [
    {"id": "boat", "content": "The boat was sold to Wendell in May.", "importance": "high"},
    {"id": "car", "content": "Orla's car goes to the garage on Thursday."},
    {"id": "bank", "content": "The bank closes at five on Fridays."},
]
QUERIES = [
    {"id": "a", "q": "Who bought the boat?", "expected_ids": ["boat"]},
    {"id": "b", "q": "garage?", "expected_ids": ["car"]},
    {"id": "c", "q": "weekend hours", "expected_ids": ["bank"]},
]
ENV = {"MEMORY_API_KEY": KEY}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"memories": MEMORIES, "queries": QUERIES}), encoding="utf-8")
    return path


def test_a_server_is_measured_gated_and_left_clean(recallbench: Any, data: Path) -> None:
    server = MemoryServer(own_ids=True, lag=3)
    with running(server) as where:
        command = ("retrieval", "evaluate", data, "-s", f"mine=memory_api(url='{where.url}')", "-k", "1")
        done = recallbench(*command, "--format", "json", env=ENV)
        assert done.returncode == 0, done.stderr
        (one,) = json.loads(done.stdout)["evaluations"]
        assert {metric["name"]: metric["value"] for metric in one["metrics"]}["recall@1"] == pytest.approx(
            2 / 3
        )
        assert one["provenance"]["retriever"] == (
            f"memory API at {where.url}: 3 imported, 0 skipped, 0 errors"
        )
        assert server.records["".join(list(server.records)[:1])].data["importance"] == "high"
        red = recallbench(*command, "--fail-under", "recall@1=0.9", env=ENV)
    assert red.returncode == 1
    assert "c: 0.000  weekend hours (missed: bank)" in red.stderr
    assert not server.left
    assert KEY not in done.stdout + done.stderr + red.stdout + red.stderr


def test_a_degraded_query_is_named(recallbench: Any, data: Path) -> None:
    with running(MemoryServer(degraded={"hours"})) as where:
        done = recallbench("retrieval", "evaluate", data, "-s", f"m=memory_api(url='{where.url}')", env=ENV)
    assert done.returncode == 0, done.stderr
    assert "the vector index does not answer" in " ".join(done.stdout.split())


def test_unreachable_exits_with_3_and_one_line(recallbench: Any, data: Path) -> None:
    url = "http://127.0.0.1:9"
    done = recallbench("retrieval", "evaluate", data, "-s", f"memory_api(url='{url}')", env=ENV)
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1
    assert f"nobody answers at {url}" in done.stderr


def test_counts_that_do_not_add_up_exit_with_2(recallbench: Any, data: Path) -> None:
    server = MemoryServer(miscount=1)
    with running(server) as where:
        done = recallbench("retrieval", "evaluate", data, "-s", f"memory_api(url='{where.url}')", env=ENV)
    assert done.returncode == 2
    assert "3 records sent, 2 imported, 0 skipped, 0 errors: that does not add up" in done.stderr
    assert not server.left


def test_what_is_left_is_one_line_of_warning(recallbench: Any, data: Path) -> None:
    with running(MemoryServer(deletes_until=1)) as where:
        done = recallbench("retrieval", "evaluate", data, "-s", f"memory_api(url='{where.url}')", env=ENV)
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"memory API at {where.url}: 2 of 3 records may be left under the client id")


def test_an_interrupted_run_is_cleaned_up(data: Path, tmp_path: Path) -> None:
    server = MemoryServer(lag=1_000_000)
    with running(server) as where:
        spec = f"memory_api(url='{where.url}')"
        command = [sys.executable, "-m", "harness", "retrieval", "evaluate", str(data), "-s", spec]
        process = subprocess.Popen(
            command, cwd=tmp_path, env={**os.environ, **ENV}, text=True, stderr=subprocess.PIPE
        )
        try:
            end = time.monotonic() + 60
            while server.searches < 6 and time.monotonic() < end:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 130, errors
    assert len(server.records) == 3
    assert not server.left
