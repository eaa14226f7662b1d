"""The one-document case form, in all its variants, read as if it were our own.

Suites of that form keep conversations and question in one document, call things by several
names, and say in prose what a judge looks for:

- a conversation has `conversation_id` or `id`, and `messages` or `conversation`;
- a message is `{role, content}` or `{user: …}`, and the counterpart may be called
  `representative` or `agent`;
- `evaluation_criteria` is our list, one text, or a mapping of four lists.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from harness.errors import Problem, SuiteError
from harness.suite.checking import look
from harness.suite.models import Conversation, Criterion, Message
from harness.suite.schema import (
    LEGACY_CONVERSATION,
    LEGACY_CRITERIA,
    LEGACY_MESSAGES,
    LEGACY_TIMES,
)
from harness.suite.yaml_reader import Document, FieldPath, Plain

_HISTORIES = "conversation_histories"
_CRITERIA = "evaluation_criteria"
_ROLES = {"representative": "assistant", "agent": "assistant"}
_STATEMENTS = {
    "required_information": ("required", "{}"),
    "success_indicators": ("success", "{}"),
    "failure_indicators": ("failure", "Avoids this: {}"),
}


def is_legacy(document: Document) -> bool:
    """Tell whether a first document is a whole case and not a header."""
    return isinstance(document.value, dict) and _HISTORIES in document.value


def header_part(document: Document) -> tuple[Plain, tuple[Criterion, ...], list[Problem]]:
    """Return what of a first document is a header in our form, and the criteria that are not.

    A header of our form comes back as it is, unless its criteria are prose.
    """
    if not isinstance(document.value, dict):
        return document.value, (), []
    header = {key: value for key, value in document.value.items() if key != _HISTORIES}
    prose = header.get(_CRITERIA)
    if isinstance(prose, str):
        del header[_CRITERIA]
        text = prose.strip()
        return header, (Criterion("criteria", text, kind="behaviour"),) if text else (), []
    if isinstance(prose, dict):
        del header[_CRITERIA]
        criteria, problems = _criteria(document, prose)
        return header, criteria, problems
    return header, (), []


def _criteria(document: Document, value: dict[str, Plain]) -> tuple[tuple[Criterion, ...], list[Problem]]:
    flat: dict[str, Plain] = {
        key: [_flat(item) for item in part] if isinstance(part, list) else part for key, part in value.items()
    }
    fields, problems = look(LEGACY_CRITERIA, document, flat, (_CRITERIA,))
    if fields is None:
        return (), problems
    criteria = []
    if fields.get("description"):
        criteria.append(Criterion("description", fields["description"], kind="behaviour"))
    for key, (name, wording) in _STATEMENTS.items():
        for number, text in enumerate(fields.get(key) or (), start=1):
            criteria.append(Criterion(f"{name}_{number}", wording.format(text), kind="behaviour"))
    return tuple(criteria), problems


def conversation_problems(document: Document) -> list[Problem]:
    """Return what is wrong with the conversations; a whole case has been parsed anyway."""
    problems: list[Problem] = []
    try:
        for number in range(count_conversations(document)):
            try:
                read_conversation(document, number)
            except SuiteError as error:
                problems += error.problems
    except SuiteError as error:
        problems += error.problems
    return problems


def count_conversations(document: Document) -> int:
    """Return how many conversations a whole case has.

    Raises:
        SuiteError: when they are no list.
    """
    assert isinstance(document.value, dict)
    histories = document.value[_HISTORIES]
    if not isinstance(histories, list):
        mend = "Write one item for each conversation."
        raise SuiteError([document.problem((_HISTORIES,), "must be a list.", mend, "bad-value")])
    return len(histories)


def read_conversation(document: Document, number: int) -> tuple[Conversation, FieldPath, FieldPath]:
    """Read one conversation of a whole case; return it, its path and the path of its messages.

    Raises:
        SuiteError: with everything that is wrong with it.
    """
    at: FieldPath = (_HISTORIES, number)
    value: Any = document.value
    for step in at:
        value = value[step]
    if not isinstance(value, dict):
        mend = "Write `conversation_id`, `timestamp` and `messages`."
        raise SuiteError([document.problem(at, "is no conversation.", mend, "bad-value")])

    turns_key = "messages" if value.get("messages") else "conversation"
    head, head_problems = look(LEGACY_CONVERSATION, document, _head(value, turns_key), at)
    turns = value.get(turns_key)
    if turns is None:
        mend = "Write the turns as `messages`."
        missing = document.problem((*at, "messages"), "is missing or empty.", mend, "missing-key")
        raise SuiteError([*head_problems, missing])

    turns_at = (*at, turns_key)
    said, message_problems = look(LEGACY_MESSAGES, document, _turns(turns), turns_at)
    times, time_problems = look(LEGACY_TIMES, document, _times(turns), turns_at)
    problems = [*head_problems, *message_problems, *time_problems]
    if problems:
        raise SuiteError(problems)
    messages = (
        Message(role, text, time)
        for turn, time in zip(said, times, strict=True)
        for role, text in turn.items()
    )
    return conversation_of(head, messages), at, turns_at


def conversation_of(fields: dict[str, Any], messages: Iterable[Message]) -> Conversation:
    """Build a conversation from the validated keys of either form."""
    metadata = {key: value or "" for key, value in (fields.get("metadata") or {}).items()}
    return Conversation(fields["conversation_id"], fields.get("timestamp"), metadata, tuple(messages))


def _head(value: dict[str, Plain], turns_key: str) -> dict[str, Plain]:
    """Return all but the turns of a conversation, under our names."""
    head = {key: item for key, item in value.items() if key != turns_key}
    if "id" in head and "conversation_id" not in head:
        head["conversation_id"] = head.pop("id")
    metadata = head.get("metadata")
    if isinstance(metadata, dict):
        head["metadata"] = {key: _flat(item) for key, item in metadata.items()}
    return head


def _turns(turns: Plain) -> Plain:
    """Return the turns as `{user: …}` and `{assistant: …}`; what is no turn stays as it is."""
    return [_turn(turn) for turn in turns] if isinstance(turns, list) else turns


def _turn(turn: Plain) -> Plain:
    if not isinstance(turn, dict):
        return turn
    role = turn.get("role")
    if isinstance(role, str) and turn.keys() - {"timestamp"} == {"role", "content"}:
        return {_ROLES.get(role, role): turn["content"]}
    return {_ROLES.get(key, key): text for key, text in turn.items()}


def _times(turns: Plain) -> list[Plain]:
    items = turns if isinstance(turns, list) else []
    return [turn.get("timestamp") if isinstance(turn, dict) and "role" in turn else None for turn in items]


def _flat(value: Plain) -> str | None:
    """Return a nested value as one text: a colon in a line of prose makes it a mapping."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return "; ".join(f"{key}: {item}" for key, item in value.items())
    return json.dumps(value, ensure_ascii=False)
