"""Spaces to open agents in, with models that nobody may ask or that a server answers for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.adapters.protocol import Space
from harness.llm.models import Models, ModelSettings

OpenSpace = Callable[..., Space]


@pytest.fixture
def open_space(tmp_path: Path) -> OpenSpace:
    def made(**settings: object) -> Space:
        return Space("n" * 32, tmp_path, Models(ModelSettings(**settings), {}))  # type: ignore[arg-type]

    return made
