"""What a package shows is what it says it shows."""

from __future__ import annotations

import importlib
import inspect

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "facts",
        "suite",
        "scoring",
        "validation",
        "retrieval",
        "statistics",
        "authoring",
        "authoring.generation",
    ],
)
def test_all_is_what_is_exported(name: str) -> None:
    face = importlib.import_module(f"harness.{name}")
    public = {
        name
        for name, value in vars(face).items()
        if not name.startswith("_") and not inspect.ismodule(value) and name != "annotations"
    }
    assert public == set(face.__all__)
