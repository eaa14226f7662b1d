"""What the tests of performance share: a system measured in this process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.evaluation import Evaluation
from harness.llm.models import Models, ModelSettings
from harness.naming import parse_spec
from harness.performance.evaluator import PerformanceEvaluator
from harness.performance.found import Measured
from harness.performance.measuring import measure
from harness.performance.plan import Plan

ROOT = Path(__file__).parents[2]
QUICK: dict[str, Any] = {
    "sizes": (20, 50), "lengths": (100, 500), "requests": 10, "warm_up": 2, "rates": (40.0,), "duration": 0.5,
    "load_memories": 10, "samples": 5, "seen_within": 0.3, "writers": 4, "writes": 10, "timeout": 5.0,
    "max_seconds": 60.0,
}  # fmt: skip


class Result:
    def __init__(self, found: Measured, evaluation: Evaluation) -> None:
        self.found = found
        self.evaluation = evaluation
        self.errors = "\n".join(evaluation.errors)
        self.warnings = "\n".join(evaluation.warnings)

    def value(self, name: str) -> float | None:
        metric = self.evaluation.metric(name)
        assert metric is not None, name
        return metric.value

    def reason(self, name: str) -> str:
        metric = self.evaluation.metric(name)
        assert metric is not None, name
        assert metric.value is None
        return metric.reason


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.chdir(ROOT)

    def run(system: str, *parts: str, **changes: Any) -> Result:
        plan = Plan(**{**QUICK, "parts": parts, **changes})
        spec = parse_spec(system, "--system", labelled=True)
        found = Measured(spec.label)

        async def work() -> None:
            models = Models(ModelSettings(), {**os.environ, "PYTHONPATH": str(ROOT)})
            await measure(spec, models, plan, found, lambda said: None)
            await models.close()

        asyncio.run(work())
        return Result(found, PerformanceEvaluator(plan).evaluate(found))

    return run
