"""The adapters under test lie in `systems`, and are found there as a user's own would be."""

from __future__ import annotations

from pathlib import Path

import pytest

SYSTEMS = Path(__file__).parent / "systems"


@pytest.fixture
def systems(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in the folder with the adapters under test."""
    monkeypatch.chdir(SYSTEMS)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return SYSTEMS
