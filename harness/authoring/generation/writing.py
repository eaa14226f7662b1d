"""The stages in which a model writes a case: plan, each part of each conversation, question."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from harness.authoring.generation.draft import Asked, Draft
from harness.authoring.generation.plan import Plan, PlannedFact, PlannedTalk, plan_schema, read_plan
from harness.authoring.generation.question import asked_text, question_schema, read_question
from harness.authoring.generation.wish import (
    DIFFICULTY_BRIEFS,
    LAYER_BRIEFS,
    Spice,
    Wish,
    calendar_lines,
)
from harness.llm.client import ChatModel
from harness.llm.exchange import ChatRequest, settled
from harness.llm.reply_error import ReplyError
from harness.llm.schema import Items, ReplySchema, Text
from harness.llm.templates import Templates, neutralised
from harness.validation.annotation import MIN_REQUIRED

BASE, PLAN, PART, QUESTION, REVISE, RECALL = (
    f"author_{name}.j2" for name in ("base", "plan", "part", "question", "revise", "recall")
)
FILES = (BASE, PLAN, PART, QUESTION, REVISE, RECALL)
WORDS_A_ROUND = 40
TEMPERATURE = 0.8
MAX_TOKENS = 4096
_TAIL = 6


class Author:
    """Asks a model for the stages.

    Args:
        chat: the model.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self.templates = Templates(*FILES)

    async def plan(self, wish: Wish, spice: Spice) -> Plan:
        """Return a plan."""
        values = plan_values(wish, spice)
        return await self.ask(  # type: ignore[no-any-return]
            PLAN, values, plan_schema(wish), partial(read_plan, wish=wish), f"{spice.label} plan"
        )

    async def draft(self, wish: Wish, spice: Spice) -> Draft:
        """Return a case written once, unchecked.

        Raises:
            Unanswered: when a stage gets no usable reply.
            BudgetSpent, EndpointError: when the run has to stop.
        """
        plan = await self.plan(wish, spice)
        talks = await settled(partial(self._talk, wish, spice, plan, talk) for talk in plan.talks)
        named = {talk.id: texts for talk, texts in zip(plan.talks, talks, strict=True)}
        draft = Draft(wish, plan, named)
        return draft.with_asked(await self.question(draft, spice))

    async def _talk(self, wish: Wish, spice: Spice, plan: Plan, talk: PlannedTalk) -> tuple[str, ...]:
        """Write a conversation part by part; what one part falls short of, the next makes up for."""
        texts: list[str] = []
        parts = wish.parts
        say = _by_part(plan.of_talk(talk.id), len(parts))
        for number, here in enumerate(say, start=1):
            rounds = sum(parts[:number]) - len(texts) // 2
            if rounds < 1:
                continue
            values = {
                "label": spice.label,
                "calendar": calendar_lines(talk.when.date(), 3),
                "part": number,
                "parts": len(parts),
                "talk": _talk_values(talk),
                "plan": neutralised(plan_text(plan)),
                "said": neutralised("\n".join(_with_roles(texts)[-_TAIL:])),
                "say": [neutralised(fact.told()) for fact in here],
                "avoid": [neutralised(fact.value) for fact in plan.facts if fact not in here],
                "rounds": rounds,
                "words": rounds * WORDS_A_ROUND,
            }
            schema = ReplySchema(
                "part", (Items("rounds", (Text("user"), Text("assistant")), most=2 * rounds),)
            )
            label = f"{spice.label} {talk.id}, part {number}"
            texts += await self.ask(PART, values, schema, read_rounds, label)
        return tuple(texts)

    async def question(
        self, draft: Draft, spice: Spice, problems: Sequence[str] = (), turn: str = ""
    ) -> Asked:
        """Return question, criteria and forms; with problems, those of a draft mended."""
        plan, wish = draft.plan, draft.wish
        refs: dict[str, set[int]] = {}
        for fact in plan.facts:
            for ref in draft.gold(fact).evidence:
                refs.setdefault(fact.talk, set()).add(int(ref.partition("#")[2]))
        values = {
            "label": spice.label,
            "plan": neutralised(plan_text(plan)),
            "idea": neutralised(plan.question_idea),
            "question_time": plan.question_time.isoformat(),
            "said": neutralised(draft.excerpt(refs, around=0)),
            "layer": wish.layer,
            "layer_brief": LAYER_BRIEFS[wish.layer],
            "problems": [neutralised(problem) for problem in problems],
            "reply": neutralised("" if draft.asked is None else asked_text(draft.asked)),
            "turn": turn,
        }
        ids = tuple(fact.id for fact in plan.facts)
        schema = question_schema(ids)
        return await self.ask(  # type: ignore[no-any-return]
            QUESTION, values, schema, partial(read_question, plan=plan), f"{spice.label} question {turn}"
        )

    async def ask(
        self,
        template: str,
        values: Mapping[str, Any],
        schema: ReplySchema,
        read: Callable[[Any], Any],
        label: str,
    ) -> Any:
        """Return what the reply to a task reads as.

        Args:
            template: the task.
            values: what its template is given, but the fence.
            schema: the form of the reply.
            read: makes something of it.
            label: what it is about, for messages to the user.

        Raises:
            Unanswered: when no usable reply comes.
            BudgetSpent, EndpointError: when the run has to stop.
        """
        fence = self.templates.fence(*(text for text in values.values() if isinstance(text, str)))
        given = {**values, "fence": fence, "form": form_of(schema)}
        messages = (
            {"role": "system", "content": self.templates.render(BASE, {})},
            {"role": "user", "content": self.templates.render(template, given)},
        )
        parameters = {"temperature": TEMPERATURE, "max_tokens": MAX_TOKENS}
        answered = await self._chat.ask(ChatRequest(messages, schema, parameters, label=label.strip()), read)
        return answered.value


