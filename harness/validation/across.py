"""Rules that look at all cases of a suite at once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from harness.errors import Problem
from harness.validation.subject import Subject

SHARED_WORDS = 8

_TITLES = re.compile(r"^(?:dr|mr|mrs|ms|miss|mx|prof|professor|sir|dame)\b\.?\s+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

# A run made only of these is a courtesy, and people repeat those.
_COURTESY = frozenset(
    """
    a about again all and any anything are at bye calling can care could day do else enjoy evening
    for from get give go goodbye good got great have having hear hello help helped helping hi how i
    i'd i'll i'm is it it's just let like look lovely luck me moment more morning much my need next
    nice no of okay on one other out please pleasure questions rest right see so soon speak sure take
    talk thank thanks that that's the then there there's time to today tomorrow up very wait was we
    week weekend welcome well what when will with wonderful worries would yes you you'd you're your
    """.split()
)


def shared_entities(subjects: Sequence[Subject]) -> Iterator[Problem]:
    """No person or organisation is in two cases, unless both belong to one cluster."""
    first: dict[str, Subject] = {}
    for subject in subjects:
        case = subject.case
        for index, entity in enumerate(case.entities):
            other = first.setdefault(_name(entity), subject).case
            if other.id != case.id and (case.cluster is None or case.cluster != other.cluster):
                message = f"{entity!r} is in {other.id} too."
                mend = "Give one of them another name."
                yield subject.header_problem(("entities", index), message, mend, "shared-entity")


def shared_wording(subjects: Sequence[Subject]) -> Iterator[Problem]:
    """No eight words in a row stand in two conversations, courtesies apart."""
    speaker: dict[int, int] = {}  # hash of a run of words -> conversation that said it first
    conversations: list[str] = []
    for subject in subjects:
        for transcript in subject.transcripts:
            here = len(conversations)
            conversations.append(f"{transcript.conversation.id} of {subject.case.id}")
            for index, message in enumerate(transcript.conversation.messages):
                shared: tuple[str, int] | None = None
                for run in _runs(message.text):
                    there = speaker.setdefault(hash(run), here)
                    if there != here and shared is None and not _COURTESY.issuperset(run):
                        shared = (" ".join(run), there)
                if shared is not None:
                    told = f"{shared[0]!r} is said in {conversations[shared[1]]} too."
                    mend = "Say it in other words."
                    yield subject.message_problem(transcript, index, told, mend, "shared-wording")


def shared_ends(subjects: Sequence[Subject]) -> Iterator[Problem]:
    """No two conversations begin or end with the same words, courtesies too."""
    for place, index, rule in (("begins", 0, "shared-opening"), ("ends", -1, "shared-closing")):
        first: dict[tuple[str, ...], str] = {}
        for subject in subjects:
            for transcript in subject.transcripts:
                messages = transcript.conversation.messages
                words = _words(messages[index].text)
                here = f"{transcript.conversation.id} of {subject.case.id}"
                other = first.setdefault(words, here)
                if other != here:
                    told = f"{other} {place} with the same words."
                    at = index % len(messages)
                    yield subject.message_problem(transcript, at, told, "Say it in other words.", rule)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.replace("’", "'") for word in _WORD.findall(text.casefold()))


def _runs(text: str) -> Iterable[tuple[str, ...]]:
    words = _words(text)
    return zip(*(words[offset:] for offset in range(SHARED_WORDS)), strict=False)


def _name(entity: str) -> str:
    """Return a name as it is compared: without case, accents' spelling, punctuation and title."""
    plain = unicodedata.normalize("NFKC", entity).casefold().strip()
    return " ".join(_WORD.findall(_TITLES.sub("", plain)))
