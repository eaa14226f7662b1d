"""Turn the Markdown (and the little HTML) that models emit into the prose a reader sees.

The result is a list of `Piece`s, so that every character keeps its place in the answer.

- struck-through text is dropped: `~~Chicago~~ Boston` says Boston
- link targets and image targets are dropped, their text stays
- emphasis marks go, but `emma_smith` and `5*3` stay as they are; nothing goes inside a code fence
- list numbers go when the lines really are a list, so `1. Paris` says nothing about 1
- footnote marks such as `[1]` go
- a line break inside a paragraph stays a line break; one between blocks becomes `BREAK`,
  which no value and no phrase reaches across, or `ITEM` before an item of a list or a table
- a heading ends with a colon, as the intro of a list does
"""

from __future__ import annotations

import re
from typing import NamedTuple

from harness.facts.patterns import Found, LazyPattern

BREAK = "\x00"
ITEM = "\x01"  # the break before a list item or the row of a table
BREAKS = BREAK + ITEM


class Piece(NamedTuple):
    """Text shown, and the span of the answer that it stands for; `text` may replace it."""

    text: str
    start: int
    end: int


Cut = tuple[int, int, str]  # start, end, what is shown instead

_MARKS = "*_~`<[\\&\n\r【"
_LINE_MARKS = "#>-+•–— \t"  # a number makes a list only beside another line

