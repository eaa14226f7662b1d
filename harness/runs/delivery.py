"""What an adapter is handed of a case, cut for the controls, and the digest of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time
from hashlib import sha256

from harness.adapters.registry import AdapterInfo
from harness.adapters.wire import conversation_data
from harness.runs.record import Delivered
from harness.suite import Case, Conversation

_DIGITS = 12
_MIDNIGHT = time()


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


def in_order_of_time(conversations: Sequence[Conversation]) -> tuple[Conversation, ...]:
    """Return conversations as they happened; as they stand where one has no timestamp.

    - Those of one time keep their order, and so do those of a day on which one states no more than the day.
    - Where a timestamp has no offset, all are compared by the time on the clock.
    """
    moments = [one.timestamp for one in conversations if one.timestamp is not None]
    if len(moments) < len(conversations):
        return tuple(conversations)
    if any(moment.tzinfo is None for moment in moments):
        days = {moment.date() for moment in moments if moment.tzinfo is None and moment.time() == _MIDNIGHT}
        moments = [moment.replace(tzinfo=None) for moment in moments]
        moments = [
            datetime.combine(moment, _MIDNIGHT) if moment.date() in days else moment for moment in moments
        ]
    return tuple(conversations[at] for at in sorted(range(len(moments)), key=moments.__getitem__))


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
