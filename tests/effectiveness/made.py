"""Small data sets and predictions for the tests of effectiveness."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.effectiveness.dataset import EffectivenessSet
from harness.effectiveness.evaluators import make_evaluators
from harness.effectiveness.loading import load_effectiveness
from harness.effectiveness.predictions import load_predictions
from harness.evaluation import Evaluation


def dataset(folder: Path, *cases: Mapping[str, Any], **head: Any) -> EffectivenessSet:
    path = folder / "set.json"
    path.write_text(json.dumps({**head, "test_cases": list(cases)}, indent=1), encoding="utf-8")
    (one,) = load_effectiveness(path)
    return one


def evaluated(
    folder: Path, evaluator: str, cases: list[dict[str, Any]], predictions: Mapping[str, Any], **options: Any
) -> Evaluation:
    data = dataset(folder, *cases)
    path = folder / "mine.json"
    path.write_text(json.dumps({"mine": predictions}), encoding="utf-8")
    (observed,) = load_predictions(path, data)
    return make_evaluators(**options)[evaluator].evaluate(observed)


def values(one: Evaluation) -> dict[str, float | None]:
    return {metric.name.partition(".")[2]: metric.value for metric in one.metrics}
