r"""Normalise an answer so that equal-looking text compares equal, and nothing else does.

Order: render Markdown → protect superscripts and fractions → NFKC, drop format
characters, fold dashes, quotes, spaces and every script's digits → casefold.
Confusables (Cyrillic А for Latin A) are never folded.

`text` is folded and `cased` is the same with the case kept, of the same length; both map
back to the answer as given. A break between blocks is `BREAK`, white space is ` ` or `\\n`.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from harness.facts import markdown
from harness.facts.markdown import BREAK, Piece
from harness.facts.patterns import LazyPattern

FRACTIONS = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5",
    "⅘": "4/5", "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8",
}  # fmt: skip
_SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
# A superscript is a footnote mark or an exponent, never a further digit of a number.
_PROTECTED = frozenset(FRACTIONS) | frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹") | frozenset(_SUBSCRIPTS)
_FOLDED = {
    **dict.fromkeys("‐‑‒−﹣－⁃", "-"),
    **dict.fromkeys("–﹘", "–"),
    **dict.fromkeys("—―⸺", "—"),
    **dict.fromkeys("‘’‚‛ʼʹ′＇´`", "'"),
    **dict.fromkeys("“”„‟«»″＂", '"'),
    **dict.fromkeys("\t\r\x1f", " "),
    **dict.fromkeys("\v\x85\u2028", "\n"),
    **dict.fromkeys("\f\x1c\x1d\x1e\u2029", BREAK),
    "º": "°",
    "⁄": "/",
    "∕": "/",
    "…": "...",
}
_ASCII_ODD = "`\t\r\v\f\x1c\x1d\x1e\x1f"
_ASCII_TABLE = {ord(char): _FOLDED[char] for char in _ASCII_ODD}
_DOT_ABOVE = "\u0307"
_NOT_ASCII = LazyPattern(r"[^\x00-\x7f]")
_CLUSTERED = LazyPattern(r"[\x00-\x7f]?[^\x00-\x7f]+")
# The 2 of H₂O is a digit of the name; the ₂ of 10₂ is not one of the number.
_AFTER_LETTER = LazyPattern(rf"(?<=[A-Za-z)])[{_SUBSCRIPTS}]+")


class Origin(NamedTuple):
    """Where shown text comes from: `starts[i]` is where piece `i` begins in the shown text."""

    starts: list[int]
    pieces: list[Piece]

    @classmethod
    def of(cls, pieces: list[Piece]) -> Origin:
        """Number the pieces by where they stand in the text they make."""
        starts, at = [], 0
        for piece in pieces:
            starts.append(at)
            at += len(piece.text)
        return cls(starts, pieces)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the source span of `shown[start:end]`, which is not empty."""
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, max(start, end - 1)) - 1
        opening, closing = self.pieces[first], self.pieces[last]
        begin, stop = opening.start, closing.end
        if opening.end - opening.start == len(opening.text):
            begin += start - self.starts[first]
        if closing.end - closing.start == len(closing.text):
            stop = closing.start + max(start + 1, end) - self.starts[last]
        return begin, stop


