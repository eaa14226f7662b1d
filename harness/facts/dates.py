"""Dates as components: year, month, day, weekday, and when one date states another.

- a gold date matches where each component it has is stated: `March 5` is in
  `March 5, 2024`, `March 5, 2024` is not in `March 5` nor in `2024`
- the weekday of a full date need not be said; one that contradicts the date undoes it
- a range (`March 5–7`) is a value of its own and matches none of its days
"""

from __future__ import annotations

from typing import NamedTuple


class DateValue(NamedTuple):
    """The stated components of a date; None where nothing is said (weekday 0 is Monday)."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None

    def states(self, gold: DateValue) -> bool:
        """Say whether this date states every component of `gold` and contradicts none."""
        if gold.day is not None and self.day != gold.day:
            return False
        if gold.month is not None and self.month != gold.month:
            return False
        if gold.year is not None and self.year != gold.year:
            return False
        if gold.year is not None and gold.month is not None and gold.day is not None:
            return self.weekday is None or self.weekday == gold.known_weekday
        if gold.weekday is None:
            return True
        if self.weekday is None:  # the day and month are as good as the weekday's name
            return gold.day is not None and gold.month is not None
        return self.weekday == gold.weekday

    def clashes(self, other: DateValue) -> bool:
        """Say whether the two name different years, months or weekdays."""
        pairs = (
            (self.year, other.year),
            (self.month, other.month),
            (self.weekday, other.known_weekday if self.weekday is not None else None),
        )
        return any(None not in pair and pair[0] != pair[1] for pair in pairs)

    @property
    def known_weekday(self) -> int | None:
        """The weekday as the calendar has it for a full date, else as stated."""
        if self.year is not None and self.month is not None and self.day is not None:
            return weekday_of(self.year, self.month, self.day)
        return self.weekday

    @property
    def depth(self) -> int:
        """How much the date says: a day and month count, then a year, then a weekday."""
        return (
            4 * (self.day is not None)
            + 4 * (self.month is not None)
            + 2 * (self.year is not None)
            + (self.weekday is not None)
        )


class DateFound(NamedTuple):
    """A date, or a range when `high` is set, and where it stands."""

    start: int
    end: int
    value: DateValue
    high: DateValue | None = None

    def states(self, gold: DateFound) -> bool:
        """Say whether this date or range states `gold`; a range never states a day."""
        if (self.high is None) != (gold.high is None) or not self.value.states(gold.value):
            return False
        return self.high is None or (gold.high is not None and self.high.states(gold.high))


def weekday_of(year: int, month: int, day: int) -> int:
    """Return the weekday of a day that exists, 0 for Monday."""
    import datetime

    return datetime.date(year, month, day).weekday()


def existing(value: DateValue) -> DateValue | None:
    """Return the date unless no such day exists."""
    year, month, day = value.year, value.month, value.day
    if month is not None and not 1 <= month <= 12:
        return None
    if day is None:
        return value
    days = 29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31
    if month == 2 and year is not None and (year % 4 or (year % 100 == 0 and year % 400)):
        days = 28
    return value if 1 <= day <= days else None
