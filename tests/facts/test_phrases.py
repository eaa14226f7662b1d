"""Where a phrase stands whole."""

from __future__ import annotations

import pytest

from .verdicts import match, rows

WRITINGS = rows(
    (
        "Sarah Chen",
        "Dr. Sarah Chen\nSarah\\nChen\nSARAH CHEN's\n- Sarah Chen-Lopez\n- Chen, Sarah\n- Sarah\\n\\nChen",
    ),
    ("Dr. Sarah Chen", "Dr Sarah Chen\nDoctor Sarah Chen\n- Sarah Chen"),
    (
        "Blue Bottle Coffee",
        "Blue  Bottle   Coffee\nBlue<br>Bottle Coffee\n- - Blue\\n- Bottle\\n- Coffee\n- | Blue | Bottle | Coffee |",
    ),
    ("C++", "You prefer C++.\n- You prefer C.\n- You prefer C+++."),
    ("C", "You prefer C.\n- You prefer C++.\n- You prefer c.\n- C&A"),
    ("Go", "You use Go.\n- you go home\n- Google"),
    ("US", "You moved to the US.\n- Tell us more."),
    (".NET", "You work with .NET.\n- the network"),
    ("ann@example.com", "Write to ann@example.com.\n- joann@example.com\n- ann@example.com.au"),
    ("ann", "Ask Ann.\n- ann@example.com\n- https://ann.example.com/ann\n- Anna\n- ann_smith"),
    ("Emma", "_Emma_\n[Emma](https://x.com)\nEmma's birthday\n- emma_smith"),
    ("version 1.5", "version 1.5.\n- version 1.5.2\n- version 1.51"),
    ("six months", "6 months\nSix months\n- 16 months"),
    ("Whitlock & Daughters", "Whitlock and Daughters\nWhitlock &amp; Daughters\n- Whitlock"),
    ("peanut-butter", "peanut butter\npeanut-butter\n- peanut oil butter"),
    ("東京", "出身は東京です\n- 京都です"),
    ("Zoë", "Zoë\nZoe\nZOË\n- Zoey"),
    ("café", "the café\nthe cafe\n- cafés"),
    ("2nd", "second\n2nd\n2ⁿᵈ\n- 22nd\n- wait a second\n- 30 seconds\n- two"),
    ("H2O", "H₂O\nH2O\n- H²O"),
)


@pytest.mark.parametrize(("fact", "answer", "expected"), WRITINGS)
def test_writings(fact: str, answer: str, expected: bool) -> None:
    assert match(fact, "text", answer).asserted is expected
