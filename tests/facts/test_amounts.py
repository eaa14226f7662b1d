"""Which writings state a number, an amount of money, a percentage, a quantity."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.facts import match_fact
from harness.facts.words import TENS, UNITS, parse_number_words

from .verdicts import match, rows

NUMBERS = rows(
    (
        "12",
        """
        You said 12.
        (12)
        12 guests
        No. 12
        #12
        12-year-old
        12.0
        twelve
        a dozen
        - 12th
        - 12.5
        - 12%
        - 12k
        - 12B
        - v12
        - 12:30
        - 12/31
        - half past 12
        - 12–15
        - 1,012
        - March 12
        """,
    ),
    (
        "1234",
        "1,234\n1 234\n1'234\n1,234.00\none thousand two hundred thirty-four\n- 1.234\n- 1,2,3,4\n- 1\\n234",
    ),
    ("1234567", "1,234,567\n12,34,567\n1 234 567\n- 234,567"),
    ("2.5", "2½\n2 1/2\ntwo and a half\ntwo point five\n- 25"),
    ("-5", "-5\n−5\n–5\nminus five\nnegative 5\n- 5\n- A-5\n- 3-5\n- 5 apples"),
    ("25", "twenty-five\ntwenty five\n- twenty-fifth\n- one hundred and twenty-five\n- twenty"),
    ("0", "zero\n0\n- 10"),
)
MONEY = rows(
    (
        "$50",
        """
        $50.00
        $50.00 USD
        USD 50
        US$50
        50 US dollars
        50 bucks
        50$
        $ 50
        ~$50
        $50 each
        $50/month
        fifty dollars
        up to $50
        no more than $50
        It won't cost more than $50.
        - 50
        - $500
        - $0.50
        - $50.25
        - $50k
        - $50 million
        - -$50
        - A$50
        - C$50
        - €50
        - £ 50
        - 50 cents
        - $40–$50
        - $50–60
        - $50 to $60
        - from $40 to $50
        - It costs more than $50.
        - It costs over $50.
        - fifty-five dollars
        """,
    ),
    ("$1,186", "$1186\n$1 186\n1,186 dollars\neleven hundred eighty-six dollars\n- $11,860\n- $1.186"),
    ("$1.2 million", "$1,200,000\n$1.2M\n1.2 million dollars\n- $1.2 billion\n- $1.2"),
    ("£862", "£862 including VAT\n862 pounds\nGBP 862\n- $862\n- £8620\n- £862–£900"),
    ("$50 per month", "$50 a month\n$50/month\n$50 monthly\n$50\n- $50 per week\n- $50 a year"),
    ("$5.20", "5 dollars and 20 cents\n$5.20\n520 cents\n- $5.02"),
)
PERCENTAGES = rows(
    (
        "4.5%",
        "4.5 percent\n4.50 %\n4.5 per cent\nfour point five percent\n４．５％\n- 4.5\n- 14.5%\n- 4,5%\n- 4.5 percentage points",
    ),
    (
        "20%",
        "20.0%\ntwenty percent\n- 120%\n- 20\n- 0.2\n- 20–30%\n- -20%\n- https://example.com/a%20b\n- 20‰",
    ),
)
QUANTITIES = rows(
    (
        "5 km",
        """
        5km
        5 kilometres
        a 5-km run
        5.0 km a day
        five km
        - 15 km
        - 5 miles
        - 5 km/h
        - 5 km per hour
        - 4–5 km
        - 5 or 6 km
        - 5
        """,
    ),
    (
        "6 months",
        "six months\na 6-month rule\n6 mos\n- 16 months\n- 6 months and 2 weeks\n- 1 year and 6 months\n- six weeks",
    ),
    (
        "19 business days",
        "nineteen business days\nnineteen (19) business days\na 19-business-day wait\n- 19 days\n- 12 to 19 business days",
    ),
    ("16 GB", "16GB\n16 gigabytes\n- 160 GB\n- 16 MB\n- 16 GB/s"),
    ("72°F", "72 °F\n72 degrees Fahrenheit\n- 72 °C\n- 72"),
    ("500 mg", "500mg twice a day\n500 milligrams\n500 mg a day\n- 500 mcg\n- 1,500 mg\n- 500 mg/dl"),
    ("5 feet", "5 ft\nfive feet\n- 5 feet 10 inches"),
    ("50 m²", "50 m2\n50 square metres\n- 50 m"),
    ("1 week", "a week\none week\n1 week\n- 2 weeks\n- a weekend"),
    ("12 pounds", "12 lbs\n12 pounds of flour\n- 12 kg"),
)


@pytest.mark.parametrize(("fact", "answer", "expected"), NUMBERS)
def test_numbers(fact: str, answer: str, expected: bool) -> None:
    assert match(fact, "number", answer).asserted is expected


@pytest.mark.parametrize(("fact", "answer", "expected"), MONEY)
def test_money(fact: str, answer: str, expected: bool) -> None:
    assert match(fact, "money", answer).asserted is expected


@pytest.mark.parametrize(("fact", "answer", "expected"), PERCENTAGES)
def test_percentages(fact: str, answer: str, expected: bool) -> None:
    assert match(fact, "percent", answer).asserted is expected


@pytest.mark.parametrize(("fact", "answer", "expected"), QUANTITIES)
def test_quantities(fact: str, answer: str, expected: bool) -> None:
    assert match(fact, "quantity", answer).asserted is expected


@pytest.mark.parametrize(
    ("locale", "answer", "expected"),
    [
        ("de-DE", "1.234,50", True),
        ("de-DE", "1,234.50", False),
        ("fr-FR", "1 234,50", True),
        ("en-GB", "1,234.50", True),
    ],
)
def test_marks_follow_the_locale(locale: str, answer: str, expected: bool) -> None:
    fact = {"fact": "€1,234.50" if locale.startswith("en") else "€1.234,50", "type": "money"}
    fact["fact"] = {"fr-FR": "1 234,50 €"}.get(locale, fact["fact"])
    assert match_fact(f"{answer} €", fact, locale=locale).asserted is expected


def spelled(number: int) -> str:
    """Spell a number below a million."""
    if number < 20:
        return UNITS[number]
    if number < 100:
        tens, unit = divmod(number, 10)
        return TENS[tens - 2] + (f"-{UNITS[unit]}" if unit else "")
    head, size = (number // 1000, 1000) if number >= 1000 else (number // 100, 100)
    rest = number % size
    words = f"{spelled(head)} {'thousand' if size == 1000 else 'hundred'}"
    return f"{words} {spelled(rest)}" if rest else words


@given(st.integers(0, 999_999))
def test_every_spelled_number_is_found(number: int) -> None:
    assert parse_number_words(spelled(number)) == Decimal(number)
    assert match(str(number), "number", f"You counted {spelled(number)} in all.").asserted
    assert not match(str(number), "number", f"You counted {spelled(number + 1)} in all.").mentioned


@given(
    st.integers(1, 999),
    st.sampled_from([(10**3, "thousand", "k"), (10**6, "million", "M"), (10**9, "billion", "bn")]),
)
def test_every_scale_is_found(number: int, scale: tuple[int, str, str]) -> None:
    size, word, letter = scale
    for written in (f"${number * size:,}", f"${number} {word}", f"${number}{letter}"):
        assert match(f"${number * size}", "money", f"It is {written}.").asserted, written


@pytest.mark.parametrize("form", ["one eight nine", "five seventy-nine", "thirty-four nine"])
def test_a_number_that_is_read_out_is_no_value_of_its_first_word(form: str) -> None:
    assert match("$189", "money", f"It was {form}.", accept=[form]).mentioned
    for answer in ("One of them is blue.", "five things", "thirty-four of them"):
        assert not match("$189", "money", answer, accept=[form]).mentioned
