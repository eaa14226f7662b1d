"""What a suite is made of, counted, and whether it keeps the limits of a good one.

The lint says what is wrong with a case. The census says how much there is of everything: rounds,
words, values and rivals of the gold, corrections, abilities, names that two cases share; and it
holds the suite against limits that no single message breaks.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import InputError, Problem, SuiteError
from harness.suite import Case, Conversation, Suite, load_suite
from harness.suite.source import read_source
from harness.validation import across, annotation, contacts, giveaways, structure
from harness.validation.corrections import corrections
from harness.validation.rivals import rivals, values_said
from harness.validation.said_dates import find_said_dates
from harness.validation.subject import Subject

MIN_CORRECTIONS = 3
MIN_RIVALS = 4

_GENERIC = frozenset(
    """
    mr mrs ms miss mx prof sir dame
    academy accounts agency air airlines and associates auto bank bikes boiler books brothers building bureau
    cafe care caterers catering center centre charity child church city claims clinic club co college
    community company council county courier credit daughters daycare dental department desk district
    doctor dr elementary energy estate family farm finance financial first foundation freight fund garage
    general group grove gym hall health heating high home homes hospital hotel house housing insurance
    interiors kitchen kitchens lane law lending letting lettings library line logistics management market
    medical middle mobile mortgage motor motors movers moving museum mutual national office orthodontics
    park partners pharmacy physio plumbing practice primary properties property rehab rental rentals
    repair repairs residence roofing saint school schools secondary securities security service services
    shop society solicitors sons st storage store street studio supply surgery systems tax telecom the
    theatre tools town trade travel trust union university unit valley van vet veterinary vets wealth
    wireless works
    """.split()
)
_NAME_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class ConversationFigures:
    """One conversation, counted.

    Attributes:
        id: its name inside its case.
        rounds: user messages with a reply.
        words: words in all messages.
        messages: turns of either side.
        terse: messages of fewer than four words.
        corrections: messages with words of correcting (see `corrections`).
        values: distinct values of any countable type.
        rivals: distinct values of the types of the gold said here that are not the gold; None
            where the gold said here is of no countable type.
        weekdays: weekdays said together with a date.
    """

    id: str
    rounds: int
    words: int
    messages: int
    terse: int
    corrections: int
    values: int
    rivals: int | None
    weekdays: int


@dataclass(frozen=True, slots=True)
class CaseFigures:
    """One case, counted."""

    case: Case
    conversations: tuple[ConversationFigures, ...]

    @property
    def rounds(self) -> int:
        """User messages with a reply, in all conversations."""
        return sum(it.rounds for it in self.conversations)

    @property
    def words(self) -> int:
        """Words in all conversations."""
        return sum(it.words for it in self.conversations)


@dataclass(frozen=True, slots=True)
class Census:
    """A whole suite, counted.

    Attributes:
        suite: the suite; its hash says what was counted.
        cases: the figures of each case, in the order of the ids.
        problems: limits that are not kept, each with its place and mend.
        shared_wording: messages that say eight words in a row of another conversation, courtesies apart.
        shared_names: words of names that two cases or more have, with those cases.
    """

    suite: Suite
    cases: tuple[CaseFigures, ...]
    problems: tuple[Problem, ...]
    shared_wording: int
    shared_names: Mapping[str, tuple[str, ...]]

    @property
    def held(self) -> bool:
        """Whether every limit is kept."""
        return not self.problems and not self.shared_names

    def of_layer(self, layer: str) -> tuple[CaseFigures, ...]:
        """Return the figures of the cases of a layer."""
        return tuple(it for it in self.cases if it.case.category == layer)

    def layers(self) -> Iterator[tuple[str, tuple[CaseFigures, ...]]]:
        """Yield each layer that has a case, with the figures of its cases."""
        for layer in self.suite.groups:
            if found := self.of_layer(layer):
                yield layer, found

    def counted(self, what: Callable[[Case], Sequence[str]]) -> list[tuple[str, int]]:
        """Count labels of the cases, the most frequent first and then by name."""
        counts = Counter(label for it in self.cases for label in what(it.case))
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def take_census(suite_root: Path | str | None = None, *, gold: Path | str | None = None) -> Census:
    """Count a suite and hold it against the limits of a good one.

    Args:
        suite_root: a directory of case files, or one such file; the bundled suite by default.
        gold: a gold file, whose facts override those of the cases it names.

    Raises:
        SuiteError: when a file is broken; it lists every problem of all of them.
        InputError: when there is nothing to load, or when cases share a haystack: the limits are those of
            cases written with conversations of their own.
    """
    suite = load_suite(suite_root, gold=gold)
    _refuse_haystacks(suite)
    cases: list[CaseFigures] = []
    problems: list[Problem] = []
    examined: list[Subject] = []
    for case in suite:
        subject = Subject(case, read_source(case))
        if subject.source.problems:
            raise SuiteError(subject.source.problems)
        figures = CaseFigures(case, tuple(_count(subject, it.conversation) for it in subject.transcripts))
        cases.append(figures)
        for rule in (
            annotation.criteria_counted,
            annotation.facts_counted,
            giveaways.closing,
            contacts.contacts,
        ):
            problems += rule(subject)
        problems += _too_little(subject, figures)
        examined.append(replace(subject))  # a copy, without the texts that were read for matching
    problems += across.shared_ends(examined)
    wording = tuple(across.shared_wording(examined))
    problems += (*wording, *across.shared_entities(examined))
    return Census(suite, tuple(cases), tuple(sorted(set(problems))), len(wording), _shared_names(suite))


def _refuse_haystacks(suite: Suite) -> None:
    haystacks = {case.haystack for case in suite if case.haystack is not None}
    if haystacks:
        sharing = sum(case.haystack is not None for case in suite)
        raise InputError(
            f"{suite.root}: {sharing} cases share {len(haystacks)} haystacks, and what is counted here is how a case "
            f"was written, its own conversations included. `recallbench dataset validate {suite.root}` counts them."
        )


def _count(subject: Subject, conversation: Conversation) -> ConversationFigures:
    said = values_said(conversation, subject.case.locale)
    day_first = subject.case.locale.replace("_", "-") not in ("en-US", "en")
    return ConversationFigures(
        id=conversation.id,
        rounds=conversation.rounds,
        words=conversation.words,
        messages=len(conversation.messages),
        terse=sum(message.words < structure.TERSE_WORDS for message in conversation.messages),
        corrections=corrections(conversation),
        values=len(frozenset().union(*said.values())),
        rivals=rivals(subject, conversation, said),
        weekdays=sum(
            1 for message in conversation.messages for _ in find_said_dates(message.text, day_first=day_first)
        ),
    )


def _too_little(subject: Subject, figures: CaseFigures) -> Iterator[Problem]:
    """Yield what a conversation has too little of to be a test."""
    for transcript, counted in zip(subject.transcripts, figures.conversations, strict=True):
        if counted.corrections < MIN_CORRECTIONS:
            told = (
                f"words of correcting are in {counted.corrections} messages; {MIN_CORRECTIONS} are asked for."
            )
            mend = "Let people take something back or change their minds."
            yield subject.conversation_problem(transcript, told, mend, "few-corrections")
        if counted.rivals is not None and counted.rivals < MIN_RIVALS:
            told = f"{counted.rivals} values could be mistaken for the gold; {MIN_RIVALS} are asked for."
            mend = "Let others of its kind be said: an old one, a quote not taken."
            yield subject.conversation_problem(transcript, told, mend, "few-rivals")


def _shared_names(suite: Suite) -> dict[str, tuple[str, ...]]:
    """Return the words of names that stand in cases of different clusters."""
    found: dict[str, dict[str, str]] = defaultdict(dict)  # word -> case id -> cluster
    for case in suite:
        for entity in case.entities:
            for word in _NAME_WORD.findall(_plain(entity)):
                if word not in _GENERIC:
                    found[word][case.id] = case.cluster or case.id
    return {
        word: tuple(sorted(cases))
        for word, cases in sorted(found.items())
        if len(frozenset(cases.values())) > 1
    }


def _plain(name: str) -> str:
    """Return a name in lower case, without the marks on its letters."""
    apart = unicodedata.normalize("NFKD", name.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))
