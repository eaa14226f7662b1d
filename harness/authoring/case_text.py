"""A case as text that the loader reads back: header and conversations, or everything in one document.

Whatever is at its default is left out. Nothing is written that the strict reader refuses: no anchors,
no tags, and text that YAML would take for something else stands in quotes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import yaml

from harness.facts import GoldFact
from harness.suite import Case, Conversation, Criterion, Message

WIDTH = 110
_GROUPS = ("required", "optional", "forbidden")


class Inline(dict[str, Any]):
    """A mapping that is written on one line, as gold facts are."""


class _Dumper(yaml.SafeDumper):
    """Indents lists below their key, as the bundled cases have it, and writes no anchors."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _inline(dumper: yaml.SafeDumper, data: Inline) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=True)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else None  # several lines are read best as they are
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(Inline, _inline)
_Dumper.add_representer(str, _text)


def dump(data: Any) -> str:
    """Return plain data as one YAML document."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)


def as_documents(header: Mapping[str, Any], talks: Iterable[Conversation]) -> str:
    """Return a case as a header followed by its conversations.

    The form has no place for the times of single messages.
    """
    return "---\n".join([dump(dict(header)), *(dump(talk_data(talk)) for talk in talks)])


def as_legacy(header: Mapping[str, Any], talks: Iterable[Conversation]) -> str:
    """Return a case as one document; the form holds all that a case holds."""
    return dump(one_document(header, talks))


def one_document(header: Mapping[str, Any], talks: Iterable[Conversation]) -> dict[str, Any]:
    """Return a case as the data of the one-document form."""
    return {**header, "conversation_histories": [talk_data(talk, roles=True) for talk in talks]}


def header_data(case: Case) -> dict[str, Any]:
    """Return the header of a case; a gold file's facts stand in it as if they were its own."""
    header: dict[str, Any] = {"test_id": case.id, "category": case.category, "title": case.title}
    optional: dict[str, Any] = {
        "description": case.description,
        "domain": case.domain,
        "abilities": list(case.abilities),
        "locale": case.locale,
        "cluster": case.cluster,
        "entities": list(case.entities),
        "question_time": spelled(case.question_time),
        "user_question": case.question,
        "evaluation_criteria": [criterion_data(one) for one in case.criteria],
        "expected_behavior": case.expected_behavior,
        "answerable": None if case.answerable else "false",
        "gold_facts": {
            group: [fact_data(fact) for fact in facts]
            for group in _GROUPS
            if (facts := getattr(case.gold, group))
        },
    }
    return header | {key: value for key, value in optional.items() if value}


def criterion_data(criterion: Criterion) -> dict[str, Any]:
    """Return a criterion as a header has it."""
    data: dict[str, Any] = {"id": criterion.id, "text": criterion.text}
    if criterion.facts:
        data["facts"] = list(criterion.facts)
    if criterion.dimension:
        data["dimension"] = criterion.dimension
    if criterion.weight != 1:
        data["weight"] = int(criterion.weight) if criterion.weight.is_integer() else criterion.weight
    if criterion.kind != "fact":
        data["kind"] = criterion.kind
    return data


def fact_data(fact: GoldFact) -> Inline:
    """Return a gold fact as a header has it."""
    data = Inline(id=fact.id, fact=fact.fact, type=fact.type.value)
    lists: Mapping[str, Sequence[str]] = {
        "accept": fact.accept,
        "stale": fact.stale,
        "evidence": fact.evidence,
        "derived_from": fact.derived_from,
    }
    data.update({key: list(value) for key, value in lists.items() if value})
    data.update({key: value for key in ("why", "replaces") if (value := getattr(fact, key))})
    return data


def talk_data(talk: Conversation, *, roles: bool = False) -> dict[str, Any]:
    """Return a conversation as a document of its own has it, or with `roles` as the one-document form does."""
    data: dict[str, Any] = {"conversation_id": talk.id}
    if talk.timestamp is not None:
        data["timestamp"] = spelled(talk.timestamp)
    if talk.metadata:
        data["metadata"] = dict(talk.metadata)
    data["messages"] = [
        _with_role(message) if roles else {message.role: message.text} for message in talk.messages
    ]
    return data


def _with_role(message: Message) -> dict[str, Any]:
    data: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.timestamp is not None:
        data["timestamp"] = spelled(message.timestamp)
    return data


def spelled(moment: datetime | None) -> str | None:
    """Return a time as files have it; midnight without an offset is a day alone, as the loader reads it."""
    if moment is None:
        return None
    alone = moment.tzinfo is None and moment.time() == datetime.min.time()
    return moment.date().isoformat() if alone else moment.isoformat()
