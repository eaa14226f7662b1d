"""Evidence recall: which required facts stand in what the memory handed back.

It judges the memory and not the answer: a mention is enough, nothing passes or fails, and
a long memory is no dump; the words handed over stand beside the figure instead. A fact that
follows from others by arithmetic is said in no conversation and is not looked for: recalling it
is the reader's work, and what it follows from may be any part of a message.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.facts import AnswerText, FactType, match_fact
from harness.scoring.outcome import Missing, NotAnnotated, Scored
from harness.scoring.score import CaseScore, FactVerdict, system_failed
from harness.suite import Case
from harness.suite.answer import Answer


@dataclass(frozen=True, slots=True)
class EvidenceRecall:
    """The scorer of recalled memory; an answer without `memory` is missing."""

    name: str = "evidence-recall"
    has_pass: bool = False
    footnote: str = (
        "Evidence recall is the share of required facts that stand in what the memory handed back; "
        "it has no pass, and more words handed over make it easier."
    )

    def score(self, case: Case, answer: Answer) -> CaseScore:
        """Return the share of required facts mentioned in the recalled memory."""
        facts = [
            fact for fact in case.gold.required if fact.type is not FactType.ABSTAIN and not fact.derived_from
        ]
        if not facts:
            return CaseScore(case.id, case.category, self.name, NotAnnotated("a fact to be recalled"))
        if answer.memory is None:
            outcome = system_failed(answer) or Missing("memory")
            return CaseScore(case.id, case.category, self.name, outcome)
        texts = [AnswerText(memory, case.locale) for memory in answer.memory]
        verdicts = []
        for fact in facts:
            matches = [match_fact(text, fact) for text in texts]
            match = next((m for m in matches if m.mentioned), None) or match_fact("", fact)
            verdicts.append(FactVerdict(fact, "required", match, match.mentioned))
        share = sum(verdict.counts for verdict in verdicts) / len(facts)
        return CaseScore(
            case.id,
            case.category,
            self.name,
            Scored(share),
            mention=share,
            verdicts=tuple(verdicts),
            words=answer.memory_words,
        )
