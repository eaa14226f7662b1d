"""What a validation found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.errors import Problem

Profile = Literal["basic", "bundled"]


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """Every problem of a suite, and how large the suite is.

    Attributes:
        root: where the suite is.
        profile: the rules that were applied.
        problems: by file, line and field; loading and lint problems alike.
        cases: cases that could be loaded; the figures below are theirs.
        conversations: conversations that could be read.
        rounds: user messages with a reply.
        words: words in all messages.
    """

    root: Path
    profile: Profile
    problems: tuple[Problem, ...]
    cases: int
    conversations: int
    rounds: int
    words: int

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems
