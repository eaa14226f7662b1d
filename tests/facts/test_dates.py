"""Which writings state a day, a month or a year."""

from __future__ import annotations

import pytest

from harness.facts import match_fact

from .verdicts import match, rows

WRITINGS = rows(
    (
        "March 5, 2024",
        """
        2024-03-05T09:30:00Z
        03/05/24
        2024/3/5
        2024.03.05
        5-Mar-2024
        Mar. 5, 2024
        March 5th 2024
        March the 5th, 2024
        March fifth, 2024
        the fifth of March 2024
        the 5th of March, 2024
        Tuesday 5 March 2024
        March 5 (Tuesday), 2024
        5 March '24
        March 5,2024
        March 05, 2024
        MARCH 5, 2024
        2024年3月5日
        ５ March ２０２４
        **March 5**, **2024**
        March 5,\\n2024
        March 5, 2024, at 3 PM
        at 5 PM on March 5, 2024
        March 5 2024 and March 6 2024
        - Wednesday, March 5, 2024
        - March 5, 2025
        - March 25, 2024
        - March 2024
        - 5 March
        - 3月5日
        - May 3, 2024
        - 13/03/2024
        - March 4-6, 2024
        - on the night of March 5–6, 2024
        - The code is 03052024.
        """,
    ),
    (
        "March 24, 2025",
        """
        24/03/2025
        Monday, March 24, 2025
        March 24 and 25, 2025
        - March 23, 24 or 25, 2025
        - between March 20 and March 24, 2025
        - Monday the 24th
        """,
    ),
    (
        "March 5",
        "On March 5, 2024.\nOn 3/5.\nFriday the 5th of March\n- On 5/3.\n- On March 15.\n- March 3 to March 5",
    ),
    ("May", "You travel in May.\nearly May\nMay 3, 2024\n- You may travel.\n- Mayor May-Britt said so."),
    ("June 2019", "June 2019\nJun 3, 2019\n2019-06-11\n- July 2019\n- 2019"),
    ("2019", "in 2019\nJune 3, 2019\n- in 2018\n- Part no. 20190\n- 2018–2019\n- $2019"),
)


@pytest.mark.parametrize(("fact", "answer", "expected"), WRITINGS)
def test_writings(fact: str, answer: str, expected: bool) -> None:
    assert match(fact, "date", answer).asserted is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Monday the 24th", True),
        ("Monday, the 24th of March", True),
        ("Monday 24", True),
        ("Tuesday the 24th", False),
        ("Monday, April 24", False),
        ("the 24th", False),
    ],
)
def test_a_short_form_takes_no_day_of_another_month(answer: str, expected: bool) -> None:
    found = match("March 24, 2025", "date", f"It is ready {answer}.", accept=["Monday the 24th"])
    assert found.asserted is expected


@pytest.mark.parametrize(
    ("locale", "answer", "expected"),
    [
        ("en-US", "3/5/2024", True),
        ("en-US", "5/3/2024", False),
        ("en-GB", "5/3/2024", True),
        ("en-GB", "3/5/2024", False),
        ("de-DE", "5.3.2024", True),
        ("de-DE", "5. März 2024", True),
        ("fr-FR", "le 5 mars 2024", True),
        ("es-ES", "5 de marzo de 2024", True),
        ("en-US", "5 mars 2024", False),
    ],
)
def test_numeric_dates_and_names_follow_the_locale(locale: str, answer: str, expected: bool) -> None:
    fact = {"fact": "2024-03-05", "type": "date"}
    assert match_fact(answer, fact, locale=locale).asserted is expected


def test_an_accepted_form_that_says_more_than_a_date_is_a_phrase() -> None:
    assert not match("April 17", "date", "It is on Monday.", accept=["the Monday after Easter"]).mentioned
    assert match("April 17", "date", "The Monday after Easter.", accept=["the Monday after Easter"]).asserted
