"""Does a quote really stand in an answer?

Compared word by word: case, punctuation, markdown and white space do not count, every word and
digit does. A quote with an ellipsis has to stand part by part, in order.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+")
_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.{3,}|…)\s*\]|\.{3,}|…)\s*")


def words(text: str) -> str:
    """Return the words of a text in one form, a space before, between and after them."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return f" {' '.join(_WORD.findall(folded))} "


def occurs(quote: str, answer_words: str) -> bool:
    """Say whether a quote stands in an answer.

    Args:
        quote: what a judge says that it copied.
        answer_words: the answer as `words` returns it.

    Returns:
        False for a quote without a letter or digit, which stands anywhere and shows nothing.
    """
    at, found = 0, False
    for part in _ELLIPSIS.split(quote):
        wanted = words(part)
        if not wanted.strip():
            continue
        place = answer_words.find(wanted, at)
        if place < 0:
            return False
        # The space after a part is the one before the next.
        at, found = place + len(wanted) - 1, True
    return found
