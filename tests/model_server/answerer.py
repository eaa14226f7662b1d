"""What the model says when it is not asked to judge: a sentence about the last message, or data of the shape asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .judge_prompt import text_of

_ECHOED_WORDS = 16


def last_user_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of the last user message."""
    return next((text_of(m) for m in reversed(messages) if m.get("role") == "user"), "")


def answered(body: Mapping[str, Any], form: str) -> str:
    """Return the reply to a request; the same request gets the same reply."""
    said = last_user_text(body["messages"])
    sentence = f"You said: {' '.join(said.split()[-_ECHOED_WORDS:])}"
    if form == "json_schema":
        schema = body["response_format"].get("json_schema", {}).get("schema", {})
        return json.dumps(instance(schema, schema, sentence), ensure_ascii=False)
    if form == "json_object":
        return json.dumps({"answer": sentence}, ensure_ascii=False)
    return sentence


def instance(schema: Mapping[str, Any], root: Mapping[str, Any], text: str) -> Any:
    """Return a small value that a JSON schema allows, with `text` for its free texts."""
    if "$ref" in schema:
        node: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            node = node[part]
        return instance(node, root, text)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for choice in ("anyOf", "oneOf", "allOf"):
        if schema.get(choice):
            return instance(schema[choice][0], root, text)
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: instance(inner, root, text) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [instance(schema.get("items", {}), root, text) for _ in range(schema.get("minItems", 0))]
    plain: Mapping[str, Any] = {"string": text, "boolean": True, "null": None}
    return plain.get(kind, schema.get("minimum", 1))
