"""Chat exports read into conversations; whatever has no place in one is listed with where it stood.

What is read, as JSON or as JSON lines:

- a list of messages: `{role, content, timestamp?}` or `{"user": "…"}`; where they name a conversation
  (`conversation_id`, `thread_id`, `session_id`, `chat_id`), they are sorted into those;
- one conversation: `{"messages": […]}`, with further keys that become its labels;
- a list of conversations, one a line, `{"conversations": …}`, or a mapping of them by id;
- the tree of messages that ChatGPT exports (`mapping`, `current_node`): the branch that was last shown.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from harness.authoring.chat_messages import (
    CONVERSATION_KEYS,
    LogMessage,
    Unmapped,
    first_of,
    is_message,
    moment_of,
    read_message,
    writable,
)
from harness.errors import InputError
from harness.suite import Role

MESSAGE_LISTS = ("messages", "chat_messages", "turns", "dialogue", "history", "conversation")
_IDS = ("id", "conversation_id", "uuid", "custom_id", "thread_id", "session_id", "chat_id")
_TITLES = ("title", "name", "subject")
_TIMES = ("timestamp", "created_at", "create_time", "date", "time", "started_at")
FORMS = (
    'Write a list of {"role": "user", "content": "…"}, {"messages": […]}, or a mapping of conversations by id; '
    "see docs/dataset-tools.md."
)


@dataclass(frozen=True, slots=True)
class Log:
    """One conversation of an export.

    Attributes:
        id: what the export calls it, "" where it has no name.
        title: its title there.
        messages: in order.
        labels: further values of the conversation, as texts.
        where: its place in the file.
    """

    id: str
    title: str
    messages: tuple[LogMessage, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    where: str = ""


@dataclass(slots=True)
class _Reader:
    roles: Mapping[str, Role]
    logs: list[Log] = field(default_factory=list)
    unmapped: list[Unmapped] = field(default_factory=list)

    def read(self, value: Any, where: str) -> None:
        """Take in whatever a file or a line of it holds."""
        if (isinstance(value, list) and value and all(map(is_message, value))) or (
            isinstance(value, list) and any(map(is_message, value)) and not any(map(_is_talk, value))
        ):
            self._messages(value, where)
        elif isinstance(value, list):
            for number, item in enumerate(value):
                self._talk(item, f"{where}[{number}]")
        elif isinstance(value, dict) and isinstance(value.get("conversations"), list | dict):
            self._leave(value, where, {"conversations"})
            self.read(value["conversations"], f"{where}.conversations")
        elif _is_talk(value):
            self._talk(value, where)
        elif isinstance(value, dict):
            for name, item in value.items():
                self._talk(item, f"{where}.{name}", name)
        else:
            self.unmapped.append(Unmapped(where, "is no conversation", value))

    def _messages(self, listed: list[Any], where: str) -> None:
        """Take in messages, sorted into the conversations that they name."""
        groups: dict[str, list[tuple[Any, str]]] = {}
        for number, item in enumerate(listed):
            key = first_of(item, CONVERSATION_KEYS)[1] if isinstance(item, dict) else None
            groups.setdefault("" if key is None else str(key), []).append((item, f"{where}[{number}]"))
        for name, items in groups.items():
            self._add(name, "", items, {}, where)

    def _talk(self, value: Any, where: str, name: str = "") -> None:
        if isinstance(value, list) and any(map(is_message, value)):
            items = [(item, f"{where}[{number}]") for number, item in enumerate(value)]
            self._add(name, "", items, {}, where)
            return
        if not _is_talk(value):
            self.unmapped.append(Unmapped(where, "is no conversation", value))
            return
        key, listed = first_of(value, MESSAGE_LISTS)
        if isinstance(listed, list):
            items = [(item, f"{where}.{key}[{number}]") for number, item in enumerate(listed)]
            used = {key}
        else:
            items, used = list(self._branch(value, where)), {"mapping", "current_node"}
        id_key, id = first_of(value, _IDS)
        title_key, title = first_of(value, _TITLES)
        begun_key, begun = first_of(value, _TIMES)
        used |= {id_key, title_key}
        moment = moment_of(begun)
        if moment is not None:
            used.add(begun_key)
            begun_text = moment.isoformat()
        labels = self._leave(value, where, used)
        if moment is not None:
            labels["begun"] = begun_text
        self._add(name or str(id or ""), str(title or ""), items, labels, where)

    def _branch(self, value: Mapping[str, Any], where: str) -> Iterator[tuple[Any, str]]:
        """Yield the messages of a tree from its root to the node last shown; list those aside."""
        nodes: dict[str, Any] = value["mapping"]
        at = value.get("current_node") or next(reversed(nodes), None)
        path: list[str] = []
        while isinstance(at, str) and at in nodes and at not in path:
            path.append(at)
            node = nodes[at]
            at = node.get("parent") if isinstance(node, dict) else None
        for name, node in nodes.items():
            held = node.get("message") if isinstance(node, dict) else node
            if name not in path and held:
                why = "stands on a branch that was not the last shown"
                self.unmapped.append(Unmapped(f"{where}.mapping.{name}", why, held))
        for name in reversed(path):
            held = nodes[name].get("message") if isinstance(nodes[name], dict) else nodes[name]
            if held:
                yield held, f"{where}.mapping.{name}.message"

    def _leave(self, value: Mapping[str, Any], where: str, used: set[str]) -> dict[str, str]:
        """Return the plain values beside what was used as labels, and list the others."""
        labels: dict[str, str] = {}
        for key, item in value.items():
            if key in used or item in (None, "", [], {}):
                continue
            if isinstance(item, str | int | float | bool):
                labels[str(key)] = item if isinstance(item, str) else json.dumps(item)
            else:
                self.unmapped.append(Unmapped(f"{where}.{key}", "a label is one plain value", item))
        return labels

    def _add(
        self, name: str, title: str, items: list[tuple[Any, str]], labels: dict[str, str], where: str
    ) -> None:
        messages: list[LogMessage] = []
        for item, place in items:
            message, left = read_message(item, place, self.roles)
            self.unmapped += left
            if message is not None:
                messages.append(message)
        if messages:
            kept = {writable(key): writable(value) for key, value in labels.items()}
            self.logs.append(Log(writable(name), writable(title), tuple(messages), kept, where))
        elif labels or title:
            held = {"id": name, "title": title, **labels}
            self.unmapped.append(Unmapped(where, "no message of it could be mapped", held))


def read_logs(path: Path, roles: Mapping[str, Role] | None = None) -> tuple[list[Log], list[Unmapped]]:
    """Read a chat export.

    Args:
        path: a JSON or JSON lines file.
        roles: who speaks as whom, by the export's own names, beside those that are known.

    Returns:
        the conversations, and everything that has no place in them.

    Raises:
        InputError: when the file can't be read, is no JSON, or holds no conversation.
    """
    reader = _Reader(roles or {})
    for value, where in _values(path):
        reader.read(value, where)
    if not reader.logs:
        found = "; ".join(f"{left.where}: {left.why}" for left in reader.unmapped[:3])
        raise InputError(f"{path}: holds no conversation{f' ({found})' if found else ''}. {FORMS}")
    return reader.logs, reader.unmapped


def at_gaps(log: Log, gap: timedelta) -> list[Log]:
    """Cut a conversation where its messages are further apart in time than a gap."""
    cuts = [
        number
        for number, (before, after) in enumerate(zip(log.messages, log.messages[1:], strict=False), start=1)
        if before.at and after.at and _is_apart(before, after, gap)
    ]
    bounds = [0, *cuts, len(log.messages)]
    return [replace(log, messages=log.messages[begin:end]) for begin, end in itertools.pairwise(bounds)]


def _is_apart(before: LogMessage, after: LogMessage, gap: timedelta) -> bool:
    assert before.at is not None
    assert after.at is not None
    if (before.at.tzinfo is None) != (after.at.tzinfo is None):
        return False
    return after.at - before.at > gap


def _is_talk(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return isinstance(first_of(value, MESSAGE_LISTS)[1], list) or isinstance(value.get("mapping"), dict)


def _values(path: Path) -> Iterator[tuple[Any, str]]:
    """Yield what a file holds with its place; messages that stand one a line are one list."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8. Save the file as UTF-8.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None
    try:
        yield json.loads(text, object_pairs_hook=_no_key_twice), "$"
        return
    except json.JSONDecodeError as error:
        first = error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no sound JSON: {error}.") from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    read, broken = [], []
    for number, line in lines:
        try:
            read.append((json.loads(line, object_pairs_hook=_no_key_twice), f"line {number}"))
        except (ValueError, RecursionError):
            broken.append(number)
    if not read:
        raise InputError(f"{path}:{first.lineno}: not JSON: {first.msg}.")
    if broken:
        told = ", ".join(map(str, broken[:10]))
        raise InputError(
            f"{path}: {len(broken)} of {len(lines)} lines are not JSON (lines {told}). Mend them."
        )
    if all(is_message(value) for value, _ in read):
        yield [value for value, _ in read], "lines"
    else:
        yield from read


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands twice")
    return found
