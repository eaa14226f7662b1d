"""The environment that somebody's code is started in."""

from __future__ import annotations

from collections.abc import Mapping

OWN = "RECALLBENCH_"
"""How the harness's own variables begin; some name the suite and the gold, which are nobody else's business."""


def without_own(variables: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the harness's own settings; keys of models are kept."""
    return {name: value for name, value in variables.items() if not name.startswith(OWN)}