class Normalised(NamedTuple):
    """An answer as the matcher reads it; `origins` is empty when nothing moved."""

    text: str
    cased: str
    origins: tuple[Origin, ...]

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the answer as given of `text[start:end]`."""
        for origin in self.origins:
            start, end = origin.span(start, end)
        return start, end


def normalise(raw: str) -> Normalised:
    """Render, fold and casefold `raw`, keeping track of where each character came from."""
    if not markdown.has_markup(raw):
        return _fold(raw)
    pieces = markdown.render(raw)
    if not pieces or (len(pieces) == 1 and pieces[0].text == raw):
        return _fold(raw if pieces else "")
    folded = _fold("".join([piece.text for piece in pieces]))
    return folded._replace(origins=(*folded.origins, Origin.of(pieces)))


def _fold(shown: str) -> Normalised:
    if shown.isascii():
        if any(char in shown for char in _ASCII_ODD):
            shown = shown.translate(_ASCII_TABLE)
        return Normalised(shown.lower(), shown, ())
    odd = set(_NOT_ASCII.findall(shown))
    if not odd.isdisjoint(_SUBSCRIPTS):
        shown = _fold_subscripts(shown)
        odd = set(_NOT_ASCII.findall(shown))
    if all(map(_is_simple, odd)):
        table = {ord(char): _fold_cluster(char)[0] for char in odd}
        cased = shown.translate({**_ASCII_TABLE, **table})
        return Normalised(cased.casefold(), cased, ())
    return _fold_clusters(shown)


def _fold_subscripts(shown: str) -> str:
    pieces, at = [], 0
    for found in _AFTER_LETTER.finditer(shown):
        digits = "".join(str(_SUBSCRIPTS.index(char)) for char in found[0])
        pieces += [shown[at : found.start()], digits]
        at = found.end()
    return "".join(pieces) + shown[at:]


@lru_cache(maxsize=8192)
def _is_simple(char: str) -> bool:
    """Say whether `char` folds to one character, whatever stands before it."""
    kept, folded = _fold_cluster(char)
    return len(kept) == 1 and folded == kept.casefold() and not _extends(char)


def _fold_clusters(shown: str) -> Normalised:
    pieces: list[Piece] = []
    folds: list[str] = []
    at = 0
    for run in _CLUSTERED.finditer(shown):
        if run.start() > at:
            _keep_ascii(shown, at, run.start(), pieces, folds)
        for start, end in _clusters(shown, run.start(), run.end()):
            kept, folded = _fold_cluster(shown[start:end])
            if kept:
                pieces.append(Piece(kept, start, end))
                folds.append(folded)
        at = run.end()
    if at < len(shown):
        _keep_ascii(shown, at, len(shown), pieces, folds)
    cased = "".join([piece.text for piece in pieces])
    return Normalised("".join(folds), cased, (Origin.of(pieces),) if pieces else ())


def _keep_ascii(shown: str, start: int, end: int, pieces: list[Piece], folds: list[str]) -> None:
    text = shown[start:end].translate(_ASCII_TABLE)
    pieces.append(Piece(text, start, end))
    folds.append(text.lower())


def _clusters(shown: str, at: int, stop: int) -> Iterable[tuple[int, int]]:
    """Yield each character with the marks that compose with it."""
    while at < stop:
        end = at + 1
        # No text has a base with many marks; the bound keeps a long run of them linear.
        while end < stop and end - at < 32 and shown[end] > "\u02ff" and _extends(shown[end]):
            end += 1
        yield at, end
        at = end


@lru_cache(maxsize=8192)
def _extends(char: str) -> bool:
    """Say whether `char` composes with the one before it (marks, Hangul vowels and finals)."""
    return (
        unicodedata.combining(char) != 0 or "\u1160" <= char <= "\u11ff" or unicodedata.category(char) == "Mn"
    )


@lru_cache(maxsize=16384)
def _fold_cluster(cluster: str) -> tuple[str, str]:
    """Return a cluster with its case kept and casefolded, both of the same length."""
    kept = "".join([_fold_char(char) for char in _composed(cluster)])
    folded = [char.casefold().replace(_DOT_ABOVE, "") or char for char in kept]
    # One character may casefold to two (ß); repeat the cased one so that the lengths agree.
    return "".join([char * len(fold) for char, fold in zip(kept, folded, strict=True)]), "".join(folded)


def _composed(cluster: str) -> str:
    if cluster[0] in _PROTECTED or cluster[0] in _FOLDED:
        return cluster
    return unicodedata.normalize("NFKC", cluster)


def _fold_char(char: str) -> str:
    folded = _FOLDED.get(char)
    if folded is not None:
        return folded
    if char.isascii() or char in _PROTECTED:
        return char
    category = unicodedata.category(char)
    if category == "Cf" or "\ufe00" <= char <= "\ufe0f" or char == _DOT_ABOVE:
        return ""
    if category == "Zs":
        return " "
    if category == "Nd":
        return str(unicodedata.decimal(char))
    return char


def strip_diacritics(text: str) -> str:
    """Drop the marks of Latin letters, one character for one, so that offsets stay."""
    if text.isascii():
        return text
    return "".join([_bare(char) for char in text])


@lru_cache(maxsize=4096)
def _bare(char: str) -> str:
    if char.isascii():
        return char
    base = unicodedata.normalize("NFD", char)[0]
    return base if base.isascii() and base.isalpha() else char
