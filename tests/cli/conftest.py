"""Fixtures for the judged commands: a model server, a suite and answers, and the environment of a judge."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.model_server import Server, start

RIGHT = "The fee is $45, due March 24."
ANSWERS = {
    "good": {"layer1_01_fee": RIGHT, "layer2_01_fee": "It is $45, to be paid by March 24, 2025."},
    "bad": {"layer1_01_fee": "The fee is $30.", "layer2_01_fee": "I don't know."},
}


@pytest.fixture(scope="session")
def _judge_server() -> Iterator[Server]:
    with start(max_seconds=1800, keep=3000) as server:
        yield server


@pytest.fixture
def server(_judge_server: Server) -> Server:
    """Return a model server without rules, which has counted nothing."""
    _judge_server.set_faults([])
    _judge_server.reset()
    return _judge_server


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the developer's own keys and endpoints out of the tests."""
    providers = yaml.safe_load((Path(__file__).parents[2] / "harness/llm/providers.yaml").read_text())
    for provider in providers["providers"].values():
        for name in (*provider.get("keys", ()), provider["base_url_variable"]):
            monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv(providers["fallback"]["model_variable"], raising=False)


@pytest.fixture
def fees(write_suite: Any, tmp_path: Path) -> Path:
    """Write a suite of two cases as `suite`, and four answers of two systems as `answers.json`."""
    suite: Path = write_suite("layer1_01_fee", "layer2_01_fee")
    (tmp_path / "answers.json").write_text(json.dumps(ANSWERS), encoding="utf-8")
    return suite


@pytest.fixture
def many(write_suite: Any, tmp_path: Path) -> Callable[[int], Path]:
    """Write a suite of so many cases, and one system's right answer to each."""

    def write(count: int) -> Path:
        names = [f"layer1_{number:03}_fee" for number in range(1, count + 1)]
        suite: Path = write_suite(*names)
        answers = {name: f"{RIGHT} That is for account {at}." for at, name in enumerate(names, start=1)}
        (tmp_path / "answers.json").write_text(json.dumps({"one": answers}), encoding="utf-8")
        return suite

    return write


class Running:
    """The program at work in a folder, its streams in files."""

    def __init__(self, folder: Path, *args: str | Path, env: Mapping[str, str] | None = None) -> None:
        self._streams = [folder / "stdout.txt", folder / "stderr.txt"]
        with self._streams[0].open("wb") as out, self._streams[1].open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "harness", *map(str, args)],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, "PYTHONUTF8": "1", **(env or {})},
            )

    def send_when(self, server: Server, answered: int, number: signal.Signals) -> int:
        """Send a signal when the server has answered so many; return the exit status."""
        try:
            for _ in range(3000):
                if server.stats()["by_status"].get("200", 0) >= answered:
                    break
                assert self.process.poll() is None, self.stderr
                time.sleep(0.005)
            self.process.send_signal(number)
            return self.process.wait(30)
        finally:
            self.process.kill()

    @property
    def stderr(self) -> str:
        return self._streams[1].read_text(encoding="utf-8")


@pytest.fixture
def running() -> type[Running]:
    return Running


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the program in this process: for tables of many calls, where a process adds nothing."""
    from harness.cli.main import run

    def call(*args: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        with monkeypatch.context() as patched:
            patched.chdir(tmp_path)
            for name, value in (env or {}).items():
                patched.setenv(name, value)
            status = run(list(map(str, args)))
        said = capsys.readouterr()
        return subprocess.CompletedProcess(args, status, said.out, said.err)

    return call


@pytest.fixture
def unread(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Run the program with a standard output that nobody reads any more; status and standard error."""

    def call(*args: str | Path) -> tuple[int, str]:
        read, write = os.pipe()
        os.close(read)
        try:
            done = subprocess.run(
                [sys.executable, "-m", "harness", *map(str, args)],
                cwd=tmp_path,
                stdout=write,
                stderr=subprocess.PIPE,
                text=True,
                timeout=120,
                check=False,
            )
        finally:
            os.close(write)
        return done.returncode, done.stderr

    return call
