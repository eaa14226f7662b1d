from __future__ import annotations

import pytest
from pydantic import ValidationError

from harness.adapters.connectors.command import CommandOptions
from harness.adapters.connectors.mcp_options import McpOptions
from harness.adapters.connectors.variables import resolved
from harness.adapters.protocol import AgentFailure

CLEAR = {"MY_API_KEY": "sk-in-clear-0123"}
NAMED = {"MY_API_KEY": "${SOME_KEY}", "STORE": "${HOME}/notes"}


def test_a_key_in_clear_is_refused_and_not_repeated() -> None:
    for make in (
        lambda env: CommandOptions(run="x", env=env),  # type: ignore[arg-type]
        lambda env: McpOptions(preset="reference", run="x", env=env),  # type: ignore[call-arg]
    ):
        with pytest.raises(ValidationError) as refused:
            make(CLEAR)
        said = refused.value.errors()[0]["msg"]
        assert "MY_API_KEY looks like a key" in said
        assert "sk-in-clear" not in said
        assert dict(make(NAMED).env).items() >= NAMED.items()


def test_a_variable_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-0123456789")
    monkeypatch.setenv("HOME", "/home/lena")
    assert resolved(NAMED) == {"MY_API_KEY": "sk-0123456789", "STORE": "/home/lena/notes"}
    monkeypatch.delenv("SOME_KEY")
    with pytest.raises(AgentFailure, match=r"env names \$\{SOME_KEY\}, which is not set"):
        resolved(NAMED)
