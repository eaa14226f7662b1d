"""Rules of layers 2 and 3: an answer needs more than one conversation, and none is idle."""

from __future__ import annotations

from collections.abc import Iterator

from harness.errors import Problem
from harness.facts import GoldFact
from harness.validation.subject import Subject


def several_sources(subject: Subject) -> Iterator[Problem]:
    """Required facts come from two conversations or more.

    A superseded case may take all of them from the last conversation, in which alone the
    last state stands; the earlier states are then forbidden facts.
    """
    if not _applies(subject):
        return
    cited = frozenset().union(*(subject.cited_by(fact) for fact in subject.required))
    if len(cited) >= 2:
        return
    at = ("gold_facts", "required")
    earlier = [transcript.conversation.id for transcript in subject.transcripts[:-1]]
    if subject.transcripts[-1].conversation.id not in cited or not _has_earlier_states(subject, earlier):
        message = "all required facts come from one conversation."
        mend = "Ask for something that needs another one, or forbid the earlier states if it supersedes them."
        yield subject.header_problem(at, message, mend, "one-source")
        return
    for fact in subject.required:
        where = [name for name in earlier if subject.is_mentioned_in(name, fact)]
        if where:
            message = f"the last state {fact.fact!r} ({fact.id}) stands in {', '.join(where)} too."
            mend = "Let only the last conversation say it."
            yield subject.header_problem(at, message, mend, "superseded-state")


def no_spare_conversation(subject: Subject) -> Iterator[Problem]:
    """Without any one of the conversations that required facts cite, a required fact is lost."""
    if not _applies(subject):
        return
    for transcript in subject.transcripts:
        dropped = transcript.conversation.id
        citing = [fact for fact in subject.required if dropped in subject.cited_by(fact)]
        if citing and not any(_is_lost(subject, fact, dropped) for fact in citing):
            names = ", ".join(fact.id for fact in citing)
            message = f"without this conversation no required fact is lost: {names} stand elsewhere too."
            mend = "Say at least one of them here only."
            yield subject.conversation_problem(transcript, message, mend, "spare-conversation")


def _applies(subject: Subject) -> bool:
    case = subject.case
    return (
        case.category != "layer1"
        and bool(subject.required)
        and not subject.source.problems
        and len(subject.transcripts) > 1
    )


def _is_lost(subject: Subject, fact: GoldFact, dropped: str) -> bool:
    """Tell whether a fact that cites a conversation can't be known without it."""
    if fact.derived_from:
        return True  # it is said nowhere, and one of its premises is gone
    return not any(subject.is_mentioned_in(name, fact) for name in subject.by_id if name != dropped)


def _has_earlier_states(subject: Subject, earlier: list[str]) -> bool:
    return any(
        fact.replaces is not None and not subject.cited_by(fact).isdisjoint(earlier)
        for fact in subject.case.gold.forbidden
    )
