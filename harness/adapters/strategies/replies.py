"""What a writer replies: operations and whether it is done, read as tolerantly as is safe.

The schema is flat, and every field of an operation is text that may be empty, because weak models
keep to nothing else. An operation that makes no sense is still read: refusing it, with a reason,
is the store's matter. Only a reply without any sign of operations is asked for again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.adapters.strategies.store import OPERATIONS, Form, Operation
from harness.llm.reply_error import ReplyError
from harness.llm.reply_fields import Choice, Flag, Flags, Text
from harness.llm.schema import Field, Items, ReplySchema

MOST_OPERATIONS = 6
"""Operations in one reply, as the prompt says it too."""
_NUMBERS = re.compile(r"\d{1,6}")
_RANGE = re.compile(r"(\d{1,6})\s*[-\u2010-\u2015]\s*(\d{1,6})")
_LONGEST_RANGE = 20


class Reply(NamedTuple):
    """One reply of a writer.

    Attributes:
        operations: each with the message numbers that it cites, as it wrote them.
        done: whether the writer has finished with the conversation.
        text: the reply as the writer is shown it again: without fields that were not used.
    """

    operations: tuple[tuple[Operation, tuple[int, ...]], ...]
    done: bool
    text: str


class _Words(Text):
    """Text; a number, a truth value or a list of such is read as its words."""

    __slots__ = ()

    def read(self, value: Any, flags: Flags) -> str:
        if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
            return ", ".join(self.read(one, flags) for one in value)
        if isinstance(value, bool | int | float):
            return json.dumps(value)
        return " ".join(super().read(value, flags).split())


class _Operator(Choice):
    """One word of a menu, and any other word as it is: the store refuses it."""

    __slots__ = ()

    def read(self, value: Any, flags: Flags) -> str:
        try:
            return super().read(value, flags)
        except ReplyError:
            return value if isinstance(value, str) else json.dumps(value)


class _Pairs(Items):
    """Named values; an object of them is read like a list of pairs."""

    __slots__ = ()

    def read(self, value: Any, flags: Flags) -> dict[str, dict[str, Any]] | tuple[dict[str, Any], ...]:
        if isinstance(value, dict):
            value = [{"name": name, "value": one} for name, one in value.items()]
        return super().read(value, flags)


def schema_of(form: Form, *, empty: bool) -> ReplySchema:
    """Return the reply that is asked for; keys stand in the order in which they are best written.

    Args:
        form: the memory's form.
        empty: whether the memory is empty, so that only adding is asked for; a weak model would
            update what is not there. What comes all the same is read.
    """
    operators = ("add",) if empty else OPERATIONS
    operation: list[Field] = [_Operator("op", operators, required=False)]
    operation += [_Words(name, required=False) for name in ("id", *form.fields)]
    if form.has_values:
        pair = (_Words("name", required=False), _Words("value", required=False))
        operation.append(_Pairs("values", pair, required=False, most=MOST_OPERATIONS))
    operation.append(_Words("messages", required=False))
    return ReplySchema(
        "memory_operations",
        (
            Items("operations", tuple(operation), required=False, most=MOST_OPERATIONS),
            Flag("done", required=False),
        ),
    )


def read_reply(value: Mapping[str, Any], form: Form) -> Reply:
    """Return what the schema's fields say.

    Raises:
        ReplyError: when there is neither an operation nor an end.
    """
    written, done = value["operations"], value["done"]
    if written is None and not done:
        raise ReplyError(
            "missing_operations", "`operations` is absent: a list, which is empty to end, was asked for."
        )
    written = written or ()
    shown = {"operations": [_used(one) for one in written], "done": bool(done)}
    return Reply(
        tuple((_operation(one, form), _numbers(one["messages"] or "")) for one in written),
        bool(done),
        json.dumps(shown, ensure_ascii=False),
    )


def _operation(one: Mapping[str, Any], form: Form) -> Operation:
    return Operation(
        one["op"] or "",
        (one["id"] or "").casefold(),
        {name: one[name] or "" for name in form.fields},
        {pair["name"]: pair["value"] or "" for pair in one.get("values") or () if pair["name"]},
    )


def _used(one: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(said) if isinstance(said, tuple) else said for name, said in one.items() if said}


def _numbers(text: str) -> tuple[int, ...]:
    """Return the message numbers in "3, 5-7 and 12", each once."""
    spans = [(int(low), int(high)) for low, high in _RANGE.findall(text)]
    in_spans = [n for low, high in spans if 0 <= high - low < _LONGEST_RANGE for n in range(low, high + 1)]
    return tuple(dict.fromkeys([*in_spans, *(int(n) for n in _NUMBERS.findall(text))]))
