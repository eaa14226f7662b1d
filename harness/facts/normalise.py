"""Normalise an answer so that equal-looking text compares equal, and nothing else does.

Order: render Markdown → protect superscripts and fractions → NFKC, drop format
characters, fold dashes, quotes, spaces and every script's digits → casefold.
Confusables (Cyrillic А for Latin A) are never folded.

`text` is folded, `cased` has the same length with the case kept, and `origin` maps each
character to its offset in the answer as given (None when nothing moved).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from harness.facts import markdown

FRACTIONS = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5",
    "⅘": "4/5", "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8",
}  # fmt: skip
# A superscript is a footnote mark or an exponent, never a further digit of a number.
_PROTECTED = frozenset(FRACTIONS) | frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉")
_FOLDED = {
    **dict.fromkeys("‐‑‒−﹣－⁃", "-"),
    **dict.fromkeys("–﹘", "–"),
    **dict.fromkeys("—―⸺", "—"),
    **dict.fromkeys("‘’‚‛ʼʹ′＇´`", "'"),
    **dict.fromkeys("“”„‟«»″＂", '"'),
    "º": "°",
    "⁄": "/",
    "∕": "/",
    "…": "...",
    "\t": " ",
    "\r": " ",
    "\v": "\n",
    "\f": "\n",
    "\x85": "\n",
    "\u2028": "\n",
    "\u2029": "\n",
}
_DOT_ABOVE = "\u0307"
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_ASCII_FOLD = re.compile(r"[`\t\r\v\f]")


@dataclass(frozen=True, slots=True)
class Normalised:
    """An answer as the matcher reads it; see the module for what was folded."""

    text: str
    cased: str
    origin: list[int] | None

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the answer as given of `text[start:end]`."""
        if self.origin is None:
            return start, end
        if start >= end:
            return self.origin[start], self.origin[start]
        return self.origin[start], self.origin[end - 1] + 1


def normalise(raw: str) -> Normalised:
    """Render, fold and casefold `raw`, keeping track of where each character came from."""
    if not markdown.has_markup(raw):
        return _fold_text(raw)
    pieces = markdown.render(raw)
    if len(pieces) == 1 and pieces[0] == (raw, 0):
        return _fold_text(raw)
    shown = "".join(piece for piece, _ in pieces)
    origin: list[int] = []
    for piece, start in pieces:
        if raw.startswith(piece, start):
            origin.extend(range(start, start + len(piece)))
        else:
            origin.extend([start] * len(piece))
    folded = _fold_text(shown)
    if folded.origin is None:
        return Normalised(folded.text, folded.cased, origin)
    return Normalised(folded.text, folded.cased, [origin[i] for i in folded.origin])


def _fold_text(shown: str) -> Normalised:
    if shown.isascii():
        if _ASCII_FOLD.search(shown):
            shown = shown.translate({ord("`"): "'", 9: " ", 13: " ", 11: "\n", 12: "\n"})
        return Normalised(shown.lower(), shown, None)
    return _fold_unicode(shown)


def _fold_unicode(shown: str) -> Normalised:
    cased: list[str] = []
    text: list[str] = []
    origin: list[int] = []
    moved = False
    at = 0
    length = len(shown)
    while at < length:
        end = at + 1
        while end < length and shown[end] > "\u02ff" and _extends(shown[end]):
            end += 1
        cluster = shown[at:end]
        kept, folded = _fold_cluster(cluster)
        if len(kept) != 1 or end - at != 1:
            moved = True
        cased.append(kept)
        text.append(folded)
        origin.extend([at] * len(kept))
        at = end
    return Normalised("".join(text), "".join(cased), origin if moved else None)


@lru_cache(maxsize=8192)
def _extends(char: str) -> bool:
    """Say whether `char` composes with the one before it (marks, Hangul vowels and finals)."""
    return unicodedata.combining(char) != 0 or "\u1160" <= char <= "\u11ff" or unicodedata.category(char) == "Mn"


@lru_cache(maxsize=16384)
def _fold_cluster(cluster: str) -> tuple[str, str]:
    """Return a cluster with its case kept and casefolded, both of the same length."""
    kept = "".join(_fold_char(char) for char in _composed(cluster))
    folded = [char.casefold().replace(_DOT_ABOVE, "") or char for char in kept]
    # One character may casefold to two (ß); repeat the cased one so that the lengths agree.
    return "".join(char * len(fold) for char, fold in zip(kept, folded, strict=True)), "".join(folded)


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
    return "".join(_bare(char) for char in text)


@lru_cache(maxsize=4096)
def _bare(char: str) -> str:
    if char.isascii():
        return char
    base = unicodedata.normalize("NFD", char)[0]
    return base if base.isascii() and base.isalpha() else char
