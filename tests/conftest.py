"""Fixtures that every part of the suite shares: a small suite on disk, and the program as a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

SHARED = Path(__file__).parents[2] / "shared"
ROOT = Path(__file__).parents[1]

# A shell that starts the tests in the background ignores these, and so would every program that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the developer's own settings out of the tests."""
    for name in [name for name in os.environ if name.startswith("RECALLBENCH_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


def case_header(test_id: str, **changes: Any) -> dict[str, Any]:
    """Return a header that loads: one money fact, one date fact, one superseded amount."""
    header: dict[str, Any] = {
        "test_id": test_id,
        "category": test_id.split("_")[0],
        "title": f"Title of {test_id}",
        "description": "A small case.",
        "domain": "banking",
        "abilities": ["correction"],
        "entities": [],
        "question_time": "2025-04-20T09:00:00-05:00",
        "user_question": "What is the fee, and when is it due?",
        "evaluation_criteria": [
            {"id": "fee", "text": "States the fee of $45.", "facts": ["fee"], "dimension": "accuracy"},
            {"id": "asks", "text": "Says which account.", "kind": "behaviour"},
        ],
        "expected_behavior": "The fee is $45 and it is due on March 24, 2025.",
        "gold_facts": {
            "required": [
                {"id": "fee", "fact": "$45", "type": "money", "evidence": ["conv_001#1"]},
                {
                    "id": "due",
                    "fact": "March 24, 2025",
                    "type": "date",
                    "accept": ["March 24"],
                    "evidence": ["conv_001#3"],
                },
            ],
            "forbidden": [
                {
                    "id": "old_fee",
                    "fact": "$30",
                    "type": "money",
                    "why": "last year's",
                    "replaces": "fee",
                    "evidence": ["conv_001#2"],
                },
                {
                    "id": "other",
                    "fact": "$99",
                    "type": "money",
                    "why": "another account",
                    "evidence": ["conv_001#4"],
                },
            ],
        },
    }
    header.update(changes)
    return header


TALK = {
    "conversation_id": "conv_001",
    "timestamp": "2025-03-04T10:15:00-05:00",
    "metadata": {"business": "Harbor"},
    "messages": [
        {"user": "So the fee is $45 now?"},
        {"assistant": "Yes, it was $30 last year."},
        {"user": "And I pay it on Monday, March 24, 2025."},
        {"assistant": "Right. The $99 is for the other account."},
    ],
}

WriteSuite = Callable[..., Path]


@pytest.fixture
def write_suite(tmp_path: Path) -> WriteSuite:
    """Write a suite of the given test ids (or headers) and return its folder."""

    def write(*cases: str | Mapping[str, Any], folder: str = "suite") -> Path:
        root = tmp_path / folder
        for case in cases:
            header = case_header(case) if isinstance(case, str) else case
            layer, _, slug = str(header["test_id"]).partition("_")
            path = root / layer / f"{slug}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                yaml.safe_dump_all([header, TALK], sort_keys=False, allow_unicode=True), encoding="utf-8"
            )
        return root

    return write


Recallbench = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def recallbench(tmp_path: Path) -> Recallbench:
    """Run the program as a process in an empty folder."""

    def call(
        *args: str | Path,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        columns: int = 100,
    ) -> subprocess.CompletedProcess[str]:
        where = cwd or tmp_path
        return subprocess.run(
            [sys.executable, "-m", "harness", *map(str, args)],
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=where,
            env={**os.environ, "PYTHONUTF8": "1", "COLUMNS": str(columns), **(env or {})},
            timeout=120,
            check=False,
        )

    return call


@pytest.fixture
def root() -> Path:
    """Return the top folder of the checkout."""
    return ROOT
