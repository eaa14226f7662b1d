"""Values beside the gold: how many others of its kind an answer could be mistaken for."""

from __future__ import annotations

from collections.abc import Mapping

from harness.facts import AnswerText, FactType, GoldFact, typed_values
from harness.suite import Conversation
from harness.validation.subject import Subject

VALUE_TYPES = tuple(kind for kind in FactType if kind not in (FactType.TEXT, FactType.ABSTAIN))


def values_said(conversation: Conversation, locale: str) -> Mapping[FactType, frozenset[str]]:
    """Return the distinct values of each type that a conversation says, as they are written there."""
    said: dict[FactType, set[str]] = {kind: set() for kind in VALUE_TYPES}
    for message in conversation.messages:
        text = AnswerText(message.text, locale)
        for kind in VALUE_TYPES:
            said[kind].update(text.text[start:end] for start, end in typed_values(text, kind))
    return {kind: frozenset(values) for kind, values in said.items()}


def rivals(
    subject: Subject, conversation: Conversation, said: Mapping[FactType, frozenset[str]]
) -> int | None:
    """Count the values of a conversation that are of the gold's types and are not the gold.

    Returns:
        the count; None where no required fact of a countable type is said in the conversation.
    """
    here = [fact for fact in subject.required if _is_said_in(fact, conversation.id)]
    kinds = {fact.type for fact in here} & set(VALUE_TYPES)
    if not kinds:
        return None
    return sum(not _is_gold(subject, value, kind) for kind in kinds for value in said[kind])


def _is_said_in(fact: GoldFact, conversation_id: str) -> bool:
    return any(text.partition("#")[0] == conversation_id for text in fact.evidence)


def _is_gold(subject: Subject, value: str, kind: FactType) -> bool:
    return any(subject.mentions(value, fact) for fact in subject.required if fact.type is kind)
