"""The rule that a weekday said with a date is the weekday of that date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from harness.errors import Problem
from harness.validation.said_dates import SaidDate, find_said_dates, read_date
from harness.validation.subject import Subject

_RULE = "weekday"
_MEND = "Correct the weekday or the date."

_AHEAD = timedelta(days=300)  # for what is further ahead, people say the year
_MONTHS_AROUND = 3  # how far away "the 24th" may be

_PAST = re.compile(
    r"(?i)\b(?:was|were|had|did|went|came|got|took|said|told|last|ago|since|already|earlier|previous|\w+ed)\b"
)
_SENTENCE_END = re.compile(r"[.!?]+\s")


def weekdays(subject: Subject) -> Iterator[Problem]:
    """Wherever a weekday is named with a date, the calendar says the same."""
    day_first = subject.case.locale.replace("_", "-") not in ("en-US", "en")
    for transcript in subject.transcripts:
        held = transcript.conversation.timestamp
        near = held.date() if held else None
        for index, message in enumerate(transcript.conversation.messages):
            for told in _contradictions(message.text, near, day_first):
                yield subject.message_problem(transcript, index, told, _MEND, _RULE)
    near = _time_of_the_question(subject)
    for at, text in _header_texts(subject):
        for told in _contradictions(text, near, day_first):
            yield subject.header_problem(at, told, _MEND, _RULE)
    for placed in subject.facts:
        meant = read_date(placed.fact.fact)
        for form in placed.fact.forms:
            for told in _contradictions(form, near, day_first, meant):
                yield subject.fact_problem(placed, told, _MEND, _RULE)


def _header_texts(subject: Subject) -> Iterator[tuple[tuple[str | int, ...], str]]:
    yield ("user_question",), subject.case.question
    yield ("expected_behavior",), subject.case.expected_behavior
    for index, criterion in enumerate(subject.case.criteria):
        yield ("evaluation_criteria", index, "text"), criterion.text


def _time_of_the_question(subject: Subject) -> date | None:
    if subject.case.question_time:
        return subject.case.question_time.date()
    held = [transcript.conversation.timestamp for transcript in subject.transcripts]
    return max((moment.date() for moment in held if moment), default=None)


def _contradictions(
    text: str, near: date | None, day_first: bool, meant: date | None = None
) -> Iterator[str]:
    for said in find_said_dates(text, day_first=day_first):
        dates = [meant] if meant and _fits(said, meant) else _candidates(said, near, text)
        if dates is None or any(day.weekday() == said.weekday for day in dates):
            continue
        if not dates:
            yield f"{said.text!r}: the calendar has no such day."
        elif said.month is None and meant is None:
            yield f"{said.text!r}: no month within {_MONTHS_AROUND} of {near} has that day."
        else:
            yield f"{said.text!r}: {dates[0]} is a {dates[0]:%A}."


def _fits(said: SaidDate, meant: date) -> bool:
    """Tell whether a date, as far as it is said, can be the one that the fact states."""
    return said.day == meant.day and said.month in (None, meant.month) and said.year in (None, meant.year)


def _candidates(said: SaidDate, near: date | None, text: str) -> list[date] | None:
    """Return the dates that may be meant, the likeliest first; None where that can't be known."""
    if said.month is not None and said.year is not None:
        return _existing((said.year, said.month, said.day))
    if near is None:
        return None
    if said.month is None:
        months = range(-_MONTHS_AROUND, _MONTHS_AROUND + 1)
        return _existing(*((*_shifted(near, offset), said.day) for offset in months))
    years = (near.year - 1, near.year, near.year + 1)
    days = sorted(
        _existing(*((year, said.month, said.day) for year in years)), key=lambda day: abs(day - near)
    )
    past = _is_told_as_past(text, said)
    return days[:1] + [day for day in days[1:] if near <= day <= near + _AHEAD or (past and day < near)]


def _is_told_as_past(text: str, said: SaidDate) -> bool:
    """Tell whether the sentence that holds a date speaks of the past."""
    begin = max((end.end() for end in _SENTENCE_END.finditer(text, 0, said.start)), default=0)
    ending = _SENTENCE_END.search(text, said.start + len(said.text))
    return bool(_PAST.search(text, begin, ending.start() if ending else len(text)))


def _existing(*days: tuple[int, int, int]) -> list[date]:
    """Return those days that the calendar has."""
    found = []
    for day in days:
        try:
            found.append(date(*day))
        except ValueError:
            continue
    return found


def _shifted(near: date, months: int) -> tuple[int, int]:
    years, month = divmod(near.month - 1 + months, 12)
    return near.year + years, month + 1
