"""Which writings state an identifier."""

from __future__ import annotations

import pytest

from .verdicts import match, rows

WRITINGS = rows(
    (
        "4429853327",
        """
        4429 853 327
        442-985-3327
        442.985.3327
        (442) 985-3327
        +1 442-985-3327
        four four two nine eight five three three two seven
        double four two nine, eight five, double three two seven
        #4429853327
        No. 4429853327
        `4429853327`
        ４４２９８５３３２７
        \u200f4429853327\u200e
        - 4429853372
        - 14429853327
        - 44298533270
        - 4429853327-01
        - It ends in 3327.
        - $4429853327
        - 442985\\n3327
        - 4429, 853, 327
        """,
    ),
    (
        "HF-61942",
        "HF61942\nHF 61942\nhf–61942\n- HF-619420\n- AHF-61942\n- HF-61942-B\n- HF-6194\n- https://x.com/HF-61942",
    ),
    ("7730", "PIN 7730.\n7-7-3-0\n- 4821 7730 1142\n- 4821-7730\n- $7,730\n- 77.30\n- 7730%"),
    ("02139", "02139\n- 2139\n- 002139"),
    ("A-12", "Seat A12\nseat a-12\n- A-120\n- BA-12\n- at a 12 o'clock lunch"),
    ("555-0163", "call 555-0163\n(415) 555-0163\n- 555-0136"),
)


@pytest.mark.parametrize(("fact", "answer", "expected"), WRITINGS)
def test_writings(fact: str, answer: str, expected: bool) -> None:
    assert match(fact, "id", answer).asserted is expected


@pytest.mark.parametrize(
    "answer", ["The hire itself is under 509763.", "It was under 509763, not your name."]
)
def test_what_is_filed_under_a_number(answer: str) -> None:
    assert match("509763", "id", answer).asserted
