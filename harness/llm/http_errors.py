"""Read a provider's error: what kind it is, how long to wait, which parameter is to blame.

Providers agree on little, so the evidence is weighed in this order: an error code or type that
says it, the HTTP status, a phrase of the message. The same reading serves errors that came with
HTTP 200; there the error's own code stands for the status. Never read: what a provider kept of
a failed generation.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from harness.llm.reply_error import ReplyError, shown

_FILTERED = frozenset(
    "content_filter content_filtered content_policy_violation responsible_ai_policy_violation "
    "responsibleaipolicyviolation data_inspection_failed moderation_blocked".split()
)
_UNGENERATED = frozenset("json_validate_failed tool_use_failed".split())
_SPENT = frozenset(
    "insufficient_quota exceeded_current_quota_error billing_hard_limit_reached insufficient_balance "
    "insufficient_balance_error billing_not_active payment_required billing_error".split()
)
_REFUSED_KEY = frozenset(
    "invalid_api_key authentication_error invalid_authentication_error incorrect_api_key_error "
    "unauthorized unauthenticated permission_error permission_denied api_key_invalid".split()
)
_UNKNOWN_MODEL = frozenset(
    "model_not_found model_not_found_error not_found_error resource_not_found_error".split()
)
_BUSY = frozenset(
    "overloaded overloaded_error engine_overloaded engine_overloaded_error capacity_exceeded".split()
)
_TOO_FAST = frozenset(
    "rate_limit rate_limited rate_limit_error rate_limit_exceeded rate_limit_reached_error "
    "too_many_requests resource_exhausted".split()
)
_TOO_LONG = frozenset(
    "context_length_exceeded exceed_context_size_error string_above_max_length request_too_large".split()
)
_BROKEN = frozenset(
    "server_error internal_error internal_server_error api_error unavailable bad_gateway".split()
)
_LATE = frozenset("timeout timeout_error request_timeout".split())
_UNSUPPORTED = frozenset("unsupported_parameter unsupported_value unknown_parameter extra_forbidden".split())

_SAYS_SPENT = re.compile(
    r"exceeded your current quota|insufficient (?:balance|credit|fund|quota)|credit balance is too low|"
    r"key limit exceeded|(?:requires|purchase|add) more credits",
    re.IGNORECASE,
)
_SAYS_KEY = re.compile(r"api key (?:not valid|is invalid|not found|expired)|invalid api key", re.IGNORECASE)
_SAYS_BUSY = re.compile(r"overloaded|over capacity|no capacity", re.IGNORECASE)
_SAYS_NO_MODEL = re.compile(r"not a valid model|model .{0,80}(?:does not exist|not found)", re.IGNORECASE)
_SAYS_LONG = re.compile(
    r"(?:maximum|max|exceeds?|available).{0,60}context|context.{0,20}(?:length|window|size).{0,40}exceed|"
    r"prompt is too long|(?:input|request) (?:is )?too (?:long|large)|too many (?:input )?tokens",
    re.IGNORECASE,
)
_SAYS_WORD = re.compile(r"must contain the word .{0,3}json", re.IGNORECASE)
_SAYS_FORMAT = re.compile(
    r"response[_ ]?format|json[_ ]schema|structured[_ ]outputs?|json[_ ](?:mode|object)|guided[_ ](?:json|decoding)",
    re.IGNORECASE,
)
_SAYS_UNSUPPORTED = re.compile(
    r"unsupported|(?:not|n't) support|un(?:recogni[sz]ed|known|expected)|extra (?:inputs|fields)|not (?:permitted|allowed)|"
    r"invalid|deprecated|must be|only .{0,40}(?:allowed|supported|permitted)|cannot be (?:set|specified|used)",
    re.IGNORECASE,
)
# Parameters that a request can do without, or under another name.
_OPTIONAL = (
    "temperature top_p top_k top_a min_p typical_p seed stop max_tokens max_completion_tokens presence_penalty "
    "frequency_penalty repetition_penalty logprobs top_logprobs logit_bias reasoning_effort reasoning "
    "verbosity parallel_tool_calls service_tier metadata store usage thinking "
    "enable_thinking chat_template_kwargs n"
).split()
_NAMED = re.compile(
    rf"['\"`](?P<quoted>{'|'.join(_OPTIONAL)})['\"`]|\b(?P<bare>[a-z]+_[a-z_]+|temperature|seed)\b"
)
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_CAPACITY = frozenset((498, 529))
_WRONG_ADDRESS = frozenset((301, 302, 303, 307, 308, 404, 405, 410))


class _Told(NamedTuple):
    """What an error says of itself."""

    status: int
    words: frozenset[str]
    param: str | None
    message: str
    wait_s: float | None
    flagged: bool = False


def http_error(status: int, headers: Mapping[str, str], body: Any, now: datetime | None = None) -> ReplyError:
    """Return the error of an HTTP status that is no success."""
    return _classified(_told(status, body, retry_wait(headers, now)))


def body_error(error: Any, headers: Mapping[str, str], now: datetime | None = None) -> ReplyError:
    """Return the error that came with HTTP 200, as the body's or a choice's `error`."""
    return _classified(_told(200, {"error": error}, retry_wait(headers, now)))


def retry_wait(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that a server asks to wait, None when it does not say, or not clearly.

    - `retry-after-ms` wins over `Retry-After`.
    - Seconds may have a fraction; a date counts from the server's own `Date`, else from `now`.
    - A date gone by is 0. A long wait is returned as it is: whether to wait is the caller's choice.
    """
    named = {name.lower(): value.strip() for name, value in headers.items()}
    millis = _seconds(named.get("retry-after-ms", ""))
    if millis is not None:
        return millis / 1000
    said = named.get("retry-after", "")
    seconds = _seconds(said)
    if seconds is not None:
        return seconds
    until = _date(said)
    if until is None:
        return None
    since = _date(named.get("date", "")) or now or datetime.now(UTC)
    if since.tzinfo is None:
        since = since.replace(tzinfo=UTC)
    return max(0.0, (until - since).total_seconds())


