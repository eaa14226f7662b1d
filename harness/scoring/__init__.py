"""Outcomes, scores and the offline scorers."""

from __future__ import annotations

from harness.scoring.batch import SystemScores, score_batch, score_case, score_pairs, score_systems
from harness.scoring.outcome import (
    PASS_THRESHOLD,
    JudgeFailed,
    Missing,
    NotAnnotated,
    Outcome,
    Scored,
    SystemFailed,
    outcome_name,
)
from harness.scoring.responses import BATCH_SYSTEM, Responses, load_responses, parse_responses
from harness.scoring.score import CaseScore, FactVerdict
from harness.scoring.scorer import DEFAULT_SCORER, Scorer, ScorerInfo, available_scorers, find_scorer
from harness.suite.answer import Answer

__all__ = [
    "BATCH_SYSTEM",
    "DEFAULT_SCORER",
    "PASS_THRESHOLD",
    "Answer",
    "CaseScore",
    "FactVerdict",
    "JudgeFailed",
    "Missing",
    "NotAnnotated",
    "Outcome",
    "Responses",
    "Scored",
    "Scorer",
    "ScorerInfo",
    "SystemFailed",
    "SystemScores",
    "available_scorers",
    "find_scorer",
    "load_responses",
    "outcome_name",
    "parse_responses",
    "score_batch",
    "score_case",
    "score_pairs",
    "score_systems",
]
