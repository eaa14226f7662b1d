"""Cases and recall data sets written by a model, checked, mended or rejected."""

from __future__ import annotations

from harness.authoring.generation.estimate import Estimate, estimate
from harness.authoring.generation.run import Finished, Result, generate
from harness.authoring.generation.wish import DIFFICULTIES, KINDS, Wish

__all__ = ["DIFFICULTIES", "KINDS", "Estimate", "Finished", "Result", "Wish", "estimate", "generate"]
