"""A scripted author: what a model would reply to each task of a case, for the model server's rules."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

WORDS = (
    "lantern copper meadow pepper cabin orchard ribbon velvet harbor timber saddle candle pebble marble willow "
    "thistle anchor basket bramble cellar clover cotton ember feather garden hammer island jacket kettle ladder "
    "magnet needle oyster parcel quarry raven saffron tunnel umbrella valley walnut yarrow zipper almond beacon "
    "canyon drawer easel falcon glacier hazel ivory jasmine kernel lemon mitten nutmeg olive paddle quilt rocket "
    "sailor teapot urchin violin wagon barley cedar dagger elbow flannel gravel hinge inkwell juniper knuckle"
).split()
PEOPLE = ("Orla Brandt", "Tove Haugen", "Milo Serrat", "Wanda Pryce", "Idris Calloway", "Suki Amaro")
FIRMS = ("Harbor Lane", "Pellam Tools", "Quillon Dairy", "Vantry Motors", "Ostrea Books", "Kemble Flats")


class Case:
    """One case by number: plan, talk and question that pass every check."""

    def __init__(self, number: int, rounds: int = 8, seed: int = 0) -> None:
        self.number, self.rounds, self.seed = number, rounds, seed
        self.fee, self.old_fee, self.other = 45 + number, 30 + number, 97 + number
        self.person = PEOPLE[number % len(PEOPLE)]
        self.firm = FIRMS[number % len(FIRMS)]

    @property
    def label(self) -> str:
        return f"Case {self.number}, seed {self.seed}."

    def plan(self, **changes: Any) -> dict[str, Any]:
        facts = [
            self._fact("fee", "required", f"${self.fee}", "money"),
            self._fact("due", "required", "March 24, 2025", "date"),
            self._fact(
                "old_fee", "forbidden", f"${self.old_fee}", "money", replaces="fee", why="last year's"
            ),
            self._fact("other", "forbidden", f"${self.other}", "money", why="another account"),
        ]
        return {
            "title": f"A fee at {self.firm}",
            "slug": "yearly fee",
            "description": "A fee is asked about.",
            "entities": [{"name": self.person}, {"name": self.firm}],
            "abilities": [{"name": "correction"}],
            "conversations": [
                {
                    "when": "2025-03-04T10:15:00-05:00",
                    "business": self.firm,
                    "channel": "phone",
                    "outline": "The fee is settled.",
                }
            ],
            "facts": facts,
            "question_time": "2025-04-20T09:00:00-05:00",
            "question_idea": "What is the fee, and when is it due?",
            **changes,
        }

    def _fact(self, id: str, group: str, value: str, type: str, **more: str) -> dict[str, Any]:
        fact = {"id": id, "group": group, "value": value, "type": type, "conversation": 1, "said_as": value}
        return {"replaces": "", "why": "", **fact, **more}

    def part(self, *, leave: Sequence[str] = (), rounds: int | None = None) -> dict[str, Any]:
        chance = random.Random(f"{self.seed}/{self.number}")
        said = {
            1: f"last year it was ${self.old_fee} I think",
            2: f"the fee is ${self.fee} from now on",
            3: "pay it by March 24, 2025",
            4: f"the ${self.other} is for elsewhere",
        }
        turns = []
        for at in range(rounds or self.rounds):
            first, second = (" ".join(chance.sample(WORDS, 16)) for _ in range(2))
            value = said.get(at, "")
            value = "" if any(word in value for word in leave) else value
            if self.rounds >= 50 and 20 <= at < 26:  # what the census asks of long talks
                first = f"sorry, I meant ${500 + at}, {first}"
            turns.append(
                {"user": f"Well, {first}.", "assistant": f"Right, {second}; {value or 'so it goes'}."}
            )
        return {"rounds": turns}

    def question(self, **changes: Any) -> dict[str, Any]:
        criteria = [
            {"id": "fee", "text": f"States the fee of ${self.fee}.", "kind": "fact", "facts": "fee", "dimension": "accuracy"},
            {"id": "due", "text": "States March 24, 2025.", "kind": "fact", "facts": "due", "dimension": "accuracy"},
            {"id": "one", "text": "Gives one fee only.", "kind": "behaviour", "facts": "", "dimension": "context"},
            {"id": "both", "text": "Answers both parts.", "kind": "fact", "facts": "fee, due", "dimension": "completeness"},
        ]  # fmt: skip
        facts = [
            {"id": "fee", "value": f"${self.fee}", "accept": ""},
            {"id": "due", "value": "March 24, 2025", "accept": "March 24; the 24th of March"},
            {"id": "old_fee", "value": f"${self.old_fee}", "accept": ""},
            {"id": "other", "value": f"${self.other}", "accept": ""},
        ]
        return {
            "user_question": "What do I have to pay, and until when?",
            "expected_behavior": f"The fee is ${self.fee}, and it is due on March 24, 2025.",
            "criteria": criteria,
            "facts": facts,
            **changes,
        }

    def rules(self, **replies: Any) -> list[dict[str, Any]]:
        """Return rules for a server; a reply given by name takes the place of a sound one."""
        parts = -(-self.rounds // 15)
        sound = {"plan": self.plan(), "question": self.question(), **replies}
        rules = [
            rule(f"Task: plan a case. {self.label}", sound["plan"]),
            rule(f"reference answer. {self.label}", sound["question"]),
        ]
        for number in range(1, parts + 1):
            text = f"part {number} of {parts} of conversation conv_001. {self.label}"
            rules.append(rule(text, sound.get("part", self.part())))
        for turn in (1, 2, 3):
            if f"mend{turn}" in replies:
                text = f"mend the conversations. {self.label} Repair {turn}."
                rules.append(rule(text, replies[f"mend{turn}"]))
            if f"question{turn}" in replies:
                text = f"reference answer. {self.label} Repair {turn}."
                rules.append(rule(text, replies[f"question{turn}"]))
        return rules


class Pair(Case):
    """A case of layer 2: two accounts, a fee and a day for each, in a conversation of its own."""

    def plan(self, **changes: Any) -> dict[str, Any]:
        def talk(day: str) -> dict[str, str]:
            at = f"2025-03-{day}T10:15:00-05:00"
            return {"when": at, "business": self.firm, "channel": "phone", "outline": "A fee is settled."}

        facts = [
            self._fact("fee", "required", f"${self.fee}", "money"),
            self._fact("due", "required", "March 24, 2025", "date"),
            {**self._fact("fee2", "required", f"${self.fee + 100}", "money"), "conversation": 2},
            {**self._fact("due2", "required", "April 2, 2025", "date"), "conversation": 2},
            self._fact(
                "old_fee", "forbidden", f"${self.old_fee}", "money", replaces="fee", why="last year's"
            ),
            {**self._fact("other", "forbidden", f"${self.other}", "money", why="refused"), "conversation": 2},
        ]
        return super().plan(conversations=[talk("04"), talk("09")], facts=facts, **changes)

    def talk(self, number: int) -> dict[str, Any]:
        if number == 1:
            said = {1: f"it was ${self.old_fee} then", 2: f"now ${self.fee}", 3: "by March 24, 2025"}
        else:
            said = {1: f"no ${self.other} from me", 2: f"so ${self.fee + 100}", 3: "until April 2, 2025"}
        chance = random.Random(f"pair {number}/{self.number}")
        texts = [" ".join(chance.sample(WORDS, 18)) for _ in range(2 * self.rounds)]
        return {
            "rounds": [
                {"user": f"{texts[2 * at]}.", "assistant": f"{texts[2 * at + 1]}; {said.get(at, 'fine')}."}
                for at in range(self.rounds)
            ]
        }

    def question(self, **changes: Any) -> dict[str, Any]:
        value = super().question()
        fee, due = f"${self.fee + 100}", "April 2, 2025"
        value["facts"] += [
            {"id": "fee2", "value": fee, "accept": ""},
            {"id": "due2", "value": due, "accept": "April 2"},
        ]
        value["expected_behavior"] = (
            f"For the first account the fee is ${self.fee}, due on March 24, 2025. For the second it is {fee}, due on {due}."
        )
        return {**value, **changes}

    def rules(self, **replies: Any) -> list[dict[str, Any]]:
        second = f"part 1 of 1 of conversation conv_002. {self.label}"
        return [*super().rules(part=self.talk(1), **replies), rule(second, self.talk(2))]


def rule(contains: str, reply: Mapping[str, Any] | str) -> dict[str, Any]:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return {"when": {"contains": contains}, "do": {"text": text}}


def insert(after: str, text: str) -> dict[str, Any]:
    round = {"after": after, "user": "Hang on, one more thing about that payment.", "assistant": text}
    return {"replace": [], "insert": [round], "rename": []}


def replace(message: str, text: str) -> dict[str, Any]:
    return {"replace": [{"message": message, "text": text}], "insert": [], "rename": []}


def rename(old: str, new: str) -> dict[str, Any]:
    return {"replace": [], "insert": [], "rename": [{"old": old, "new": new}]}


def memories(number: int, *, dangling: bool = False) -> dict[str, Any]:
    """Return a cluster of a recall data set; memories differ by number."""
    return {
        "memories": [
            {"id": "rent-old", "content": f"The workshop rent number {number} was 640 a month in 2024.", "type": "fact", "created_at": "2024-02-01T10:00:00+01:00"},
            {"id": "rent-new", "content": f"The workshop rent number {number} is 695 a month since March.", "type": "fact", "created_at": "soon"},
            {"id": "flat", "content": f"The flat above workshop {number} costs 810 a month in rent.", "type": "fact", "created_at": ""},
        ],
        "queries": [
            {"text": f"What do I pay for workshop {number} nowadays?", "relevant": "rent-new", "near_misses": "rent-old, flat" + (", attic" if dangling else "")}
        ],
    }  # fmt: skip
