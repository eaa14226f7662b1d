"""Rules about the order of things in time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

from harness.errors import Problem
from harness.validation.subject import Subject


def chronology(subject: Subject) -> Iterator[Problem]:
    """Conversations stand in the order in which they took place, and the question follows them."""
    dated = [transcript for transcript in subject.transcripts if transcript.conversation.timestamp]
    for before, after in pairwise(dated):
        first, second = before.conversation.timestamp, after.conversation.timestamp
        if first and second and not _is_before(first, second):
            message = f"{_spelled(second)} isn't after {before.conversation.id}, {_spelled(first)}."
            mend = "Correct the timestamp, or change the order of the conversations."
            yield subject.conversation_problem(after, message, mend, "chronology", "timestamp")
    asked = subject.case.question_time
    for transcript in dated:
        held = transcript.conversation.timestamp
        if asked and held and not _is_before(held, asked):
            message = f"{_spelled(held)} isn't before the question, {_spelled(asked)}."
            mend = "Correct the timestamp or the question_time."
            yield subject.conversation_problem(transcript, message, mend, "chronology", "timestamp")


def timestamps(subject: Subject) -> Iterator[Problem]:
    """Everything has a time, so that order and calendar can be checked."""
    mend = "Add it, such as 2025-03-20T09:00:00-05:00."
    if subject.case.question_time is None:
        message = "the case doesn't say when the question is asked."
        yield subject.header_problem(("question_time",), message, mend, "no-timestamp")
    for transcript in subject.transcripts:
        if transcript.conversation.timestamp is None:
            message = "the conversation has no timestamp."
            yield subject.conversation_problem(transcript, message, mend, "no-timestamp")


def _is_before(first: datetime, second: datetime) -> bool:
    """Compare as far as both are known: a day alone is before a time on the same day."""
    if first.tzinfo is None or second.tzinfo is None:
        first, second = first.replace(tzinfo=None), second.replace(tzinfo=None)
    if _is_day_alone(first) or _is_day_alone(second):
        return first.date() <= second.date()
    return first < second


def _is_day_alone(moment: datetime) -> bool:
    return moment.tzinfo is None and moment.time() == datetime.min.time()


def _spelled(moment: datetime) -> str:
    return moment.date().isoformat() if _is_day_alone(moment) else moment.isoformat(timespec="minutes")
