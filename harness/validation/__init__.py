"""Lint of suites: what loads may still be no good case."""

from __future__ import annotations

from harness.validation.census import Census, take_census
from harness.validation.linter import validate
from harness.validation.report import Profile, ValidationReport

__all__ = ["Census", "Profile", "ValidationReport", "take_census", "validate"]
