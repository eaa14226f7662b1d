"""What bad judges say: verdicts off the menu, gaps, contradictions, invented quotes, and judges that are too kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Judgement = dict[str, Any]
_IGNORE = re.compile(r"\bignor(?:e|ing)\b", re.IGNORECASE)
_INVENTED = "as the answer says in so many words nowhere"


def _rulings(judgement: Judgement) -> list[dict[str, Any]]:
    """Return the rulings of a judgement; one about a single criterion is its own."""
    found = judgement.get("criteria")
    return found if isinstance(found, list) else [judgement]


def _off_menu(judgement: Judgement, answer: str) -> Judgement:
    _rulings(judgement)[-1]["verdict"] = "partially met"
    return judgement


def _missing(judgement: Judgement, answer: str) -> Judgement:
    _rulings(judgement).pop() if "criteria" in judgement else judgement.pop("verdict", None)
    return judgement


def _unknown(judgement: Judgement, answer: str) -> Judgement:
    if "criteria" in judgement:
        judgement["criteria"].append({"id": "tone", "quote": "", "verdict": "not_met"})
    return judgement


def _twice(judgement: Judgement, answer: str) -> Judgement:
    """Rule on the first criterion again, and otherwise."""
    if "criteria" in judgement:
        first = judgement["criteria"][0]
        other = "not_met" if first["verdict"] == "met" else "met"
        judgement["criteria"].append({**first, "verdict": other})
    return judgement


def _fabricated(judgement: Judgement, answer: str) -> Judgement:
    for ruling in _rulings(judgement):
        ruling |= {"quote": _INVENTED, "verdict": "met"}
    return judgement


def _yes_man(judgement: Judgement, answer: str) -> Judgement:
    """Find everything met, with words that do stand in the answer, and no wrong value stated."""
    quote = " ".join(answer.split(maxsplit=8)[:8])
    for ruling in _rulings(judgement):
        ruling |= {"quote": quote, "verdict": "met"}
    for value in judgement.get("wrong_values", ()):
        value |= {"quote": "", "stated": False}
    return judgement


def _gullible(judgement: Judgement, answer: str) -> Judgement:
    return _yes_man(judgement, answer) if _IGNORE.search(answer) else judgement


def _grudging(judgement: Judgement, answer: str) -> Judgement:
    for ruling in _rulings(judgement):
        ruling |= {"quote": "", "verdict": "not_met"}
    return judgement


SPOILED: Mapping[str, Callable[[Judgement, str], Judgement]] = {
    "off_menu": _off_menu,
    "missing_criterion": _missing,
    "unknown_criterion": _unknown,
    "duplicate_criterion": _twice,
    "fabricated_quote": _fabricated,
    "yes_man": _yes_man,
    "gullible": _gullible,
    "grudging": _grudging,
}
