"""Embeddings without a model: hashed character n-grams. They see spelling and nothing else."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence

DIMENSIONS = 512
_WORD = re.compile(r"[^\W_]+")
_GRAMS = (3, 4, 5)


async def embed(texts: Sequence[str]) -> list[list[float]]:
    """Return a vector of length 1 for each text: signed hashes of the n-grams of its words.

    Weinberger and others, "Feature hashing for large scale multitask learning", ICML 2009. A gram
    counts by the logarithm of how often it stands in the text. The same text has the same vector
    on every machine.
    """
    return [_vector(text) for text in texts]


def _vector(text: str) -> list[float]:
    grams: Counter[str] = Counter()
    for word in _WORD.findall(text.casefold()):
        padded = f"<{word}>"
        grams[padded] += 1
        for size in _GRAMS:
            grams.update(padded[at : at + size] for at in range(len(padded) - size + 1))
    vector = [0.0] * DIMENSIONS
    for gram, count in grams.items():
        digest = int.from_bytes(
            hashlib.blake2b(gram.encode("utf-8", "replace"), digest_size=8).digest(), "big"
        )
        sign = 1.0 if digest & 1 else -1.0
        vector[(digest >> 1) % DIMENSIONS] += sign * (1 + math.log(count))
    length = math.sqrt(math.fsum(value * value for value in vector))
    return [value / length for value in vector] if length else vector
