"""Loading a suite as a ratio to a full libyaml parse of the same files, in one run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from harness.suite import load_suite

pytestmark = pytest.mark.benchmark
CASES, TALKS, ROUNDS = 60, 3, 52


def test_headers_cost_a_fraction_of_a_full_parse(tmp_path: Path, fastest: Callable[..., float]) -> None:
    source = Path(__file__).parents[2] / "test_cases" / "layer3" / "12_solar_and_roof.yaml"
    header, *talks = list(yaml.load_all(source.read_text(encoding="utf-8"), Loader=yaml.CBaseLoader))
    words = [next(iter(message.values())) for talk in talks for message in talk["messages"]]
    for at in range(CASES):
        layer, slug = f"layer{2 + at % 2}", f"{at:02}_made"
        head = {**header, "test_id": f"{layer}_{slug}", "category": layer}
        bodies = [
            {
                "conversation_id": f"conv_{n:03}",
                "timestamp": f"2025-0{n}-04T10:15:00-05:00",
                "messages": [
                    {("user", "assistant")[turn % 2]: words[(at + n + turn) % len(words)]}
                    for turn in range(2 * ROUNDS)
                ],
            }
            for n in range(1, TALKS + 1)
        ]
        path = tmp_path / layer / f"{slug}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            yaml.dump_all([head, *bodies], Dumper=yaml.CSafeDumper, sort_keys=False), encoding="utf-8"
        )
    files = sorted(tmp_path.rglob("*.yaml"))

    def full() -> None:
        for file in files:
            list(yaml.load_all(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))

    headers = fastest(lambda: load_suite(tmp_path))
    parsed = fastest(full, times=3)
    print(
        f"\n{CASES} headers {headers * 1000:.0f} ms, full parse {parsed * 1000:.0f} ms: "
        f"1/{parsed / headers:.1f}"
    )
    assert headers <= parsed / 8
