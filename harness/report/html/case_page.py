"""One case as its page shows it: question, gold facts, and the conversations with the evidence marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from harness.errors import HarnessError
from harness.facts import AnswerText, FactType, GoldFact, match_fact, match_wrong
from harness.report.html.answer_page import AnswerView
from harness.report.html.marks import Kind, Pieces, Span, cut, plain, visible
from harness.suite import Case, Conversation

_NEIGHBOURS = 1


class FactView(NamedTuple):
    """A gold fact; `cited` are messages as (conversation, message), both counted from 0."""

    id: str
    role: str
    value: str
    type: str
    why: str
    cited: tuple[tuple[int, int], ...]
    refs: str


class MessageView(NamedTuple):
    """A message: number in its conversation, role, text, ids of the facts that cite it.

    `near` is true of messages that are cited or stand beside one.
    """

    number: int
    role: str
    text: Pieces
    facts: str
    near: bool


class ConversationView(NamedTuple):
    """A conversation; `left_out` counts messages that would have made the page too large."""

    id: str
    when: str
    about: str
    size: str
    messages: tuple[MessageView, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case with each system's answer, in the comparison's order."""

    id: str
    layer: str
    title: str
    description: str
    domain: str
    abilities: tuple[str, ...]
    asked: str
    answerable: bool
    question: str
    reference: str
    criteria: tuple[str, ...]
    facts: tuple[FactView, ...]
    conversations: tuple[ConversationView, ...]
    problem: str
    answers: tuple[AnswerView, ...]


def case_view(case: Case, answers: tuple[AnswerView, ...], budget: int) -> CaseView:
    """Return a case as it is shown.

    Args:
        case: the case.
        answers: one a system.
        budget: characters of conversation; where there are more, only the messages around evidence are kept.
    """
    try:
        talks, problem = case.conversations(), ""
    except HarnessError as error:
        talks, problem = (), visible(f"The conversations cannot be read: {error}")
    places = {
        f"{talk.id}#{number}": (at, number - 1)
        for at, talk in enumerate(talks)
        for number in range(1, len(talk.messages) + 1)
    }
    whole = sum(len(message.text) for talk in talks for message in talk.messages) <= budget
    cited = _cited(case, places)
    return CaseView(
        id=visible(case.id),
        layer=case.category,
        title=visible(case.title),
        description=visible(case.description),
        domain=visible(case.domain),
        abilities=tuple(map(visible, case.abilities)),
        asked=case.question_time.isoformat(sep=" ", timespec="minutes") if case.question_time else "",
        answerable=case.answerable,
        question=visible(case.question),
        reference=visible(case.expected_behavior),
        criteria=tuple(visible(criterion.text) for criterion in case.criteria),
        facts=tuple(_fact(fact, role, places) for role, fact in _facts(case)),
        conversations=tuple(
            _conversation(talk, cited.get(at, {}), case.locale, whole) for at, talk in enumerate(talks)
        ),
        problem=problem,
        answers=answers,
    )


def unknown_case(case_id: str, layer: str, title: str, answers: tuple[AnswerView, ...]) -> CaseView:
    """Return what can be shown of a case that the suite at hand does not have."""
    return CaseView(
        id=visible(case_id),
        layer=layer,
        title=visible(title),
        description="",
        domain="",
        abilities=(),
        asked="",
        answerable=True,
        question="",
        reference="",
        criteria=(),
        facts=(),
        conversations=(),
        problem="The suite that this report was made with does not have the case.",
        answers=answers,
    )


def _facts(case: Case) -> Iterable[tuple[str, GoldFact]]:
    yield from (("required", fact) for fact in case.gold.required)
    yield from (("optional", fact) for fact in case.gold.optional)
    yield from (("forbidden", fact) for fact in case.gold.forbidden)


def _fact(fact: GoldFact, role: str, places: Mapping[str, tuple[int, int]]) -> FactView:
    refs = (*fact.evidence, *fact.derived_from)
    parts = [
        f"or {' / '.join(fact.accept)}" if fact.accept else "",
        "derived" if fact.derived_from else "",
        f"replaces {fact.replaces}" if fact.replaces else "",
        fact.why,
    ]
    return FactView(
        id=visible(fact.id or fact.fact),
        role=role,
        value="says that it does not know" if fact.type is FactType.ABSTAIN else visible(fact.fact),
        type=fact.type.value,
        why=visible("; ".join(filter(None, parts))),
        cited=tuple(places[ref] for ref in refs if ref in places),
        refs=visible(", ".join(refs)),
    )


def _cited(
    case: Case, places: Mapping[str, tuple[int, int]]
) -> dict[int, dict[int, list[tuple[GoldFact, str]]]]:
    """Return, by conversation and message, the facts that cite it."""
    cited: dict[int, dict[int, list[tuple[GoldFact, str]]]] = {}
    for role, fact in _facts(case):
        for ref in (*fact.evidence, *fact.derived_from):
            if ref in places:
                talk, message = places[ref]
                cited.setdefault(talk, {}).setdefault(message, []).append((fact, role))
    return cited


def _conversation(
    talk: Conversation, cited: Mapping[int, list[tuple[GoldFact, str]]], locale: str, whole: bool
) -> ConversationView:
    near = {at + step for at in cited for step in range(-_NEIGHBOURS, _NEIGHBOURS + 1)}
    shown = [
        MessageView(
            number=at + 1,
            role=message.role,
            text=_marked(message.text, cited.get(at, ()), locale),
            facts=visible(", ".join(dict.fromkeys(fact.id or fact.fact for fact, _ in cited.get(at, ())))),
            near=at in near,
        )
        for at, message in enumerate(talk.messages)
        if whole or at in near
    ]
    return ConversationView(
        id=visible(talk.id),
        when=talk.timestamp.isoformat(sep=" ", timespec="minutes") if talk.timestamp else "no date",
        about=visible(", ".join(f"{key}: {value}" for key, value in talk.metadata.items())),
        size=f"{len(talk.messages)} messages, {talk.words} words",
        messages=tuple(shown),
        left_out=len(talk.messages) - len(shown),
    )


def _marked(text: str, facts: Iterable[tuple[GoldFact, str]], locale: str) -> Pieces:
    """Mark where the facts stand that cite a message."""
    facts = list(facts)
    if not facts:
        return plain(text)
    read = AnswerText(text, locale)
    spans = []
    for fact, role in facts:
        # A derived value is not said in the message; what it follows from may be any part of it.
        if fact.type is FactType.ABSTAIN or fact.derived_from:
            continue
        span = (match_wrong(read, fact) if role == "forbidden" else match_fact(read, fact)).span
        if span:
            kind: Kind = "wrong" if role == "forbidden" else "found" if role == "required" else "optional"
            spans.append(Span(*span, kind, f"{role}: {fact.id or fact.fact}"))
    return cut(text, spans)
