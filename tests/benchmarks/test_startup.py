"""Start-up as ratios to the bare imports it cannot do without, measured in turns in one run."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmark
ROUNDS = 15


def best(commands: dict[str, list[str]], folder: Path) -> dict[str, float]:
    """Return the shortest wall time of each command in seconds; they take turns."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            times[name].append(time.perf_counter() - start)
    return {name: min(taken) for name, taken in times.items()}


@pytest.fixture(scope="module", autouse=True)
def _bytecode() -> None:
    """Compile the package and its patterns, as `make` does; the bare imports are compiled too."""
    folder = Path(__file__).parents[2] / "harness"
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder)], check=True)
    subprocess.run([sys.executable, "-c", "from harness.facts import kept; kept.warm()"], check=True)


@pytest.mark.parametrize(
    ("args", "imports", "limit"),
    [
        (["--help"], "import click", 1.3),
        (["compare"], "import click, pydantic, rich.table, yaml", 1.6),
    ],
    ids=["help", "compare"],
)
def test_start_up(args: list[str], imports: str, limit: float, tmp_path: Path) -> None:
    script = str(Path(sys.executable).with_name("recallbench"))
    times = best({"ours": [script, *args], "bare": [sys.executable, "-c", imports]}, tmp_path)
    ratio = times["ours"] / times["bare"]
    print(f"\nrecallbench {' '.join(args)}: {times['ours'] * 1000:.0f} ms, {ratio:.2f}x of `{imports}`")
    assert ratio <= limit
