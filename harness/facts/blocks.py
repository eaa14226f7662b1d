"""What stands over a value: the intro or heading of its list, the head of its column.

Works on folded text, where `BREAK` parts blocks and `ITEM` stands before each list item
and each row of a table.
"""

from __future__ import annotations

from harness.facts.markdown import BREAK, BREAKS, ITEM

_MOST_ITEMS = 24


def heading_of(text: str, at: int) -> tuple[str, str]:
    """Return what stands over the place `at`, and over the other columns of its table.

    The first is the intro of its list or the head of its column; either may be empty.
    """
    start = _block_start(text, at)
    if text.startswith("|", start):
        return _column_heads(text, start, at)
    for _ in range(_MOST_ITEMS):
        if start == 0 or (text[start - 1] != ITEM and text[start:at].strip(BREAK)):
            break
        end = start - 1
        start = _block_start(text, end)
        block = text[start:end].rstrip()
        if block.endswith(":"):
            return block, ""
        at = end
    return "", ""


def _block_start(text: str, at: int) -> int:
    return max(text.rfind(BREAK, 0, at), text.rfind(ITEM, 0, at)) + 1


def _column_heads(text: str, start: int, at: int) -> tuple[str, str]:
    column = text.count("|", start, at)
    first = row = start
    for _ in range(_MOST_ITEMS):
        if row == 0 or (text[row - 1] == BREAK and text.startswith("|", row)):  # the first of its table
            break
        before = _block_start(text, row - 1)
        if text.startswith("|", before):
            first = before
        elif before != row - 1:  # the line of dashes is empty by now
            break
        row = before
    if first == start:
        return "", ""
    end = min((found for mark in BREAKS if (found := text.find(mark, first)) >= 0), default=len(text))
    heads = text[first:end].split("|")
    own = heads.pop(column).strip() if column < len(heads) else ""
    return own, " | ".join(heads)
