"""Where the bundled cases, fixtures and prompts are, in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

BundledFolder = Literal["test_cases", "fixtures", "prompts"]

_PACKAGE = Path(__file__).parent


def example_responses() -> Path:
    """Return the path of the bundled answers: a small local model's, from what four systems recalled."""
    return bundled("fixtures") / "system_responses.example.json"


def bundled(folder: BundledFolder) -> Path:
    """Return the path of a bundled folder.

    A wheel carries the folders inside the package; in a checkout (or an editable
    install) they stand beside it at the top of the repository.
    """
    installed = _PACKAGE / "_bundled" / folder
    return installed if installed.is_dir() else _PACKAGE.parent / folder


def judge_cassette() -> Path:
    """Return the path of the bundled cassette: what a small local model ruled on the example responses."""
    return bundled("fixtures") / "judge" / "demo.jsonl"