_INLINE_START = LazyPattern(r"[*_~`<\[\\&【]")
_INLINE = LazyPattern(
    r"""
      (?P<strike>~~(?=\S).{0,400}?\S?~~|<(?P<tag>del|s|strike)\b[^<>]{0,200}>.{0,400}?</(?P=tag)\s*>)
    | (?P<comment><!--.{0,400}?-->)
    | (?P<link>\[(?P<label>[^\[\]\n]{1,300})\](?:\((?:[^()\n]|\([^()\n]{0,300}\)){0,600}\)|\[[^\[\]\n]{0,100}\]))
    | (?P<footnote>\[\^?\d{1,3}\]|\[\^[\w-]{1,40}\]|【[^】\n]{0,60}】)
    | (?P<autolink><(?P<address>[\w.+-]{1,100}@[\w.-]{1,100}|https?://[^>\s]{1,500})>)
    | (?P<line><br\s*/?>)
    | (?P<block></(?:p|li|tr|h[1-6]|div)\s*>)
    | (?P<power><sup>(?=\d))
    | (?P<html></?[a-zA-Z][^<>\n]{0,300}>)
    | (?P<escape>\\(?=[!-/:-@\[-`{-~]))
    | (?P<entity>&(?:nbsp|amp|lt|gt|quot|apos|\#39|\#x27);)
    | (?P<code>`{1,3})
    | (?P<star>\*{1,3}(?=\S)|(?<=\S)\*{1,3})
    | (?P<under>(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w))
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_ENTITIES = {
    "&nbsp;": " ", "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&#39;": "'", "&#x27;": "'",
}  # fmt: skip

_FENCE = LazyPattern(r" {0,3}(?:```|~~~)")
_RULE = LazyPattern(r" {0,3}(?:[-*_][ ]*){3,}+$")
_HEADING = LazyPattern(r" {0,3}#{1,6}[ ]+")
_QUOTE = LazyPattern(r" {0,3}(?:>[ ]?)+")
_ITEM = LazyPattern(r"[ \t]*[-*+•–—][ \t]+(?:\[[ xX]\][ ])?")
_NUMBERED = LazyPattern(r"[ \t]*(\d{1,3})[.)][ \t]+(?=\S)")
_LABEL = LazyPattern(r"[ \t]*\**[A-Z][\w '/-]{0,30}:")
_TABLE_RULE = frozenset("|:- \t")


def has_markup(text: str) -> bool:
    """Say whether `text` needs rendering at all; most one-line answers do not."""
    return any([mark in text for mark in _MARKS]) or text[:1] in _LINE_MARKS


def render(text: str) -> list[Piece]:
    """Return what a reader sees of `text`, piece by piece and in order."""
    cuts, code = _blocks(text)
    cuts.extend(_inlines(text, code, 0, len(text)))
    cuts.sort()
    pieces: list[Piece] = []
    at = 0
    for start, end, put in cuts:
        if start < at:
            continue
        if start > at:
            pieces.append(Piece(text[at:start], at, start))
        if put:
            pieces.append(Piece(put, start, end))
        at = end
    if at < len(text):
        pieces.append(Piece(text[at:], at, len(text)))
    return pieces


# ---- blocks ---------------------------------------------------------------------------


class _Line(NamedTuple):
    """A line: its bounds, where its text begins after the marks, and what it is."""

    start: int
    end: int
    text_start: int
    kind: str


def _blocks(text: str) -> tuple[list[Cut], list[tuple[int, int]]]:
    """Return the cuts of block marks and breaks, and the spans of fenced code."""
    lines = _lines(text)
    cuts: list[Cut] = []
    code: list[tuple[int, int]] = []
    before: _Line | None = None
    for line in lines:
        if line.text_start > line.start:
            cuts.append((line.start, line.text_start, ""))
        if line.kind == "code":
            code.append((line.start, line.end))
        if before is not None and _is_hard(text, before, line):
            cuts.append((before.end, line.start, _break(text, before, line)))
        before = line
    return cuts, code


def _break(text: str, before: _Line, line: _Line) -> str:
    """Return the break between two blocks, with the colon that a heading is given."""
    item = line.kind == "item" or (line.kind == "row" and before.kind != "blank")
    put = ITEM if item else BREAK
    if before.kind == "heading" and text[before.start : before.end].rstrip("*# ")[-1:] not in ".:?!":
        return ":" + put
    return put


def _lines(text: str) -> list[_Line]:
    lines: list[_Line] = []
    fenced = False
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        kind, mark = _kind(text, start, end, fenced)
        fenced ^= kind == "fence"
        lines.append(_Line(start, end, mark, kind))
        start = end + 1
    return _with_numbered_lists(text, lines)


def _kind(text: str, start: int, end: int, fenced: bool) -> tuple[str, int]:
    """Return what the line is and where its text starts."""
    line = text[start:end].rstrip()
    first = line.lstrip()[:1]
    if first in ("`", "~") and _FENCE.match(line):
        return "fence", end
    if fenced:
        return "code", start
    if not first:
        return "blank", start
    if first in "-*_" and _RULE.match(line):
        return "rule", end
    if first in "|:-" and "--" in line and _TABLE_RULE.issuperset(line):
        return "rule", end
    if first == "*" and line.lstrip().startswith("**") and line.endswith("**") and line.count("**") == 2:
        return "heading", start
    for mark, kind, pattern in (
        ("#", "heading", _HEADING),
        (">", "quote", _QUOTE),
        ("-*+•–—", "item", _ITEM),
    ):
        if first in mark and (found := pattern.match(text, start, end)):
            return kind, found.end()
    return ("row" if first == "|" else "prose"), start


def _with_numbered_lists(text: str, lines: list[_Line]) -> list[_Line]:
    """Cut the numbers of lines that have a neighbour in the list that counts on."""
    numbered = {
        i: found
        for i, line in enumerate(lines)
        if line.kind == "prose" and (found := _NUMBERED.match(text, line.start, line.end))
    }
    numbers = {int(found[1]) for found in numbered.values()}
    for i, found in numbered.items():
        if {int(found[1]) - 1, int(found[1]) + 1} & numbers:
            lines[i] = lines[i]._replace(kind="item", text_start=found.end())
    return lines


def _is_hard(text: str, before: _Line, line: _Line) -> bool:
    """Say whether the break between two lines parts two blocks."""
    if line.kind == "prose" and before.kind == "item":
        return not text[line.start : line.start + 1].isspace()
    if line.kind == before.kind == "quote":
        return False
    if line.kind != "prose" or before.kind not in ("prose", "item"):
        return True
    return _LABEL.match(text, line.start, line.end) is not None


# ---- inline marks ---------------------------------------------------------------------


def _inlines(text: str, code: list[tuple[int, int]], start: int, end: int) -> list[Cut]:
    cuts: list[Cut] = []
    at = start
    for trigger in _INLINE_START.finditer(text, start, end):
        here = trigger.start()
        if here < at or (code and any(begin <= here < stop for begin, stop in code)):
            continue
        found = _INLINE.match(text, here, end)
        if found is None:
            continue
        at = found.end()
        cuts.extend(_cut(text, found))
    return cuts


def _cut(text: str, found: Found) -> list[Cut]:
    start, end = found.span()
    kind = found.lastgroup or ""
    if kind in ("strike", "tag"):
        return [(start, end, " ")]
    if kind in ("link", "label"):
        inner, stop = found.span("label")
        opening = start - 1 if text[start - 1 : start] == "!" else start
        return [(opening, inner, ""), *_inlines(text, [], inner, stop), (stop, end, "")]
    if kind in ("autolink", "address"):
        inner, stop = found.span("address")
        return [(start, inner, ""), (stop, end, "")]
    if kind == "entity":
        return [(start, end, _ENTITIES[found[0].lower()])]
    if kind == "star" and found[0] == "*" and _is_product(text, start, end):
        return []
    return [(start, end, {"line": "\n", "block": BREAK, "power": "^"}.get(kind, ""))]


def _is_product(text: str, start: int, end: int) -> bool:
    """Tell `5*3` from `*3*`."""
    return text[start - 1 : start].isdigit() and text[end : end + 1].isdigit()
