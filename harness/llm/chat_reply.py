"""The shape of a chat completion: choices, messages, content, and what stands in their place.

What every reply has to pass before anybody reads its words: an HTTP status of success, no error
in the body or the choice, no filter, no refusal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from harness.llm.http_errors import body_error, http_error
from harness.llm.reply_error import ReplyError, shown

AT_LIMIT = frozenset("length max_tokens model_length".split())
"""Ways in which providers say that a reply ended at the token limit."""

_WITHHELD = frozenset("content_filter safety recitation prohibited_content blocklist spii".split())
_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking")
_MOST_MONEY = 1e12
_NO_SCORE = "record, do not score 0; optional second judge"


@dataclass(frozen=True, slots=True)
class RawReply:
    """An HTTP answer: status, headers, and the body as JSON, or as text when it is none."""

    status: int
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call used, as the provider says; None where it does not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None


def usage_of(raw: RawReply) -> Usage | None:
    """Return what a call used, None when the body has no `usage`."""
    said = raw.body.get("usage") if isinstance(raw.body, dict) else None
    if not isinstance(said, dict):
        return None
    details = said.get("completion_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, dict) else None
    cost = said.get("cost")
    return Usage(
        _count(said.get("prompt_tokens")),
        _count(said.get("completion_tokens")),
        _count(reasoning),
        _money(cost),
    )


def _money(value: Any) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST_MONEY
    return float(value) if known else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def model_of(raw: RawReply) -> str | None:
    """Return the model as the provider names it, None where it does not."""
    named = raw.body.get("model") if isinstance(raw.body, dict) else None
    return named if isinstance(named, str) and named else None


def choices_of(raw: RawReply, now: datetime | None) -> list[dict[str, Any]]:
    """Return the reply's choices, at least one."""
    if not 200 <= raw.status < 300:
        raise http_error(raw.status, raw.headers, raw.body, now)
    body = raw.body
    if not isinstance(body, dict):
        said = f"begins {shown(body[:60])!r}" if isinstance(body, str) and body.strip() else "is empty"
        raise ReplyError(
            "provider_error",
            f"The body is no chat completion; it {said}.",
            action="check base URL; ask again",
        )
    if body.get("error"):
        raise body_error(body["error"], raw.headers, now)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise (
            body_error(body, raw.headers, now)
            if "message" in body or "detail" in body
            else ReplyError("provider_error", "The reply has no choices.")
        )
    if not all(isinstance(choice, dict) for choice in choices):
        raise ReplyError("provider_error", "The reply's choices are no objects.")
    return choices


def message_of(choice: Mapping[str, Any], raw: RawReply, now: datetime | None) -> tuple[dict[str, Any], str]:
    """Return a choice's message and how it ended, in lower case."""
    if choice.get("error"):
        raise body_error(choice["error"], raw.headers, now)
    reason = choice.get("finish_reason")
    ended = reason.lower() if isinstance(reason, str) else ""
    if ended == "error":
        raise ReplyError("provider_error", "The provider ended the reply with an error.")
    if ended in _WITHHELD:
        raise ReplyError("content_filter", "The provider's filter withheld the reply.", action=_NO_SCORE)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise ReplyError("provider_error", "The reply has no message.")
    refusal = message.get("refusal") or _part_of(message.get("content"), "refusal")
    if refusal or ended == "refusal":
        said = f": {shown(refusal)}" if isinstance(refusal, str) else "."
        raise ReplyError("refusal", f"The model refused{said}", action=_NO_SCORE)
    return message, ended


def _part_of(content: Any, kind: str) -> Any:
    parts = content if isinstance(content, list) else ()
    return next(
        (part.get(kind) for part in parts if isinstance(part, dict) and part.get("type") == kind), None
    )


def content_of(message: Mapping[str, Any]) -> str | dict[str, Any]:
    """Return the text of a message, its parts joined; or the object that some servers put there."""
    content = message.get("content")
    if isinstance(content, str | dict):
        return content
    if content is None:
        return ""
    if not isinstance(content, list):
        raise ReplyError("bad_shape", "The content is neither text nor parts.")
    texts = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            texts.append(text)
    return "".join(texts)


def cut_reply(where: str) -> ReplyError:
    """Return the error for a reply that the token limit cut."""
    return ReplyError("truncated", f"The reply was cut {where}.", action="raise max_completion_tokens")


def nothing_in(message: Mapping[str, Any], thought: bool, ended: str) -> ReplyError:
    """Return the error for a reply without content."""
    if ended in AT_LIMIT:
        return cut_reply("before it began")
    if ended in ("tool_calls", "function_call"):
        return ReplyError("bad_shape", "The reply announces a tool call and has none.")
    reasoning = next((message[name] for name in _REASONING if message.get(name)), None)
    if isinstance(reasoning, str) and reasoning.strip().startswith("{") and reasoning.strip().endswith("}"):
        action = "server misroutes: report, try without reasoning parser"
        return ReplyError("empty", "The reply is empty, with an object among its thoughts.", action=action)
    if reasoning or thought:
        action = "reasoning only: raise limit / disable thinking"
        return ReplyError("empty", "The reply is thoughts only.", action=action)
    return ReplyError("empty", "The reply is empty.")


def calls_of(message: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return name and arguments of each tool call, the older form included."""
    listed = message.get("tool_calls")
    calls = (
        [call.get("function") for call in listed if isinstance(call, dict)]
        if isinstance(listed, list)
        else []
    )
    calls.append(message.get("function_call"))
    return [(str(call.get("name")), call.get("arguments")) for call in calls if isinstance(call, dict)]
