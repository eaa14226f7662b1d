"""What judges' errors do to a rate and a mean, and how repeated runs differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics import averaged, ppi_mean, rogan_gladen, run_spread

VECTORS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("vectors").joinpath("statistics.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["kind"] == "rogan_gladen"])
def test_rogan_gladen_vectors(vector: dict[str, Any]) -> None:
    found = rogan_gladen(vector["observed"], vector["sensitivity"], vector["specificity"])
    assert found == pytest.approx(vector["expected"], abs=1e-6)


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["kind"] == "ppi_mean"])
def test_ppi_vectors(vector: dict[str, Any]) -> None:
    passed = round(vector["judge_unlabeled_mean"] * vector["n_unlabeled"])
    others = [1.0] * passed + [0.0] * (vector["n_unlabeled"] - passed)
    found = ppi_mean(vector["human"], vector["judge_on_labeled"], others)
    assert found.value == pytest.approx(vector["expected"], abs=1e-6)
    assert found.se == pytest.approx(vector["se"], abs=1e-6)


@given(st.floats(0, 1), st.floats(0.51, 1), st.floats(0.51, 1))
def test_the_correction_undoes_the_errors(share: float, sensitivity: float, specificity: float) -> None:
    seen = share * sensitivity + (1 - share) * (1 - specificity)
    assert rogan_gladen(seen, sensitivity, specificity) == pytest.approx(share, abs=1e-6)


def test_a_corrected_share_stays_a_share() -> None:
    assert rogan_gladen(0.0, 0.9, 0.8) == 0.0
    assert rogan_gladen(1.0, 0.9, 0.8) == 1.0
    with pytest.raises(ValueError, match="guesses"):
        rogan_gladen(0.5, 0.5, 0.5)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        rogan_gladen(1.5, 0.9, 0.9)


def test_a_judge_that_agrees_with_people_moves_nothing() -> None:
    found = ppi_mean([1, 0, 1], [1, 0, 1], [1, 1, 0, 0])
    assert found.value == 0.5
    assert found.se == pytest.approx((1 / 3 / 4) ** 0.5)


@pytest.mark.parametrize(
    ("human", "judge", "others", "said"),
    [
        ([1, 0], [1], [1, 0], "paired"),
        ([1], [1], [1, 0], "least"),
        ([1, 0], [1, 0], [1], "least"),
        ([1, float("inf")], [1, 0], [1, 0], "finite"),
    ],
)
def test_what_makes_no_estimate(
    human: list[float], judge: list[float], others: list[float], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        ppi_mean(human, judge, others)


def test_repeats_are_averaged_within_a_case() -> None:
    assert averaged([[1.0, 0.0], [0.0, 0.0]]) == [0.5, 0.0]
    assert averaged([[0.25, 1.0]]) == [0.25, 1.0]


def test_the_spread_of_runs() -> None:
    found = run_spread([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    assert (found.runs, found.cases, found.changed) == (2, 3, 1)
    assert (found.lowest, found.highest) == pytest.approx((1 / 3, 2 / 3))
    assert found.sd == pytest.approx((1 / 18) ** 0.5)
    assert found.within == pytest.approx((0.5 / 3) ** 0.5)
    alone = run_spread([[1.0, 0.0]])
    assert (alone.sd, alone.within, alone.changed) == (0.0, 0.0, 0)


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=5))
def test_runs_lie_between_the_lowest_and_the_highest(runs: list[list[float]]) -> None:
    found = run_spread(runs)
    overall = sum(averaged(runs)) / 3
    assert found.lowest - 1e-12 <= overall <= found.highest + 1e-12
    assert found.sd <= found.highest - found.lowest + 1e-12


@pytest.mark.parametrize("runs", [[], [[1.0], [1.0, 0.0]], [[]]])
def test_what_are_no_repeats(runs: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"run|mean"):
        run_spread(runs)