def _seconds(text: str) -> float | None:
    if not _SECONDS.fullmatch(text):
        return None
    seconds = float(text)
    return seconds if math.isfinite(seconds) else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _told(status: int, body: Any, wait_s: float | None) -> _Told:
    """Gather what an error says, whatever shape it came in."""
    levels = list(_levels(body))
    words: set[str] = set()
    messages: list[str] = []
    param: str | None = None
    flagged = False
    for level in levels:
        if isinstance(level, str):
            messages.append(level)
            continue
        code = level.get("code")
        if status < 300 and (meant := _as_status(code)):
            status = meant
        words |= {word.strip().lower() for word in map(level.get, _CODES) if isinstance(word, str)}
        messages += [text for text in map(level.get, _MESSAGES) if isinstance(text, str) and text.strip()]
        if param is None:
            param = _param(level)
        if wait_s is None and isinstance(delay := level.get("retryDelay"), str):
            wait_s = _seconds(delay.removesuffix("s"))
        flagged = flagged or "flagged_input" in level
    message = shown(" ".join(dict.fromkeys(messages))) or f"HTTP {status}"
    if message[-1] not in ".!?…":
        message += "."
    return _Told(status, frozenset(words), param, message, wait_s, flagged)


_CODES = ("code", "type", "status", "reason")
_MESSAGES = ("message", "msg", "error_description")
_INNER = ("error", "innererror", "inner_error", "metadata", "raw", "detail", "details", "errors")
_MOST_LEVELS = 20


def _levels(body: Any) -> Iterator[dict[str, Any] | str]:
    """Yield the objects and texts of an error, outermost first; a bounded number of them."""
    waiting: list[Any] = [body]
    for _ in range(_MOST_LEVELS):
        if not waiting:
            return
        level = waiting.pop(0)
        if isinstance(level, list):
            waiting += level[:_MOST_LEVELS]
        elif isinstance(level, str):
            inner = _decoded(level)
            if isinstance(inner, dict | list):
                waiting.append(inner)
            elif level.strip():
                yield level
        elif isinstance(level, dict):
            yield level
            waiting += [level[name] for name in _INNER if level.get(name)]


