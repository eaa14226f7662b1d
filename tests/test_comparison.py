"""Summing up: means over the scored, bounds over the asked, nobody's case counted for nobody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.comparison import OVERALL, summarise
from harness.scoring import CaseScore, JudgeFailed, Missing, NotAnnotated, Outcome, Scored, SystemFailed

REWARDS = st.floats(0, 1).map(Scored)
OUTCOMES = st.one_of(
    REWARDS,
    st.just(Missing()),
    st.just(SystemFailed("x")),
    st.just(JudgeFailed("refusal")),
    st.just(NotAnnotated()),
)


def scores(*outcomes: Outcome) -> list[CaseScore]:
    return [CaseScore(f"layer1_{at:02}", "layer1", "any", outcome) for at, outcome in enumerate(outcomes)]


def test_errors_are_in_the_bounds_and_not_in_the_mean() -> None:
    cell = summarise(scores(Scored(1.0), Scored(0.5), Missing(), JudgeFailed("refusal"), NotAnnotated()))
    assert (cell.mean, cell.scored, cell.asked) == (0.75, 2, 4)
    assert (cell.low, cell.high) == (0.375, 0.875)
    assert (cell.missing, cell.errors, cell.not_annotated, cell.passed) == (1, 1, 1, 1)


def test_nothing_scored_is_no_zero() -> None:
    cell = summarise(scores(Missing(), Missing()))
    assert (cell.mean, cell.low, cell.high) == (None, 0.0, 1.0)
    empty = summarise([])
    assert (empty.mean, empty.low, empty.high, empty.asked) == (None, None, None, 0)


def test_a_scorer_without_a_pass_passes_nothing() -> None:
    assert summarise(scores(Scored(1.0)), has_pass=False).passed is None


@given(st.lists(OUTCOMES, max_size=20))
def test_the_mean_lies_between_its_bounds(outcomes: list[Outcome]) -> None:
    cell = summarise(scores(*outcomes))
    assert cell.scored + cell.missing + cell.errors == cell.asked
    if cell.mean is not None:
        assert cell.low is not None
        assert cell.high is not None
        assert cell.low <= cell.mean + 1e-12
        assert cell.mean <= cell.high + 1e-12
        assert cell.complete == (cell.high - cell.low < 1e-12)


@given(st.lists(REWARDS, min_size=1, max_size=20), st.randoms())
def test_order_does_not_matter(outcomes: list[Scored], shuffler: object) -> None:
    mixed = list(outcomes)
    shuffler.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = summarise(scores(*outcomes)), summarise(scores(*mixed))
    assert one.mean == pytest.approx(other.mean)


def test_overall_is_a_name_that_no_layer_has() -> None:
    assert not OVERALL.startswith("layer")
