"""What the package shows is what it says it shows."""

import inspect

import harness.suite as face


def test_all_is_what_is_exported() -> None:
    public = {
        name
        for name, value in vars(face).items()
        if not name.startswith("_") and not inspect.ismodule(value) and name != "annotations"
    }
    assert public == set(face.__all__)
    assert list(face.__all__) == sorted(
        face.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name)
    )
