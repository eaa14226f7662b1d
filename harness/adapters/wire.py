"""What goes between the harness and an agent: as plain data for a worker process, and checked on its way back.

An agent may be anybody's code. What it returns is read strictly here, in the process where it
runs, so that a wrong type is a recorded failure and never a score.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from harness.adapters.protocol import AgentFailure, Memory, Question
from harness.suite import Conversation, Message
from harness.suite.answer import Answer

MOST_TEXT = 4_000_000
"""Characters that one recall or answer may hold; a book has fewer."""
_MEMORY_FIELDS = frozenset(one.name for one in fields(Memory))
_ANSWER_FIELDS = frozenset({"answer", "memory", "tokens"})


def conversation_data(conversation: Conversation) -> dict[str, Any]:
    """Return a conversation as plain data."""
    return {
        "id": conversation.id,
        "timestamp": _stamp(conversation.timestamp),
        "metadata": dict(conversation.metadata),
        "messages": [
            [message.role, message.text, _stamp(message.timestamp)] for message in conversation.messages
        ],
    }


def conversation_from(data: Mapping[str, Any]) -> Conversation:
    """Read what `conversation_data` wrote."""
    messages = tuple(Message(role, text, _time(stamp)) for role, text, stamp in data["messages"])
    return Conversation(data["id"], _time(data["timestamp"]), data["metadata"], messages)


def question_data(question: Question) -> dict[str, Any]:
    """Return a question as plain data."""
    return {"text": question.text, "asked_at": _stamp(question.asked_at)}


def question_from(data: Mapping[str, Any]) -> Question:
    """Read what `question_data` wrote."""
    return Question(data["text"], _time(data["asked_at"]))


def memory_data(memory: Memory) -> dict[str, Any]:
    """Return a memory as plain data, without the fields that are not set."""
    data = {
        "id": memory.id,
        "text": memory.text,
        "score": memory.score,
        "created_at": _stamp(memory.created_at),
        "source_refs": list(memory.source_refs) or None,
        "type": memory.type,
        "importance": memory.importance,
    }
    return {name: value for name, value in data.items() if value is not None}


def memory_from(data: Mapping[str, Any]) -> Memory:
    """Read what `memory_data` wrote."""
    return Memory(
        data["id"],
        data["text"],
        data.get("score"),
        _time(data.get("created_at")),
        tuple(data.get("source_refs", ())),
        data.get("type"),
        data.get("importance"),
    )


def answer_data(answer: Answer) -> dict[str, Any]:
    """Return an agent's own answer as plain data."""
    memory = None if answer.memory is None else list(answer.memory)
    return {"answer": answer.text, "memory": memory, "tokens": answer.tokens}


def answer_from(data: Mapping[str, Any]) -> Answer:
    """Read what `answer_data` wrote."""
    memory = None if data["memory"] is None else tuple(data["memory"])
    return Answer(data["answer"], memory=memory, tokens=data["tokens"])


def checked_memories(value: Any) -> tuple[Memory, ...]:
    """Read what `recall` or `list` returned: memories, strings, or objects with a memory's fields.

    Raises:
        AgentFailure: `bad_value` for anything else, `oversized` for more than `MOST_TEXT`.
    """
    if value is None or isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        raise AgentFailure(
            "bad_value",
            f"returned {_kind(value)}; expected a list of memories, an empty one when there are none",
        )
    memories = tuple(_memory(item, number) for number, item in enumerate(value, start=1))
    _bound(sum(map(_length, memories)))
    return memories


def _length(memory: Memory) -> int:
    return len(memory.text) + len(memory.id) + sum(map(len, memory.source_refs)) + len(memory.type or "")


def checked_id(value: Any) -> str:
    """Read what `add` returned: the name of the memory.

    Raises:
        AgentFailure: `oversized` for more than `MOST_TEXT`.
    """
    name = str(value)
    _bound(len(name))
    return name


def checked_answer(value: Any) -> Answer:
    """Read what `answer` returned: a string, an `Answer`, or `{answer, memory, tokens}`.

    Raises:
        AgentFailure: `bad_value` for anything else, `oversized` for more than `MOST_TEXT`.
    """
    if isinstance(value, str):
        value = Answer(value)
    if isinstance(value, Mapping):
        strange = set(value) - _ANSWER_FIELDS
        if strange or "answer" not in value:
            raise AgentFailure(
                "bad_value", f"returned an object with {_named(value)}; expected answer, memory, tokens"
            )
        memory = value.get("memory")
        texts = None if memory is None else tuple(item.text for item in checked_memories(memory))
        value = Answer(value["answer"], memory=texts, tokens=value.get("tokens"))
    if not isinstance(value, Answer):
        raise AgentFailure("bad_value", f"returned {_kind(value)}; expected the answer as a string")
    text, tokens, memory = _said(value)
    if not isinstance(text, str):
        raise AgentFailure("bad_value", f"the answer is {_kind(text)}; expected a string")
    if tokens is not None and type(tokens) is not int:
        raise AgentFailure("bad_value", f"tokens is {_kind(tokens)}; expected a whole number")
    if memory is not None:
        if not isinstance(memory, (list, tuple)) or not all(isinstance(item, str) for item in memory):
            raise AgentFailure("bad_value", "memory has to be a list of strings")
        memory = tuple(memory)
    _bound(len(text) + sum(map(len, memory or ())))
    return replace(value, memory=memory)


