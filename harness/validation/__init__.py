"""Lint of suites: what loads may still be no good case."""

from __future__ import annotations

from harness.validation.report import Profile, ValidationReport
from harness.validation.validate import validate

__all__ = ["Profile", "ValidationReport", "validate"]
