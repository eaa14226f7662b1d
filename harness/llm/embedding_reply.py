"""Read the answer of an embeddings endpoint into vectors, or a typed error.

A vector is a list of numbers, or those numbers as 32-bit floats, little-endian, in base64. Nothing
stands in for a vector that is missing or no vector: the whole reply is an error then.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import sys
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.llm.chat_reply import RawReply
from harness.llm.http_errors import body_error, http_error
from harness.llm.reply_error import ReplyError, shown


class Embedded(NamedTuple):
    """One text's vector, and how the reply wrote it.

    Attributes:
        vector: finite numbers, not all of them 0.
        written: a list or a text, as it came.
    """

    vector: list[float]
    written: Any


def read_embeddings(raw: RawReply, count: int, dimensions: int | None = None) -> list[Embedded]:
    """Return the vectors of `count` texts in the order of the texts.

    Args:
        raw: the reply.
        count: how many texts were sent.
        dimensions: the length that vectors of this model have, where it is known.

    Raises:
        ReplyError: when there is not exactly one vector for each text, all of one length. Of the kinds
            `bad_shape`, `not_finite` and `provider_error`, or what an error of the provider's says.
    """
    items = _items(raw)
    if len(items) != count:
        raise ReplyError("bad_shape", f"The reply has {len(items)} vectors for {count} texts.")
    places = [_place(item, at) for at, item in enumerate(items)]
    if sorted(places) != list(range(count)):
        raise ReplyError("bad_shape", "The reply's indexes are not those of the texts, each once.")
    found = {place: _embedded(item) for place, item in zip(places, items, strict=True)}
    lengths = {len(one.vector) for one in found.values()} | ({dimensions} if dimensions else set())
    if len(lengths) > 1:
        said = ", ".join(map(str, sorted(lengths)))
        raise ReplyError("bad_shape", f"Vectors of one model differ in length: {said}.")
    return [found[place] for place in range(count)]


def as_reply(embedded: Embedded, model: Any) -> str:
    """Return one text's part of a reply as a reply of its own."""
    one = {"object": "embedding", "index": 0, "embedding": embedded.written}
    return json.dumps({"object": "list", "data": [one], "model": model}, separators=(",", ":"))


def _items(raw: RawReply) -> Sequence[Any]:
    """Return the items of a reply that is a success."""
    if not 200 <= raw.status < 300:
        raise http_error(raw.status, raw.headers, raw.body)
    body = raw.body
    if isinstance(body, dict) and body.get("error"):
        raise body_error(body["error"], raw.headers)
    items = body.get("data") if isinstance(body, dict) else None
    if not isinstance(items, list):
        raise ReplyError("provider_error", f"No embeddings are in the reply: {shown(body)}")
    return items


def _place(item: Any, at: int) -> int:
    """Return which text an item is about; where no index is given, the items' order says it."""
    index = item.get("index", at) if isinstance(item, dict) else at
    if isinstance(index, bool) or not isinstance(index, int):
        raise ReplyError("bad_shape", f"An index of the reply is no number: {shown(index)}")
    return index


def _embedded(item: Any) -> Embedded:
    written = item.get("embedding") if isinstance(item, dict) else None
    vector = _unpacked(written) if isinstance(written, str) else _numbers(written)
    if not vector:
        raise ReplyError("bad_shape", "A vector of the reply is empty.")
    if not all(map(math.isfinite, vector)):
        raise ReplyError("not_finite", "A vector of the reply holds what is no finite number.")
    if not any(vector):
        raise ReplyError("bad_shape", "A vector of the reply is all zeros, which has no direction.")
    return Embedded(vector, written)


def _numbers(written: Any) -> list[float]:
    if not isinstance(written, list) or not all(type(value) in (float, int) for value in written):
        raise ReplyError("bad_shape", f"What should be a vector is {shown(written)}")
    try:
        return [float(value) for value in written]
    except OverflowError:  # an integer beyond any float
        raise ReplyError("not_finite", "A vector of the reply holds what is no finite number.") from None


def _unpacked(written: str) -> list[float]:
    try:
        packed = base64.b64decode(written, validate=True)
        values = array("f", packed)
    except (binascii.Error, ValueError):
        raise ReplyError("bad_shape", f"What should be a vector in base64 is {shown(written)}") from None
    if sys.byteorder == "big":
        values.byteswap()
    return values.tolist()
