"""Exact match and token F1 against a gold answer, for imported question-answer data sets.

Both follow the evaluation of SQuAD 1.1 (Rajpurkar et al., 2016): casefold, drop
punctuation and the articles a, an, the, split on white space, take the best of the gold
answers. The gold answers of a case are the forms of its one required fact; a case with
several required facts is compared with its reference answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from harness.facts import FactType
from harness.scoring.outcome import NotAnnotated, Outcome, Scored
from harness.scoring.score import CaseScore, without_text
from harness.suite import Case
from harness.suite.answer import Answer

_ARTICLES = frozenset({"a", "an", "the"})


def tokens(text: str) -> list[str]:
    """Return the normalised tokens; articles stay when nothing else is left (the grade `A`)."""
    words = re.sub(r"[^\w\s]", "", text.casefold().replace("_", " ")).split()
    return [word for word in words if word not in _ARTICLES] or words


def token_f1(answer: str, gold: str) -> float:
    """Return the F1 of the token bags, in [0, 1]; two empty bags agree."""
    ours, theirs = tokens(answer), tokens(gold)
    if not ours or not theirs:
        return float(ours == theirs)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * shared / (len(ours) + len(theirs))


def exact_match(answer: str, gold: str) -> float:
    """Return 1.0 when the normalised token sequences are equal, else 0.0."""
    return float(tokens(answer) == tokens(gold))


def gold_answers(case: Case) -> tuple[str, ...]:
    """Return what an answer is compared with; empty when the case has nothing."""
    required = case.gold.required
    if len(required) == 1 and required[0].type is not FactType.ABSTAIN:
        return required[0].forms
    return (case.expected_behavior,) if case.expected_behavior.strip() else ()


def _score(name: str, case: Case, answer: Answer, measure: Callable[[str, str], float]) -> CaseScore:
    gold = gold_answers(case)
    outcome: Outcome | None = without_text(answer) if gold else NotAnnotated("a gold answer")
    text = answer.text or ""
    if outcome is None:
        outcome = Scored(max(measure(text, form) for form in gold))
    words = len(text.split()) if answer.text is not None else None
    return CaseScore(case.id, case.category, name, outcome, words=words)


@dataclass(frozen=True, slots=True)
class ExactMatch:
    """1 when the normalised answer is a gold answer, else 0."""

    name: str = "exact-match"
    has_pass: bool = True
    footnote: str = "Exact match compares whole normalised answers; a right answer in a sentence scores 0."

    def score(self, case: Case, answer: Answer) -> CaseScore:
        """Return 1 or 0, the best over the gold answers."""
        return _score(self.name, case, answer, exact_match)


@dataclass(frozen=True, slots=True)
class TokenF1:
    """F1 of the token bags."""

    name: str = "token-f1"
    has_pass: bool = True
    footnote: str = (
        "Token F1 compares bags of words; it sees neither order nor negation, and vague answers score."
    )

    def score(self, case: Case, answer: Answer) -> CaseScore:
        """Return the F1, the best over the gold answers."""
        return _score(self.name, case, answer, token_f1)
