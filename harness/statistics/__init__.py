"""Intervals and agreement: pure functions on counts and sequences."""

from __future__ import annotations

from harness.statistics.agreement import cohen_kappa
from harness.statistics.intervals import Interval, Rate, wilson

__all__ = ["Interval", "Rate", "cohen_kappa", "wilson"]
