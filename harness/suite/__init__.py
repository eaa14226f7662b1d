"""Suites of test cases: what they are made of, and how they are read."""

from __future__ import annotations

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

__all__ = [
    "LAYERS",
    "Case",
    "CaseForm",
    "Conversation",
    "Criterion",
    "CriterionKind",
    "Dimension",
    "GoldFacts",
    "Layer",
    "Message",
    "Role",
    "Suite",
    "load_suite",
    "nearest",
    "read_suite",
]
