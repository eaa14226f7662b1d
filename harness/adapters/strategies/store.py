"""What a writer's memory is: entries with ids, changed by add, update and delete.

- An id is given once and never again, also after its entry is gone.
- An update is partial: fields that it does not name stay, and so does the id.
- Two entries of the same identity (the same place, the same sentence) cannot stand side by side.
- An operation that cannot be done changes nothing and says why, in words for the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from harness.llm.reply_error import shown

OPERATIONS = ("add", "update", "delete")


class Refused(Exception):
    """An operation that cannot be done; the message is for the model."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where an operation's words come from.

    Attributes:
        timestamp: when the conversation began, None where that is not known.
        refs: messages, as `conversation_id#number`.
    """

    timestamp: datetime | None = None
    refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One note or card.

    Attributes:
        id: its name in the memory.
        fields: every field of the form, the empty text where nothing is known.
        values: named values, where the form has such.
        created: the conversation that it was first written from.
        written: the conversation that it was last written from; its `refs` cover all writings.
        turn: how many changes came before its last one.
    """

    id: str
    fields: Mapping[str, str]
    values: Mapping[str, str]
    created: Source
    written: Source
    turn: int


@dataclass(frozen=True, slots=True)
class Form:
    """What the entries of one strategy look like.

    Attributes:
        name: the strategy.
        noun: what an entry is called.
        fields: names of its fields.
        needed: those that an entry cannot be without.
        identity: the fields that tell it from every other entry, compared without case and spacing.
        has_values: whether an entry also carries named values, at least one.
        render: an entry in words.
    """

    name: str
    noun: str
    fields: tuple[str, ...]
    needed: tuple[str, ...]
    identity: tuple[str, ...]
    render: Callable[[Entry], str]
    has_values: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """What a writer wants done.

    Attributes:
        op: add, update or delete; anything else is refused.
        id: the entry to change.
        fields, values: what to set; an empty field stays as it was, an empty value is removed.
    """

    op: str
    id: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)


class Store:
    """One memory; it starts empty."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self._entries: dict[str, Entry] = {}
        self._given = 0
        self._turns = 0

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry, in the order in which they were added."""
        return tuple(self._entries.values())

    @property
    def by_last_change(self) -> tuple[Entry, ...]:
        """Every entry, the one that was written last first."""
        return tuple(sorted(self._entries.values(), key=lambda entry: -entry.turn))

    def apply(self, operation: Operation, source: Source) -> str:
        """Do one operation; return what was done, in words for the model.

        Raises:
            Refused: when it cannot be done; nothing has changed then.
        """
        if operation.op == "add":
            return self._add(operation, source)
        if operation.op == "update":
            return self._update(operation, source)
        if operation.op == "delete":
            del self._entries[self._known(operation.id).id]
            return f"deleted {operation.id}"
        raise Refused(f'"{shown(operation.op)}" is no operation; they are {", ".join(OPERATIONS)}')

    def _add(self, operation: Operation, source: Source) -> str:
        entry = Entry(
            f"{self.form.noun[0]}{self._given + 1}",
            {name: operation.fields.get(name, "") for name in self.form.fields},
            self._merged({}, operation.values),
            source,
            source,
            self._turns,
        )
        self._put(entry)
        self._given += 1
        return f"added {entry.id}"

    def _update(self, operation: Operation, source: Source) -> str:
        old = self._known(operation.id)
        given = {name: text for name, text in operation.fields.items() if name in self.form.fields and text}
        if not given and not operation.values:
            raise Refused(f"update of {old.id} names nothing to change")
        refs = tuple(dict.fromkeys((*old.written.refs, *source.refs)))
        new = replace(
            old,
            fields={**old.fields, **given},
            values=self._merged(old.values, operation.values),
            written=Source(source.timestamp, refs),
            turn=self._turns,
        )
        self._put(new)
        return f"updated {new.id}"

    def _put(self, entry: Entry) -> None:
        lacking = [name for name in self.form.needed if not entry.fields[name]]
        if self.form.has_values and not entry.values:
            lacking.append("values")
        if lacking:
            raise Refused(f"a {self.form.noun} needs {', '.join(lacking)}")
        same = self._identity(entry)
        for other in self._entries.values():
            if other.id != entry.id and self._identity(other) == same:
                place = ", ".join(self.form.identity)
                raise Refused(f"{other.id} has the same {place} already; update {other.id} where it differs")
        self._entries[entry.id] = entry
        self._turns += 1

    def _identity(self, entry: Entry) -> tuple[str, ...]:
        return tuple(" ".join(entry.fields[name].casefold().split()) for name in self.form.identity)

    def _merged(self, old: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
        if not self.form.has_values:
            return {}
        return {name: value for name, value in {**old, **given}.items() if value}

    def _known(self, identity: str) -> Entry:
        found = self._entries.get(identity)
        if found is None:
            ids = ", ".join(self._entries) or "none"
            raise Refused(f'there is no {self.form.noun} "{shown(identity)}"; ids: {ids}')
        return found
