"""Requests that are refused: the status and the error body of each kind, in the providers' words.

- `status` (main argument `code`) refuses with any status; `message` is its text.
- Each takes `retry_after` and `retry_after_ms`. `retry_after` is 2, 0.05, "date:2" (an HTTP date two
  seconds from the server's own Date), "garbage", or left out for no header.
- A parameter's refusal strikes only requests that have the parameter: `unsupported_param` takes its name.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from email.utils import formatdate
from typing import Any, NamedTuple

from .wire import Response

_HTML = (
    "<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n"
    "<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
)


class Refusal(NamedTuple):
    """How one kind of request is refused.

    Attributes:
        status: the HTTP status.
        body: the error's JSON, or a text of HTML. `{name}` in its message stands for an argument.
        param: the parameter that the request must have.
        format: the response format that the request must ask for.
        main: the name of the main argument.
    """

    status: int
    body: Mapping[str, Any] | str
    param: str | None = None
    format: str | None = None
    main: str = ""


def _error(message: str, kind: str | None, code: Any = None, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


_INVALID = "invalid_request_error"
_FILTER = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry."
_SCHEMA = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
_TEMPERATURE = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported."
_MAX_TOKENS = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
_TOO_LONG = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9411 tokens. Please reduce the length of the messages."
_SPENT = "You exceeded your current quota, please check your plan and billing details."
_NO_MODEL = "The model `{model}` does not exist or you do not have access to it."
_GROQ = "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details."

REFUSALS: Mapping[str, Refusal] = {
    "status": Refusal(500, _error("{message}", None), main="code"),
    "rate_limited": Refusal(
        429,
        _error("Rate limit reached for requests. Please try again later.", "requests", "rate_limit_exceeded"),
        main="retry_after",
    ),
    "insufficient_quota": Refusal(429, _error(_SPENT, "insufficient_quota", "insufficient_quota")),
    "server_error": Refusal(
        500,
        _error("The server had an error while processing your request. Sorry about that!", "server_error"),
    ),
    "bad_gateway": Refusal(502, _HTML.format(title="502 Bad Gateway")),
    "html_503": Refusal(503, _HTML.format(title="503 Service Temporarily Unavailable"), main="retry_after"),
    "overloaded": Refusal(
        529,
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        main="retry_after",
    ),
    "unauthorized": Refusal(401, _error("Incorrect API key provided: sk-****.", _INVALID, "invalid_api_key")),
    "payment_required": Refusal(
        402, {"error": {"code": 402, "message": "Insufficient credits. Add more to your account and retry."}}
    ),
    "forbidden": Refusal(
        403,
        _error(
            "Country, region, or territory not supported",
            "request_forbidden",
            "unsupported_country_region_territory",
        ),
    ),
    "model_not_found": Refusal(404, _error(_NO_MODEL, _INVALID, "model_not_found")),
    "bad_route": Refusal(404, _error("Invalid URL (POST {path})", _INVALID)),
    "unsupported_temperature": Refusal(
        400, _error(_TEMPERATURE, _INVALID, "unsupported_value", "temperature"), param="temperature"
    ),
    "unsupported_max_tokens": Refusal(
        400, _error(_MAX_TOKENS, _INVALID, "unsupported_parameter", "max_tokens"), param="max_tokens"
    ),
    "unsupported_seed": Refusal(
        400,
        {"object": "error", "message": "Extra inputs are not permitted: 'seed'", "code": 400},
        param="seed",
    ),
    "unsupported_param": Refusal(
        400,
        _error("Unrecognized request argument supplied: {param}", _INVALID, None, "{param}"),
        main="param",
    ),
    "unsupported_json_schema": Refusal(
        400, _error(_SCHEMA, _INVALID, None, "response_format"), format="json_schema"
    ),
    "unsupported_json_object": Refusal(
        400,
        _error(
            "This model does not support the response format json_object", _INVALID, None, "response_format"
        ),
        format="json_object",
    ),
    "needs_word_json": Refusal(
        400,
        _error(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            _INVALID,
            None,
            "messages",
        ),
    ),
    "json_validate_failed": Refusal(
        400,
        {
            "error": {
                "message": _GROQ,
                "type": _INVALID,
                "code": "json_validate_failed",
                "failed_generation": '{"reasoning": "The answer',
            }
        },
    ),
    "context_length": Refusal(400, _error(_TOO_LONG, _INVALID, "context_length_exceeded", "messages")),
    "azure_content_filter": Refusal(
        400,
        {
            "error": {
                "message": _FILTER,
                "type": None,
                "param": "prompt",
                "code": "content_filter",
                "status": 400,
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
    ),
    "bad_request": Refusal(400, _error("{message}", _INVALID), main="message"),
}


def refused(name: str, arguments: Mapping[str, Any], asked: Mapping[str, Any], form: str) -> Response | None:
    """Return the refusal of a request, or None where it does not concern it.

    Args:
        name: a key of `REFUSALS`.
        arguments: those of the fault.
        asked: the body of the request.
        form: the response format that it asks for.
    """
    kind = REFUSALS[name]
    param = arguments.get("param") or kind.param
    if (param and param not in asked) or (kind.format and kind.format != form):
        return None
    status = int(arguments.get("code") or kind.status)
    headers = tuple(_retry_headers(arguments).items())
    if isinstance(kind.body, str):
        return Response(status, kind.body.encode(), headers, "text/html")
    values = {"model": asked.get("model"), "message": f"Error {status}.", **arguments}
    return Response(status, json.dumps(_filled(kind.body, values)).encode(), headers)


def _filled(node: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(node, Mapping):
        return {name: _filled(item, values) for name, item in node.items()}
    if isinstance(node, str):
        for name, value in values.items():
            node = node.replace(f"{{{name}}}", str(value))
    return node


def _retry_headers(arguments: Mapping[str, Any]) -> dict[str, str]:
    headers: dict[str, str] = {}
    after = arguments.get("retry_after")
    if isinstance(after, str) and after.startswith("date"):
        now = time.time()
        headers["date"] = formatdate(now, usegmt=True)
        headers["retry-after"] = formatdate(now + float(after.partition(":")[2] or 1), usegmt=True)
    elif after is not None:
        headers["retry-after"] = "in a moment" if after == "garbage" else str(after)
    if "retry_after_ms" in arguments:
        headers["retry-after-ms"] = str(arguments["retry_after_ms"])
    return headers
