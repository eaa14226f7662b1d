"""The vocabulary of a suite: case, conversation, message, criterion, gold facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from harness.errors import InputError
from harness.facts.model import GoldFact

Role = Literal["user", "assistant"]
Layer = Literal["layer1", "layer2", "layer3"]
Dimension = Literal["information_retrieval", "completeness", "accuracy", "context", "proactivity"]
CriterionKind = Literal["fact", "behaviour"]
CaseForm = Literal["documents", "legacy"]

LAYERS: tuple[Layer, ...] = ("layer1", "layer2", "layer3")


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    text: str
    timestamp: datetime | None = None

    @property
    def words(self) -> int:
        """Number of words, as white space separates them."""
        return len(self.text.split())


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session between the user and one counterpart.

    Attributes:
        id: name inside its case; evidence cites it as `id#message_number`, counted from 1.
        timestamp: when it began. Without an offset where the file gives none, and at
            midnight where the file gives only a day.
        metadata: free labels such as business, department, channel.
        messages: the turns in order.
    """

    id: str
    timestamp: datetime | None
    metadata: Mapping[str, str]
    messages: tuple[Message, ...]

    @property
    def rounds(self) -> int:
        """Number of user messages that get a reply."""
        turns = zip(self.messages, self.messages[1:], strict=False)
        return sum(1 for said, reply in turns if said.role == "user" and reply.role == "assistant")

    @property
    def words(self) -> int:
        """Number of words in all messages."""
        return sum(message.words for message in self.messages)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One checkable statement that a judge rules on.

    Attributes:
        id: name inside its case.
        text: the statement.
        facts: ids of the gold facts that it is about, where it is about any.
        dimension: which of the five reported dimensions it counts for, or None.
        weight: its share in the judged reward, relative to the other criteria; above 0.
        kind: `behaviour` is judged only; keyword recall can't see it.
    """

    id: str
    text: str
    facts: tuple[str, ...] = ()
    dimension: Dimension | None = None
    weight: float = 1.0
    kind: CriterionKind = "fact"


@dataclass(frozen=True, slots=True)
class GoldFacts:
    """The values that an answer must, may and must not state."""

    required: tuple[GoldFact, ...] = ()
    optional: tuple[GoldFact, ...] = ()
    forbidden: tuple[GoldFact, ...] = ()

    @property
    def annotated(self) -> bool:
        """Whether keyword recall has anything to look for."""
        return bool(self.required)

    def __iter__(self) -> Iterator[GoldFact]:
        yield from self.required
        yield from self.optional
        yield from self.forbidden


@dataclass(frozen=True, slots=True)
class Case:
    """One question over one or more conversations, and what a right answer holds.

    Everything here comes from the header of the case file. The conversations stay on
    disk until `conversations()` is called.

    Attributes:
        id: name in the suite, such as `layer2_07_family_medications`.
        category: the layer; a case of a shared haystack may name any other group.
        question_time: when the question is asked; it reaches the agent with the question.
        expected_behavior: a reference answer (ours) or a description of one (legacy).
        answerable: False where the question asks for what was never said.
        path: the file, as the user named it.
        haystack: the file that holds the conversations, where many questions share them, or None.
        evidence: messages that a right answer rests on, beside those that facts cite.
        form: `documents` for a header followed by conversations, `legacy` for one document.
        gold_path: the gold file that replaced the header's facts, or None.
    """

    id: str
    category: str
    title: str
    description: str
    domain: str
    abilities: tuple[str, ...]
    locale: str
    cluster: str | None
    entities: tuple[str, ...]
    question_time: datetime | None
    question: str
    criteria: tuple[Criterion, ...]
    expected_behavior: str
    gold: GoldFacts
    answerable: bool
    path: Path
    form: CaseForm = "documents"
    gold_path: Path | None = None
    haystack: Path | None = None
    evidence: tuple[str, ...] = ()

    def conversations(self) -> tuple[Conversation, ...]:
        """Read the conversations from the file, anew at each call.

        Nothing is kept, so that memory stays flat over a large suite.

        Raises:
            SuiteError: when the conversations are broken; it lists every problem of the file.
        """
        from harness.suite.source import read_conversations  # it imports this module

        return read_conversations(self)


@dataclass(frozen=True, slots=True)
class Suite:
    """A set of cases from one directory, file or import.

    Iterating yields the cases in the order of their ids.
    """

    root: Path
    cases: tuple[Case, ...]
    _by_id: Mapping[str, Case] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_id", {case.id: case for case in self.cases})

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)

    def get(self, case_id: str) -> Case:
        """Return the case with this id.

        Raises:
            InputError: when there is none; the message names the nearest ids.
        """
        if case_id in self._by_id:
            return self._by_id[case_id]
        raise InputError(f"there is no case {case_id!r} in {self.root}; {nearest(case_id, self.ids)}")

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the cases, in order."""
        return tuple(case.id for case in self.cases)

    @property
    def groups(self) -> tuple[str, ...]:
        """The layers, or the groups that stand in their place, that have cases, in order."""
        return tuple(sorted({case.category for case in self.cases}))

    @property
    def layer_counts(self) -> dict[str, int]:
        """How many cases each group has; layers without a case are included where there is one of a layer."""
        counts = Counter(case.category for case in self.cases)
        layers = LAYERS if not counts or any(layer in counts for layer in LAYERS) else ()
        return {name: counts[name] for name in sorted({*layers, *counts})}

    def select(
        self, layer: str | None = None, domain: str | None = None, ability: str | None = None
    ) -> Suite:
        """Return the suite of the cases that fit every filter given; it may be empty."""
        fitting = (
            case
            for case in self.cases
            if (layer is None or case.category == layer)
            and (domain is None or case.domain == domain)
            and (ability is None or ability in case.abilities)
        )
        return replace(self, cases=tuple(fitting))

    @property
    def hash(self) -> str:
        """Content hash of the cases in the suite, 64 hexadecimal digits.

        It covers, for every case in the order of the ids: the id, the whole file
        (conversations and comments too), the haystack that it names and, where a gold file replaced the header's
        facts, those facts. It does not cover where the files are, what they are called,
        how their lines end, or cases that `select` left out. So the same suite has the same
        hash on every machine, and any edit changes it.

        Each call reads the files.

        Raises:
            InputError: when a file can't be read any more.
        """
        from harness.suite.hashing import hash_cases  # it imports this module

        return hash_cases(self.cases)


def nearest(name: str, known: tuple[str, ...]) -> str:
    """Return the words of an error message that point from a wrong name to the right ones."""
    from difflib import get_close_matches  # only a message of an error needs it

    close = get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return "nearest: " + ", ".join(close)
    return "known: " + ", ".join(known) if known else "none is known"
