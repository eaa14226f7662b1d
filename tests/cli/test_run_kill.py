"""Runs that are killed, interrupted, ended or started twice: what is finished stays, the end is the same."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.systems import (
    LOG,
    MARK,
    answers,
    environment,
    journal,
    needs_proc,
    processes,
    run_folder,
    write_cases,
)

CASES, TALKS = 16, 3
KILLS = 10
COMMAND = (
    "run", "-s", "slow=quick:Logged(ms=15)", "-s", "bm25", "-s", "full_context", "--suite", "suite",
    "--repeats", "2", "--concurrency", "3",
)  # fmt: skip


class Started:
    """The program at work in a folder, with a file for each stream."""

    def __init__(self, folder: Path, *args: str, env: Mapping[str, str]) -> None:
        self.folder = folder
        self._out, self._err = folder / "stdout.txt", folder / "stderr.txt"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "harness", *args],
                cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                env={**os.environ, "PYTHONUTF8": "1", **env},
            )  # fmt: skip

    def send_when(self, true: Callable[[], bool], number: signal.Signals) -> int:
        """Send a signal once something is true; return the exit status."""
        try:
            for _ in range(12_000):
                if true() or self.process.poll() is not None:
                    break
                time.sleep(0.005)
            self.process.send_signal(number)
            return self.process.wait(60)
        finally:
            self.process.kill()
            self.process.wait(60)

    @property
    def stdout(self) -> str:
        return self._out.read_text(encoding="utf-8")

    @property
    def stderr(self) -> str:
        return self._err.read_text(encoding="utf-8")


def taken_in(folder: Path) -> int:
    """Return how many conversations the slow system was handed so far."""
    log = folder / "log.txt"
    return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.fixture
def place(tmp_path: Path) -> Callable[[str], Path]:
    """Make a folder with the suite in it."""

    def make(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        write_cases(folder / "suite", CASES, TALKS)
        return folder

    return make


def env_of(folder: Path) -> dict[str, str]:
    return environment(**{LOG: str(folder / "log.txt"), MARK: uuid.uuid4().hex})


@needs_proc
def test_killed_ten_times_it_ends_as_an_undisturbed_run(place: Any, recallbench: Any) -> None:
    calm, killed = place("calm"), place("killed")
    env = env_of(killed)
    chance = random.Random(20250420)
    in_the_middle = 0
    for _ in range(KILLS):
        until = taken_in(killed) + chance.randrange(0, CASES * TALKS * 2 // KILLS)
        run = Started(killed, *COMMAND, env=env)
        status = run.send_when(lambda until=until: taken_in(killed) > until, signal.SIGKILL)  # type: ignore[misc]
        assert status == -signal.SIGKILL, run.stderr
        assert run.stdout == ""
        in_the_middle += taken_in(killed) > until
    assert in_the_middle == KILLS, "every kill has to hit a run at work"

    ended = recallbench(*COMMAND, cwd=killed, env=env)
    undisturbed = recallbench(*COMMAND, cwd=calm, env=env_of(calm))
    assert ended.returncode == undisturbed.returncode == 0, ended.stderr
    assert ended.stdout == undisturbed.stdout
    for label in ("slow", "bm25", "full_context"):
        mine, other = run_folder(killed / "runs", label), run_folder(calm / "runs", label)
        assert mine.name == other.name
        assert len(answers(mine)) == CASES * 2
        assert answers(mine) == answers(other)
        assert len(journal(mine / "answers.jsonl")) == CASES * 2, "finished work was done again"
        for scores in mine.glob("scores.*.jsonl"):
            assert scores.read_bytes() == (other / scores.name).read_bytes()

    taken = Counter((killed / "log.txt").read_text().splitlines())
    assert max(taken.values()) == 1, "a space was ingested into twice"
    assert len(taken) > CASES * TALKS * 2, "no kill hit a case that was begun"
    slow = run_folder(killed / "runs", "slow")
    begun = journal(slow / "attempts.jsonl")
    assert {line.split()[0] for line in taken} <= {one["namespace"] for one in begun}
    tries = Counter((one["case"], one["repeat"]) for one in begun)
    assert {key: one["attempt"] for key, one in journaled(slow).items()} == tries
    assert max(tries.values()) > 1

    again = recallbench(*COMMAND, cwd=killed, env=env)
    assert again.stdout == ended.stdout
    assert "questions asked: 0 now, 96 before; kept" in again.stderr
    assert processes(env[MARK]) == []


def journaled(run: Path) -> dict[tuple[str, int], dict[str, Any]]:
    return {(one["case"], one["repeat"]): one for one in journal(run / "answers.jsonl")}


@needs_proc
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)],
    ids=["ctrl-c", "sigterm"],
)
def test_stopped_by_a_signal_it_leaves_whole_journals_and_goes_on(
    place: Any, recallbench: Any, number: signal.Signals, status: int
) -> None:
    folder = place("one")
    env = env_of(folder)
    run = Started(folder, *COMMAND, env=env)
    assert run.send_when(lambda: taken_in(folder) >= 20, number) == status
    assert run.stdout == ""
    if number == signal.SIGINT:
        assert [line for line in run.stderr.splitlines() if line] == [
            "Finished answers are kept; the same command goes on from there.",
            "interrupted",
        ]
    assert left_behind(env[MARK]) == []
    slow = run_folder(folder / "runs", "slow")
    finished = {
        label: journal(run_folder(folder / "runs", label) / "answers.jsonl") for label in ("slow", "bm25")
    }
    assert 0 < len(finished["slow"]) < CASES * 2

    ended = recallbench(*COMMAND, cwd=folder, env=env)
    assert ended.returncode == 0, ended.stderr
    assert journal(slow / "answers.jsonl")[: len(finished["slow"])] == finished["slow"]
    assert all("failure" not in one for one in answers(slow).values()), "a stop is no failure of a system"
    assert len(answers(slow)) == CASES * 2
    assert "n=16" in ended.stdout


def left_behind(mark: str) -> list[int]:
    """Return the processes that stay; those of a killed program get a moment to go."""
    for _ in range(400):
        if not processes(mark):
            break
        time.sleep(0.01)
    return processes(mark)


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, None], ids=str)
@pytest.mark.parametrize("hanging", ["quick:Spawns(ms=600_000)", "hostile:HangsInLoop"])
def test_whatever_a_system_started_ends_with_the_run(
    place: Any, number: signal.Signals | None, hanging: str
) -> None:
    folder = place("one")
    env = env_of(folder)
    # The second system shows that the first is at work: cases go in order, each system on the same one.
    flags = ("-s", hanging, "-s", "slow=quick:Logged(ms=1)", "--case", "layer2_01_fee,layer2_02_fee")
    limit = ("--timeout", "1", "--timeout", "load=60") if number is None else ()
    run = Started(folder, "run", *flags, *limit, "--suite", "suite", env=env)
    begun = TALKS * 2 + (1 if "Spawns" in hanging else 0)
    if number is None:
        assert run.process.wait(60) == 0, run.stderr
    else:
        run.send_when(lambda: taken_in(folder) >= begun, number)
    assert left_behind(env[MARK]) == []


def test_torn_last_lines_are_cut_off(place: Any, recallbench: Any) -> None:
    folder = place("one")
    command = ("run", "-s", "bm25", "--suite", "suite")
    first = recallbench(*command, cwd=folder)
    run = run_folder(folder / "runs", "bm25")
    whole = answers(run)
    for name in ("answers.jsonl", "attempts.jsonl"):
        data = (run / name).read_bytes()
        (run / name).write_bytes(data[:-20])
    second = recallbench(*command, cwd=folder)
    assert second.returncode == 0, second.stderr
    assert "questions asked: 1 now, 15 before; kept" in second.stderr
    assert second.stdout == first.stdout
    assert answers(run) == whole


def test_two_at_once_get_one_clear_error(place: Any, recallbench: Any) -> None:
    folder = place("one")
    env = env_of(folder)
    command = ("run", "-s", "slow=quick:Logged(ms=200)", *COMMAND[3:])
    first = Started(folder, *command, env=env)
    try:
        for _ in range(6000):
            if taken_in(folder):
                break
            time.sleep(0.005)
        second = recallbench(*command, cwd=folder, env=env)
        assert second.returncode == 2
        assert second.stderr.count("\n") == 1
        assert "another process works on this run. Wait for it, or stop it." in second.stderr
        assert str(Path("runs", "slow-")) in second.stderr
        other = recallbench("run", "-s", "bm25", "--suite", "suite", "--limit", "1", cwd=folder, env=env)
        assert other.returncode == 0, "another run in the same folder is free"
        assert first.send_when(lambda: True, signal.SIGINT) == 130, first.stderr
    finally:
        first.process.kill()
        first.process.wait(60)


def test_a_changed_source_makes_a_new_run(recallbench: Any, tmp_path: Path) -> None:
    write_cases(tmp_path / "suite", 2, talks=1)
    source = tmp_path / "mine.py"
    text = (
        "class Mine:\n"
        "    def __init__(self, space): self.texts = []\n"
        "    def ingest(self, conversation): self.texts += [one.text for one in conversation.messages]\n"
        "    def recall(self, question, limit): return self.texts\n"
    )
    source.write_text(text)
    command = ("run", "-s", "mine:Mine", "--suite", "suite", "--format", "json")
    first, same = recallbench(*command), recallbench(*command)
    assert "questions asked: 2 now; kept" in first.stderr, first.stderr
    assert "questions asked: 0 now, 2 before; kept" in same.stderr
    source.write_text(text.replace("return self.texts", "return []"))
    changed = recallbench(*command)
    assert "questions asked: 2 now; kept" in changed.stderr
    assert changed.stdout != first.stdout
    assert len(list((tmp_path / "runs").iterdir())) == 2
    # Both are called by their folders, and not one of them by both's name.
    both = sorted((tmp_path / "runs").iterdir())
    compared = recallbench("compare", *both, "--suite", "suite", "--format", "json")
    assert compared.returncode == 0, compared.stderr
    import json

    names = {one["system"] for one in json.loads(compared.stdout)["systems"]}
    assert names == {path.name for path in (tmp_path / "runs").iterdir()}
