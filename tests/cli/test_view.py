"""`recallbench view`: the server as a process, from its first line to Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.suite import load_suite
from tests.runs.made import RIGHT, made_run, record

PATIENCE = 60


@pytest.fixture
def runs(write_suite: Any, tmp_path: Path) -> list[str]:
    suite = load_suite(write_suite("layer1_01_fee", "layer2_01_fee"))
    evil = f"{RIGHT} <script>alert(1)</script>"
    made = [
        made_run(tmp_path, suite, *(record(case.id, answer=answer) for case in suite), label=label)
        for label, answer in (("good", evil), ("bad", "No idea."))
    ]
    return [run.path.name for run in made]


@contextlib.contextmanager
def view(folder: Path, *args: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "harness", "view", "--no-open", *args],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1", **env},
        # Where a shell has the tests in the background, SIGINT is ignored, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline()
    assert line, process.stderr.read()
    return line


def get(url: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_it_lists_and_compares_the_runs_of_a_folder(runs: list[str], tmp_path: Path) -> None:
    with view(tmp_path, "runs", "--json") as process:
        told = json.loads(first_line(process))
        assert told["runs"] == 2
        status, body = get(told["url"])
        assert status == 200
        assert all(name in body for name in runs)
        status, body = get(f"{told['url']}compare?run={runs[0]}&run={runs[1]}")
        assert status == 200
        assert "good" in body
        assert "bad" in body
        assert "<script>alert(1)" not in body
        assert get(told["url"], Host="evil.example")[0] == 403
        assert get(f"{told['url']}run/..%2f..%2fsuite")[0] == 404


def test_to_look_at_a_page_calls_no_model_whatever_the_settings_say(runs: list[str], tmp_path: Path) -> None:
    with view(tmp_path, "--json", RECALLBENCH_SCORER="llm-judge") as process:
        status, body = get(f"{json.loads(first_line(process))['url']}compare?run={runs[0]}")
    assert status == 200
    assert "llm-judge" not in body


def test_a_comparison_that_cannot_be_made_is_told_on_the_page(runs: list[str], tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "suite" / "layer1")
    path = tmp_path / "suite" / "layer2" / "01_fee.yaml"
    path.write_text(path.read_text().replace("Harbor", "Harbour"))
    with view(tmp_path, "--json") as process:
        status, body = get(f"{json.loads(first_line(process))['url']}compare?run={runs[0]}")
    assert status == 422
    assert "Name the suite of the runs with --suite" in body


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_it_serves_until_it_is_stopped(
    runs: list[str], tmp_path: Path, number: signal.Signals, status: int
) -> None:
    with view(tmp_path) as process:
        line = first_line(process)
        assert line.startswith("Serving runs at http://127.0.0.1:")
        assert line.endswith("/ until Ctrl-C.\n")
        port = int(line.split(":")[2].partition("/")[0])
        assert get(f"http://127.0.0.1:{port}/")[0] == 200
        with socket.create_connection(("127.0.0.1", port)):  # one that asks nothing holds nothing up
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == status
    assert (out, err) == ("", "stopped\n")
    with socket.socket() as trial:
        assert trial.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_it_is_for_this_machine_alone(runs: list[str], tmp_path: Path) -> None:
    with view(tmp_path, "--json") as process:
        port = int(json.loads(first_line(process))["url"].rpartition(":")[2].strip("/"))
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        rows += [line.split() for line in Path("/proc/net/tcp6").read_text().splitlines()[1:]]
    at = [row[1].split(":")[0] for row in rows if row[3] == "0A" and row[1].endswith(f":{port:04X}")]
    assert at == ["0100007F"]


def test_it_changes_nothing(runs: list[str], tmp_path: Path) -> None:
    def state() -> dict[str, tuple[int, int]]:
        return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in tmp_path.rglob("*")}

    before = state()
    with view(tmp_path, "--json") as process:
        url = json.loads(first_line(process))["url"]
        for path in ("", f"run/{runs[0]}", f"run/{runs[0]}/answers.jsonl", f"compare?run={runs[0]}"):
            assert get(url + path)[0] == 200
    assert state() == before


def test_a_folder_or_a_port_that_cannot_be_had_is_one_clear_line(runs: list[str], recallbench: Any) -> None:
    done = recallbench("view", "none", "--no-open")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "recallbench: none: no such folder. Name a run, or a folder of runs.\n"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = recallbench("view", "--no-open", "--port", str(port))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"recallbench: --port {port}: ")
    assert len(done.stderr.splitlines()) == 1
