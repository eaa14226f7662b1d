"""Keyword recall: how many gold facts the answer states as true. Offline, deterministic.

    reward = max(0, asserted required - violations) / required

A violation is a forbidden value that the answer states as true; one that `replaces` a
required fact voids that fact instead. Mention recall (the value is present at all) stands
beside it. An answer much longer than the reference that also holds values competing with
the gold is a dump: its reward is 0, since a transcript states everything and answers nothing.
An answer with a violation never passes, whatever its reward: with five facts right and the
sixth stale, its reader acts on the stale one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.facts import AnswerText, FactType, GoldFact, match_fact, match_wrong, typed_values
from harness.scoring.outcome import NotAnnotated, Scored
from harness.scoring.score import CaseScore, FactVerdict, Role, without_text
from harness.suite import Case
from harness.suite.answer import Answer

# A reference shorter than this says little about how long a good answer may be.
_SHORTEST_REFERENCE = 60
_COMPETING_VALUES = 3
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class KeywordRecall:
    """The offline scorer.

    Attributes:
        dump_factor: an answer more than this many times longer than the reference (in words,
            references under 60 words count as 60) may be a dump.
    """

    dump_factor: float = 5.0
    name: str = "keyword-recall"
    has_pass: bool = True
    footnote: str = (
        "Keyword recall sees the values an answer states, not its behaviour: asking which one is meant, "
        "or raising a problem unasked, is left to a judge. An answer that states a forbidden value as true "
        "does not pass."
    )

    def __post_init__(self) -> None:
        if not self.dump_factor > 0:
            raise ValueError("dump_factor has to be above 0")

    def score(self, case: Case, answer: Answer) -> CaseScore:
        """Return the reward with a verdict on every gold fact."""
        outcome = without_text(answer) if case.gold.required else NotAnnotated()
        if outcome is not None:
            return CaseScore(case.id, case.category, self.name, outcome)
        raw = answer.text or ""
        text = AnswerText(raw, case.locale)
        forbidden = [_forbidden(text, fact) for fact in case.gold.forbidden]
        required = _void([_stated(text, fact, "required", case) for fact in case.gold.required], forbidden)
        optional = [_stated(text, fact, "optional", case) for fact in case.gold.optional]
        words = len(_WORD.findall(raw))
        dump = self._is_dump(text, case, words, forbidden)
        wrong = any(verdict.counts for verdict in forbidden)
        violations = sum(verdict.counts and verdict.fact.replaces is None for verdict in forbidden)
        kept = sum(verdict.counts for verdict in required)
        reward = 0.0 if dump else max(0, kept - violations) / len(required)
        mention = sum(verdict.match.mentioned for verdict in required) / len(required)
        return CaseScore(
            case.id,
            case.category,
            self.name,
            Scored(reward),
            mention=mention,
            verdicts=(*required, *optional, *forbidden),
            flags=("dump",) * dump + ("forbidden_stated",) * wrong,
            words=words,
        )

    def _is_dump(self, text: AnswerText, case: Case, words: int, forbidden: Sequence[FactVerdict]) -> bool:
        reference = max(len(_WORD.findall(case.expected_behavior)), _SHORTEST_REFERENCE)
        if words <= self.dump_factor * reference:
            return False
        if any(verdict.match.mentioned for verdict in forbidden):
            return True
        return _rival_values(text, case.gold.required) >= _COMPETING_VALUES


def _stated(text: AnswerText, fact: GoldFact, role: Role, case: Case) -> FactVerdict:
    others = [other for other in (*case.gold.required, *case.gold.optional) if other is not fact]
    match = match_fact(text, fact, siblings=others)
    return FactVerdict(fact, role, match, match.asserted)


def _forbidden(text: AnswerText, fact: GoldFact) -> FactVerdict:
    match = match_wrong(text, fact)
    return FactVerdict(fact, "forbidden", match, counts=match.asserted)


def _void(required: Sequence[FactVerdict], forbidden: Sequence[FactVerdict]) -> list[FactVerdict]:
    """Undo each required fact whose wrong state the answer states as true."""
    wrong = {v.fact.replaces: v.fact.id or v.fact.fact for v in forbidden if v.counts and v.fact.replaces}
    return [
        FactVerdict(v.fact, v.role, v.match, counts=False, voided_by=wrong[v.fact.id])
        if v.fact.id in wrong
        else v
        for v in required
    ]


def _rival_values(text: AnswerText, required: Sequence[GoldFact]) -> int:
    """Count distinct values of the gold's types that are not the gold's own."""
    rivals: set[str] = set()
    own: set[str] = set()
    for kind in {fact.type for fact in required} - {FactType.TEXT, FactType.ABSTAIN}:
        rivals.update(text.text[start:end] for start, end in typed_values(text, kind))
        own.update(form.casefold() for fact in required if fact.type is kind for form in fact.forms)
    return len(rivals - own)
