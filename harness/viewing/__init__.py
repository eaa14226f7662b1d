"""A local, read-only server of runs: a list, comparisons, and the files of a run."""

from __future__ import annotations

from harness.viewing.server import HOST, RunServer
from harness.viewing.store import Store

__all__ = ["HOST", "RunServer", "Store"]
