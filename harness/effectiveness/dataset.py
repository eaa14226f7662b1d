"""What effectiveness is measured on: things that are said, and what a memory should make of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from harness.errors import InputError
from harness.facts import AnswerText, GoldFact, match_fact, match_wrong
from harness.suite import Conversation, Message


@dataclass(frozen=True, slots=True)
class ExpectedFact:
    """A fact that is to be stored.

    Attributes:
        gold: its value, compared by its type.
        about: what it is a value of, any one of these forms; a text that names none of them does
            not state the fact, whatever its value. Empty where the value says enough.
        text: the fact as a sentence, for people and judges.
        derived: whether the input only lets it be worked out.
    """

    gold: GoldFact
    about: tuple[GoldFact, ...] = ()
    text: str = ""
    derived: bool = False

    @property
    def shown(self) -> str:
        """The sentence, or the value where there is none."""
        return self.text or self.gold.fact

    def stated_in(self, text: AnswerText) -> bool:
        """Say whether a text states the fact as true."""
        return match_fact(text, self.gold).asserted and self._about(text)

    def current_in(self, text: AnswerText) -> bool:
        """Say whether a text states the fact as true still: neither denied nor called past."""
        return match_wrong(text, self.gold).asserted and self._about(text)

    def _about(self, text: AnswerText) -> bool:
        return not self.about or any(match_fact(text, form).mentioned for form in self.about)


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that is said to a memory.

    Attributes:
        id: its name in the data set.
        messages: what is said; a text alone is one message of the user.
        timestamp: when.
        facts: what is to be stored of it; None where the data set does not say, empty for nothing.
        memory_type: the label of its memory.
        importance: 1 to 10.
        is_clustered: whether it takes part in deduplication.
        duplicates_of: id of an entry that says the same.
        supersedes: id of the entry whose facts it replaces.
        user: who says it, where several users share a system.
        question: what its facts are asked for with.
        deleted: True where its memory is deleted, False where it has to stay, None where neither.
        group: entries of one group are told to one agent.
        tags: groups for reports.
    """

    id: str
    messages: tuple[Message, ...]
    timestamp: datetime | None = None
    facts: tuple[ExpectedFact, ...] | None = None
    memory_type: str | None = None
    importance: float | None = None
    is_clustered: bool = False
    duplicates_of: str | None = None
    supersedes: str | None = None
    user: str | None = None
    question: str = ""
    deleted: bool | None = None
    group: str = ""
    tags: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Everything that is said."""
        return "\n".join(message.text for message in self.messages)

    @property
    def label(self) -> str:
        """What a person reads of it in a table."""
        words = " ".join(self.text.split())
        return words if len(words) <= 70 else f"{words[:69]}…"

    def conversation(self) -> Conversation:
        """Return it as a conversation that is called after it."""
        return Conversation(self.id, self.timestamp, {}, self.messages)

    def states(self, text: AnswerText) -> bool:
        """Say whether a text states every one of its facts."""
        return bool(self.facts) and all(fact.stated_in(text) for fact in self.facts or ())


@dataclass(frozen=True, slots=True)
class EffectivenessSet:
    """Entries with their labels; what an entry is labelled with decides which evaluators it serves."""

    id: str
    entries: tuple[Entry, ...]
    name: str = ""
    description: str = ""
    types: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def get(self, id: str) -> Entry:
        """Return an entry by its id."""
        return next(entry for entry in self.entries if entry.id == id)

    @property
    def hash(self) -> str:
        """SHA-256 of everything that decides a figure."""
        rows = [
            [
                entry.id,
                [[message.role, message.text] for message in entry.messages],
                str(entry.timestamp),
                None if entry.facts is None else [_row(fact) for fact in entry.facts],
                [entry.memory_type, entry.importance, entry.is_clustered, entry.duplicates_of],
                [entry.supersedes, entry.user, entry.question, entry.deleted, entry.group],
            ]
            for entry in self.entries
        ]
        told = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()

    # ---- who serves which evaluator ---------------------------------------------------

    def for_extraction(self) -> tuple[Entry, ...]:
        """Entries that say what is to be stored, and are about nothing else."""
        return tuple(
            entry
            for entry in self.entries
            if entry.facts is not None
            and not (entry.is_clustered or entry.user or entry.deleted is not None)
            and entry.id not in self.superseded
            and entry.supersedes is None
        )

    def for_classification(self) -> tuple[Entry, ...]:
        """Entries with a type."""
        return tuple(entry for entry in self.entries if entry.memory_type is not None)

    def for_importance(self) -> tuple[Entry, ...]:
        """Entries with an importance."""
        return tuple(entry for entry in self.entries if entry.importance is not None)

    def for_deduplication(self) -> tuple[Entry, ...]:
        """Entries that are or have duplicates, and those that say they are none."""
        return tuple(entry for entry in self.entries if entry.is_clustered)

    def for_update(self) -> tuple[Entry, ...]:
        """The last entry of each chain of superseded ones."""
        superseded = self.superseded
        return tuple(entry for entry in self.entries if entry.supersedes and entry.id not in superseded)

    def for_isolation(self) -> tuple[Entry, ...]:
        """Entries of a user."""
        return tuple(entry for entry in self.entries if entry.user)

    def for_deletion(self) -> tuple[Entry, ...]:
        """Entries that are deleted, and those that stay beside them."""
        return tuple(entry for entry in self.entries if entry.deleted is not None)

    @property
    def superseded(self) -> frozenset[str]:
        """Ids of the entries that another one replaces."""
        return frozenset(entry.supersedes for entry in self.entries if entry.supersedes)

    def before(self, entry: Entry) -> tuple[Entry, ...]:
        """Return the entries that one supersedes, directly or not, oldest first."""
        by_id = {one.id: one for one in self.entries}
        found: list[Entry] = []
        while entry.supersedes:
            entry = by_id[entry.supersedes]
            found.append(entry)
        return tuple(reversed(found))

    def clusters(self) -> dict[str, str]:
        """Return the cluster of each entry of deduplication: the id of the first that says the same."""
        by_id = {entry.id: entry for entry in self.entries}
        found = {}
        for entry in self.for_deduplication():
            first = entry
            while first.duplicates_of:
                first = by_id[first.duplicates_of]
            found[entry.id] = first.id
        return found


def combined(sets: Iterable[EffectivenessSet]) -> EffectivenessSet:
    """Return several data sets as one; entries of different sets stay with different agents.

    Raises:
        InputError: when two of them have a test case of one id.
    """
    listed = tuple(sets)
    if len(listed) == 1:
        return listed[0]
    owner: dict[str, str] = {}
    for one in listed:
        for entry in one.entries:
            if entry.id in owner:
                raise InputError(
                    f"the test case {entry.id!r} is in {owner[entry.id]} and in {one.id}. Give each an id of its own."
                )
            owner[entry.id] = one.id
    return EffectivenessSet(
        id=" + ".join(one.id for one in listed),
        entries=tuple(
            replace(entry, group=f"{one.id}/{entry.group}") for one in listed for entry in one.entries
        ),
        types=tuple(dict.fromkeys(label for one in listed for label in one.types)),
    )


def _row(fact: ExpectedFact) -> list[Any]:
    gold = fact.gold
    return [gold.fact, str(gold.type), gold.accept, [form.forms for form in fact.about], fact.text]
