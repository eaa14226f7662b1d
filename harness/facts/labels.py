"""Dashes between two values that make no range of them.

A number may name a thing, as in `payment 2`, `check #1`, `iPhone 15`, and what follows the dash is said of it; or a new
clause begins with the second value, as in `by April 7 – April 14 is another patient's`.
"""

from __future__ import annotations

from harness.facts.patterns import MONTHS, LazyPattern

_LABEL = LazyPattern(
    r"(?:#|№|\b(?:no|nr|number|year|month|week|day|night|session|visit|payment|instal?lment|deposit|invoice|check|cheque|order|"
    r"item|option|choice|plan|package|tier|level|grade|class|group|team|zone|phase|stage|step|part|section|chapter|page|line|"
    r"slot|window|trip|leg|flight|train|bus|route|gate|platform|track|terminal|seat|row|room|suite|unit|apartment|apt|flat|"
    r"floor|building|block|lot|bay|dock|locker|box|bag|tank|car|van|vehicle|phone|line|account|card|policy|claim|child|kid|"
    r"patient|guest|player|model|version|iphone|galaxy|pixel|type|size|clinic|school|store|site|branch|course|module|quote|"
    r"estimate|offer|bid)\.?\s?"
    rf"|\b(?:{MONTHS})[a-z]*\.?\s(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s)?)\Z"
)
_SPACED_DASH = LazyPattern(r"\s[-–—]\s")


def ends_a_label(text: str, start: int, end: int, after: int) -> bool:
    """Say whether the number at `start` to `end` names a thing that a dash parts from what begins at `after`.

    `Payment 2 - $40` and `Sep 11, 2023 - $40` say something of a payment and of a day; `days 2-4` is a range, as
    is whatever has no space around its dash.
    """
    if not _SPACED_DASH.fullmatch(text, end, after):
        return False
    return _LABEL.search(text, max(0, start - 24), start) is not None


_SAID_OF_IT = LazyPattern(r"\s+(?:is|was|isn't|wasn't|would|had been|came|said)\b")


def says_something_else(text: str, end: int, after: int, closing: int) -> bool:
    """Say whether a spaced dash parts a value from a clause about another, which stands at `after` to `closing`."""
    return (
        _SPACED_DASH.fullmatch(text, end, after) is not None and _SAID_OF_IT.match(text, closing) is not None
    )
