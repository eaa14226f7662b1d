"""The LLM judge: prompts, verdicts, quotes, panels, and the scorer `llm-judge`."""

from __future__ import annotations

from harness.scoring.judge.judge import DEFAULT_CASSETTE, LLMJudge
from harness.scoring.judge.running import Tally

__all__ = ["DEFAULT_CASSETTE", "LLMJudge", "Tally"]
