"""What an adapter is handed of a case, cut for the controls, and the digest of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from harness.adapters.registry import AdapterInfo
from harness.adapters.wire import conversation_data
from harness.runs.record import Delivered
from harness.suite import Case, Conversation

_DIGITS = 12


def conversations_for(
    info: AdapterInfo, case: Case, conversations: Sequence[Conversation]
) -> tuple[Conversation, ...]:
    """Return what a system is given: everything, except for the oracle, which is given the cited messages.

    Where an answerable case cites no message, as in suites without evidence, it is given everything too.
    """
    if info.name != "oracle" or info.source != "built-in":
        return tuple(conversations)
    cited = {reference for fact in case.gold.required for reference in (*fact.evidence, *fact.derived_from)}
    cited.update(case.evidence)
    if not cited and case.answerable:
        return tuple(conversations)
    return tuple(
        replace(conversation, messages=kept)
        for conversation in conversations
        if (
            kept := tuple(
                message
                for number, message in enumerate(conversation.messages, start=1)
                if f"{conversation.id}#{number}" in cited
            )
        )
    )


def delivered(conversation: Conversation) -> Delivered:
    """Return the digest of a conversation as an adapter was handed it."""
    data = json.dumps(conversation_data(conversation), sort_keys=True).encode()
    return Delivered(
        conversation.id,
        len(conversation.messages),
        sum(message.role == "user" for message in conversation.messages),
        conversation.words,
        conversation.timestamp.isoformat() if conversation.timestamp else None,
        tuple(conversation.metadata),
        sha256(data).hexdigest()[:_DIGITS],
    )
