"""A judged run that is killed or interrupted: nothing finished is asked for again, the end is the same."""

from __future__ import annotations

import json
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.model_server import Server

CASES = 200
AT_ONCE = 4
OUTPUTS = ("out.json", "out.md", "out.csv")


def command(server: Server) -> list[str]:
    return [
        "compare", "answers.json", "--suite", "suite", "--scorer", "llm-judge", "--base-url", server.base_url, "--model", "rules",
        "--concurrency", str(AT_ONCE), "--cassette", "kept.sqlite",
        *(part for name in OUTPUTS for part in ("-o", name)),
    ]  # fmt: skip


def bodies(server: Server) -> Counter[str]:
    return Counter(json.dumps(body, sort_keys=True) for body in server.requests())


def kept(recallbench: Any, folder: Path) -> int:
    shown = recallbench("cassette", "show", "kept.sqlite", cwd=folder)
    return int(shown.stdout.partition(": ")[2].partition(" replies")[0])


def test_killed_in_the_middle_it_goes_on_and_ends_as_an_undisturbed_run(
    server: Server, many: Callable[[int], Path], recallbench: Any, running: Any, tmp_path: Path
) -> None:
    many(CASES)
    other = tmp_path / "undisturbed"
    other.mkdir()
    shutil.copytree(tmp_path / "suite", other / "suite")
    shutil.copy(tmp_path / "answers.json", other)

    server.set_faults([{"do": {"delay": 40}}])
    first = running(tmp_path, *command(server))
    assert first.send_when(server, 60, signal.SIGKILL) == -signal.SIGKILL
    assert not any((tmp_path / name).exists() for name in OUTPUTS)
    finished = kept(recallbench, tmp_path)
    assert 60 - AT_ONCE <= finished < CASES

    server.set_faults([])  # what was asked stays counted
    again = recallbench(*command(server))
    assert again.returncode == 0, again.stderr
    assert f"judged {CASES} answers: {CASES - finished} replies" in again.stderr
    asked = bodies(server)
    assert len(asked) == CASES
    # Asked twice is only what was on its way when the first run was killed.
    assert sum(asked.values()) <= CASES + AT_ONCE
    assert max(asked.values()) <= 2

    undisturbed = recallbench(*command(server), cwd=other)
    assert undisturbed.returncode == 0, undisturbed.stderr
    assert undisturbed.stdout == again.stdout
    for name in OUTPUTS:
        assert (tmp_path / name).read_bytes() == (other / name).read_bytes(), name


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_ctrl_c_says_where_the_finished_verdicts_are_and_the_same_command_goes_on(
    server: Server, many: Callable[[int], Path], recallbench: Any, running: Any, tmp_path: Path, mode: str
) -> None:
    many(40)
    server.set_faults([{"do": {"delay": 100}}])
    run = running(tmp_path, *command(server), "--cassette-mode", mode)
    assert run.send_when(server, 10, signal.SIGINT) == 130
    told = {
        "off": "Nothing of this run is kept: the cassette is off.",
        "auto": "Finished verdicts are kept in kept.sqlite; the same command goes on from there.",
    }
    assert [line for line in run.stderr.splitlines() if line] == [told[mode], "interrupted"]
    if mode == "off":
        assert not (tmp_path / "kept.sqlite").exists()
        return
    finished = kept(recallbench, tmp_path)
    assert 10 - AT_ONCE <= finished < 40

    server.set_faults([])  # what was asked stays counted
    again = recallbench(*command(server))
    assert again.returncode == 0, again.stderr
    assert f"judged 40 answers: {40 - finished} replies" in again.stderr
    assert len(bodies(server)) == 40
    assert sum(bodies(server).values()) <= 40 + AT_ONCE
