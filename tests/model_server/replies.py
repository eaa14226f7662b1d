"""A chat completion's envelope and text, and what can go wrong in them while the status is 200.

- `truncated` (main argument `below`): the text is cut in half, `finish_reason` "length". With `below`, only where the
  request grants fewer tokens than that, so that a larger limit mends it.
- `null_content`, `empty_content`, `blank_content`, `garbage`, `garbage_json` (an object with none of the fields),
  `text` (main argument `text`: that text).
- `think`, `think_tail` (only the closing tag), `think_open` (never closed), `reasoning_field` (all in
  `reasoning_content`, no content).
- `fenced`, `prose` (a sentence before and after), `parts` (a list of text parts), `bom`.
- `refusal`, `content_filter`, `no_choices`, `error_body`, `error_in_choice` (main argument `code`).
- `usage_null`, `usage_cost` (main argument `cost`), `usage_cached`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

REPLY_FAULTS: Mapping[str, str] = {
    **dict.fromkeys(
        "null_content empty_content blank_content garbage garbage_json think think_tail think_open reasoning_field "
        "fenced prose parts bom refusal content_filter no_choices usage_null usage_cached".split(),
        "",
    ),
    "truncated": "below",
    "text": "text",
    "error_body": "code",
    "error_in_choice": "code",
    "usage_cost": "cost",
}
_BYTES_A_TOKEN = 4
_THOUGHT = 'The draft {"verdict": "met"} may be wrong. Let me look again.'
_REFUSED = "I'm sorry, but I can't assist with that request."
_REWRITES: Mapping[str, Callable[[str], str | None]] = {
    "null_content": lambda text: None,
    "empty_content": lambda text: "",
    "blank_content": lambda text: "  \n",
    "garbage": lambda text: "As a matter of fact, well, the thing is 3 of 5, or so one would say.",
    "garbage_json": lambda text: '{"grade": "B", "note": "fine"}',
    "think": lambda text: f"<think>{_THOUGHT}</think>\n\n{text}",
    "think_tail": lambda text: f"{_THOUGHT}\n</think>\n\n{text}",
    "think_open": lambda text: f"<think>\n{_THOUGHT} {text}",
    "fenced": lambda text: f"```json\n{text}\n```",
    "prose": lambda text: f"Here is my evaluation:\n\n{text}\n\nI hope this helps!",
    "bom": lambda text: f"\ufeff{text}",
}


def completion(
    text: str, asked: Mapping[str, Any], faults: Mapping[str, Mapping[str, Any]], number: int
) -> dict[str, Any]:
    """Return the body that answers a chat request.

    Args:
        text: what the model says.
        asked: the body of the request.
        faults: arguments by the name of the fault, in the order they are applied.
        number: of the request; it makes the reply's id.
    """
    limit = asked.get("max_completion_tokens") or asked.get("max_tokens")
    said: str | None = text
    for name, arguments in faults.items():
        if said is not None and name in _REWRITES:
            said = _REWRITES[name](said)
        elif name == "text":
            said = str(arguments.get("text", "Hello."))
    finish = "stop"
    if said is not None and isinstance(limit, int) and tokens_of(said) > limit:
        said, finish = said[: limit * _BYTES_A_TOKEN], "length"
    if said and "truncated" in faults and _too_few(faults["truncated"], limit):
        said, finish = said[: len(said) // 2], "length"
    message: dict[str, Any] = {"role": "assistant", "content": said, "refusal": None}
    if "parts" in faults and said is not None:
        half = len(said) // 2
        message["content"] = [{"type": "text", "text": said[:half]}, {"type": "text", "text": said[half:]}]
    if "reasoning_field" in faults:
        message |= {"content": "", "reasoning_content": said}
    if "refusal" in faults:
        message |= {"content": None, "refusal": _REFUSED}
    if "content_filter" in faults:
        message["content"], finish = "", "content_filter"
    choice: dict[str, Any] = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    if "error_in_choice" in faults:
        choice |= {"error": _error(faults["error_in_choice"]), "finish_reason": "error"}
        message["content"] = ""
    if "error_body" in faults:
        return {"error": _error(faults["error_body"])}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.get("model"),
        "choices": [] if "no_choices" in faults else [choice],
        "usage": _usage(asked, said or "", faults),
    }


def tokens_of(text: str) -> int:
    """Return a text's length in tokens, roughly."""
    return -(-len(text) // _BYTES_A_TOKEN)


def _too_few(arguments: Mapping[str, Any], limit: Any) -> bool:
    below = arguments.get("below")
    return below is None or (isinstance(limit, int) and limit < below)


def _error(arguments: Mapping[str, Any]) -> dict[str, Any]:
    code = arguments.get("code", 502)
    return {"code": code, "message": "rate limited upstream" if code == 429 else "Provider returned error"}


def _usage(
    asked: Mapping[str, Any], said: str, faults: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any] | None:
    if "usage_null" in faults:
        return None
    prompt = sum(tokens_of(str(message.get("content"))) for message in asked["messages"])
    spent = tokens_of(said)
    usage: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": spent,
        "total_tokens": prompt + spent,
    }
    if "usage_cost" in faults:
        usage["cost"] = faults["usage_cost"].get("cost", 0.0001)
    if "usage_cached" in faults:
        usage["prompt_tokens_details"] = {"cached_tokens": prompt // 2}
    return usage