def form_of(schema: ReplySchema) -> str:
    """Return what a reply looks like, for models whose server does not hold them to the schema."""
    return json.dumps(_form(schema.json_schema()), ensure_ascii=False)


def _form(schema: Mapping[str, Any]) -> Any:
    if schema["type"] == "object":
        return {name: _form(inner) for name, inner in schema["properties"].items()}
    if schema["type"] == "array":
        return [_form(schema["items"])]
    if schema["type"] == "number":
        return schema["minimum"]
    return " | ".join(schema.get("enum", ("…",)))


def plan_values(wish: Wish, spice: Spice) -> dict[str, Any]:
    """Return what the template of a plan is given, but the fence."""
    return {
        **shared_values(wish, spice),
        "layer": wish.layer,
        "layer_brief": LAYER_BRIEFS[wish.layer],
        "conversations": wish.conversations,
        "rounds": wish.rounds,
        "required": MIN_REQUIRED[wish.layer],
    }


def shared_values(wish: Wish, spice: Spice) -> dict[str, Any]:
    """Return what the first task of an item is given, whatever its kind."""
    return {
        "label": spice.label,
        "domain": neutralised(wish.domain),
        "difficulty": wish.difficulty,
        "difficulty_brief": DIFFICULTY_BRIEFS[wish.difficulty],
        "locale": wish.locale,
        "initials": spice.initials,
        "month": spice.month,
        "mood": spice.mood,
        "calendar": spice.calendar,
    }


def plan_text(plan: Plan) -> str:
    """Return a plan as later tasks are shown it."""
    lines = [f"{plan.title}. {plan.description}", f"People and places: {', '.join(plan.entities)}"]
    lines += [f"{talk.id}: {talk.when.isoformat()}, {talk.business}. {talk.outline}" for talk in plan.talks]
    return "\n".join([*lines, *(f"{fact.told()}, in {fact.talk}" for fact in plan.facts)])


def read_rounds(value: Mapping[str, Any]) -> list[str]:
    """Return the texts of some rounds, in turns.

    Raises:
        ReplyError: when there are none, or one is empty.
    """
    texts = [one[role].strip() for one in value["rounds"] for role in ("user", "assistant")]
    if not texts or not all(texts):
        raise ReplyError("empty_round", "`rounds` is empty, or a message in it is.")
    return texts


def _by_part(facts: Sequence[PlannedFact], parts: int) -> list[list[PlannedFact]]:
    """Spread values over the parts of a conversation, each wrong state before what replaces it."""
    order = sorted(facts, key=lambda fact: fact.group != "forbidden")
    found: list[list[PlannedFact]] = [[] for _ in range(parts)]
    for at, fact in enumerate(order):
        found[at * parts // len(order)].append(fact)
    return found


def _talk_values(talk: PlannedTalk) -> dict[str, str]:
    return {
        "id": talk.id,
        "when": f"{talk.when:%A} {talk.when.isoformat()}",
        "business": neutralised(talk.business),
        "channel": neutralised(talk.channel),
        "outline": neutralised(talk.outline),
    }


def _with_roles(texts: Sequence[str]) -> list[str]:
    return [f"{'assistant' if at % 2 else 'user'}: {text}" for at, text in enumerate(texts)]
