"""Vectors made of a text's words: the same text, the same vector, and texts that share words lie close."""

from __future__ import annotations

import base64
import math
import re
from array import array
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

DIMENSIONS = 64
_WORD = re.compile(r"\w+")


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return a vector of length 1: each word adds to or takes from one place, by its hash."""
    values = [0.0] * dimensions
    for word in _WORD.findall(text.lower()) or [""]:
        digest = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
        values[(digest >> 1) % dimensions] += 1.0 if digest & 1 else -1.0
    norm = math.sqrt(sum(value * value for value in values))
    if not norm:  # words that cancel each other out
        values[0] = norm = 1.0
    return [value / norm for value in values]


def response(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the body that answers an embeddings request.

    Raises:
        ValueError: for a request without an input or with no sensible `dimensions`.
    """
    dimensions = asked.get("dimensions", DIMENSIONS)
    if not isinstance(dimensions, int) or not 1 <= dimensions <= 4096:
        raise ValueError("Invalid value for 'dimensions': must be between 1 and 4096.")
    texts = list(_texts(asked.get("input")))
    as_text = asked.get("encoding_format") == "base64"
    data = []
    for index, text in enumerate(texts):
        values = vector(text, dimensions)
        data.append(
            {"object": "embedding", "index": index, "embedding": _packed(values) if as_text else values}
        )
    tokens = sum(len(text) // 4 + 1 for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": asked.get("model"), "usage": usage}


def _packed(values: list[float]) -> str:
    return base64.b64encode(array("f", values).tobytes()).decode()


def _texts(given: Any) -> Iterator[str]:
    """Yield the texts of an input: a text, token numbers, or a list of either."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, list) and given:
        if all(isinstance(item, int) for item in given):
            yield " ".join(map(str, given))
        else:
            for item in given:
                yield from _texts(item)
    else:
        raise ValueError("'input' must be a text or a list of texts.")
