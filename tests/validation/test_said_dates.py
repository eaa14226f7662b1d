"""Which words are a weekday with a date, and which only look like one."""

import pytest

from harness.validation.said_dates import find_said_dates, read_date

MON, TUE, WED, THU, FRI, SAT, SUN = range(7)


@pytest.mark.parametrize(
    ("text", "weekday", "day", "month", "year"),
    [
        ("Monday, March 24, 2025", MON, 24, 3, 2025),
        ("Monday, March 24th, please", MON, 24, 3, None),
        ("on Monday March 24", MON, 24, 3, None),
        ("Monday 24 March 2025", MON, 24, 3, 2025),
        ("Monday 24 March at noon", MON, 24, 3, None),
        ("Monday the 24th of March", MON, 24, 3, None),
        ("Monday, the 24th of March, 2025", MON, 24, 3, 2025),
        ("Monday the 24th", MON, 24, None, None),
        ("next Monday, the 17th.", MON, 17, None, None),
        ("Monday 24th at noon", MON, 24, None, None),
        ("Tuesday, May the sixth", TUE, 6, 5, None),
        ("Friday, April twenty-fifth", FRI, 25, 4, None),
        ("Friday, April twenty fifth", FRI, 25, 4, None),
        ("Monday the sixteenth of June", MON, 16, 6, None),
        ("Thursday, the first of May, and the", THU, 1, 5, None),
        ("Thursday, the first", THU, 1, None, None),
        ("Thursday the second at ten", THU, 2, None, None),
        ("Wednesday the fourth and I", WED, 4, None, None),
        ("Friday the thirty-first", FRI, 31, None, None),
        ("Thursday, then, April seventeenth", THU, 17, 4, None),
        ("Thursday, so the 13th, if", THU, 13, None, None),
        ("Saturday morning, the 4th", SAT, 4, None, None),
        ("Saturday morning, July 12th, in time", SAT, 12, 7, None),
        ("Tuesday would be the 23rd", TUE, 23, None, None),
        ("Monday is March 24", MON, 24, 3, None),
        ("the 28th, a Friday", FRI, 28, None, None),
        ("the twenty-fourth, that Monday", MON, 24, None, None),
        ("that Monday lands on the 30th, a Wednesday.", WED, 30, None, None),
        ("May 21, 2025 (a Wednesday)", WED, 21, 5, 2025),
        ("21 May (Wednesday)", WED, 21, 5, None),
        ("April 30th is a Tuesday", TUE, 30, 4, None),
        ("24 March, that's a Monday", MON, 24, 3, None),
        ("24 March, which is a Monday", MON, 24, 3, None),
        ("May 8, Thursday", THU, 8, 5, None),
        ("Mon. 24 Mar. 2025", MON, 24, 3, 2025),
        ("Tues, Sept 2nd", TUE, 2, 9, None),
        ("Thurs 4 Dec", THU, 4, 12, None),
        ("Mon 3/24", MON, 24, 3, None),
        ("Mon 3/24/25", MON, 24, 3, 2025),
        ("Friday 17/10/2025", FRI, 17, 10, 2025),
        ("Sunday 2025-03-09", SUN, 9, 3, 2025),
        ("monday the 24th", MON, 24, None, None),
        ("Monday,\n  March 24", MON, 24, 3, None),
    ],
)
def test_found(text: str, weekday: int, day: int, month: int | None, year: int | None) -> None:
    (said,) = find_said_dates(text)
    assert (said.weekday, said.day, said.month, said.year) == (weekday, day, month, year)
    assert said.text in " ".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "Monday to Friday, March 24 to 28",
        "Mondays and Fridays, March 24 to 28",
        "Monday, the second time",
        "Monday the 5th floor is closed",
        "Saturday the 5th Avenue shop",
        "Monday, and the first is June 2",
        "Tuesdays I read with the third graders",
        "Tuesday at 2:20",
        "Friday 8.40",
        "Monday and it got a new number, 6141207",
        "Sat on the 3rd step",
        "the sun the 3rd time",
        "Monday may 24 people came",
        "It was March. Monday came.",
        "Wednesday, April 3,000 people",
    ],
)
def test_not_a_date(text: str) -> None:
    assert list(find_said_dates(text)) == []


def test_several_in_one_text() -> None:
    text = "Either Monday the 24th or Tuesday the 25th; not Friday, May 2, Saturday, May 3."
    found = [(said.weekday, said.day, said.month) for said in find_said_dates(text)]
    assert sorted(found) == [(MON, 24, None), (TUE, 25, None), (FRI, 2, 5), (SAT, 3, 5)]


@pytest.mark.parametrize(("day_first", "day", "month"), [(False, 4, 3), (True, 3, 4)])
def test_numeric_dates_go_by_the_locale(day_first: bool, day: int, month: int) -> None:
    (said,) = find_said_dates("Tuesday 3/4", day_first=day_first)
    assert (said.day, said.month) == (day, month)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("March 24, 2025", "2025-03-24"),
        ("24 March 2025", "2025-03-24"),
        ("Monday, March 24, 2025", "2025-03-24"),
        ("2025-03-24", "2025-03-24"),
        ("March 24", "None"),
        ("31 April 2025", "None"),
        ("$800", "None"),
        ("by March 24, 2025", "None"),
    ],
)
def test_read_date(text: str, date: str) -> None:
    assert str(read_date(text)) == date
