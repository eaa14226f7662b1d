"""Making suites: written by a model, begun from chat logs, exported, split, sampled, compared."""

from __future__ import annotations

from harness.authoring.difference import SuiteDiff, diff_suites
from harness.authoring.export import EXPORTS, export_suite
from harness.authoring.splitting import sample_suite, split_suite

__all__ = ["EXPORTS", "SuiteDiff", "diff_suites", "export_suite", "sample_suite", "split_suite"]
