"""Gates and the overall score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.effectiveness.evaluators import NAMES, definitions, make_evaluators, measure, measured_by
from harness.effectiveness.gates import breaches, check_measured, parse_gates
from harness.effectiveness.observed import Observed, Prediction
from harness.effectiveness.overall import HEADLINES, WEIGHTS, Overall, parse_weights
from harness.errors import InputError
from harness.evaluation import Evaluation, Metric
from tests.effectiveness.made import dataset, evaluated
from tests.effectiveness.test_evaluators import RIGHT, TALK, weighed
from tests.effectiveness.test_evaluators import WEIGHTS as WEIGHED


def test_floors_and_ceilings(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "importance", WEIGHED, weighed(3, 8, 7))
    assert breaches([one], parse_gates(["importance.within=0.3"], ["importance.mae=2"])) == []
    red = breaches([one], parse_gates(["importance.within=0.5"], ["importance.mae=1.5"]))
    assert red == [
        "mine: importance.within is 0.3333, below 0.5",
        "  w1: 0.000  Something. (5, not 8)",
        "  w2: 0.000  Something. (9, not 7)",
        "mine: importance.mae is 2.0000, above 1.5",
        "  w1: 3.000  Something. (5, not 8)",
        "  w2: 2.000  Something. (9, not 7)",
    ]


def test_what_failed_never_opens_a_gate(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "extraction", TALK, {**RIGHT, "fee": {"error": "timeout"}})
    (line, why) = breaches([one], parse_gates(["extraction.f1=0.9"], []))
    assert line == "mine: extraction.f1 is 0.3333 (1 of 3 failed and count as the worst), below 0.9"
    assert why == "  fee: timeout"
    absent = evaluated(tmp_path, "extraction", TALK, {})
    (line,) = breaches([absent], parse_gates(["extraction.f1=0"], []))
    assert line == "mine: extraction.f1 has no value, below 0: n/a: the predictions have no facts"


@pytest.mark.parametrize(
    ("floor", "ceiling", "told"),
    [
        ("extraction.f1", None, "write METRIC=NUMBER"),
        ("extraction.f1=nan", None, "write METRIC=NUMBER"),
        ("f1=0.5", None, "no such metric"),
        ("importance.mae=1", None, "Use --fail-over"),
        (None, "extraction.f1=1", "Use --fail-under"),
    ],
)
def test_gates_that_make_no_sense(floor: str | None, ceiling: str | None, told: str) -> None:
    with pytest.raises(InputError, match=told):
        parse_gates([floor] if floor else [], [ceiling] if ceiling else [])


def test_a_gate_on_what_was_not_measured(tmp_path: Path) -> None:
    one = evaluated(tmp_path, "extraction", TALK, RIGHT)
    with pytest.raises(InputError, match="was not measured"):
        breaches([one], parse_gates(["update.updated=1"], []))


@pytest.mark.parametrize(
    ("names", "floor", "told"),
    [
        (["extraction"], "update.updated=1", "--fail-under update.updated: is not measured. Measured: extr"),
        (["extraction"], "overall.score=1", "overall.score: is not measured"),
        (["extraction", "update"], "overall.score=1", None),
        (["update"], "update.updated=1", None),
    ],
)
def test_a_gate_on_what_will_not_be_measured(names: list[str], floor: str, told: str | None) -> None:
    gates = parse_gates([floor], [])
    if told is None:
        check_measured(gates, names)
        return
    with pytest.raises(InputError, match=told):
        check_measured(gates, names)


def measured(**figures: float | None) -> list[Evaluation]:
    def metric(name: str, value: float | None) -> Metric:
        if value is None:
            return Metric(HEADLINES[name], None, 0, 0, reason="n/a: no list")
        return Metric(HEADLINES[name], value, 1, 1, low=value, high=value)

    return [
        Evaluation(name, "mine", "set", (metric(name, value),), provenance={"dataset_hash": "x"})
        for name, value in figures.items()
    ]


def overall(weights: dict[str, float] | None = None, **figures: float | None) -> Evaluation:
    return Overall(weights or WEIGHTS).evaluate(measured(**figures))


def test_the_score_is_renormalised_over_what_was_measured() -> None:
    one = overall(extraction=0.8, update=0.5, importance=None)
    (score,) = one.metrics
    assert score.value == pytest.approx((0.25 * 0.8 + 0.2 * 0.5) / 0.45)
    assert (score.n, score.of) == (2, 3)
    assert score.low == pytest.approx((0.25 * 0.8 + 0.2 * 0.5) / 0.55)
    assert score.high == pytest.approx((0.25 * 0.8 + 0.2 * 0.5 + 0.1) / 0.55)
    assert ("update", "update.updated", "0.500", "0.2", "0.444") in one.sections["weights"]
    assert ("importance", "importance.within", "– (n/a: no list)", "0.1", "–") in one.sections["weights"]


def test_nothing_measured_has_no_score() -> None:
    (score,) = overall(extraction=None, update=None).metrics
    assert (score.value, score.reason) == (None, "nothing with a weight was measured")


def test_weights() -> None:
    weights = parse_weights(["extraction=0", "update=1"])
    (score,) = overall(weights, extraction=0.1, update=0.5).metrics
    assert score.value == 0.5
    for wrong in (["mood=1"], ["update=-1"], ["update=nan"], ["update"], [f"{name}=0" for name in WEIGHTS]):
        with pytest.raises(InputError, match="--weight"):
            parse_weights(wrong)


def test_every_headline_is_a_share_of_which_more_is_better() -> None:
    known = {one.name: one for one in definitions()}
    assert all(known[name].unit == "share" and known[name].higher_is_better for name in HEADLINES.values())
    assert sum(WEIGHTS.values()) == pytest.approx(1)


def test_several_evaluators_of_one_system(tmp_path: Path) -> None:
    data = dataset(tmp_path, *TALK)
    facts: dict[str, Any] = {id: Prediction(facts=tuple(given["facts"])) for id, given in RIGHT.items()}
    observed = Observed(data, "mine", facts, lacking={"update": "no list"})
    found = measure(observed, ["extraction", "update"], make_evaluators(), Overall())
    assert [one.evaluator for one in found] == ["extraction", "update", "overall"]
    assert found[-1].metrics[0].value == 1.0


@pytest.mark.parametrize("names", [NAMES, ("importance",)], ids=["all", "one"])
def test_what_is_measured_is_known_beforehand(tmp_path: Path, names: tuple[str, ...]) -> None:
    nothing = Observed(dataset(tmp_path, *TALK), "mine", {}, lacking=dict.fromkeys(NAMES, "no list"))
    found = measure(nothing, names, make_evaluators(), Overall())
    assert tuple(metric.name for one in found for metric in one.metrics) == measured_by(names)
