"""An answer as a system gave it, with what it recalled for it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.suite.wording import count_words


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to one question.

    Attributes:
        text: what the system said; None when it gave no answer at all.
        memory: what the memory handed back for the question, or None when that is not known.
            Memory text never counts as answer.
        latency_s: seconds from question to answer.
        tokens: tokens the system used for it.
        error: why there is no answer, where the system failed.
        error_kind: how it failed, where the harness saw it; None where the answer itself reports the error.
    """

    text: str | None
    memory: tuple[str, ...] | None = None
    latency_s: float | None = None
    tokens: int | None = None
    error: str | None = None
    error_kind: str | None = None

    @property
    def memory_words(self) -> int | None:
        """Words that the memory handed back."""
        return None if self.memory is None else sum(map(count_words, self.memory))
