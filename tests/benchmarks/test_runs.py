"""Runs beside the reading of their cases, and their memory as systems are added, each within one run."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from harness.adapters import serving
from harness.adapters.registry import FLAG, find_adapter
from harness.llm.models import Models, ModelSettings
from harness.naming import parse_spec
from harness.runs.execute import Done, execute
from harness.runs.preparing import Entrant, Settings
from harness.suite import Suite, load_suite, source

pytestmark = pytest.mark.benchmark
ROUNDS = 7
SYSTEMS = ("bm25", "full_context")
CASES = 1000
MOST = 5.0


class Spent(NamedTuple):
    """CPU seconds of a run: reading conversations, inside the adapters, and all the rest."""

    reading: float
    adapters: float
    harness: float


def carried_out(suite: Suite, root: Path) -> Done:
    specs = [parse_spec(name, FLAG) for name in SYSTEMS]
    entrants = [Entrant(spec, find_adapter(spec)) for spec in specs]
    return asyncio.run(execute(suite, entrants, Settings(concurrency=1), Models(ModelSettings(), {}), root))


def test_a_run_costs_a_fraction_of_reading_its_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = {"reading": 0.0, "adapters": 0.0}
    read, call = source.read_conversations, serving._call

    def timed_read(case: Any) -> Any:
        began = time.process_time()
        try:
            return read(case)
        finally:
            clock["reading"] += time.process_time() - began

    async def timed_call(*args: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return await call(*args, **named)
        finally:
            clock["adapters"] += time.process_time() - began

    monkeypatch.setattr(source, "read_conversations", timed_read)
    monkeypatch.setattr(serving, "_call", timed_call)
    suite = load_suite()
    carried_out(suite, tmp_path / "warm")
    taken, walls = [], []
    for number in range(ROUNDS):
        clock.update(reading=0.0, adapters=0.0)
        wall, began = time.perf_counter(), time.process_time()
        done = carried_out(suite, tmp_path / f"round_{number}")
        spent = time.process_time() - began
        walls.append(time.perf_counter() - wall)
        assert (done.fresh, done.failed) == (len(suite) * len(SYSTEMS), 0)
        taken.append(Spent(clock["reading"], clock["adapters"], spent - sum(clock.values())))
    best = Spent(*(min(column) for column in zip(*taken, strict=True)))
    each = 1000 / len(suite)
    print(
        f"\na case, CPU: reading {best.reading * each:.2f} ms, inside {len(SYSTEMS)} adapters "
        f"{best.adapters * each:.2f} ms, the harness {best.harness * each:.2f} ms, "
        f"{best.harness / best.reading:.2f}x the reading; wall {min(walls) * each:.2f} ms in all"
    )
    assert best.harness <= MOST * best.reading


# A process of its own runs a suite: one that pytest forks has pytest's memory in its peak.
RUN = """
import asyncio, json, resource, sys
from pathlib import Path
from harness.adapters.registry import FLAG, find_adapter
from harness.llm.models import Models, ModelSettings
from harness.naming import parse_spec
from harness.runs.execute import execute
from harness.runs.preparing import Entrant, Settings
from harness.runs.scoring import score_run
from harness.scoring import find_scorer
from harness.suite import load_suite
suite = load_suite(Path("suite"))
specs = [parse_spec(text, FLAG, labelled=True) for text in sys.argv[1:]]
loaded = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
done = asyncio.run(execute(
    suite, [Entrant(spec, find_adapter(spec)) for spec in specs], Settings(), Models(ModelSettings(), {}),
    Path(f"runs_{len(specs)}"),
))
ran = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([done.fresh, done.failed, loaded, ran]))
"""
STARTER = "import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', *sys.argv[1:]]).returncode)"


def write_cases(folder: Path) -> None:
    """Write a thousand cases with the conversations of a bundled one."""
    home = Path(__file__).parents[2] / "test_cases" / "layer3" / "01_passport_and_trip.yaml"
    header, *talks = list(yaml.load_all(home.read_text(encoding="utf-8"), Loader=yaml.CBaseLoader))
    body = yaml.dump_all(talks, Dumper=yaml.CSafeDumper, sort_keys=False, explicit_start=True)
    for at in range(CASES):
        path = folder / "suite" / "layer3" / f"{at:04}_made.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = yaml.dump(
            {**header, "test_id": f"layer3_{path.stem}"}, Dumper=yaml.CSafeDumper, sort_keys=False
        )
        path.write_text(f"{head}{body}", encoding="utf-8")


def test_memory_does_not_grow_with_the_systems(tmp_path: Path) -> None:
    write_cases(tmp_path)
    root = str(Path(__file__).parents[2])
    peaks = []
    for names in (["full_context"], ["full_context", "b=full_context", "c=full_context", "d=full_context"]):
        done = subprocess.run(
            [sys.executable, "-c", STARTER, RUN, *names],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": root}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        fresh, failed, loaded, ran = json.loads(done.stdout)
        assert (fresh, failed) == (CASES * len(names), 0)
        size = sum(path.stat().st_size for path in tmp_path.glob(f"runs_{len(names)}/*/answers.jsonl"))
        print(
            f"\n{len(names)} x {CASES} answers, {size >> 20} MB of journals: {loaded:.0f} MB loaded, peak {ran:.0f} MB"
        )
        peaks.append(ran)
    assert peaks[1] <= 1.2 * peaks[0]
