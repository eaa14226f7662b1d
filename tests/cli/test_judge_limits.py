"""What a limit, a panel or another threshold does to the figures: none may say more than was measured."""

from __future__ import annotations

import json
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.model_server import Server

SUITE = ("--suite", "suite")
JUDGED = ("compare", "answers.json", *SUITE, "--scorer", "llm-judge")
LABELS = "test_id,answer,label\n" + "".join(
    f"layer1_01_fee,{answer},{label}\n"
    for answer, label in [("It is $45 by March 24.", "accept"), ("About $30 I think.", "reject"), ("No idea.", "reject")]
)  # fmt: skip


def calibrate(server: Server, *more: str) -> tuple[str, ...]:
    judge = ("--base-url", server.base_url, "--model", "rules", "--cassette", "tape.sqlite")
    return ("judge", "calibrate", *SUITE, "--labels", "labels.csv", "--scorer", "llm-judge", *judge, *more)


@pytest.fixture
def labels(fees: Path, tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_text(LABELS)
    return tmp_path


def judged(server: Server, *more: str) -> tuple[str, ...]:
    return (*JUDGED, "--base-url", server.base_url, "--model", "rules", "--cassette", "tape.sqlite", *more)


def test_a_calibration_at_another_threshold_is_not_this_tables(
    server: Server, labels: Path, inside: Any
) -> None:
    assert inside(*calibrate(server)).returncode == 0
    assert "Calibration of this judge: " in inside(*judged(server)).stdout
    other = " ".join(inside(*judged(server, "--pass-threshold", "0.9")).stdout.split())
    assert "Calibration of this judge: " not in other
    assert "measured at a pass threshold of 0.6, which says nothing of 0.9" in other


def test_a_calibration_on_fewer_answers_does_not_replace_one_on_more(
    server: Server, labels: Path, inside: Any
) -> None:
    assert inside(*calibrate(server)).returncode == 0
    (labels / "labels.csv").write_text("".join(LABELS.splitlines(keepends=True)[:2]))
    fewer = inside(*calibrate(server))
    assert "not kept: the cassette has a calibration of this judge on more answers" in fewer.stderr
    assert "3 probes of 1 case" in " ".join(inside(*judged(server)).stdout.split())


def test_a_calibration_that_was_stopped_closes_the_gate_and_is_not_kept(
    server: Server, labels: Path, inside: Any
) -> None:
    server.set_faults([{"do": "garbage"}])
    stopped = inside(*calibrate(server, "--max-errors", "0", "--concurrency", "1"))
    assert stopped.returncode == 1
    assert "stopped early: " in stopped.stderr
    server.set_faults([])
    assert "Calibration: none" in inside(*judged(server)).stdout


def test_a_run_in_which_nothing_could_be_judged_is_no_success(
    server: Server, fees: Path, inside: Any
) -> None:
    server.set_faults([{"do": "garbage"}])
    done = inside(*judged(server))
    assert done.returncode == 1
    assert "no answer could be judged: 4 judge errors in 4 answers" in done.stderr


def test_a_dead_judge_on_a_panel_is_told(server: Server, fees: Path, inside: Any, tmp_path: Path) -> None:
    panel = [f"--judge={name}@{server.url(persona)}" for name, persona in
             (("one", ""), ("two", "delay=1"), ("dead", "garbage"))]  # fmt: skip
    done = inside(*JUDGED, *panel, "--cassette-mode", "off", "-o", "out.json")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "local/dead: no ruling on 4 of 4 answers (no_json 4); the others decided." in said
    assert "Panel agreement" not in said
    judges = json.loads((tmp_path / "out.json").read_text())["judge"]["judges"]
    assert [judge["errors"] for judge in judges] == [{}, {}, {"no_json": 4}]


def test_one_model_is_one_judge(server: Server, fees: Path, inside: Any) -> None:
    twice = (f"--judge=qwen@{server.base_url}", f"--judge=qwen@{server.url('yes_man')}")
    done = inside(*JUDGED, *twice)
    assert done.returncode == 2
    assert "qwen stands twice on the panel" in done.stderr


def test_a_split_panel_lowers_its_agreement(server: Server, fees: Path, inside: Any, tmp_path: Path) -> None:
    panel = (f"--judge=fair@{server.base_url}", f"--judge=lax@{server.url('yes_man')}")
    inside(*JUDGED, *panel, "--cassette-mode", "off", "-o", "out.json")
    agreement = json.loads((tmp_path / "out.json").read_text())["judge"]["agreement"]
    assert agreement["n"] == 8
    assert agreement["k"] < 8


def test_a_stopped_run_replays_as_it_was(
    server: Server, many: Callable[[int], Path], inside: Any, tmp_path: Path
) -> None:
    many(40)
    server.set_faults(
        [{"when": {"share": 0.4, "seed": 3}, "do": "garbage"}, {"when": {"share": 0.5}, "do": {"delay": 30}}]
    )
    run = judged(server, "--max-errors", "0.1", "--concurrency", "8", "-o", "out.json")
    assert inside(*run).returncode == 1
    live = (tmp_path / "out.json").read_bytes()
    again = inside(*run, "--cassette-mode", "replay")
    assert again.returncode == 1
    assert (tmp_path / "out.json").read_bytes() == live


class _Drip(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self.rfile.readline()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n")
        try:
            for _ in range(100):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.1)
        except OSError:
            pass


@pytest.fixture
def dripping() -> Iterator[str]:
    """Serve replies that come a space at a time and never end."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Drip) as drip:
        drip.daemon_threads = True
        threading.Thread(target=drip.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{drip.server_address[1]}/v1"
        drip.shutdown()


def test_a_reply_that_drips_is_a_timeout(dripping: str, inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.llm.line._BACKOFF_S", (0.01, 0.02))
    done = inside("judge", "check", "--base-url", dripping, "--timeout", "0.4")
    assert done.returncode == 3
    assert "no reply within 0.4 s" in done.stderr
