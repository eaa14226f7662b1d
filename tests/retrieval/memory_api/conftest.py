"""Pauses short enough for tests."""

from __future__ import annotations

import pytest

from harness.retrieval.memory_api import readiness, wire


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_BACKOFF_S", (0.001, 0.01))
    monkeypatch.setattr(readiness, "_PAUSE_S", (0.005, 0.02))
