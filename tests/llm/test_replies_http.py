"""Errors as providers send them: the kind, whether to ask again, whether to stop, how long to wait."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from harness.llm import reply_error
from harness.llm.replies import RawReply, ReplyError, read_reply, retry_wait
from harness.llm.schema import Number, ReplySchema

SCORE = ReplySchema("score01", (Number("score", 0, 1),))
NOW = datetime(2026, 10, 21, 7, 28, tzinfo=UTC)


def failure(status: int, body: Any, headers: dict[str, str] | None = None) -> ReplyError:
    with pytest.raises(ReplyError) as caught:
        read_reply(RawReply(status, headers or {}, body), SCORE, now=NOW)
    return caught.value


def openai(message: str = "", code: Any = None, type: str = "invalid_request_error", **more: Any) -> Any:
    return {"error": {"message": message, "type": type, "code": code, "param": None, **more}}


STOP, FINAL, AGAIN = "stop", "final", "again"
# Status, body, kind, what to do.
ERRORS = {
    "401 without a body": (401, "", "auth", STOP),
    "401 of openrouter": (401, {"error": {"code": 401, "message": "No cookie auth credentials found"}}, "auth", STOP),
    "400 of gemini, key": (
        400,
        [{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"}}],
        "auth",
        STOP,
    ),
    "402 of deepseek": (402, openai("Insufficient Balance"), "quota", STOP),
    "402 without words": (402, "", "quota", STOP),
    "403": (403, openai("Country, region, or territory not supported"), "auth", STOP),
    "403, moderation": (
        403,
        {"error": {"code": 403, "message": "Input was flagged", "metadata": {"reasons": ["x"], "flagged_input": "…"}}},
        "content_filter",
        FINAL,
    ),
    "403, key limit": (403, {"error": {"code": 403, "message": "Key limit exceeded (total limit)"}}, "quota", STOP),
    "404 of ollama": (404, {"error": {"message": "model 'x' not found, try pulling it first"}}, "bad_request", STOP),
    "404 HTML": (404, "<html>Not Found</html>", "bad_request", STOP),
    "405": (405, {"detail": "Method Not Allowed"}, "bad_request", STOP),
    "307": (307, "", "bad_request", STOP),
    "400, unknown model": (400, {"error": {"code": 400, "message": "foo/bar is not a valid model ID"}}, "bad_request", STOP),
    "400, model_not_found": (400, openai("no such model", "model_not_found"), "bad_request", STOP),
    "404, no endpoint for the format": (
        404,
        {"error": {"code": 404, "message": "No endpoints found that support response_format."}},
        "unsupported_format",
        AGAIN,
    ),
    "408": (408, "", "timeout", AGAIN),
    "409": (409, openai("conflict"), "server_error", AGAIN),
    "413": (413, "Payload Too Large", "context_length", FINAL),
    "425": (425, "", "server_error", AGAIN),
    "429": (429, openai("Rate limit reached for requests", "rate_limit_exceeded", "requests"), "rate_limited", AGAIN),
    "429 without a body": (429, "", "rate_limited", AGAIN),
    "429, quota": (
        429,
        openai("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", "insufficient_quota"),
        "quota",
        STOP,
    ),
    "429 of kimi, quota": (429, openai("suspended", type="exceeded_current_quota_error"), "quota", STOP),
    "429 of kimi, busy": (429, openai("The engine is currently overloaded", type="engine_overloaded_error"), "overloaded", AGAIN),
    "429 of kimi, fast": (429, openai("max RPM: 3", type="rate_limit_reached_error"), "rate_limited", AGAIN),
    "498 of groq": (498, openai("Flex tier capacity exceeded"), "overloaded", AGAIN),
    "500": (500, openai("The server had an error", type="server_error"), "server_error", AGAIN),
    "502": (502, "Bad Gateway", "server_error", AGAIN),
    "503, overloaded": (503, openai("The engine is currently overloaded, please try again later"), "overloaded", AGAIN),
    "504": (504, "<html>504</html>", "server_error", AGAIN),
    "520": (520, "error code: 520", "server_error", AGAIN),
    "524": (524, "", "server_error", AGAIN),
    "400, filter of azure": (
        400,
        openai("The response was filtered", "content_filter", innererror={"code": "ResponsibleAIPolicyViolation"}),
        "content_filter",
        FINAL,
    ),
    "400, inner code only": (
        400,
        {"error": {"code": "BadRequest", "message": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
        "content_filter",
        FINAL,
    ),
    "400, filter of kimi": (400, openai("high risk", type="content_filter"), "content_filter", FINAL),
    "400, tool of groq": (400, openai("Failed to call a function.", "tool_use_failed"), "bad_json", AGAIN),
    "400, too long": (
        400,
        openai("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.", "context_length_exceeded"),
        "context_length",
        FINAL,
    ),
    "400, too long, in words": (400, openai("prompt is too long: 210000 tokens > 200000 maximum"), "context_length", FINAL),
    "400, too long, llama.cpp": (
        400,
        {"error": {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error"}},
        "context_length",
        FINAL,
    ),
    "400, credit of anthropic": (
        400,
        {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}},
        "quota",
        STOP,
    ),
    "400, anything": (400, openai("messages: at least one message is required"), "bad_request", FINAL),
    "400 without a body": (400, "", "bad_request", FINAL),
    "400, a bad message": (400, openai("Invalid type for 'messages[0].content'", "invalid_type", param="messages[0].content"), "bad_request", FINAL),
    "400, a word like a parameter": (400, openai("Invalid role order: 'user' must follow 'assistant'"), "bad_request", FINAL),
    "422, anything": (422, {"detail": [{"type": "missing", "loc": ["body", "messages"], "msg": "Field required"}]}, "bad_request", FINAL),
    "418": (418, "", "bad_request", FINAL),
    "200, 429": (200, {"error": {"code": 429, "message": "Rate limit exceeded"}}, "rate_limited", AGAIN),
    "200, 429 as text": (200, {"error": {"code": "429", "message": "x"}}, "rate_limited", AGAIN),
    "200, code in words": (200, {"error": {"code": "rate_limit_exceeded", "message": "x"}}, "rate_limited", AGAIN),
    "200, quota": (200, {"error": {"code": "insufficient_quota", "message": "x"}}, "quota", STOP),
    "200, key": (200, {"error": {"code": "invalid_api_key", "message": "x"}}, "auth", STOP),
    "200, 401": (200, {"error": {"code": 401, "message": "x"}}, "auth", STOP),
    "200, 502": (200, {"error": {"code": 502, "message": "Provider returned error"}}, "server_error", AGAIN),
    "200, overloaded": (200, {"error": {"type": "overloaded_error", "message": "x"}}, "overloaded", AGAIN),
    "200, server error": (200, {"error": {"type": "server_error", "message": "x"}}, "server_error", AGAIN),
    "200, a timeout": (200, {"error": {"code": "timeout", "message": "x"}}, "timeout", AGAIN),
    "200, unnamed": (200, {"error": {"message": "something went wrong"}}, "provider_error", AGAIN),
    "200, a string": (200, {"error": "model runner has stopped"}, "provider_error", AGAIN),
    "200, old vllm": (200, {"object": "error", "message": "oops", "code": 400}, "bad_request", FINAL),
    "200, detail": (200, {"detail": "Not ready"}, "provider_error", AGAIN),
    "upstream, passed on": (
        400,
        {"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": '{"error": {"message": "x", "code": "context_length_exceeded"}}'}}},
        "context_length",
        FINAL,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("status", "body", "kind", "then"), ERRORS.values(), ids=ERRORS.keys())
def test_errors(status: int, body: Any, kind: str, then: str) -> None:
    error = failure(status, body)
    assert error.kind == kind
    assert (error.retry, error.stops_run) == (then == AGAIN, then == STOP)
    assert error.message
    assert error.action


@pytest.mark.parametrize(
    ("status", "body", "param"),
    [
        (400, openai("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "unsupported_parameter", param="max_tokens"), "max_tokens"),
        (400, openai("'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."), "max_tokens"),
        (400, openai("Unrecognized request argument supplied: seed"), "seed"),
        (400, openai("invalid temperature: only 1 is allowed for this model"), "temperature"),
        (400, openai("`temperature` and `top_p` cannot both be specified; must be one"), "temperature"),
        (400, openai("top_p: Extra inputs are not permitted"), "top_p"),
        (400, openai("Unknown parameter: 'chat_template_kwargs'.", "unknown_parameter", param="chat_template_kwargs"), "chat_template_kwargs"),
        (400, openai("'n' : number must be at most 1; only 1 is supported"), "n"),
        (400, openai("reasoning_effort is not supported by this model"), "reasoning_effort"),
        (400, openai("max_tokens is too large: 32768. It must be at most 16384.", "invalid_value", param="max_tokens"), "max_tokens"),
        (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 7}]}, "seed"),
        (400, {"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": '{"error":{"message":"Unsupported parameter: \'seed\'"}}'}}}, "seed"),
        (200, {"error": {"code": 400, "message": "Unsupported parameter: 'logprobs'"}}, "logprobs"),
    ],
)  # fmt: skip
def test_refused_parameters(status: int, body: Any, param: str) -> None:
    error = failure(status, body)
    assert (error.kind, error.param, error.retry) == ("unsupported_param", param, True)
    assert not error.arrived


@pytest.mark.parametrize(
    "body",
    [
        openai("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", param="response_format"),
        openai("This model does not support response format `json_schema`."),
        openai("This response_format type is unavailable now"),
        openai("Invalid schema for response_format 'verdict': 'minimum' is not permitted.", param="response_format"),
        openai("x", param="response_format.type"),
        openai("Structured outputs are not supported by this model"),
        openai("guided_json is not supported"),
        {"detail": [{"type": "literal_error", "loc": ["body", "response_format", "type"], "msg": "Input should be 'text'"}]},
    ],
)  # fmt: skip
def test_refused_formats(body: Any) -> None:
    error = failure(400, body)
    assert (error.kind, error.param, error.retry) == ("unsupported_format", "response_format", True)
    assert not error.arrived


def test_a_failed_generation_is_never_read() -> None:
    error = failure(
        400, openai("Failed to generate JSON.", "json_validate_failed", failed_generation='{"score": 1.0}')
    )
    assert (error.kind, error.retry, error.arrived) == ("bad_json", True, True)
    assert "1.0" not in error.message


def test_a_quota_for_a_while_is_a_rate_limit() -> None:
    body = [
        {
            "error": {
                "code": 429,
                "message": "You exceeded your current quota, please check your plan and billing details.",
                "status": "RESOURCE_EXHAUSTED",
                "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}],
            }
        }
    ]
    error = failure(429, body)
    assert (error.kind, error.wait_s, error.stops_run) == ("rate_limited", 34.5, False)
    spoken = openai("You exceeded your current quota, please check your plan.")
    assert failure(429, spoken, {"retry-after": "20"}).kind == "rate_limited"
    assert failure(429, spoken).kind == "quota"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"Retry-After": "2"}, 2.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": " 7 "}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "86400"}, 86400.0),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "10s"}, None),
        ({"retry-after-ms": "250.5"}, 0.2505),
        ({"retry-after-ms": "100", "retry-after": "9"}, 0.1),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "Date": "Wed, 21 Oct 2026 07:28:20 GMT"}, 10.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "garbage"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 09:28:30 +0200"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 -0000"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 99 Oct 2026 07:28:00 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 99999999999 07:28:00 GMT"}, None),
    ],
)
def test_the_wait_asked_for(headers: dict[str, str], expected: float | None) -> None:
    assert retry_wait(headers, NOW) == expected
    assert failure(503, "", headers).wait_s == expected


def test_a_naive_now_is_utc() -> None:
    said = {"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}
    assert retry_wait(said, NOW.replace(tzinfo=None)) == 30.0
    assert retry_wait({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, None) == 0.0


def documented() -> list[tuple[str, bool, bool]]:
    """Return the kinds of the module's table, with arrived and retry."""
    rows = [line.split("|") for line in (reply_error.__doc__ or "").splitlines() if line.startswith("| `")]
    return [
        (kind, row[3].strip() == "yes", row[4].strip() == "yes")
        for row in rows
        for kind in row[1].replace("`", "").replace("NAME", "score").replace(" ", "").split(",")
    ]


@pytest.mark.parametrize(("kind", "arrived", "retry"), documented())
def test_a_kind_behaves_as_documented(kind: str, arrived: bool, retry: bool) -> None:
    error = ReplyError(kind, "x.")
    assert (error.arrived, error.retry, error.stops_run) == (arrived, retry, kind in ("auth", "quota"))


def test_the_table_of_kinds_has_them_all() -> None:
    kinds = {kind for kind, _, _ in documented()}
    assert {row[2] for row in ERRORS.values()} | {"unsupported_param", "connection", "ambiguous"} <= kinds
    assert ReplyError("bad_quote", "Nobody wrote it.").arrived


def test_a_hostile_error_is_bounded() -> None:
    deep: Any = "x"
    for _ in range(500):
        deep = {"error": deep, "message": "m" * 1000}
    error = failure(500, deep)
    assert len(error.message) < 1000
    assert failure(400, {"error": {"message": "a\n\x1b[31m b\x00"}}).message == "a �[31m b�."
