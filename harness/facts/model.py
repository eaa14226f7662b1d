"""Gold facts and what a match against an answer returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from harness.errors import FactError

ABSTAIN = "__ABSTAIN__"


class FactType(StrEnum):
    """What kind of value a gold fact is; it decides how forms are compared."""

    ID = "id"
    NUMBER = "number"
    MONEY = "money"
    PERCENT = "percent"
    QUANTITY = "quantity"
    DATE = "date"
    TIME = "time"
    TEXT = "text"
    ABSTAIN = "abstain"


@dataclass(frozen=True, slots=True)
class GoldFact:
    """A value that an answer must state, may state, or must not state as true.

    Attributes:
        fact: the value as written down by the author.
        type: how it is compared; typed values compare by their parts, never as text.
        accept: further surface forms that count as the same value.
        stale: superseded values; one that the answer states as current undoes the match.
        id: name inside its case.
        evidence: `conversation_id#message_number` of the messages that state it (1-based).
        derived_from: the same, for a value that follows from others by arithmetic.
        why: for a forbidden fact, what is wrong with it.
        replaces: for a forbidden fact, the id of the required fact it is a wrong state of.

    Raises:
        FactError: when a form normalises to nothing (an empty form is in every answer).
    """

    fact: str
    type: FactType = FactType.TEXT
    accept: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    id: str = ""
    evidence: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    why: str = ""
    replaces: str | None = None

    def __post_init__(self) -> None:
        for form in (self.fact, *self.accept, *self.stale):
            if not any(char.isalnum() for char in form):
                named = f"fact {self.id!r}" if self.id else "a fact"
                raise FactError(
                    f"{named} has the form {form!r}, which has no letter or digit and would match anything; "
                    "write the value it stands for"
                )

    @property
    def forms(self) -> tuple[str, ...]:
        """The fact and its accepted forms, without repeats, the fact first."""
        return tuple(dict.fromkeys((self.fact, *self.accept)))

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> GoldFact:
        """Build a fact from `{fact, type?, accepted? | accept?, stale?, id?}`.

        Raises:
            FactError: on an unknown type, a missing `fact`, or a form that is empty.
        """
        if "fact" not in data:
            raise FactError("a fact needs the key 'fact'")
        kind = data.get("type", FactType.TEXT)
        try:
            fact_type = FactType(kind)
        except ValueError:
            known = ", ".join(FactType)
            raise FactError(f"unknown fact type {kind!r}; the types are {known}") from None
        accept = [*data.get("accepted", ()), *data.get("accept", ())]
        return cls(
            fact=str(data["fact"]),
            type=fact_type,
            accept=tuple(str(form) for form in accept),
            stale=tuple(str(form) for form in data.get("stale", ())),
            id=str(data.get("id", "")),
        )


@dataclass(frozen=True, slots=True)
class FactMatch:
    """What an answer says about one fact.

    Attributes:
        mentioned: the value is present as a typed, bounded value.
        asserted: it is also stated as true: not negated, not one of several
            alternatives, not asked, and no superseded value stands unresolved.
        form: the accepted form that matched, or None.
        span: start and end of the match in the answer as given (characters), or None.
        clause: the part of the answer that decided, as given.
        flags: why, in short words such as `negated`, `alternatives`, `question`, `stale`,
            `hedged`, `diacritics`, `enumeration`; of a wrong value `past` and `dismissed` too.
    """

    mentioned: bool
    asserted: bool
    form: str | None = None
    span: tuple[int, int] | None = None
    clause: str = ""
    flags: tuple[str, ...] = ()


NO_MATCH = FactMatch(mentioned=False, asserted=False)
