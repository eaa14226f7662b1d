"""One message of a chat export: who said it, what, and when, in the names that exports use."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from harness.suite import Role

ROLES: Mapping[str, Role] = {
    **dict.fromkeys(("user", "human", "customer", "client", "me", "you", "prompter", "question"), "user"),
    **dict.fromkeys(
        "assistant ai bot agent representative model gpt chatgpt claude gemini copilot answer".split(),
        "assistant",
    ),
}
"""Who speaks as whom, by the names that exports give speakers, in lower case."""
NO_LABEL = "a message has no such label"
CONVERSATION_KEYS = ("conversation_id", "thread_id", "session_id", "chat_id")
_ROLE_KEYS = ("role", "sender", "author", "speaker", "from", "type")
_TEXT_KEYS = ("content", "text", "message", "parts", "body", "value")
_TIME_KEYS = ("timestamp", "created_at", "create_time", "time", "date", "ts")
# PyYAML's own idea of what a file may hold; anything else would be refused when it is read again.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class LogMessage:
    """A message as a case can hold it, and its place in the export."""

    role: Role
    text: str
    at: datetime | None
    where: str


@dataclass(frozen=True, slots=True)
class Unmapped:
    """Something that has no place in a case: where it stood, why, and what it is."""

    where: str
    why: str
    content: Any


def first_of(value: Mapping[str, Any], keys: Sequence[str]) -> tuple[str, Any]:
    """Return the first of these keys that holds something, and what it holds."""
    return next(((key, value[key]) for key in keys if value.get(key) is not None), ("", None))


def is_message(value: Any) -> bool:
    """Tell whether a value is a message, of a speaker that is known or not."""
    if not isinstance(value, dict):
        return False
    if len(value) == 1:
        (name, said), *_ = value.items()
        return str(name).casefold() in ROLES and isinstance(said, str)
    return bool(first_of(value, _ROLE_KEYS)[0]) and any(key in value for key in (*_TEXT_KEYS, "tool_calls"))


def read_message(
    item: Any, where: str, roles: Mapping[str, Role]
) -> tuple[LogMessage | None, list[Unmapped]]:
    """Return a message, None where there is none to be had, and what had to be left."""
    if not is_message(item):
        return None, [Unmapped(where, "is no message", item)]
    if len(item) == 1:
        (name, said), *_ = item.items()
        item = {"role": name, "content": said}
    role_key, spoken_by = first_of(item, _ROLE_KEYS)
    text_key, content = first_of(item, _TEXT_KEYS)
    time_key, when = first_of(item, _TIME_KEYS)
    beside: list[Unmapped] = []
    if isinstance(spoken_by, dict):
        key, named = first_of(spoken_by, ("role", "name"))
        beside = _rest(spoken_by, {key}, f"{where}.{role_key}")
        spoken_by = named
    name = str(spoken_by).strip()
    role = roles.get(name) or roles.get(name.casefold()) or ROLES.get(name.casefold())
    if role is None:
        mend = f"--role '{name}=user' or '{name}=assistant' maps it"
        return None, [Unmapped(where, f"{name!r} is neither user nor assistant; {mend}", item)]
    text, left = _text_of(content, f"{where}.{text_key}")
    if not text:
        return None, [Unmapped(where, "has no text", item)]
    at = moment_of(when)
    if when is not None and at is None:
        left.append(Unmapped(f"{where}.{time_key}", "is no time that can be read", when))
    used = {role_key, text_key, time_key, *CONVERSATION_KEYS}
    left += [*beside, *_rest(item, used, where)]
    return LogMessage(role, text, at, where), left


def _rest(value: Mapping[str, Any], used: set[str], where: str) -> list[Unmapped]:
    """Return what stands beside what was used, where it says anything."""
    return [
        Unmapped(f"{where}.{key}", NO_LABEL, held)
        for key, held in value.items()
        if key not in used and held not in (None, "", [], {})
    ]


def _text_of(content: Any, where: str) -> tuple[str, list[Unmapped]]:
    """Return the text of a content in any of its forms, and the parts that are none."""
    if isinstance(content, dict):
        key, inner = first_of(content, ("parts", "text", "content"))
        if key == "":
            return "", [Unmapped(where, "is no text", content)]
        used = {key, "content_type"} if content.get("content_type") == "text" else {key}
        text, within = _text_of(inner, f"{where}.{key}")
        return text, [*within, *_rest(content, used, where)]
    parts = content if isinstance(content, list) else [content]
    texts: list[str] = []
    left: list[Unmapped] = []
    for number, part in enumerate(parts):
        place = f"{where}[{number}]" if isinstance(content, list) else where
        said = part.get("text") if isinstance(part, dict) else part
        if isinstance(said, str):
            texts.append(said)
            if isinstance(part, dict):
                used = {"text", "type"} if str(part.get("type", "")).endswith("text") else {"text"}
                left += _rest(part, used, place)
        elif part is not None:
            left.append(Unmapped(place, "is no text", part))
    joined = "\n".join(text.strip() for text in texts if text.strip())
    kept = writable(joined)
    if kept != joined:
        left.append(Unmapped(where, "characters that no YAML file can hold were replaced", ascii(joined)))
    return kept, left


def writable(text: str) -> str:
    """Return text without what no YAML file can hold: half surrogates and control characters."""
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def moment_of(value: Any) -> datetime | None:
    """Return a time: ISO 8601, or seconds or milliseconds since 1970; None where it is neither."""
    if isinstance(value, str):
        text = value.strip()
        try:
            return datetime.fromisoformat(text).replace(microsecond=0)
        except ValueError:
            pass
        try:
            value = float(text)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = value / 1000 if abs(value) > 1e11 else value
        return datetime.fromtimestamp(int(seconds), UTC)
    except (OverflowError, OSError, ValueError):
        return None
