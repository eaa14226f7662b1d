"""Turn the Markdown (and the little HTML) that models emit into the prose a reader sees.

Works on pieces of the original so that every character keeps its place: the result is
a list of `(text, start)` pieces, where `start` is the offset in the answer.

- struck-through text is dropped: `~~Chicago~~ Boston` says Boston
- link targets and image targets are dropped, their text stays
- emphasis marks go, but `emma_smith` and `5*3` stay as they are
- list numbers go when the lines really are a list, so `1. Paris` says nothing about 1
- footnote marks such as `[1]` go
"""

from __future__ import annotations

import re

Piece = tuple[str, int]

_TRIGGER = re.compile(r"[*_~`#|<\[\\&\r]|https?:|^\s{0,3}(?:>|[-+]\s|\d{1,3}[.)]\s)|\n", re.MULTILINE)

_RULES = re.compile(
    r"""
      (?P<strike>~~(?=\S).*?\S?~~|<(?P<tag>del|s|strike)\b[^>]*>.*?</(?P=tag)\s*>)
    | (?P<comment><!--.*?-->)
    | (?P<fence>^[ ]{0,3}(?:```|~~~)[^\n]*$)
    | (?P<rule>^[ ]{0,3}(?:[-*_][ ]*){3,}$)
    | (?P<table_rule>^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$)
    | (?P<heading>^[ ]{0,3}\#{1,6}[ ]+)
    | (?P<quote>^[ ]{0,3}>[ ]?)
    | (?P<bullet>^[ \t]*[-*+•][ \t]+(?:\[[ xX]\][ ])?)
    | (?P<image>!\[(?P<alt>[^\]\n]*)\]\([^)\n]*\))
    | (?P<link>\[(?P<label>[^\]\n]+)\]\((?:[^()\n]|\([^()\n]*\))*\))
    | (?P<reflink>\[(?P<reflabel>[^\]\n]+)\]\[[^\]\n]*\])
    | (?P<footnote>\[\^?\d{1,3}\]|\[\^[\w-]+\])
    | (?P<autolink><(?P<address>[\w.+-]+@[\w.-]+|https?://[^>\s]+)>)
    | (?P<break><br\s*/?>|</(?:p|li|tr|h[1-6]|div)\s*>)
    | (?P<html></?[a-zA-Z][^<>\n]*>)
    | (?P<escape>\\(?=[!-/:-@\[-`{-~]))
    | (?P<entity>&(?:nbsp|amp|lt|gt|quot|apos|\#39|\#x27);)
    | (?P<code>`+)
    | (?P<bold>\*{1,3}(?=\S)|(?<=\S)\*{1,3})
    | (?P<under>(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w))
    | (?P<pipe>\|)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL | re.IGNORECASE,
)

_NUMBERED = re.compile(r"^[ \t]*(\d{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)
_BLOCK_START = re.compile(r"[ \t]*(?:[-*+•][ \t]|\d{1,3}[.)][ \t]|#{1,6} |>|\|)|[ \t]*(?:\r?\n|$)")
_HEADING = re.compile(r" {0,3}#{1,6} ")
_LABEL_START = re.compile(r"[ \t]*[A-Z][\w '/-]{0,30}:")
_ENTITIES = {
    "&nbsp;": " ",
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&apos;": "'",
    "&#39;": "'",
    "&#x27;": "'",
}
# A match of one of these leaves a hard break behind: what follows is another block or cell.
_BREAKS = frozenset({"fence", "rule", "table_rule", "heading", "quote", "bullet", "break"})


def has_markup(text: str) -> bool:
    """Say whether `text` needs rendering at all; most one-line answers do not."""
    return _TRIGGER.search(text) is not None


def render(text: str) -> list[Piece]:
    """Split `text` into the pieces a reader sees, each with its offset in `text`."""
    cuts = _cuts(text)
    pieces: list[Piece] = []
    at = 0
    for start, end, put in cuts:
        if start < at:
            continue
        if start > at:
            pieces.append((text[at:start], at))
        if put:
            pieces.append((put, start))
        at = end
    if at < len(text):
        pieces.append((text[at:], at))
    return pieces


def _cuts(text: str) -> list[tuple[int, int, str]]:
    """Return what to cut out as `(start, end, put instead)`, in order of start."""
    cuts = [(start, end, "\n") for start, end in _list_numbers(text)]
    for found in _RULES.finditer(text):
        cuts.extend(_cut(text, found))
    cuts.extend(_soft_breaks(text))
    cuts.sort()
    return cuts


def _cut(text: str, found: re.Match[str]) -> list[tuple[int, int, str]]:
    kind = found.lastgroup or ""
    start, end = found.span()
    if found["strike"]:
        return [(start, end, " ")]
    for outer, inner in (("image", "alt"), ("link", "label"), ("reflink", "reflabel"), ("autolink", "address")):
        if found[outer]:
            keep_start, keep_end = found.span(inner)
            # The kept text may hold marks of its own: `[**Boston**](…)`.
            return [
                (start, keep_start, ""),
                *[(s + keep_start, e + keep_start, put) for s, e, put in _cuts(text[keep_start:keep_end])],
                (keep_end, end, ""),
            ]
    if kind == "entity":
        return [(start, end, _ENTITIES[found[0].lower()])]
    if kind == "pipe":
        return [(start, end, "\n")] if _in_table(text, start) else []
    if kind == "bold" and found[0] == "*" and _is_product(text, start, end):
        return []
    if kind in _BREAKS:
        return [(start, end, "\n")]
    return [(start, end, "")]


def _is_product(text: str, start: int, end: int) -> bool:
    """Tell `5*3` from `*3*`."""
    return text[start - 1 : start].isdigit() and text[end : end + 1].isdigit()


def _in_table(text: str, at: int) -> bool:
    line_start = text.rfind("\n", 0, at) + 1
    line_end = text.find("\n", at)
    line = text[line_start : line_end if line_end >= 0 else len(text)]
    return line.lstrip().startswith("|") or line.count("|") >= 2


def _list_numbers(text: str) -> list[tuple[int, int]]:
    """Return the spans of list numbers: numbered lines with a neighbour that counts on."""
    lines = list(_NUMBERED.finditer(text))
    numbers = {int(line[1]) for line in lines}
    return [line.span() for line in lines if {int(line[1]) - 1, int(line[1]) + 1} & numbers]


def _soft_breaks(text: str) -> list[tuple[int, int, str]]:
    """Turn a line break inside a paragraph into a space; a break between blocks stays."""
    cuts = []
    for found in re.finditer(r"[ \t]*\r?\n", text):
        before = text[: found.start()].rstrip(" \t")[-1:]
        rest = found.end()
        line_start = text.rfind("\n", 0, found.start()) + 1
        hard = (
            before in ("", "\n", ".", "!", "?", ":", ";", "|")
            or _BLOCK_START.match(text, rest)
            or _HEADING.match(text, line_start)
        )
        if not hard and not _LABEL_START.match(text, rest):
            cuts.append((found.start(), found.end(), " "))
    return cuts
