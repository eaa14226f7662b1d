"""Exact match and token F1, with the values SQuAD's own script gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring.overlap import exact_match, token_f1


@pytest.mark.parametrize(
    ("answer", "gold", "f1", "exact"),
    [
        ("The Eiffel Tower!", "eiffel tower", 1.0, 1.0),
        ("in the Eiffel Tower", "Eiffel Tower", 0.8, 0.0),
        ("a cat sat", "the dog ran", 0.0, 0.0),
        ("A", "A", 1.0, 1.0),
        ("A", "B", 0.0, 0.0),
        ("cat cat", "cat", 2 / 3, 0.0),
        ("", "cat", 0.0, 0.0),
        ("", "", 1.0, 1.0),
        ("John hired Mary", "Mary hired John", 1.0, 0.0),
    ],
)
def test_values(answer: str, gold: str, f1: float, exact: float) -> None:
    assert token_f1(answer, gold) == pytest.approx(f1)
    assert exact_match(answer, gold) == exact


@given(st.text(max_size=60), st.text(max_size=60))
def test_f1_is_symmetric_bounded_and_one_on_equals(one: str, other: str) -> None:
    assert token_f1(one, other) == token_f1(other, one)
    assert 0.0 <= token_f1(one, other) <= 1.0
    assert token_f1(one, one) == exact_match(one, one) == 1.0
