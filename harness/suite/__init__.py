"""Suites of test cases: what they are made of, and how they are read."""

from __future__ import annotations

from harness.suite.gold import GoldFile, read_gold
from harness.suite.loading import load_suite, read_suite
from harness.suite.models import (
    LAYERS,
    Case,
    CaseForm,
    Conversation,
    Criterion,
    CriterionKind,
    Dimension,
    GoldFacts,
    Layer,
    Message,
    Role,
    Suite,
    nearest,
)
from harness.suite.source import Source, Transcript, read_source

__all__ = [
    "LAYERS",
    "Case",
    "CaseForm",
    "Conversation",
    "Criterion",
    "CriterionKind",
    "Dimension",
    "GoldFacts",
    "GoldFile",
    "Layer",
    "Message",
    "Role",
    "Source",
    "Suite",
    "Transcript",
    "load_suite",
    "nearest",
    "read_gold",
    "read_source",
    "read_suite",
]
