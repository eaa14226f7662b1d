"""What a real, weak model made of three cases is replayed without it: docs/results.md shows the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.resources import bundled

NAMES = ("simple_notes", "enhanced_notes", "json_cards", "advanced_json_cards")
CASES = ("layer1_01_bank_account", "layer2_01_two_cars_service", "layer3_01_passport_and_trip")


def test_the_recorded_runs_of_all_four_are_replayed(recallbench: Any, tmp_path: Path) -> None:
    args = ["run", "--case", ",".join(CASES), "--reader", "llm", "--cassette-mode", "replay"]
    for name in NAMES:
        args += ["--system", f"{name}(steps=2)"]
    args += ["--model", "Qwen2.5-Coder-1.5B-Instruct@cc324af070c2", "--base-url", "http://127.0.0.1:9/v1"]
    done = recallbench(*args, "--cassette", bundled("fixtures") / "strategies" / "qwen2.5-coder-1.5b.jsonl")
    assert done.returncode == 0, done.stderr
    records = [
        json.loads(line)
        for file in sorted((tmp_path / "runs").glob("*/answers.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert len(records) == len(NAMES) * len(CASES)
    failed = [record for record in records if record["outcome"] == "system_error"]
    assert [record["failure"]["message"].partition(":")[0] for record in failed] == ["enhanced_notes"]
    assert all(record["report"]["calls"] for record in records if record not in failed)
