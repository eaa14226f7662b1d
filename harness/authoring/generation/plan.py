"""The plan of a case, as a model replies it: persona, conversations, and the values that count."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from harness.authoring.generation.wish import Wish
from harness.errors import FactError
from harness.facts import FactType, GoldFact, match_fact
from harness.llm.reply_error import ReplyError
from harness.llm.schema import Choice, Items, Number, ReplySchema, Text
from harness.validation.annotation import MIN_FORBIDDEN, MIN_REQUIRED

Group = Literal["required", "optional", "forbidden"]
GROUPS: tuple[Group, ...] = get_args(Group)
_TYPES = tuple(kind.value for kind in FactType if kind is not FactType.ABSTAIN)
_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class PlannedTalk:
    """A conversation before it is written."""

    id: str
    when: datetime
    business: str
    channel: str
    outline: str


@dataclass(frozen=True, slots=True)
class PlannedFact:
    """A value before it is said.

    Attributes:
        id: name in the case.
        group: whether an answer must, may or must not state it.
        value: as it is best written.
        type: how it is compared.
        talk: id of the conversation that says it.
        said_as: how it is said there.
        replaces: of a forbidden one, the required one that it is a wrong state of; or "".
        why: of a forbidden one, what is wrong with it.
    """

    id: str
    group: Group
    value: str
    type: FactType
    talk: str
    said_as: str
    replaces: str
    why: str

    def gold(self, accept: tuple[str, ...] = (), value: str = "") -> GoldFact:
        """Return it as a gold fact without evidence."""
        return GoldFact(
            value or self.value,
            self.type,
            accept=accept,
            id=self.id,
            why=self.why if self.group == "forbidden" else "",
            replaces=self.replaces or None,
        )

    def told(self) -> str:
        """Return it as prompts show it."""
        wrong = f", wrong because {self.why}" if self.group == "forbidden" and self.why else ""
        return f'{self.id} ({self.group}{wrong}): {self.value}, said as "{self.said_as}"'


@dataclass(frozen=True, slots=True)
class Plan:
    """A case before it is written."""

    title: str
    slug: str
    description: str
    entities: tuple[str, ...]
    abilities: tuple[str, ...]
    question_time: datetime
    question_idea: str
    talks: tuple[PlannedTalk, ...]
    facts: tuple[PlannedFact, ...]

    def of_talk(self, id: str) -> tuple[PlannedFact, ...]:
        """Return the values that a conversation says."""
        return tuple(fact for fact in self.facts if fact.talk == id)


def plan_schema(wish: Wish) -> ReplySchema:
    """Return the form of the reply."""
    talk = (Text("when"), Text("business"), Text("channel"), Text("outline"))
    fact = (
        Text("id"),
        Choice("group", GROUPS),
        Text("value"),
        Choice("type", _TYPES),
        Number("conversation", 1, wish.conversations),
        Text("said_as"),
        Text("replaces", required=False),
        Text("why", required=False),
    )
    return ReplySchema(
        "case_plan",
        (
            Text("title"),
            Text("slug"),
            Text("description"),
            Items("entities", (Text("name"),), most=20),
            Items("abilities", (Text("name"),), most=4, required=False),
            Items("conversations", talk, most=wish.conversations),
            Items("facts", fact, most=16),
            Text("question_time"),
            Text("question_idea"),
        ),
    )


def read_plan(value: Mapping[str, Any], wish: Wish) -> Plan:
    """Return the plan that a reply holds.

    Raises:
        ReplyError: `bad_plan` where it can't be carried out; the model is told and asked again.
    """
    given = value["conversations"]
    if len(given) != wish.conversations:
        raise _bad(f"`conversations` has {len(given)}; exactly {wish.conversations} are asked for.")
    talks = tuple(
        PlannedTalk(
            f"conv_{number:03}",
            _moment(one["when"], f"conversation {number}"),
            _line(one["business"]),
            _line(one["channel"]),
            one["outline"].strip(),
        )
        for number, one in enumerate(given, start=1)
    )
    asked = _moment(value["question_time"], "`question_time`")
    order = [*(talk.when for talk in talks), asked]
    if any(not before < after for before, after in itertools.pairwise(order)):
        raise _bad("conversations and question are not in the order of time.")
    facts = tuple(_fact(one, talks, wish.locale) for one in value["facts"])
    _check_facts(facts, talks, wish)
    entities = tuple(dict.fromkeys(name for one in value["entities"] if (name := _line(one["name"]))))
    abilities = tuple(dict.fromkeys(_name(one["name"]) for one in value["abilities"] or ()))
    title = _line(value["title"])
    if not title or not any(char.isalnum() for char in value["question_idea"]):
        raise _bad("`title` or `question_idea` is empty.")
    slug = "_".join(_name(value["slug"]).split("_")[:5]) or "case"
    labels = [
        title,
        slug.replace("_", " "),
        *(text for talk in talks for text in (talk.business, talk.channel)),
    ]
    for fact in facts:
        for label in labels if fact.group == "required" else ():
            if match_fact(label, fact.gold(), locale=wish.locale).mentioned:
                raise _bad(f"{label!r} gives away the required {fact.value!r}.")
    return Plan(
        title=title,
        slug=slug,
        description=value["description"].strip(),
        entities=entities,
        abilities=tuple(name for name in abilities if name),
        question_time=asked,
        question_idea=value["question_idea"].strip(),
        talks=talks,
        facts=facts,
    )


def _fact(one: Mapping[str, Any], talks: tuple[PlannedTalk, ...], locale: str) -> PlannedFact:
    number = int(one["conversation"])
    fact = PlannedFact(
        id=_name(one["id"]),
        group=one["group"],
        value=_line(one["value"]),
        type=FactType(one["type"]),
        talk=talks[number - 1].id,
        said_as=_line(one["said_as"]) or _line(one["value"]),
        replaces=_name(one["replaces"] or "") if one["group"] == "forbidden" else "",
        why=_line(one["why"] or ""),
    )
    if not fact.id:
        raise _bad("a fact has no `id` of letters.")
    try:
        gold = fact.gold()
    except FactError as error:
        raise _bad(f"{error}.") from None
    if not match_fact(gold.fact, gold, locale=locale).mentioned:
        raise _bad(f"`{fact.value}` ({fact.id}) is no {fact.type.value} that can be found in a text.")
    return fact


def _check_facts(facts: tuple[PlannedFact, ...], talks: tuple[PlannedTalk, ...], wish: Wish) -> None:
    ids = [fact.id for fact in facts]
    twice = next((name for name in ids if ids.count(name) > 1), None)
    if twice is not None:
        raise _bad(f"two facts are called {twice}.")
    required = [fact for fact in facts if fact.group == "required"]
    forbidden = [fact for fact in facts if fact.group == "forbidden"]
    least = MIN_REQUIRED[wish.layer]
    if len(required) < least or len(forbidden) < MIN_FORBIDDEN:
        raise _bad(
            f"{len(required)} required and {len(forbidden)} forbidden facts; at least {least} and "
            f"{MIN_FORBIDDEN} are asked for."
        )
    idle = [talk.id for talk in talks if talk.id not in {fact.talk for fact in required}]
    if idle:
        raise _bad(f"no required fact is said in {', '.join(idle)}; each conversation needs one of its own.")
    for wrong in forbidden:
        if wrong.replaces and wrong.replaces not in {fact.id for fact in required}:
            raise _bad(f"{wrong.id} replaces {wrong.replaces}, and no required fact is called so.")
        if (same := next((fact for fact in required if _alike(fact, wrong, wish.locale)), None)) is not None:
            raise _bad(f"the forbidden {wrong.id} says the same as the required {same.id}.")


def _alike(one: PlannedFact, other: PlannedFact, locale: str) -> bool:
    pairs = ((one, other), (other, one))
    return any(match_fact(said.value, meant.gold(), locale=locale).mentioned for said, meant in pairs)


def _moment(text: str, what: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise _bad(f"the time of {what} is {text!r}; ISO 8601 with an offset was asked for.") from None
    if moment.tzinfo is None:
        raise _bad(f"the time of {what} is {text!r}; it has no offset.")
    return moment.replace(microsecond=0)


def _line(text: str) -> str:
    return " ".join(text.split())


def _name(text: str) -> str:
    return _SLUG.sub("_", text.casefold()).strip("_")


def _bad(message: str) -> ReplyError:
    return ReplyError("bad_plan", message)
