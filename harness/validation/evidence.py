"""Rules that hold gold facts against the conversations and the question."""

from __future__ import annotations

from collections.abc import Iterator

from harness.errors import Problem
from harness.facts import FactType, GoldFact
from harness.validation.subject import PlacedFact, Reference, Subject


def facts_in_evidence(subject: Subject) -> Iterator[Problem]:
    """Every message that a fact cites exists, and holds the fact's value.

    A derived fact is said nowhere, so only the existence of what it derives from is checked.
    """
    for placed in subject.facts:
        for key in ("evidence", "derived_from"):
            for text in getattr(placed.fact, key):
                problem = _cited(subject, placed, Reference.parse(text), key)
                if problem is not None:
                    yield problem


def _cited(subject: Subject, placed: PlacedFact, reference: Reference, key: str) -> Problem | None:
    message = subject.message_text(reference)
    if message is None:
        if subject.source.problems and reference.conversation_id not in subject.by_id:
            return None  # it may be one of those that could not be read
        told = f"{placed.fact.id!r} cites {reference.text}, and there is no such message."
        mend = f"Cite a message of {_extent(subject)}."
        return subject.fact_problem(placed, told, mend, "unknown-evidence", key)
    if key == "evidence" and not _is_abstention(placed.fact) and not subject.mentions(message, placed.fact):
        told = f"{placed.fact.fact!r} isn't said in {reference.text}."
        mend = "Cite the message that says it, or accept the form in which it is said."
        return subject.fact_problem(placed, told, mend, "fact-not-in-evidence", key)
    return None


def _extent(subject: Subject) -> str:
    extents = (f"{name}#1–{len(it.conversation.messages)}" for name, it in subject.by_id.items())
    return ", ".join(extents) or "a conversation"


def facts_cited(subject: Subject) -> Iterator[Problem]:
    """Every fact that an answer may state says where it comes from."""
    for placed in subject.facts:
        fact = placed.fact
        if placed.group != "forbidden" and not (fact.evidence or fact.derived_from or _is_abstention(fact)):
            told = f"{fact.id!r} has no evidence."
            mend = "Cite the messages that say it, or what it is derived from."
            yield subject.fact_problem(placed, told, mend, "uncited-fact")


def facts_not_in_question(subject: Subject) -> Iterator[Problem]:
    """The question gives no fact away."""
    question = subject.read(subject.case.question)
    for placed in subject.facts:
        if not _is_abstention(placed.fact) and subject.mentions(question, placed.fact):
            told = f"the question says {placed.fact.fact!r}, the {placed.group} fact {placed.fact.id!r}."
            mend = "Ask without it."
            yield subject.header_problem(("user_question",), told, mend, "fact-in-question")


def forbidden_apart(subject: Subject) -> Iterator[Problem]:
    """No form of a forbidden fact states a required one, nor the other way round."""
    for placed in subject.facts:
        if placed.group != "forbidden":
            continue
        for required in subject.required:
            form = _overlap(subject, placed.fact, required)
            if form is not None:
                told = f"the form {form!r} states both {placed.fact.id!r} and the required {required.id!r}."
                mend = "Write forms that only one of them has."
                yield subject.fact_problem(placed, told, mend, "forbidden-matches-required")


def _overlap(subject: Subject, forbidden: GoldFact, required: GoldFact) -> str | None:
    for form in forbidden.forms:
        if subject.mentions(form, required):
            return form
    return next((form for form in required.forms if subject.mentions(form, forbidden)), None)


def annotated(subject: Subject) -> Iterator[Problem]:
    """Every case has facts to look for."""
    if not subject.case.gold.annotated:
        mend = "Write its gold_facts."
        yield subject.header_problem(("gold_facts",), "the case has no required fact.", mend, "not-annotated")


def _is_abstention(fact: GoldFact) -> bool:
    return fact.type is FactType.ABSTAIN