def _decoded(text: str) -> Any:
    """Return what a text holds as JSON: OpenRouter passes on a provider's error as such a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_status(code: Any) -> int | None:
    if isinstance(code, str) and code.strip().isdecimal() and len(code) < 6:
        code = int(code)
    return code if isinstance(code, int) and 400 <= code < 600 else None


def _param(level: Mapping[str, Any]) -> str | None:
    if isinstance(level.get("param"), str) and level["param"]:
        return str(level["param"])
    place = level.get("loc")
    if isinstance(place, list) and len(place) > 1 and place[0] == "body" and isinstance(place[1], str):
        return place[1]
    return None


def _classified(told: _Told) -> ReplyError:
    status, words = told.status, told.words
    if words & _FILTERED or told.flagged:
        return ReplyError("content_filter", told.message)
    if words & _UNGENERATED:
        return ReplyError("bad_json", told.message, action="resample; never read failed_generation")
    # A server that says when to come again has not lost its patience for good.
    spent = words & _SPENT or (told.wait_s is None and _SAYS_SPENT.search(told.message))
    if status == 402 or spent:
        return ReplyError("quota", told.message, action="stop the run")
    if status == 401 or words & _REFUSED_KEY or _SAYS_KEY.search(told.message):
        return ReplyError("auth", told.message, action="stop the run")
    if status in (400, 404, 415, 422) and (error := _request_error(told)):
        return error
    if status == 413 or words & _TOO_LONG:
        return _too_long(told)
    if status in _WRONG_ADDRESS or words & _UNKNOWN_MODEL or _no_model(told):
        return ReplyError("bad_request", told.message, action="check model and base URL", stops_run=True)
    if status == 403:
        return ReplyError("auth", told.message, action="stop the run")
    return _passing(told)


def _no_model(told: _Told) -> bool:
    return told.status in (400, 422) and _SAYS_NO_MODEL.search(told.message) is not None


def _passing(told: _Told) -> ReplyError:
    """Return the error for trouble that may pass, or else the general one."""
    status, words = told.status, told.words
    if status in _CAPACITY or words & _BUSY or (status in (429, 503) and _SAYS_BUSY.search(told.message)):
        kind = "overloaded"
    elif status == 429 or words & _TOO_FAST:
        kind = "rate_limited"
    elif status == 408 or (status < 300 and words & _LATE):
        kind = "timeout"
    elif status in (409, 425) or status >= 500 or (status < 300 and words & _BROKEN):
        kind = "server_error"
    elif status < 300:
        kind = "provider_error"
    else:
        return ReplyError("bad_request", told.message)
    action = "ask again" if told.wait_s is None else f"wait {told.wait_s:g} s"
    return ReplyError(kind, told.message, action=action, wait_s=told.wait_s)


def _request_error(told: _Told) -> ReplyError | None:
    """Return the error for a request whose form the model does not take."""
    if _SAYS_WORD.search(told.message):
        return ReplyError("bad_request", told.message, action="client bug: add the word")
    if told.words & _TOO_LONG or _SAYS_LONG.search(told.message):
        return _too_long(told)
    named = (told.param or "").split(".")[0].split("[")[0]
    if named in ("response_format", "text", "format") or (not named and _SAYS_FORMAT.search(told.message)):
        return ReplyError(
            "unsupported_format",
            told.message,
            action="step down the response formats, remember",
            param="response_format",
        )
    if told.status == 404:
        return None
    says_so = told.words & _UNSUPPORTED or _SAYS_UNSUPPORTED.search(told.message)
    param = named or (_param_in(told.message) if says_so else None)
    if not param or not (says_so or param in _OPTIONAL) or param in ("model", "messages"):
        return None
    renamed = param == "max_tokens"
    action = "send max_completion_tokens, remember" if renamed else f"omit {param}, remember"
    return ReplyError("unsupported_param", told.message, action=action, param=param)


def _param_in(message: str) -> str | None:
    """Return the first optional parameter that a message names."""
    for found in _NAMED.finditer(message):
        name = found["quoted"] or found["bare"]
        if name in _OPTIONAL:
            return name
    return None


def _too_long(told: _Told) -> ReplyError:
    return ReplyError(
        "context_length", told.message, action="shorten the request, or take a model with more context"
    )
