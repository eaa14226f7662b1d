"""Rules that no answer is given away: before the talk by its labels, or at its end by a summing up."""

from __future__ import annotations

from collections.abc import Iterator

from harness.errors import Problem
from harness.validation.subject import FieldPath, Subject

CLOSING_SHARE = 0.1
"""The share of a conversation's messages, at its end, in which no required value is said."""


def labels(subject: Subject) -> Iterator[Problem]:
    """Neither id and title nor the labels of a conversation say a required value."""
    case = subject.case
    mend = "Call it something else."
    places: tuple[tuple[FieldPath, str], ...] = (
        (("test_id",), case.id.replace("_", " ")),
        (("title",), case.title),
    )
    for at, text in places:
        for fact in subject.required:
            if subject.mentions(text, fact):
                told = f"{at[0]} says {fact.fact!r}, the required fact {fact.id!r}."
                yield subject.header_problem(at, told, mend, "fact-given-away")
    for transcript in subject.transcripts:
        for key, value in transcript.conversation.metadata.items():
            for fact in subject.required:
                if subject.mentions(str(value), fact):
                    told = f"the label {key!r} says {fact.fact!r}, the required fact {fact.id!r}."
                    yield subject.conversation_problem(transcript, told, mend, "fact-given-away", "metadata")


def closing(subject: Subject) -> Iterator[Problem]:
    """No required value is said in the last tenth of a conversation.

    Whoever remembers only the last messages would be made a present of it.
    """
    for transcript in subject.transcripts:
        messages = transcript.conversation.messages
        for index in range(len(messages) - int(CLOSING_SHARE * len(messages)), len(messages)):
            for fact in subject.required:
                if subject.mentions(messages[index].text, fact):
                    told = f"{fact.fact!r} ({fact.id}) is said in the last tenth of the conversation."
                    mend = "Say it in the middle, and don't sum up at the end."
                    yield subject.message_problem(transcript, index, told, mend, "late-value")
