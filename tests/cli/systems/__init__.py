"""Memory systems for the tests of runs, and what those tests read runs with.

`quick` behaves; `hostile` does not. Both are named as a user names his own: `quick:Quick`, with
this folder on PYTHONPATH.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import TALK, case_header

FOLDER = Path(__file__).parent
LOG = "TEST_LOG"
"""Variable with the file that `quick:Logged` writes what it takes in to."""
MARK = "TEST_MARK"
"""Variable that tells the processes of one test from all others."""
UNDISTURBED = ("attempt", "namespace", "timings")
"""Fields of a record that a killed run may end with otherwise."""

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")


def environment(**more: str) -> dict[str, str]:
    """Return the variables under which this folder's systems are found."""
    found = os.pathsep.join(filter(None, (str(FOLDER), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": found, **more}


def write_cases(root: Path, count: int, talks: int = 3) -> Path:
    """Write a suite of so many cases in layer 2, each with so many conversations of its own."""
    folder = root / "layer2"
    folder.mkdir(parents=True)
    for number in range(1, count + 1):
        slug = f"{number:02}_fee"
        documents: list[Any] = [case_header(f"layer2_{slug}")]
        for at in range(1, talks + 1):
            told = {"user": f"This is talk {at} of case {number}."}
            documents.append(
                {
                    **TALK,
                    "conversation_id": f"conv_{at:03}",
                    "messages": [*TALK["messages"], told, {"assistant": "Noted."}],  # type: ignore[misc]
                }
            )
        (folder / f"{slug}.yaml").write_text(yaml.safe_dump_all(documents, sort_keys=False))
    return root


def run_folder(root: Path, label: str) -> Path:
    """Return the folder of the one run with a label."""
    found = [
        path.parent
        for path in root.glob("*/manifest.json")
        if manifest(path.parent)["system"]["label"] == label
    ]
    assert len(found) == 1, found
    return found[0]


def manifest(run: Path) -> dict[str, Any]:
    """Return a run's manifest."""
    data: dict[str, Any] = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    return data


def journal(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a journal, every line of which has to be whole."""
    text = path.read_text(encoding="utf-8")
    assert text == "" or text.endswith("\n"), "a torn line"
    return [json.loads(line) for line in text.splitlines()]


def answers(run: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Return what a run ended with, by case and repeat, without what may differ between two runs."""
    return {
        (one["case"], one["repeat"]): {name: value for name, value in one.items() if name not in UNDISTURBED}
        for one in journal(run / "answers.jsonl")
    }


def processes(mark: str) -> list[int]:
    """Return the processes whose environment holds a mark."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:  # gone, or not ours
            continue
    return found
