"""A draft mended by its author: the problems are sent back, and edits come in return."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from harness.authoring.generation.checks import in_the_talk
from harness.authoring.generation.draft import Draft
from harness.authoring.generation.wish import Spice, calendar_lines
from harness.authoring.generation.writing import REVISE, Author, plan_text
from harness.errors import Problem
from harness.facts import match_fact
from harness.llm.reply_error import ReplyError
from harness.llm.schema import Items, ReplySchema, Text
from harness.llm.templates import neutralised

_NUMBERS = re.compile(r"#(\d{1,5})")
_AROUND_MIDDLE = 6
MOST_TOLD = 30

EDITS = ReplySchema(
    "edits",
    (
        Items("replace", (Text("message"), Text("text")), required=False),
        Items("insert", (Text("after"), Text("user"), Text("assistant")), required=False),
        Items("rename", (Text("old"), Text("new")), required=False),
    ),
)


async def repaired(
    author: Author, draft: Draft, spice: Spice, problems: Sequence[Problem], turn: str
) -> Draft:
    """Return the draft after one round of mending: the talk first, then question and criteria.

    Raises:
        Unanswered: when no usable reply comes.
        BudgetSpent, EndpointError: when the run has to stop.
    """
    of_talk = [problem for problem in problems if in_the_talk(problem, draft)]
    of_header = [problem for problem in problems if problem not in of_talk]
    if of_talk:
        draft = await _revised(author, draft, spice, of_talk, turn)
    if of_header:
        asked = await author.question(draft, spice, [told(one) for one in of_header[:MOST_TOLD]], turn)
        draft = draft.with_asked(asked)
    return draft


def told(problem: Problem) -> str:
    """Return a problem as the author is told it."""
    place = f"{problem.field}: " if problem.field else ""
    return f"{place}{problem.message} {problem.mend} [{problem.rule}]"


async def _revised(
    author: Author, draft: Draft, spice: Spice, problems: Sequence[Problem], turn: str
) -> Draft:
    refs = _refs(draft, problems)
    first = draft.plan.talks[0].id
    values = {
        "label": spice.label,
        "turn": turn,
        "plan": neutralised(plan_text(draft.plan)),
        "calendar": calendar_lines(draft.plan.talks[0].when.date(), 6),
        "problems": [neutralised(told(problem)) for problem in problems[:MOST_TOLD]],
        "said": neutralised(draft.excerpt(refs)),
        "example": f"{first}#7",
        "example_after": f"{first}#8",
    }
    return await author.ask(  # type: ignore[no-any-return]
        REVISE, values, EDITS, partial(edited, draft=draft), f"{spice.label} mending {turn}"
    )


def edited(value: Mapping[str, Any], draft: Draft) -> Draft:
    """Return a draft with the edits of a reply.

    Raises:
        ReplyError: when there is none, or one that can't be made.
    """
    replacing, inserting, renaming = (value[name] or () for name in ("replace", "insert", "rename"))
    if not (replacing or inserting or renaming):
        raise ReplyError("no_edit", "there is no edit in it; the problems remain.")
    talks = {name: list(texts) for name, texts in draft.talks.items()}
    for one in replacing:
        name, number = _place(one["message"], draft)
        talks[name][number - 1] = _said(one["text"])
    rounds: list[tuple[str, int, int, list[str]]] = []
    for at, one in enumerate(inserting):
        name, number = _place(one["after"], draft)
        behind = number + number % 2  # a round goes behind a reply, never between question and reply
        rounds.append((name, behind, at, [_said(one["user"]), _said(one["assistant"])]))
    for name, behind, _, texts in sorted(rounds, key=lambda one: one[:3], reverse=True):
        talks[name][behind:behind] = texts
    draft = draft.with_talks({name: tuple(texts) for name, texts in talks.items()})
    for one in renaming:
        old, new = (" ".join(one[key].split()) for key in ("old", "new"))
        if not old or not new:
            raise ReplyError("bad_edit", "`rename` needs a name in `old` and in `new`.")
        draft = draft.renamed(old, new)
    return draft


def _place(text: str, draft: Draft) -> tuple[str, int]:
    name, _, number = text.strip().strip("[]").partition("#")
    if name not in draft.talks or not number.isdecimal() or not 1 <= int(number) <= len(draft.talks[name]):
        extents = ", ".join(f"{talk}#1 to #{len(texts)}" for talk, texts in draft.talks.items())
        raise ReplyError("bad_edit", f"there is no message {text!r}; there are {extents}.")
    return name, int(number)


def _said(text: str) -> str:
    said = text.strip()
    if not said:
        raise ReplyError("bad_edit", "a message of an edit is empty.")
    return said


def _refs(draft: Draft, problems: Sequence[Problem]) -> dict[str, set[int]]:
    """Return the messages to show: those named, and where a whole conversation is meant, its middle and its values."""
    refs: dict[str, set[int]] = {name: set() for name in draft.talks}
    for problem in problems:
        name, _, number = problem.field.partition("#")
        if name in refs and number.isdecimal():
            refs[name].add(int(number))
            continue
        for talk in (name,) if name in refs else tuple(refs):
            refs[talk].update(map(int, _NUMBERS.findall(problem.message)))
            middle = len(draft.talks[talk]) // 2
            refs[talk].update(range(middle - _AROUND_MIDDLE, middle + _AROUND_MIDDLE))
        for fact in draft.plan.facts:
            gold = draft.gold(fact)
            for talk, texts in draft.talks.items():
                refs[talk].update(
                    at
                    for at, text in enumerate(texts, start=1)
                    if match_fact(text, gold, locale=draft.wish.locale).mentioned
                )
    return refs
