"""Judging beside a plain AsyncOpenAI loop that sends the same requests, in turns in one run.

A thousand answers at 50 ms a reply and 64 in flight. Ours is the whole command: prompts, replies
read and checked, quotes, cassette, table. The server is a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.resources import example_responses
from harness.scoring import load_responses
from harness.scoring.judge import verdicts
from harness.scoring.judge.prompts import JudgePrompts
from harness.suite import load_suite
from tests.model_server import Server, start

pytestmark = pytest.mark.benchmark
ROUNDS = 5
ANSWERS = 1000
CONCURRENCY = 64
LATENCY_MS = 50
SCRIPT = str(Path(sys.executable).with_name("recallbench"))


class Measured(NamedTuple):
    """Wall time in seconds and peak memory in MB of a process."""

    wall: float
    peak: float


# A process of its own starts each contender: one that pytest forks has pytest's memory in its peak.
STARTER = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
with open("output.txt", "w") as output:
    status = subprocess.run(sys.argv[1:], stdout=output, stderr=subprocess.STDOUT).returncode
wall = time.perf_counter() - began
print(json.dumps([status, wall, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024]))
"""


def measured(command: list[str], folder: Path) -> Measured:
    starter = [sys.executable, "-c", STARTER, *command]
    done = subprocess.run(starter, cwd=folder, check=True, capture_output=True, text=True)
    status, wall, peak = json.loads(done.stdout)
    assert status == 0, (folder / "output.txt").read_text()
    return Measured(wall, peak)


def responses(count: int) -> dict[str, dict[str, str]]:
    """Return so many different answers to the bundled cases, by system."""
    given = load_responses(example_responses(), load_suite().ids).systems
    made: dict[str, dict[str, str]] = {}
    left = count
    for copy in range(count):
        name = list(given)[copy % len(given)]
        answers = {
            test_id: f"{answer.text} (No. {copy})" for test_id, answer in given[name].items() if answer.text
        }
        made[f"copy_{copy:03}"] = dict(list(answers.items())[:left])
        left -= len(made[f"copy_{copy:03}"])
        if left <= 0:
            break
    return made


def bodies(systems: dict[str, dict[str, str]]) -> list[dict[str, object]]:
    """Return the requests that judging these answers sends."""
    suite, prompts = load_suite(), JudgePrompts()
    made: list[dict[str, object]] = []
    for answers in systems.values():
        for test_id, text in answers.items():
            case = suite.get(test_id)
            schema = verdicts.schema_of(case)
            shape = {"name": schema.name, "strict": True, "schema": schema.json_schema()}
            made.append(
                {
                    "model": "rules",
                    "messages": list(prompts.messages(case, text)),
                    "temperature": 0.0,
                    "max_tokens": 1024,
                    "response_format": {"type": "json_schema", "json_schema": shape},
                }
            )
    return made


def ours(server: Server, name: str, cassette: str) -> list[str]:
    flags = ["--scorer", "llm-judge", "--model", "rules", "--base-url", server.base_url]
    return [SCRIPT, "compare", name, *flags, "--concurrency", str(CONCURRENCY), "--cassette", cassette]


def test_a_judged_run_beside_a_bare_loop(tmp_path: Path) -> None:
    thousand, hundred = responses(ANSWERS), responses(ANSWERS // 10)
    (tmp_path / "thousand.json").write_text(json.dumps(thousand))
    (tmp_path / "hundred.json").write_text(json.dumps(hundred))
    (tmp_path / "bodies.json").write_text(json.dumps(bodies(thousand)))
    bare_loop = str(Path(__file__).with_name("bare_loop.py"))
    taken: dict[str, list[Measured]] = {"bare": [], "ours": [], "cached": [], "tenth": []}
    with start(latency_ms=LATENCY_MS, max_seconds=900) as server:
        bare = [sys.executable, bare_loop, server.base_url, "bodies.json", str(CONCURRENCY)]
        for round_ in range(ROUNDS):
            taken["bare"].append(measured(bare, tmp_path))
            server.reset()
            cassette = f"round_{round_}.sqlite"
            taken["ours"].append(measured(ours(server, "thousand.json", cassette), tmp_path))
            stats = server.stats()
            assert stats["chat"] == ANSWERS
            assert stats["max_in_flight"] <= CONCURRENCY
            assert stats["connections"] <= CONCURRENCY + 1  # the one that asks for the figures
            taken["cached"].append(measured(ours(server, "thousand.json", cassette), tmp_path))
            assert server.stats()["chat"] == ANSWERS
            taken["tenth"].append(measured(ours(server, "hundred.json", f"tenth_{round_}.sqlite"), tmp_path))
    best = {name: min(each.wall for each in found) for name, found in taken.items()}
    peak = {name: max(each.peak for each in found) for name, found in taken.items()}
    floor = ANSWERS * LATENCY_MS / 1000 / CONCURRENCY
    print(f"\nbare loop {best['bare']:.2f} s, {peak['bare']:.0f} MB (the replies alone take {floor:.2f} s)")
    for name in ("ours", "cached"):
        print(f"{name} {best[name]:.2f} s, {best[name] / best['bare']:.2f}x, {peak[name]:.0f} MB")
    print(f"a tenth of the answers: {peak['tenth']:.0f} MB")
    assert best["ours"] <= 0.7 * best["bare"]
    assert best["cached"] <= 0.25 * best["bare"]
    assert peak["ours"] <= 90
