"""What one endpoint accepts: response format, parameter names, parameters to leave out.

Providers differ, and say so with a 400. Each refusal moves the dialect one step, and the step
holds for every later request to that model:

- response format: `json_schema`, then `json_object`, then none (the prompt asks for JSON anyway);
- a refused `max_tokens` is sent as `max_completion_tokens`, or the other way round;
- any other refused parameter is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.llm.replies import ReplyError
from harness.llm.schema import ReplySchema

FORMATS = ("json_schema", "json_object", "text")
_RENAMED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_NEVER_OMITTED = frozenset({"model", "messages"})


class Dialect:
    """The steps taken so far for one model at one endpoint."""

    def __init__(self) -> None:
        self._format = 0
        self._names: dict[str, str | None] = {}

    def parameters(self, wanted: Mapping[str, Any], schema: ReplySchema | None) -> dict[str, Any]:
        """Return the parameters to send for those wanted, the response format among them."""
        sent = {name: value for asked, value in wanted.items() if (name := self._names.get(asked, asked))}
        step = FORMATS[self._format]
        if schema is None or step == "text":
            return sent
        if step == "json_object":
            return {**sent, "response_format": {"type": "json_object"}}
        shape = {"name": schema.name, "strict": True, "schema": schema.json_schema()}
        return {**sent, "response_format": {"type": "json_schema", "json_schema": shape}}

    def body(
        self,
        model: str,
        messages: Sequence[Mapping[str, str]],
        wanted: Mapping[str, Any],
        schema: ReplySchema | None,
    ) -> dict[str, Any]:
        """Return the body of a request."""
        return {"model": model, "messages": list(messages), **self.parameters(wanted, schema)}

    def adapt(self, error: ReplyError, body: Mapping[str, Any]) -> bool:
        """Take a step for a refused request; say whether asking again can help.

        Args:
            error: the refusal, of the kind `unsupported_param` or `unsupported_format`.
            body: what was sent. Where another request has taken the step already, none is taken.
        """
        if error.kind == "unsupported_format":
            return self._step_down(_format_of(body))
        if error.kind != "unsupported_param" or not error.param:
            return False
        if error.param == "response_format":
            return self._step_down(_format_of(body))
        return self._leave_out(error.param, body)

    def _step_down(self, used: str) -> bool:
        if used == FORMATS[self._format]:
            if self._format + 1 == len(FORMATS):
                return False
            self._format += 1
        return True

    def _leave_out(self, refused: str, body: Mapping[str, Any]) -> bool:
        if refused in _NEVER_OMITTED:
            return False
        asked = next((asked for asked, name in self._names.items() if name == refused), refused)
        if self._names.get(asked, asked) == refused:
            if asked == refused and asked in _RENAMED:
                self._names[asked] = _RENAMED[asked]
            else:
                self._names[asked] = None
            return refused in body
        return refused in body


def described(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a request as a report names them: the format by its type only."""
    shown = {
        name: value for name, value in body.items() if name not in ("model", "messages", "response_format")
    }
    return {**shown, "response_format": _format_of(body)}


def _format_of(body: Mapping[str, Any]) -> str:
    return str((body.get("response_format") or {}).get("type", "text"))
