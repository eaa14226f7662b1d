"""A case while it is written: plan, talk so far, question; and the file that it makes.

Evidence is not the model's to claim: each value is looked for in the messages of its conversation, as the
matcher sees it, and those that say it are cited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness.authoring.case_text import as_documents, fact_data, spelled
from harness.authoring.generation.plan import GROUPS, Plan, PlannedFact
from harness.authoring.generation.wish import Wish
from harness.facts import AnswerText, GoldFact, match_fact
from harness.suite import Conversation, Message, Role

MOST_CITED = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """Question, reference answer, criteria, and the forms of the facts: what the last stage writes."""

    question: str
    expected: str
    criteria: tuple[Mapping[str, Any], ...]
    values: Mapping[str, str]
    accept: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Draft:
    """A case in the making.

    Attributes:
        wish: what was asked for.
        plan: the plan.
        talks: the texts of each conversation by its id, the user's first and then in turns.
        asked: the last stage, None before it.
    """

    wish: Wish
    plan: Plan
    talks: Mapping[str, tuple[str, ...]]
    asked: Asked | None = None
    _cited: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)

    def with_talks(self, talks: Mapping[str, tuple[str, ...]]) -> Draft:
        """Return the draft with other texts."""
        return Draft(self.wish, self.plan, talks, self.asked)

    def with_asked(self, asked: Asked) -> Draft:
        """Return the draft with another last stage."""
        return Draft(self.wish, self.plan, self.talks, asked)

    def renamed(self, old: str, new: str) -> Draft:
        """Return the draft with a name in place of another, wherever it stands as a word."""
        word = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")

        def other(text: str) -> str:
            return word.sub(lambda found: new, text)

        plan = replace(
            self.plan,
            title=other(self.plan.title),
            description=other(self.plan.description),
            entities=tuple(map(other, self.plan.entities)),
            question_idea=other(self.plan.question_idea),
            talks=tuple(
                replace(talk, business=other(talk.business), outline=other(talk.outline))
                for talk in self.plan.talks
            ),
            facts=tuple(
                replace(fact, value=other(fact.value), said_as=other(fact.said_as), why=other(fact.why))
                for fact in self.plan.facts
            ),
        )
        asked = self.asked and Asked(
            other(self.asked.question),
            other(self.asked.expected),
            tuple({**one, "text": other(one["text"])} for one in self.asked.criteria),
            {name: other(value) for name, value in self.asked.values.items()},
            {name: tuple(map(other, forms)) for name, forms in self.asked.accept.items()},
        )
        talks = {name: tuple(map(other, texts)) for name, texts in self.talks.items()}
        return Draft(self.wish, plan, talks, asked)

    def gold(self, fact: PlannedFact) -> GoldFact:
        """Return a value as the case has it, with the messages that say it."""
        asked = self.asked
        made = (
            fact.gold(asked.accept.get(fact.id, ()), asked.values.get(fact.id, "")) if asked else fact.gold()
        )
        return replace(made, evidence=self._evidence(fact, made))

    def _evidence(self, fact: PlannedFact, gold: GoldFact) -> tuple[str, ...]:
        if fact.id not in self._cited:
            said = (
                f"{fact.talk}#{number}"
                for number, text in enumerate(self.talks.get(fact.talk, ()), start=1)
                if match_fact(AnswerText(text, self.wish.locale), gold, locale=self.wish.locale).mentioned
            )
            self._cited[fact.id] = tuple(said)[:MOST_CITED]
        return self._cited[fact.id]

    def unsaid(self) -> Iterator[PlannedFact]:
        """Yield the values that nobody says where they were to be said."""
        return (fact for fact in self.plan.facts if not self.gold(fact).evidence)

    def conversations(self) -> tuple[Conversation, ...]:
        """Return the talk as the suite has it."""
        return tuple(
            Conversation(
                talk.id,
                talk.when,
                {
                    key: value
                    for key, value in (("business", talk.business), ("channel", talk.channel))
                    if value
                },
                tuple(Message(_role(at), text) for at, text in enumerate(self.talks.get(talk.id, ()))),
            )
            for talk in self.plan.talks
        )

    def header(self, test_id: str) -> dict[str, Any]:
        """Return the header of the case file."""
        assert self.asked is not None
        plan, wish = self.plan, self.wish
        header: dict[str, Any] = {"test_id": test_id, "category": wish.layer, "title": plan.title}
        optional = {"description": plan.description, "domain": wish.domain, "abilities": list(plan.abilities)}
        header |= {key: value for key, value in optional.items() if value}
        return header | {
            "locale": wish.locale,
            "entities": list(plan.entities),
            "question_time": spelled(plan.question_time),
            "user_question": self.asked.question,
            "evaluation_criteria": [dict(one) for one in self.asked.criteria],
            "expected_behavior": self.asked.expected,
            "gold_facts": {
                group: [fact_data(self.gold(fact)) for fact in plan.facts if fact.group == group]
                for group in GROUPS
            },
        }

    def text(self, test_id: str) -> str:
        """Return the case file."""
        return as_documents(self.header(test_id), self.conversations())

    def excerpt(self, refs: Mapping[str, set[int]], around: int = 1) -> str:
        """Return messages of conversations, counted from 1, with their neighbors."""
        lines: list[str] = []
        for name, texts in self.talks.items():
            wanted = {
                near
                for number in refs.get(name, ())
                for near in range(number - around, number + around + 1)
                if 1 <= near <= len(texts)
            }
            lines += [
                f"{name}#{number} {_role(number - 1)}: {texts[number - 1]}" for number in sorted(wanted)
            ]
        return "\n".join(lines)


def _role(at: int) -> Role:
    return "assistant" if at % 2 else "user"
