"""What the conformance kit reads from one agent that was told everything and asked several things."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from harness.adapters.hosts import Host
from harness.adapters.planted import Haystack, Planted, says
from harness.adapters.protocol import Memory
from harness.adapters.rig import Rig, Verdict, failed, fresh_name, not_applicable, ok, warned


class Observed(NamedTuple):
    """What one agent recalled, told everything and asked several things.

    Attributes:
        haystack: what it was told.
        facts: each planted fact with what was recalled for it.
        again: the same once more for the first fact.
        one: the same with a limit of 1.
        corrected: what was recalled for the corrected fact.
        label: what was recalled for the metadata.
    """

    haystack: Haystack
    facts: tuple[tuple[Planted, tuple[Memory, ...]], ...]
    again: tuple[Memory, ...]
    one: tuple[Memory, ...]
    corrected: tuple[Memory, ...]
    label: tuple[Memory, ...]

    @property
    def memories(self) -> tuple[Memory, ...]:
        """Everything recalled for facts and correction."""
        return (*(memory for _, found in self.facts for memory in found), *self.corrected)


async def observe(rig: Rig, host: Host) -> Observed:
    """Tell one agent everything and ask it."""
    haystack = rig.haystack()
    async with host.session(fresh_name()) as session:
        await rig.take(session, haystack)
        facts = [(fact, await rig.ask(session, fact.question)) for fact in haystack.facts]
        seen = Observed(
            haystack,
            tuple(facts),
            await rig.ask(session, haystack.facts[0].question),
            await rig.ask(session, haystack.facts[-1].question, limit=1),
            await rig.ask(session, haystack.corrected.question),
            await rig.ask(session, haystack.label.question),
        )
    rig.recalls = any(fact.among(found) for fact, found in seen.facts)
    return seen


def recalls(rig: Rig, seen: Observed) -> Verdict:
    """Judge whether anything that was told comes back."""
    found = sum(fact.among(memories) for fact, memories in seen.facts)
    share = f"{found} of {len(seen.facts)} facts"
    if found == len(seen.facts):
        return ok(f"{share} come back")
    if rig.ours:
        return not_applicable(f"a bound of the tables; {share} come back")
    if not found:
        return failed(
            "nothing of what was told comes back",
            "look at what ingest stores, and whether recall waits until it can be found",
        )
    return warned(
        f"{share} come back", "see which conversations are ingested, and how the question is searched"
    )


def corrects(rig: Rig, seen: Observed) -> Verdict:
    """Judge whether what came later is there; the order of ingestion shows in nothing else."""
    new = seen.haystack.corrected.among(seen.corrected)
    old = any(says(memory.text, seen.haystack.outdated) for memory in seen.corrected)
    if new:
        return ok("a correction is recalled" + (", beside what it corrects" if old else " alone"))
    if old:
        return failed(
            "what was corrected is recalled and the correction is not",
            "ingest every conversation, the last one too; let later ones win",
        )
    return not_applicable("neither the correction nor what it corrects is recalled")


def dates(rig: Rig, seen: Observed) -> Verdict:
    """Judge whether memories say when it was said; the conversation is told by the planted word."""
    if "recall" not in rig.capabilities:
        return not_applicable("it answers by itself")
    when = {talk.id: talk.timestamp for talk in seen.haystack.conversations}
    pairs = [
        (memory.created_at, when[fact.conversation])
        for fact, found in seen.facts
        for memory in found
        if says(memory.text, fact.word)
    ]
    if not pairs:
        return not_applicable("no planted fact is recalled")
    if all(created is None for created, _ in pairs):
        return warned(
            "timestamps are lost: created_at is not set",
            "set created_at to the message's or the conversation's timestamp; readers need it",
        )
    if not all(_same(created, told) for created, told in pairs):
        return warned(
            "created_at is not when it was said",
            "keep the message's or the conversation's timestamp, not now()",
        )
    return ok("created_at is when it was said")


def sources(rig: Rig, seen: Observed) -> Verdict:
    """Judge whether source_refs name messages that exist."""
    refs = {ref for memory in seen.memories for ref in memory.source_refs}
    if not refs:
        return not_applicable("it names no messages (source_refs)")
    known = {
        f"{talk.id}#{number}"
        for talk in seen.haystack.conversations
        for number in range(1, len(talk.messages) + 1)
    }
    wrong = sorted(refs - known)
    if wrong:
        return failed(
            f"source_refs name {wrong[0]!r}, which is no message",
            "write conversation.id, '#', and the number of the message counted from 1",
        )
    return ok("source_refs name messages that exist")


def labels(rig: Rig, seen: Observed) -> Verdict:
    """Judge whether the metadata of a conversation gets through."""
    if not rig.recalls:
        return not_applicable("it recalls nothing")
    if seen.haystack.label.among(seen.label):
        return ok("what stands only in the metadata is recalled")
    if rig.ours:
        return not_applicable("a bound of the tables; it hands back messages only")
    return warned(
        "what stands only in the metadata is not recalled",
        "store conversation.metadata (business, department, channel) beside the messages",
    )


def repeats(rig: Rig, seen: Observed) -> Verdict:
    """Judge whether the same question gets the same memories."""
    _, first = seen.facts[0]
    if [(one.id, one.text) for one in first] == [(one.id, one.text) for one in seen.again]:
        return ok("the same question gets the same memories")
    return warned("the same question gets other memories", "break ties in the ranking by something fixed")


def within_limit(rig: Rig, seen: Observed) -> Verdict:
    """Judge whether no more is recalled than was asked for."""
    if "recall" not in rig.capabilities:
        return not_applicable("it answers by itself")
    if rig.ours:
        return not_applicable("a bound of the tables; it is not cut")
    if len(seen.one) > 1:
        return failed(
            f"{len(seen.one)} memories recalled with a limit of 1",
            "return at most limit memories: found[:limit]",
        )
    return ok("no more memories than asked for")


READINGS: Mapping[str, Callable[[Rig, Observed], Verdict]] = {
    "recalls what it was told": recalls,
    "keeps what came later": corrects,
    "timestamps": dates,
    "sources": sources,
    "metadata": labels,
    "the same twice": repeats,
    "limit": within_limit,
}


def _same(created: datetime | None, told: datetime | None) -> bool:
    if created is None or told is None:
        return False
    if created.tzinfo is None:
        return created == told.replace(tzinfo=None)
    return created == told
