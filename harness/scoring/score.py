"""The score of one answer to one case, with the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from harness.facts import FactMatch, GoldFact
from harness.scoring.outcome import (
    PASS_THRESHOLD,
    VETOES,
    Missing,
    Outcome,
    Scored,
    SystemFailed,
    outcome_name,
)
from harness.suite.answer import Answer

if TYPE_CHECKING:
    from harness.scoring.judge.record import Judged

Role = Literal["required", "optional", "forbidden"]


class FactVerdict(NamedTuple):
    """What an answer said about one gold fact, and what came of it.

    Attributes:
        fact: the gold fact.
        role: required, optional or forbidden.
        match: mention, assertion and evidence.
        counts: a required or optional fact that counts as stated; a forbidden one that the
            answer states as true.
        voided_by: id or value of the wrong value that undid a required fact.
    """

    fact: GoldFact
    role: Role
    match: FactMatch
    counts: bool
    voided_by: str | None = None


@dataclass(frozen=True, slots=True)
class CaseScore:
    """The outcome of one case for one system under one scorer.

    Attributes:
        case_id: the case.
        category: its layer.
        scorer: name of the scorer.
        outcome: the reward, or why there is none.
        mention: share of required facts that are present at all, in [0, 1]; None where the
            scorer has no such figure or nothing was scored.
        verdicts: one a gold fact, in the case's order.
        flags: what is odd about the answer, such as `dump`; those among `VETOES` veto a pass.
        words: words in the text that was scored.
        memory_words: words that the memory handed back, None when that is not known.
        latency_s: seconds the system took, as it said.
        tokens: tokens the system used, as it said.
        judged: what a judge ruled and how, where one did.
    """

    case_id: str
    category: str
    scorer: str
    outcome: Outcome
    mention: float | None = None
    verdicts: tuple[FactVerdict, ...] = ()
    flags: tuple[str, ...] = ()
    words: int | None = None
    memory_words: int | None = None
    latency_s: float | None = None
    tokens: int | None = None
    judged: Judged | None = None

    @property
    def reward(self) -> float | None:
        """The reward in [0, 1], or None when nothing was scored."""
        return self.outcome.reward if isinstance(self.outcome, Scored) else None

    @property
    def status(self) -> str:
        """The outcome's name, such as `scored` or `missing`."""
        return outcome_name(self.outcome)

    def passed(self, threshold: float = PASS_THRESHOLD) -> bool | None:
        """Say whether the reward reaches the threshold and nothing vetoes; None when nothing was scored."""
        if self.reward is None:
            return None
        return self.reward >= threshold and not any(flag in VETOES for flag in self.flags)

    def of_role(self, role: Role) -> tuple[FactVerdict, ...]:
        """Return the verdicts of one role."""
        return tuple(verdict for verdict in self.verdicts if verdict.role == role)


def system_failed(answer: Answer) -> SystemFailed | None:
    """Return how the system failed, None where it did not; what only the answer says is `reported`."""
    return None if answer.error is None else SystemFailed(answer.error_kind or "reported", answer.error)


def without_text(answer: Answer) -> Missing | SystemFailed | None:
    """Return why an answer has no text to score, or None when it has one."""
    return system_failed(answer) or (Missing() if answer.text is None else None)
