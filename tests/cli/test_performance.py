"""`recallbench performance`, as a process."""

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

from tests.adapters.connectors.servers.serving import serve
from tests.performance.servers import Deadlocking, Lossy, Slow, spec

QUICK = (
    "--size", "20", "--size", "50", "--length", "100", "--requests", "10", "--rate", "30", "--duration", "0.3",
    "--load-memories", "5", "--samples", "3", "--writers", "2", "--writes", "10", "--seen-within", "0.2",
)  # fmt: skip


def test_every_part_has_a_table(recallbench: Any) -> None:
    done = recallbench("performance", "-s", "bm25", "-s", "all=full_context", *QUICK, "--reference", "bm25")
    assert done.returncode == 0, done.stderr
    for title in (
        "insert: ms",
        "search: ms",
        "growth,",
        "load: ms",
        "freshness: ms",
        "contention:",
        "ratios",
    ):
        assert any(line.startswith(title) for line in done.stdout.splitlines()), title
    assert "bm25 is SQLite" in done.stdout
    assert "Times of another run or machine do not compare." in done.stdout.replace("\n", " ")
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize("format", ["md", "json", "csv"])
def test_formats(recallbench: Any, tmp_path: Path, format: str) -> None:
    out = tmp_path / f"out.{format}"
    args = ("performance", "-s", "bm25", "--part", "search", *QUICK, "--format", format, "-o", out)
    done = recallbench(*args)
    assert done.returncode == 0, done.stderr
    assert out.read_text(encoding="utf-8") == done.stdout
    if format == "json":
        (one,) = json.loads(done.stdout)["evaluations"]
        values = {metric["name"]: metric["value"] for metric in one["metrics"]}
        assert values["search_p50_ms@50"] > 0
        assert values["disk_bytes_per_memory"] is None
        assert set(one["items"][0]["values"]) == {
            f"{name}_ms" for name in ("min", "p50", "p90", "p95", "p99", "max")
        }
        assert "core" in one["provenance"]["machine"]
    elif format == "csv":
        assert ",bm25,search_p99_ms@20," in done.stdout
    else:
        assert "### search: ms by memories" in done.stdout


def test_a_lossy_and_a_deadlocking_server_are_named(recallbench: Any) -> None:
    with serve(Lossy()) as server:
        lossy = recallbench("performance", "-s", spec(server.url), "--part", "contention", *QUICK)
    assert lossy.returncode == 0, lossy.stderr
    assert "it: found: 2 writers at once: 2 of 20 acknowledged writes lost" in lossy.stdout.replace("\n", " ")
    deadlocking = Deadlocking(after=20)
    with serve(deadlocking) as server:
        hung = recallbench(
            "performance", "-s", spec(server.url), "--part", "load", *QUICK, "--rate", "60", "--timeout", "0.2",
            "--at-least", "load_succeeded@30=0.99",
        )  # fmt: skip
        deadlocking.released.set()
    assert hung.returncode == 1
    assert "stopped answering: after 20 answered requests" in hung.stdout.replace("\n", " ")
    assert "it: load_succeeded@30 is 0." in hung.stderr


def test_never_worse_than_an_earlier_result(recallbench: Any, tmp_path: Path) -> None:
    args = ("performance", "-s", "all=full_context", "--part", "search", *QUICK)
    base = tmp_path / "base.json"
    first = recallbench(*args, "--reference", "bm25", "-o", base)
    assert first.returncode == 0, first.stderr
    same = recallbench(*args, "--not-below", base, "--tolerance", "1000")
    assert same.returncode == 0, same.stderr
    assert "figures compared." in same.stderr

    earlier = json.loads(base.read_text(encoding="utf-8"))
    for one in earlier["evaluations"]:
        one["provenance"]["machine"] = "another"
        for metric in one["metrics"]:
            if one["system"] == "all" and "_p50_ms" in metric["name"]:
                for name in ("value", "low", "high"):
                    metric[name] /= 1e6
    base.write_text(json.dumps(earlier), encoding="utf-8")
    worse = recallbench(*args, "--not-below", base)
    assert worse.returncode == 1
    assert "all: search_p50_ms@20 is" in worse.stderr
    assert "another machine (another): only ratios to bm25" in worse.stderr

    earlier["evaluations"] = [one for one in earlier["evaluations"] if one["system"] == "all"]
    base.write_text(json.dumps(earlier), encoding="utf-8")
    alone = recallbench(*args, "--not-below", base)
    assert (alone.returncode, alone.stdout) == (2, "")
    assert "bm25 was not measured beside the others there" in alone.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "name at least one --system"),
        (("-s", "bm26"), "Did you mean bm25?"),
        (("-s", "bm25", "-s", "bm25"), "two systems are called bm25"),
        (("-s", "bm25", "--at-most", "search_p99_ms@7=1"), "is not measured"),
        (("-s", "bm25", "--at-most", "x"), "write METRIC=X"),
        (("-s", "bm25", "--gate-on", "x"), "are for --not-below"),
        (("-s", "bm25", "--not-below", "none.json", "--tolerance", "nan"), "--tolerance nan"),
        (
            ("-s", "bm25", "--not-below", "none.json", "--gate-on", "search_growth"),
            "an exponent has no ratio",
        ),
        (("-s", "bm25", "--writers", "99999999"), "--writers 99999999: expected at most 10,000"),
        (("-s", "bm25", "--not-below", "none.json"), "none.json: cannot be read"),
        (("-s", "bm25", "--rate", "nan"), "--rate"),
        (("-s", "bm25", "--rate", "1e9"), "more than 200,000 requests"),
        (("-s", "bm25", "-o", "out.xyz"), "the ending says nothing"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_measured(
    recallbench: Any, args: tuple[str, ...], said: str
) -> None:
    done = recallbench("performance", *args)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_a_time_cap_prints_not_reached(recallbench: Any) -> None:
    done = recallbench(
        "performance", "-s", "bm25", "--part", "search", "--size", "10", "--size", "9000000", "--requests", "5",
        "--max-seconds", "1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "not reached" in next(line for line in done.stdout.splitlines() if "9,000,000" in line)
    assert "search@9000000: the time cap of 1 s with" in done.stdout


@pytest.mark.parametrize("part", ["search", "load"])
def test_an_interrupt_shows_what_was_measured(tmp_path: Path, part: str) -> None:
    with serve(Slow()) as server:
        args = (
            "--requests",
            "100000",
            "--duration",
            "60",
            "--size",
            "20",
            "--load-memories",
            "5",
            "--rate",
            "30",
        )
        process = subprocess.Popen(
            [sys.executable, "-m", "harness", "performance", "-s", spec(server.url), "--part", part, *args],
            cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUTF8": "1"},
        )  # fmt: skip
        try:
            for _ in range(6_000):
                if len(server.requests) > 80 or process.poll() is not None:
                    break
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
            process.wait(30)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "interrupted: these figures are what was measured until then" in out.replace("\n", " ")
    row = next(
        line for line in out.splitlines() if line.startswith("│ it") and ("20 │" in line or "30/s" in line)
    )
    assert "not reached" not in row
    if part == "search":
        assert "/100000" in row


def test_a_reader_that_leaves_opens_no_gate(tmp_path: Path, unread: Any) -> None:
    args = ("performance", "-s", "bm25", "--part", "contention", *QUICK, "-o", "out.json")
    for bound, status in (("contention_kept=2", 1), ("contention_kept=0", 0)):
        found, said = unread(*args, "--at-least", bound)
        assert found == status, said
        assert ("contention_kept" in said) == bool(status)
        assert "Exception" not in said
        (tmp_path / "out.json").unlink()
