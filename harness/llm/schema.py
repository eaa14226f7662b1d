"""What a reply has to look like: one declaration that is sent as a JSON schema and reads the reply.

- The simple fields and what they tolerate are in `reply_fields`.
- A key or an id counts in another case and with spaces or hyphens for underscores (`coerced`).
- Keys that nobody asked for are ignored.
- A key that is there twice counts where its values are the same (`duplicate`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from harness.llm.repeated_keys import RepeatedKeys, same
from harness.llm.reply_error import ReplyError, shown
from harness.llm.reply_fields import Choice, Flag, Flags, Number, Text, bad_type, described, folded

__all__ = [
    "Choice",
    "Field",
    "Flag",
    "Flags",
    "Items",
    "Number",
    "ReplySchema",
    "Text",
    "agree",
    "read_fields",
]


@dataclass(frozen=True, slots=True)
class Items:
    """A list of objects.

    Attributes:
        name: key of the list.
        fields: what each object holds.
        ids: the objects asked for, each exactly once: read as `{id: {field: value}}`. None lets
            any number of objects come, none included: read as a tuple of `{field: value}`.
        key: what an object's id is called.
        most: how many objects may come where no ids are asked for. It is asked for, not checked: it
            ends the loops that weak models fall into.
    """

    name: str
    fields: tuple[Field, ...]
    ids: tuple[str, ...] | None = None
    key: str = "id"
    required: bool = True
    description: str = ""
    most: int | None = None

    def json_schema(self) -> dict[str, Any]:
        """Return the schema of the value."""
        schema: dict[str, Any] = {"type": "array"}
        if self.ids is None:
            schema["items"] = _object_schema(self.fields)
            if self.most is not None:
                schema["maxItems"] = self.most
        else:
            named = {self.key: {"type": "string", **({"enum": list(self.ids)} if self.ids else {})}}
            schema["items"] = _object_schema(self.fields, named)
            schema |= {"minItems": len(self.ids), "maxItems": len(self.ids)}
        return described(schema, self.description)

    def read(self, value: Any, flags: Flags) -> dict[str, dict[str, Any]] | tuple[dict[str, Any], ...]:
        """Return the objects.

        Raises:
            ReplyError: `incomplete` for an id that is absent, `ambiguous` for one that is there
                twice and differs, or whatever a field raises.
        """
        if self.ids is None:
            return self._read_list(value, flags)
        if isinstance(value, dict):
            entries = self._of_mapping(value, flags)
        elif isinstance(value, list):
            entries = self._of_list(value, flags)
        else:
            raise bad_type(self.name, value, "a list")
        return self._read_asked(entries, flags)

    def agree(self, one: Any, other: Any) -> bool:
        """Whether two readings say the same, apart from words beside a verdict."""
        if self.ids is None:
            return bool(one == other)
        return all(agree(self.fields, one[name], other[name]) for name in self.ids)

    def _read_list(self, value: Any, flags: Flags) -> tuple[dict[str, Any], ...]:
        if not isinstance(value, list):
            raise bad_type(self.name, value, "a list")
        read = []
        for entry in value:
            if not isinstance(entry, dict):
                raise bad_type(self.name, entry, "objects only")
            read.append(read_fields(self.fields, entry, flags))
        return tuple(read)

    def _of_list(self, entries: list[Any], flags: Flags) -> Iterable[tuple[Any, Mapping[str, Any]]]:
        known = {self.key, *(part.name for part in self.fields)}
        for entry in entries:
            if not isinstance(entry, dict):
                raise bad_type(self.name, entry, "objects only")
            plain = type(entry) is dict and entry.keys() <= known
            identity = entry.get(self.key) if plain else _member(entry, self.key, flags)
            if identity is None:
                raise ReplyError(f"missing_{self.key}", f"An entry of `{self.name}` has no `{self.key}`.")
            yield identity, entry

    def _of_mapping(self, entries: dict[str, Any], flags: Flags) -> Iterable[tuple[Any, Mapping[str, Any]]]:
        """Read `{"f1": {"met": true}}`, or `{"f1": true}` where one field has to come."""
        flags.add("mapping")
        needed = [part.name for part in self.fields if part.required]
        for identity in entries:
            entry = _given(entries, identity, flags)
            if isinstance(entry, dict):
                yield identity, entry
            elif len(needed) == 1:
                yield identity, {needed[0]: entry}
            else:
                raise bad_type(self.name, entry, "objects only")

    def _read_asked(
        self, entries: Iterable[tuple[Any, Mapping[str, Any]]], flags: Flags
    ) -> dict[str, dict[str, Any]]:
        asked = self.ids or ()
        read: dict[str, dict[str, Any]] = {}
        for said, entry in entries:
            identity = self._identity(said, flags)
            if identity is None:
                flags.add("unknown_id")
                continue
            values = self._read_entry(identity, entry, flags)
            if identity in read:
                if not agree(self.fields, read[identity], values):
                    raise ReplyError("ambiguous", f"`{self.name}` has {identity} twice, and they differ.")
                flags.add("duplicate")
            read[identity] = values
        absent = [identity for identity in asked if identity not in read]
        if absent:
            raise ReplyError("incomplete", f"`{self.name}` lacks {', '.join(absent)}.")
        return {identity: read[identity] for identity in asked}

    def _identity(self, said: Any, flags: Flags) -> str | None:
        """Return the id that is meant, None for one that nobody asked for."""
        asked = self.ids or ()
        if isinstance(said, str) and said in asked:
            return said
        if isinstance(said, bool) or not isinstance(said, str | int):
            raise bad_type(self.key, said, "a string")
        word = folded(str(said)) if isinstance(said, str) or abs(said) < 10**15 else ""
        meant = [identity for identity in asked if folded(identity) == word]
        if len(meant) != 1:
            return None
        flags.add("coerced")
        return meant[0]

    def _read_entry(self, identity: str, entry: Mapping[str, Any], flags: Flags) -> dict[str, Any]:
        try:
            return read_fields(self.fields, entry, flags, self.key)
        except ReplyError as error:
            # An item without its verdict is as good as absent.
            kind = "incomplete" if error.kind.startswith("missing_") else error.kind
            raise ReplyError(kind, f"{identity}: {error.message}") from None


Field: TypeAlias = Text | Number | Flag | Choice | Items


@dataclass(frozen=True, slots=True)
class ReplySchema:
    """The object that a model is asked for.

    Example:
        `ReplySchema("verdict", (Text("reasoning"), Number("score", 0, 1)))`
    """

    name: str
    fields: tuple[Field, ...]
    names: frozenset[str] = field(init=False, repr=False, compare=False)
    _json: dict[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_json", _object_schema(self.fields))
        object.__setattr__(self, "names", frozenset(part.name for part in self.fields))

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON schema, in the strict form: all keys required, no others allowed.

        It is made once; leave it as it is.
        """
        return self._json

    def read(self, value: Mapping[str, Any], flags: Flags) -> dict[str, Any]:
        """Return the value of every field; one that may be absent and is reads None.

        Args:
            value: the object that was found.
            flags: added to, by how the value had to be read.

        Raises:
            ReplyError: for a field that is absent or does not hold what was asked for.
        """
        return read_fields(self.fields, value, flags)

    def mentioned_in(self, value: Mapping[str, Any]) -> bool:
        """Whether an object has any of the fields, however spelt."""
        return not self.names.isdisjoint(value) or any(folded(key) in self.names for key in value)

    def agree(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Whether two readings say the same, apart from words beside a verdict."""
        return agree(self.fields, one, other)


def read_fields(
    fields: Sequence[Field], value: Mapping[str, Any], flags: Flags, key: str = ""
) -> dict[str, Any]:
    """Return the value of every field of an object; `key` is a further one that may stand in it."""
    names = [part.name for part in fields]
    if type(value) is dict and len(value) <= len(names) + 1 and value.keys() <= {*names, key}:
        given = {name: value.get(name) for name in names}  # the plain case, and the fast one
    else:
        given = {name: _member(value, name, flags) for name in names}
    # A verdict that is missing is named before words that are.
    absent = [part for part in fields if part.required and given[part.name] is None]
    if absent:
        first = next((part for part in absent if not isinstance(part, Text)), absent[0])
        state = "null" if first.name in value else "absent"
        raise ReplyError(f"missing_{first.name}", f"`{first.name}` is {state}.")
    return {
        part.name: None if given[part.name] is None else part.read(given[part.name], flags) for part in fields
    }


def agree(fields: Sequence[Field], one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two readings of the same fields say the same, apart from words beside a verdict."""
    for part in fields:
        if isinstance(part, Text):
            continue
        ours, theirs = one[part.name], other[part.name]
        if isinstance(part, Items) and ours is not None and theirs is not None:
            if not part.agree(ours, theirs):
                return False
        elif ours != theirs:
            return False
    return True


def _member(value: Mapping[str, Any], name: str, flags: Flags) -> Any:
    """Return an object's member; a key in another spelling counts, two that differ do not."""
    found = _given(value, name, flags)
    others = [key for key in value if key != name and len(key) < 100 and folded(key) == folded(name)]
    for other in others:
        item = _given(value, other, flags)
        if found is not None and item is not None and not same(found, item):
            raise ReplyError("ambiguous", f"`{name}` is there in two spellings, and they differ.")
        found = item if found is None else found
        flags.add("coerced")
    return found


def _given(value: Mapping[str, Any], key: str, flags: Flags) -> Any:
    if isinstance(value, RepeatedKeys) and key in value.repeated:
        if key in value.conflicting:
            raise ReplyError("ambiguous", f"`{shown(key)}` is there twice, and the values differ.")
        flags.add("duplicate")
    return value.get(key)


def _object_schema(fields: Sequence[Field], first: Mapping[str, Any] | None = None) -> dict[str, Any]:
    properties = {**(first or {}), **{part.name: part.json_schema() for part in fields}}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
