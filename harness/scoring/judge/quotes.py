"""Does a quote really stand in an answer?

Compared letter by letter and digit by digit: case, punctuation, markdown and white space do not
count. A quote begins and ends where words of the answer do, and an amount such as "$1,299" is one
word, so that neither "12" nor "$299" stands in it. A quote with an ellipsis has to stand part by part, in order.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

# Scripts that put no spaces between words: each character is a word of its own.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTERS = rf"[^\W_{_UNSPACED}]+"
_WORD = re.compile(rf"(?=[^\W_])[{_UNSPACED}]|{_LETTERS}(?:(?<=\d)[.,](?=\d){_LETTERS})*")
_INSIDE = str.maketrans("", "", ".,")
_ELLIPSIS = re.compile(r"\.{3,}|…")


class Said(NamedTuple):
    """The words of an answer, ready to look quotes up in.

    Attributes:
        stream: all letters and digits in one form, nothing between them.
        edges: the places in the stream between two words, its ends among them.
        words: how many words there are.
    """

    stream: str
    edges: frozenset[int]
    words: int


def said(text: str) -> Said:
    """Return the words of a text."""
    found = _words(text)
    edges, at = {0}, 0
    for word in found:
        at += len(word)
        edges.add(at)
    return Said("".join(found), frozenset(edges), len(found))


def occurs(quote: str, answer: Said) -> bool:
    """Say whether a quote stands in an answer.

    Returns:
        False for a quote without a letter or digit, which stands anywhere and shows nothing.
    """
    at, found = 0, False
    for part in _ELLIPSIS.split(quote):
        wanted = "".join(_words(part))
        if not wanted:
            continue
        place = _place(wanted, answer, at)
        if place < 0:
            return False
        at, found = place + len(wanted), True
    return found


def _place(wanted: str, answer: Said, at: int) -> int:
    place = answer.stream.find(wanted, at)
    while place >= 0:
        if place in answer.edges and place + len(wanted) in answer.edges:
            return place
        place = answer.stream.find(wanted, place + 1)
    return -1


def _words(text: str) -> list[str]:
    plain = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    found = _WORD.findall(plain)
    return [word if word.isalnum() else word.translate(_INSIDE) for word in found]
