"""Gold facts and the typed matcher: the heart of keyword and evidence recall."""

from __future__ import annotations

from harness.facts.answer import AnswerText
from harness.facts.locales import DEFAULT_LOCALE
from harness.facts.match import match_fact, match_wrong, typed_values
from harness.facts.model import ABSTAIN, FactMatch, FactType, GoldFact

__all__ = [
    "ABSTAIN",
    "DEFAULT_LOCALE",
    "AnswerText",
    "FactMatch",
    "FactType",
    "GoldFact",
    "match_fact",
    "match_wrong",
    "typed_values",
]
