"""Which writings state a clock time."""

from __future__ import annotations

import pytest

from .verdicts import match, rows

WRITINGS = rows(
    (
        "3:30 PM",
        """
        15:30
        15:30:00
        15h30
        15.30 hrs
        1530 hours
        3:30pm
        3.30pm
        3:30 p.m.
        03:30 PM
        3:30 PM sharp, on Tuesday
        3:30 in the afternoon
        three thirty pm
        half past three in the afternoon
        It doesn't start until 3:30 PM.
        It is at 3:30\\nPM.
        - 3:30
        - 3:30 AM
        - 3:31 PM
        - 13:30
        - 33:30
        - 3:30–4:30 PM
        - from 3:30 PM to 5 PM
        - between 3:30 and 4 PM
        - 3:30 or 4 PM
        - 3:30 PM or 4 PM
        - It lasts 3 minutes 30, until 4 PM.
        - Chapter 3:30 of the book.
        """,
    ),
    (
        "9:45 AM",
        """
        09:45
        quarter to ten in the morning
        a quarter to ten in the morning
        nine forty-five a.m.
        9:45 this morning
        - 9:45
        - 10:45 AM
        """,
    ),
    ("7:40", "7:40 AM\n19:40\n07:40\ntwenty to eight\n20 to 8 in the morning\n- 17:40\n- 7:40-8:00"),
    ("12:00 AM", "midnight\n00:00\n12 AM\n- noon\n- 12:00"),
    ("12:00 PM", "noon\nmidday\n12 pm\n- midnight"),
    ("9 AM", "9:00 AM\n9 o'clock in the morning\n09:00\n- 9:00\n- 9 people\n- 19:00"),
)


@pytest.mark.parametrize(("fact", "answer", "expected"), WRITINGS)
def test_writings(fact: str, answer: str, expected: bool) -> None:
    assert match(fact, "time", answer).asserted is expected
