"""The last stage of a case, as a model replies it: question, criteria, reference answer, forms of the facts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from harness.authoring.generation.draft import Asked
from harness.authoring.generation.plan import Plan
from harness.llm.reply_error import ReplyError
from harness.llm.schema import Choice, Items, ReplySchema, Text
from harness.suite.models import CriterionKind, Dimension

_NAME = re.compile(r"[^a-z0-9]+")


def question_schema(ids: tuple[str, ...]) -> ReplySchema:
    """Return the form in which question, criteria and the forms of the facts are replied."""
    criterion = (
        Text("id"),
        Text("text"),
        Choice("kind", get_args(CriterionKind)),
        Text("facts", required=False),
        Choice("dimension", get_args(Dimension), required=False),
    )
    return ReplySchema(
        "case_question",
        (
            Text("user_question"),
            Text("expected_behavior"),
            Items("criteria", criterion, most=8),
            Items("facts", (Text("value"), Text("accept")), ids=ids),
        ),
    )


def read_question(value: Mapping[str, Any], plan: Plan) -> Asked:
    """Return the last stage that a reply holds.

    Raises:
        ReplyError: where it can't be made a header.
    """
    ids = {fact.id for fact in plan.facts}
    criteria: dict[str, dict[str, Any]] = {}
    for one in value["criteria"]:
        name = _NAME.sub("_", one["id"].casefold()).strip("_")
        about = [part.strip() for part in re.split(r"[,;\s]+", one["facts"] or "") if part.strip()]
        if unknown := next((part for part in about if part not in ids), None):
            raise ReplyError("bad_question", f"criterion {name}: no fact is called {unknown!r}.")
        text = one["text"].strip()
        if not name or name in criteria or not text:
            raise ReplyError(
                "bad_question", f"criterion {name!r}: no id, no text, or an id that is there twice."
            )
        made: dict[str, Any] = {"id": name, "text": text}
        extra = {"facts": about, "dimension": one["dimension"]}
        criteria[name] = made | {key: held for key, held in extra.items() if held}
        if one["kind"] == "behaviour":
            criteria[name]["kind"] = "behaviour"
    forms = {
        name: tuple(
            form for part in one["accept"].split(";") if any(map(str.isalnum, form := " ".join(part.split())))
        )
        for name, one in value["facts"].items()
    }
    values = {
        name: " ".join(one["value"].split())
        for name, one in value["facts"].items()
        if any(map(str.isalnum, one["value"]))
    }
    question, expected = value["user_question"].strip(), value["expected_behavior"].strip()
    if not question or not expected:
        raise ReplyError("bad_question", "`user_question` or `expected_behavior` is empty.")
    return Asked(question, expected, tuple(criteria.values()), values, forms)


def asked_text(asked: Asked) -> str:
    """Return the last stage as its author is shown it again."""
    lines = [f"user_question: {asked.question}", f"expected_behavior: {asked.expected}"]
    lines += [f"criterion {one['id']}: {one['text']}" for one in asked.criteria]
    lines += [
        f"fact {name}: {value}; accept: {'; '.join(asked.accept.get(name, ()))}"
        for name, value in asked.values.items()
    ]
    return "\n".join(lines)
