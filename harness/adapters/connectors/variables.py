"""Variables for a program of somebody's: a key is named and never written out, since options stand in a manifest."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from harness.adapters.protocol import AgentFailure

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""A variable of the environment, as users write it."""


def without_secrets(variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables; refuse one that holds a key in clear.

    Raises:
        ValueError: naming the variable, never its value.
    """
    for name, value in variables.items():
        if _SECRET.search(name) and value and not VARIABLE.fullmatch(value):
            raise ValueError(
                f"{name} looks like a key, and options stand in the manifest. Write '${{{name}}}'"
            )
    return variables


def resolved(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with each `${NAME}` taken from the environment.

    Raises:
        AgentFailure: for a name that is not set.
    """

    def value_of(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise AgentFailure("options", f"env names ${{{found[1]}}}, which is not set")
        return os.environ[found[1]]

    return {name: VARIABLE.sub(value_of, value) for name, value in variables.items()}
