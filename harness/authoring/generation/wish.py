"""What is asked for, and what the seed decides of each item, so that no two are alike."""

from __future__ import annotations

import calendar
import json
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from hashlib import sha256
from typing import Literal, get_args

from harness.suite import Layer

Kind = Literal["case", "recall"]
Difficulty = Literal["easy", "medium", "hard"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
ROUNDS_A_CALL = 15
"""Rounds of a conversation that are asked for at once; a longer one is written in parts."""

CONVERSATIONS: Mapping[Layer, int] = {"layer1": 1, "layer2": 2, "layer3": 3}
LAYER_BRIEFS: Mapping[Layer, str] = {
    "layer1": "One conversation; the question asks for values that were each said once, some corrected later in it.",
    "layer2": (
        "The question asks too little: it fits two things equally (two cars, two cards), each in a conversation of "
        "its own. A right answer gives both and tells them apart, or asks which one is meant."
    ),
    "layer3": (
        "The question is about something else. Two facts from different conversations, weeks apart, together make a "
        "problem that nobody has spoken of; a right answer raises it unasked."
    ),
}
DIFFICULTY_BRIEFS: Mapping[Difficulty, str] = {
    "easy": "One rival value beside each that counts; said plainly.",
    "medium": "Several rival values of the same kind; some values are corrected after they were first said.",
    "hard": (
        "Many rival values of the same kind, close to each other in sound and size; values are corrected twice, or "
        "said in a roundabout way; what is asked is worded quite unlike what was said."
    ),
}
_MOODS = (
    "somebody is in a hurry",
    "somebody is distracted by a child or a dog",
    "somebody distrusts the other's records",
    "the line is bad",
    "it is the first time they do this",
    "they know each other from before",
    "somebody has the papers in the wrong order",
    "somebody acts for a relative",
    "the weather interferes",
    "it is the end of a long day",
)
_INITIALS = "ABCDEFGHIJKLMNOPRSTUVWZ"


@dataclass(frozen=True, slots=True)
class Wish:
    """What every item is to be like.

    Attributes:
        kind: `case`, or `recall` for a cluster of memories with queries.
        domain: what it is about; "" leaves it open.
        layer: of a case.
        difficulty: how close the rival values are.
        conversations: of a case.
        rounds: of each conversation, which is also the least that is accepted.
        locale: language, and the notation of dates and numbers.
        memories, queries: of a cluster.
        seed: another one gives other items for the same wish.
    """

    kind: Kind = "case"
    domain: str = ""
    layer: Layer = "layer1"
    difficulty: Difficulty = "medium"
    conversations: int = 1
    rounds: int = 50
    locale: str = "en-US"
    memories: int = 8
    queries: int = 2
    seed: int = 0

    def fingerprint(self, model: str, prompts: Mapping[str, str]) -> str:
        """Return a short hash of everything that decides the items but their number."""
        told = json.dumps([asdict(self), model, sorted(prompts.items())], sort_keys=True)
        return sha256(told.encode()).hexdigest()[:12]

    @property
    def parts(self) -> tuple[int, ...]:
        """The rounds of each part in which a conversation is written, about equally long."""
        count = -(-self.rounds // ROUNDS_A_CALL)
        least, more = divmod(self.rounds, count)
        return tuple(least + (number < more) for number in range(count))


@dataclass(frozen=True, slots=True)
class Spice:
    """What seed and number decide of one item.

    Attributes:
        label: a line that no other item's prompts have.
        initials: letters that names begin with.
        month: when it begins, such as `March 2025`.
        mood: what else goes on.
        calendar: the Mondays of the months around, a line a month.
    """

    label: str
    initials: str
    month: str
    mood: str
    calendar: tuple[str, ...]


def spice(wish: Wish, number: int) -> Spice:
    """Return what distinguishes one item, counted from 1, from all others."""
    chance = random.Random(f"{wish.seed}/{number}")
    initials = ", ".join(sorted(chance.sample(_INITIALS, 4)))
    begin = date(chance.randint(2023, 2026), chance.randint(1, 12), 1)
    noun = "Case" if wish.kind == "case" else "Cluster"
    return Spice(
        label=f"{noun} {number}, seed {wish.seed}.",
        initials=initials,
        month=f"{begin:%B %Y}",
        mood=chance.choice(_MOODS),
        calendar=calendar_lines(begin, 6),
    )


def calendar_lines(begin: date, months: int) -> tuple[str, ...]:
    """Return the Mondays of so many months, a line a month, from which any weekday can be told."""
    return tuple(_mondays(begin, offset) for offset in range(months))


def _mondays(begin: date, offset: int) -> str:
    years, month = divmod(begin.month - 1 + offset, 12)
    year, month = begin.year + years, month + 1
    first, days = calendar.monthrange(year, month)
    mondays = range((7 - first) % 7 + 1, days + 1, 7)
    return f"{calendar.month_name[month]} {year}, {days} days; Mondays: {', '.join(map(str, mondays))}"