def checked_report(value: Any) -> dict[str, Any]:
    """Read what `report` returned: an object of plain values.

    Raises:
        AgentFailure: `bad_value` for anything that is no JSON object, `oversized` for a long one.
    """
    if not isinstance(value, Mapping):
        raise AgentFailure("bad_value", f"returned {_kind(value)}; expected an object")
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise AgentFailure("bad_value", f"returned what is no JSON: {error}") from None
    _bound(len(text))
    plain: dict[str, Any] = json.loads(text)
    return plain


def _memory(item: Any, number: int) -> Memory:
    return item if type(item) is Memory and _sound(item) else _checked_memory(item, number)


def _sound(memory: Memory) -> bool:
    """Say at once that nothing is wrong with a memory, as is the usual case."""
    text, identity, refs, created = _loose(memory)
    return (
        type(text) is str
        and type(identity) is str
        and (memory.score is None or (type(memory.score) is float and math.isfinite(memory.score)))
        and (created is None or type(created) is datetime)
        and type(refs) is tuple
        and all([type(ref) is str for ref in refs])
        and memory.type is None
        and memory.importance is None
    )


def _checked_memory(item: Any, number: int) -> Memory:
    where = f"memory {number}"
    if isinstance(item, str):
        return Memory(str(number), item)
    if isinstance(item, Mapping):
        strange = sorted(map(str, set(item) - _MEMORY_FIELDS))
        if strange or "text" not in item:
            raise AgentFailure(
                "bad_value",
                f"{where} has {_named(item)}; expected text and, at most, {', '.join(sorted(_MEMORY_FIELDS))}",
            )
        item = Memory(**{"id": str(number), **item})
    if not isinstance(item, Memory):
        raise AgentFailure("bad_value", f"{where} is {_kind(item)}; expected a Memory, a string or an object")
    text, identity, refs, created = _loose(item)
    if not isinstance(text, str) or not isinstance(identity, str):
        raise AgentFailure("bad_value", f"{where}: id and text have to be strings")
    for name in ("score", "importance"):
        figure = getattr(item, name)
        if figure is not None and not _finite(figure):
            raise AgentFailure("bad_value", f"{where}: {name} is {figure!r}; expected a finite number")
    if item.importance is not None and not 1 <= float(item.importance) <= 10:
        raise AgentFailure(
            "bad_value",
            f"{where}: importance is {item.importance!r}; expected 1 to 10, or none where the system's scale is another",
        )
    if not isinstance(refs, (list, tuple)) or not all(isinstance(ref, str) for ref in refs):
        raise AgentFailure("bad_value", f"{where}: source_refs has to be a list of strings")
    if isinstance(created, str):
        created = _read_time(created, where)
    if created is not None and not isinstance(created, datetime):
        raise AgentFailure("bad_value", f"{where}: created_at is {_kind(created)}; expected a datetime")
    return Memory(
        identity,
        text,
        None if item.score is None else float(item.score),
        created,
        tuple(refs),
        None if item.type is None else str(item.type),
        None if item.importance is None else float(item.importance),
    )


def _loose(item: Memory) -> tuple[Any, Any, Any, Any]:
    """Return fields whose types nobody has checked yet."""
    return item.text, item.id, item.source_refs, item.created_at


def _said(answer: Answer) -> tuple[Any, Any, Any]:
    return answer.text, answer.tokens, answer.memory


def _finite(value: Any) -> bool:
    try:
        return not isinstance(value, (str, bytes)) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _bound(characters: int) -> None:
    if characters > MOST_TEXT:
        raise AgentFailure(
            "oversized", f"returned {characters:,} characters; at most {MOST_TEXT:,} are taken"
        )


def _kind(value: Any) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeio' else 'a'} {name}"


def _named(item: Mapping[Any, Any]) -> str:
    return ", ".join(map(str, item)) or "no fields"


def _stamp(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _read_time(text: str, where: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise AgentFailure("bad_value", f"{where}: created_at {text[:40]!r} is no ISO 8601 time") from None
