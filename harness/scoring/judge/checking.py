"""One tiny question to a judge: does the endpoint answer, and how."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.errors import EndpointError
from harness.llm.cassette import Cassette
from harness.llm.endpoint import Endpoint
from harness.llm.schema import Choice, ReplySchema

if TYPE_CHECKING:
    from harness.scoring.judge.judge import LLMJudge

Row = tuple[str, str]
_SCHEMA = ReplySchema("check", (Choice("verdict", ("met", "not_met")),))
_MESSAGES = (
    {
        "role": "system",
        "content": 'Reply with one JSON object: {"verdict": "met"} or {"verdict": "not_met"}.',
    },
    {"role": "user", "content": "Criterion: names a color.\nAnswer: The door is blue."},
)


def check(judge: LLMJudge) -> Iterator[list[Row]]:
    """Yield, for each judge, what it resolves to, then what came of asking it.

    Raises:
        SettingsError: when a judge cannot be resolved.
        EndpointError: when it cannot be reached, refuses, or gives no usable reply.
    """
    with Cassette(None) as none:
        endpoints = judge.resolve(none)
    for endpoint in endpoints:
        yield _resolved(endpoint)
        yield asyncio.run(_asked(judge, endpoint))


def _resolved(endpoint: Endpoint) -> list[Row]:
    rows = [
        ("provider", endpoint.provider),
        ("base URL", endpoint.base_url),
        ("model", endpoint.model),
        ("key", endpoint.key_name or "none is sent"),
    ]
    return [*rows, ("substitution", endpoint.substitution)] if endpoint.substitution else rows


async def _asked(judge: LLMJudge, endpoint: Endpoint) -> list[Row]:
    import json

    from harness.llm.client import ChatModel
    from harness.llm.exchange import ChatRequest, Unanswered

    request = ChatRequest(_MESSAGES, _SCHEMA, judge.parameters, label="judge check")
    with Cassette(None) as none:
        async with ChatModel(endpoint, none, timeout_s=judge.timeout_s) as model:
            began = time.perf_counter()
            try:
                reply = await model.ask(request)
            except Unanswered as failed:
                error = failed.error
                raise EndpointError(
                    f"{endpoint.label}: no usable reply ({error.kind}): {error.message} Mend: {error.action}."
                ) from None
            took = time.perf_counter() - began
    sent = json.loads(reply.served.sent)
    others = ", ".join(f"{name} {value}" for name, value in sent.items() if name != "response_format")
    return [
        ("response format", sent["response_format"]),
        ("parameters", others or "none"),
        ("model echoed", reply.served.model or "the reply names none"),
        ("latency", f"{took:.2f} s"),
        ("reply", f"verdict {reply.value['verdict']}{_flagged(reply.flags)} (right is met)"),
    ]


def _flagged(flags: tuple[str, ...]) -> str:
    return f", read with {', '.join(flags)}" if flags else ""
