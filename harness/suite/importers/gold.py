"""A question's gold answer as facts and criteria."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.errors import FactError
from harness.facts import GoldFact, match_fact
from harness.facts.model import ABSTAIN, FactType
from harness.suite.importers.made import Question

_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_SMALL = "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_UNITS = "(?:second|minute|hour|day|week|month|year)s?"
# Only an answer that is a value as a whole is compared as one; everything else is compared as text.
_TYPES = (
    (FactType.DATE, rf"(?:\d{{1,2}}(?:st|nd|rd|th)? )?{_MONTH},? \d{{4}}|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}"),
    (FactType.MONEY, rf"[$£€]{_NUMBER}"),
    (FactType.PERCENT, rf"{_NUMBER} ?%"),
    (FactType.TIME, r"\d{1,2}(?::\d\d)? ?[ap]m"),
    (FactType.QUANTITY, rf"(?:{_NUMBER}|{_SMALL}) {_UNITS}"),
    (FactType.NUMBER, rf"{_NUMBER}|{_SMALL}"),
)  # fmt: skip
_TYPED = [(type, re.compile(pattern, re.IGNORECASE)) for type, pattern in _TYPES]
_BARE = frozenset(("yes", "no"))


def type_of(answer: str) -> FactType:
    """Return how an answer is compared: by its parts where all of it is one value, else as text."""
    text = answer.strip().rstrip(".")
    return next((type for type, pattern in _TYPED if pattern.fullmatch(text)), FactType.TEXT)


def gold_of(question: Question, messages: Mapping[str, str]) -> dict[str, Any]:
    """Return `gold_facts`, and `evidence` where no fact can carry it, for a header.

    Args:
        question: what is asked.
        messages: the haystack's messages, by `conversation#number`.
    """
    if not question.answerable:
        facts: dict[str, Any] = {"required": [{"id": "abstain", "fact": ABSTAIN, "type": "abstain"}]}
        if question.trap and question.trap.strip(" .").lower() not in _BARE:
            trap = _fact("trap", question.trap, (), question.evidence, messages)
            if trap is not None:
                trap.pop("derived_from", None)
                facts["forbidden"] = [{**trap, "why": "the answer to another question"}]
        return {"gold_facts": facts, **_cited(question)}
    fact = None
    if not question.rubric:
        first, *others = question.accept or (question.answer,)
        fact = _fact("answer", first, tuple(others), question.evidence, messages)
    if fact is None:
        return _cited(question)
    return {"gold_facts": {"required": [fact]}}


def _cited(question: Question) -> dict[str, Any]:
    return {"evidence": list(question.evidence)} if question.evidence else {}


def _fact(
    id: str, answer: str, others: tuple[str, ...], cited: tuple[str, ...], messages: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return a fact, None for an answer that nothing could be compared with.

    It is cited where it stands in every message cited; else it follows from them.
    """
    type = type_of(answer)
    others = tuple(other for other in others if type_of(other) is type)
    try:
        gold = GoldFact(answer, type, others)
    except FactError:
        return None
    fact: dict[str, Any] = {"id": id, "fact": answer, "type": str(type)}
    if others:
        fact["accept"] = list(others)
    if cited:
        stands = all(match_fact(messages[ref], gold).mentioned for ref in cited)
        fact["evidence" if stands else "derived_from"] = list(cited)
    return fact


def criterion_of(question: Question) -> dict[str, Any]:
    """Return what a judge rules on."""
    if not question.answerable:
        text = f"Says that this was never said or isn't known, instead of answering. ({question.answer})"
        return {"id": "answer", "text": text, "kind": "behaviour"}
    if question.rubric:
        return {"id": "answer", "text": question.answer, "kind": "behaviour"}
    text = f"Gives this answer, in whatever words: {question.answer}"
    if question.leniency:
        text = f"{text.rstrip('.')}. {question.leniency}"
    return {"id": "answer", "text": text}
