"""Intervals, agreement, paired tests: pure functions on counts and sequences."""

from __future__ import annotations

from harness.statistics.agreement import cohen_kappa
from harness.statistics.intervals import Interval, Rate, wilson
from harness.statistics.paired import holm, mcnemar, sign_flip

__all__ = ["Interval", "Rate", "cohen_kappa", "holm", "mcnemar", "sign_flip", "wilson"]
