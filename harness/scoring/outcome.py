"""What became of one question put to one system: a score, or the reason why there is none.

An `Outcome` is one of five things. Only `Scored` carries a number; an error, a missing
answer or a case without gold facts is never 0, 0.5 or 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

PASS_THRESHOLD = 0.6
"""An answer passed when its reward reaches this; the one place where the figure stands."""
VETOED_REWARD = 0.5
"""The most that an answer with a veto is worth; whatever the threshold, it never passes."""
VETOES = ("contradicted", "forbidden_stated", "hallucination")
"""The flags that veto a pass."""


@dataclass(frozen=True, slots=True)
class Scored:
    """An answer that was scored.

    Attributes:
        reward: in [0, 1].

    Raises:
        ValueError: for a reward that is no finite number in [0, 1].
    """

    reward: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.reward) and 0.0 <= self.reward <= 1.0):
            raise ValueError(f"a reward is a finite number in [0, 1], not {self.reward!r}")


@dataclass(frozen=True, slots=True)
class Missing:
    """No answer (or, for evidence recall, no recalled memory) was supplied."""

    what: str = "answer"


@dataclass(frozen=True, slots=True)
class SystemFailed:
    """The system under test failed; `kind` names how, `message` what it said."""

    kind: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class JudgeFailed:
    """The judge gave no usable verdict: `kind` is `refusal`, `content_filter`, `malformed` and so on."""

    kind: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class NotAnnotated:
    """The case lacks what this scorer compares with, such as gold facts."""

    lacks: str = "gold facts"


Outcome = Scored | Missing | SystemFailed | JudgeFailed | NotAnnotated
OutcomeName = Literal["scored", "missing", "system_error", "judge_error", "not_annotated"]

_NAMES: dict[type, OutcomeName] = {
    Scored: "scored",
    Missing: "missing",
    SystemFailed: "system_error",
    JudgeFailed: "judge_error",
    NotAnnotated: "not_annotated",
}


def outcome_name(outcome: Outcome) -> OutcomeName:
    """Return the word that reports and journals use for an outcome."""
    return _NAMES[type(outcome)]
