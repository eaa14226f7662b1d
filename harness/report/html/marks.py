"""Texts of others, made fit to be shown: nothing hidden in them, and the places that matter marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

Kind = Literal["wrong", "unsure", "found", "optional", "quote"]
_STRONGEST: tuple[Kind, ...] = ("wrong", "unsure", "found", "optional", "quote")

# Whatever would act on the page around it, or stand in it unseen: controls, bidirectional marks,
# overrides and isolates, line separators, tag characters, halves of surrogate pairs.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


class Span(NamedTuple):
    """A place in a text: what it is marked as, and the words that explain it."""

    start: int
    end: int
    kind: Kind
    note: str


class Piece(NamedTuple):
    """A stretch of a text as it is shown; `kind` is empty where nothing is marked."""

    text: str
    kind: Kind | Literal[""] = ""
    note: str = ""


Pieces = tuple[Piece, ...]


def visible(text: str) -> str:
    """Write hidden characters as `[U+202E]`; line ends and tabs stay."""
    return _HIDDEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text.replace("\r\n", "\n"))


def plain(text: str) -> Pieces:
    """Return a text without a mark."""
    return (Piece(visible(text)),) if text else ()


def cut(text: str, spans: Iterable[Span]) -> Pieces:
    """Return a text in pieces, each marked with the strongest of the spans over it.

    Args:
        text: as it was given; spans count its characters.
        spans: in any order; they may overlap, and those outside of the text are left out.
    """
    valid = [span for span in spans if 0 <= span.start < span.end <= len(text)]
    if not valid:
        return plain(text)
    edges = sorted({0, len(text)} | {at for span in valid for at in (span.start, span.end)})
    pieces: list[Piece] = []
    for start, end in pairwise(edges):
        over = [span for span in valid if span.start <= start and end <= span.end]
        piece = Piece(visible(text[start:end]), *_shown(over))
        if pieces and pieces[-1][1:] == piece[1:]:
            piece = Piece(pieces.pop().text + piece.text, piece.kind, piece.note)
        pieces.append(piece)
    return tuple(pieces)


def shorten(text: str, limit: int) -> tuple[str, int]:
    """Return the beginning of a text, and how many characters are left out."""
    return (text, 0) if len(text) <= limit else (text[:limit], len(text) - limit)


def quotes(text: str, said: Sequence[tuple[str, Kind, str]]) -> list[Span]:
    """Return where words that were quoted from a text stand in it, where they stand as quoted."""
    found = []
    for words, kind, note in said:
        at = text.find(words) if words else -1
        if at >= 0:
            found.append(Span(at, at + len(words), kind, note))
    return found


def _shown(over: Sequence[Span]) -> tuple[Kind | Literal[""], str]:
    if not over:
        return "", ""
    kind = min((span.kind for span in over), key=_STRONGEST.index)
    notes = dict.fromkeys(span.note for span in over if span.note)
    return kind, visible("; ".join(notes))
