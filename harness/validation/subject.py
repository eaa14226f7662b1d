"""What a rule looks at: one case with its conversations, and how to point at a place in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from harness.errors import Problem
from harness.facts import AnswerText, FactType, GoldFact, match_fact
from harness.suite import Case
from harness.suite.gold import GoldFile
from harness.suite.source import Source, Transcript

FieldPath = tuple[str | int, ...]
Group = Literal["required", "optional", "forbidden"]
GROUPS: tuple[Group, ...] = ("required", "optional", "forbidden")


@dataclass(frozen=True, slots=True)
class PlacedFact:
    """A gold fact and its place in the gold facts of the case."""

    fact: GoldFact
    group: Group
    index: int


@dataclass(frozen=True, slots=True)
class Reference:
    """A citation such as `conv_001#38`, resolved.

    Attributes:
        text: the citation.
        conversation_id: the conversation cited.
        number: the message cited, counted from 1.
    """

    text: str
    conversation_id: str
    number: int

    @classmethod
    def parse(cls, text: str) -> Reference:
        """Split a citation, whose form loading has checked."""
        name, _, number = text.partition("#")
        return cls(text, name, int(number))


@dataclass(frozen=True)
class Subject:
    """One case under examination.

    Attributes:
        case: the case.
        source: its file, read whole.
        gold: the gold file that replaced its facts, if one did.
    """

    case: Case
    source: Source
    gold: GoldFile | None = None

    @property
    def transcripts(self) -> tuple[Transcript, ...]:
        """The conversations that could be read, in the order of the file."""
        return self.source.transcripts

    @cached_property
    def by_id(self) -> dict[str, Transcript]:
        """The conversations by their ids."""
        return {transcript.conversation.id: transcript for transcript in self.transcripts}

    @cached_property
    def facts(self) -> tuple[PlacedFact, ...]:
        """Every gold fact with its place."""
        return tuple(
            PlacedFact(fact, group, index)
            for group in GROUPS
            for index, fact in enumerate(getattr(self.case.gold, group))
        )

    @cached_property
    def required(self) -> tuple[GoldFact, ...]:
        """The required facts that are values: an abstention is said in no conversation."""
        return tuple(fact for fact in self.case.gold.required if fact.type is not FactType.ABSTAIN)

    @cached_property
    def _read(self) -> dict[str, tuple[AnswerText, ...]]:
        return {}

    def _texts(self, conversation_id: str) -> tuple[AnswerText, ...]:
        """Return the messages of a conversation, read once; nothing where there is no such conversation."""
        if conversation_id not in self._read:
            found = self.by_id.get(conversation_id)
            messages = found.conversation.messages if found else ()
            self._read[conversation_id] = tuple(self.read(message.text) for message in messages)
        return self._read[conversation_id]

    def read(self, text: str) -> AnswerText:
        """Prepare a text for matching, by the locale of the case."""
        return AnswerText(text, self.case.locale)

    def mentions(self, text: AnswerText | str, fact: GoldFact) -> bool:
        """Tell whether a text holds the value of a fact."""
        return match_fact(text, fact, locale=self.case.locale).mentioned

    def message_text(self, reference: Reference) -> AnswerText | None:
        """Return the message that is cited, or None where there is none."""
        texts = self._texts(reference.conversation_id)
        return texts[reference.number - 1] if reference.number <= len(texts) else None

    def is_mentioned_in(self, conversation_id: str, fact: GoldFact) -> bool:
        """Tell whether any message of a conversation holds the value of a fact."""
        return any(self.mentions(text, fact) for text in self._texts(conversation_id))

    def cited_by(self, fact: GoldFact) -> frozenset[str]:
        """Return the ids of the conversations that a fact is said in or derived from."""
        cited = (Reference.parse(text) for text in (*fact.evidence, *fact.derived_from))
        return frozenset(reference.conversation_id for reference in cited)

    def header_problem(self, at: FieldPath, message: str, mend: str, rule: str) -> Problem:
        """Return a problem of a field of the header."""
        return self.source.header.problem(at, message, mend, rule)

    def fact_problem(self, placed: PlacedFact, message: str, mend: str, rule: str, key: str = "") -> Problem:
        """Return a problem of a gold fact, wherever it is written down."""
        deeper = (key,) if key else ()
        if self.gold is not None and self.case.gold_path is not None:
            place = self.gold.places[self.case.id][placed.index]
            return self.gold.document.problem((*place, *deeper), message, mend, rule)
        at: FieldPath = ("gold_facts", placed.group, placed.index)
        return self.header_problem((*at, *deeper), message, mend, rule)

    def conversation_problem(
        self, transcript: Transcript, message: str, mend: str, rule: str, key: str | None = None
    ) -> Problem:
        """Return a problem of a conversation as a whole, or of one of its keys."""
        name = transcript.conversation.id
        field = name if key is None else f"{name}.{key}"
        return Problem(self.case.path, transcript.line(key), field, message, mend, rule)

    def message_problem(
        self, transcript: Transcript, index: int, message: str, mend: str, rule: str
    ) -> Problem:
        """Return a problem of one message, whose field is how evidence would cite it."""
        field = f"{transcript.conversation.id}#{index + 1}"
        return Problem(self.case.path, transcript.message_line(index), field, message, mend, rule)
