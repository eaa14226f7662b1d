"""Read the answer of a chat-completions endpoint into a value with flags, or a typed error.

Nothing is guessed: a reply that has no single clear reading is an error, never a score.

- The error's kinds are in `reply_error`, what values may look like in `schema`.
- Reasoning channels (`reasoning_content`, think blocks) are never a verdict.
- A reply cut at the token limit counts only where its object is complete.
- Several objects or choices count where they agree in all but free words; the last is taken.
- A refusal in plain words has no JSON and reads as `no_json`: words are not judged here.
- No tool was offered, so a tool call's name says little: its arguments count when they hold the
  fields asked for.

| flag | how the value had to be read |
| --- | --- |
| `think` | thoughts stood before it |
| `fence` | it stood in a code fence |
| `extra_text` | other words stood around it |
| `tool_call` | it was the argument of a tool call |
| `object_content` | the content was an object, not text |
| `repaired` | it was complete but sloppy JSON, see `json_repair` |
| `unwrapped` | it lay in a list, a string or another object |
| `duplicate` | it was there more than once, the same each time |
| `mapping` | a list was written as an object by id |
| `unknown_id` | an item that nobody asked for was left out |
| `coerced` | a value or key was spelt otherwise, see `reply_fields` |
| `clamped` | a number was moved to its bound by a rounding error |
| `length_but_complete` | the token limit was reached after its end |
| `cut` | a reply in words that ends at the token limit, where that is fine |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harness.llm.chat_reply import (
    AT_LIMIT,
    RawReply,
    Usage,
    calls_of,
    choices_of,
    content_of,
    cut_reply,
    message_of,
    model_of,
    nothing_in,
    usage_of,
)
from harness.llm.http_errors import retry_wait
from harness.llm.json_repair import Unreadable
from harness.llm.json_text import Found, find_json, without_thoughts
from harness.llm.repeated_keys import RepeatedKeys
from harness.llm.reply_error import ReplyError, shown
from harness.llm.schema import Items, ReplySchema

__all__ = [
    "FLAGS",
    "Parsed",
    "RawReply",
    "ReplyError",
    "TextReply",
    "Usage",
    "read_reply",
    "read_text",
    "retry_wait",
    "usage_of",
]

FLAGS = (
    "think",
    "fence",
    "extra_text",
    "tool_call",
    "object_content",
    "repaired",
    "unwrapped",
    "duplicate",
    "mapping",
    "unknown_id",
    "coerced",
    "clamped",
    "length_but_complete",
    "cut",
)
"""Every flag, in the order in which `Parsed.flags` has them."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply's value.

    Attributes:
        value: the schema's fields.
        flags: how it had to be read; none for a plain reply.
        usage: what the call used, None when the reply does not say.
        model: the model as the provider names it.
    """

    value: Mapping[str, Any]
    flags: tuple[str, ...]
    usage: Usage | None
    model: str | None


@dataclass(frozen=True, slots=True)
class TextReply:
    """A reply in words, without the thoughts before it; attributes as those of `Parsed`."""

    text: str
    flags: tuple[str, ...]
    usage: Usage | None
    model: str | None


def read_reply(raw: RawReply, schema: ReplySchema, *, now: datetime | None = None) -> Parsed:
    """Read a reply against a schema.

    Args:
        raw: the HTTP answer.
        schema: what was asked for.
        now: from when a `Retry-After` date counts, if the answer has no `Date`.

    Raises:
        ReplyError: when it holds no value.
    """
    readings = [_read_choice(choice, schema, raw, now) for choice in choices_of(raw, now)]
    value, flags = readings[-1]
    for other, noted in readings[:-1]:
        if not schema.agree(other, value):
            raise ReplyError("ambiguous", "The reply has several choices, and they differ.")
        flags |= {*noted, "duplicate"}
    return Parsed(value, _in_order(flags), usage_of(raw), model_of(raw))


def read_text(raw: RawReply, *, now: datetime | None = None, cut: bool = False) -> TextReply:
    """Read a reply in plain words, an answer say.

    Args:
        raw: the HTTP answer.
        now: from when a `Retry-After` date counts, if the answer has no `Date`.
        cut: take one that ends at the token limit as far as it goes, with the flag `cut`.

    Raises:
        ReplyError: when it holds none, or was cut and that is not fine.
    """
    readings = [_read_words(choice, raw, now, cut) for choice in choices_of(raw, now)]
    text, flags = readings[-1]
    if any(other != text for other, _ in readings):
        raise ReplyError("ambiguous", "The reply has several choices, and they differ.")
    return TextReply(text, _in_order(flags), usage_of(raw), model_of(raw))


def _in_order(flags: set[str]) -> tuple[str, ...]:
    return tuple(flag for flag in FLAGS if flag in flags) if flags else ()


def _read_choice(
    choice: Mapping[str, Any], schema: ReplySchema, raw: RawReply, now: datetime | None
) -> tuple[dict[str, Any], set[str]]:
    message, ended = message_of(choice, raw, now)
    content = content_of(message)
    at_limit = ended in AT_LIMIT
    if isinstance(content, dict):
        value, flags = _read_objects(Found((content,), frozenset({"object_content"})), schema)
    else:
        value, flags = _read_content(content, message, schema, ended)
    if at_limit:
        flags.add("length_but_complete")
    return value, flags


def _read_content(
    content: str, message: Mapping[str, Any], schema: ReplySchema, ended: str
) -> tuple[dict[str, Any], set[str]]:
    found = _found(content, schema, ended)
    calls = calls_of(message)
    if calls and not found.values:
        return _read_calls(calls, schema, ended)
    if found.blank:
        raise nothing_in(message, "think" in found.flags, ended)
    if not any(isinstance(value, dict | list) for value in found.values):
        if ended in AT_LIMIT:
            raise cut_reply("before any object")
        said = shown(content.strip()[:60])
        action = "schema asks for an object"
        raise ReplyError("no_json", f'The reply has no JSON object; it begins "{said}".', action=action)
    return _read_objects(found, schema)


def _found(text: str, schema: ReplySchema, ended: str) -> Found:
    """Find the objects in a text; say which way one that cannot be read went wrong."""
    try:
        return find_json(text, schema.names)
    except Unreadable as error:
        # Without a reason for its end, a reply that stops short was cut.
        if ended in AT_LIMIT or (error.unclosed and not ended):
            raise cut_reply("inside an object") from None
        raise ReplyError("bad_json", f"The reply's object is no JSON: {error}.") from None


def _read_calls(
    calls: list[tuple[str, Any]], schema: ReplySchema, ended: str
) -> tuple[dict[str, Any], set[str]]:
    values: list[Any] = []
    flags = {"tool_call"}
    for name, arguments in calls:
        found = _found(arguments, schema, ended) if isinstance(arguments, str) else Found((arguments,))
        if name != schema.name and not any(_mentions(value, schema) for value in found.values):
            raise ReplyError("bad_shape", f"The reply calls the tool {shown(name)!r}, which nobody offered.")
        values += found.values
        flags |= found.flags
    if not any(isinstance(value, dict) for value in values):
        raise ReplyError("bad_shape", "The reply's tool call has no arguments.")
    return _read_objects(Found(tuple(values), frozenset(flags)), schema)


def _mentions(value: Any, schema: ReplySchema) -> bool:
    return isinstance(value, dict) and schema.mentioned_in(value)


def _read_objects(found: Found, schema: ReplySchema) -> tuple[dict[str, Any], set[str]]:
    """Read the one verdict among the objects found."""
    flags = set(found.flags)
    candidates: list[dict[str, Any]] = []
    passed_over = False
    for value in found.values:
        taken = _candidates(value, schema, flags)
        passed_over = passed_over or not taken
        candidates += taken
    if not candidates:
        # Its fields are missing: the reading of any object says which.
        candidates = [next((value for value in reversed(found.values) if isinstance(value, dict)), {})]
    elif passed_over:
        flags.add("extra_text")
    if len(candidates) == 1:
        return schema.read(candidates[0], flags), flags
    return _agreed(candidates, schema, flags), flags


def _agreed(candidates: list[dict[str, Any]], schema: ReplySchema, flags: set[str]) -> dict[str, Any]:
    """Read several objects as one, if they agree."""
    readings: list[dict[str, Any]] = []
    errors: list[ReplyError] = []
    for candidate in candidates:
        try:
            readings.append(schema.read(candidate, flags))
        except ReplyError as error:
            errors.append(error)
    if not readings:
        raise errors[-1]
    if errors or not all(schema.agree(reading, readings[-1]) for reading in readings[:-1]):
        raise ReplyError("ambiguous", "The reply has several objects, and they differ.")
    flags.add("duplicate")
    return readings[-1]


def _candidates(value: Any, schema: ReplySchema, flags: set[str]) -> list[dict[str, Any]]:
    """Return the objects that could be the verdict: a value, or what lies one level inside it."""
    if isinstance(value, dict):
        if schema.mentioned_in(value):
            return [value]
        # The schema itself, repeated, has the fields one level down but no verdict in them.
        if isinstance(value.get("properties"), dict) and ("type" in value or "$schema" in value):
            return []
        if isinstance(value, RepeatedKeys) and value.conflicting:
            raise ReplyError("ambiguous", "The reply's object has a key twice, and the values differ.")
        inner = [item for item in value.values() if _mentions(item, schema)]
    elif isinstance(value, list):
        inner = [item for item in value if _mentions(item, schema)]
        if not inner and (only := _only_items(schema)):
            inner = [{only.name: value}]
    else:
        return []
    if inner:
        flags.add("unwrapped")
    return inner


def _only_items(schema: ReplySchema) -> Items | None:
    """Return the list that is all a schema asks for, so that a bare list can only be that."""
    only = schema.fields[0] if len(schema.fields) == 1 else None
    return only if isinstance(only, Items) else None


def _read_words(
    choice: Mapping[str, Any], raw: RawReply, now: datetime | None, cut: bool
) -> tuple[str, set[str]]:
    message, ended = message_of(choice, raw, now)
    content = content_of(message)
    if isinstance(content, dict):
        raise ReplyError("bad_shape", "The content is an object where words were asked for.")
    text, thought = without_thoughts(content)
    at_limit = ended in AT_LIMIT
    if at_limit and not (cut and text):
        raise cut_reply("before its end" if text else "before it began")
    if not text:
        raise nothing_in(message, thought, ended)
    return text, {*(("think",) if thought else ()), *(("cut",) if at_limit else ())}
