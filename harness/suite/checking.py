"""Plain values held against a schema; what doesn't fit becomes problems that a person can mend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

from pydantic_core import ErrorDetails, ValidationError

from harness.errors import Problem, SuiteError
from harness.suite.models import nearest
from harness.suite.schema import CASE_ID, CONVERSATION_ID, FORM, GROUP, HAYSTACK, LOCALE, REF, Shape
from harness.suite.yaml_reader import Document, FieldPath, Plain

# Message, mend and rule; {input} and {expected} are filled in.
_Telling = tuple[str, str, str]

_EMPTY: _Telling = ("is empty.", "Write a value, or delete the key.", "bad-value")
_NUMBER: _Telling = ("is {input}.", "Write a number above 0.", "bad-value")
_CHOICE: _Telling = ("is {input}.", "Write one of {expected}.", "bad-value")
_TRUTH: _Telling = ("is {input}.", "Write true or false.", "bad-value")

_TELLINGS: dict[str, _Telling] = {
    "string_too_short": _EMPTY,
    "too_short": _EMPTY,
    "string_type": ("must be text.", "Write one value; quote it if it holds a colon.", "bad-value"),
    "tuple_type": ("must be a list.", "Write it as `[…]` or as lines that begin with `- `.", "bad-value"),
    "dict_type": ("must be a mapping.", "Write it as `key: value` lines.", "bad-value"),
    "literal_error": _CHOICE,
    "enum": _CHOICE,
    "bool_parsing": _TRUTH,
    "bool_type": _TRUTH,
    "float_parsing": _NUMBER,
    "float_type": _NUMBER,
    "greater_than": _NUMBER,
    "finite_number": _NUMBER,
    "bad-message": (
        "is no message.",
        "Write one turn an item, with its words: `- user: …` or `- assistant: …`.",
        "bad-message",
    ),
    "bad-timestamp": (
        "{input} is no day or time of the calendar.",
        "Write ISO 8601, such as 2025-03-20 or 2025-03-20T09:00:00-05:00.",
        "bad-timestamp",
    ),
}

_EMPTY_FACT: _Telling = (
    "a fact has an empty form, which would be in every answer.",
    "Write the value; it needs a letter or a digit.",
    "empty-fact",
)

_PATTERNS: dict[str, _Telling] = {
    FORM: _EMPTY_FACT,
    REF: ("{input} cites nothing.", "Cite a message as `conversation_id#number`, from 1.", "bad-evidence"),
    LOCALE: ("{input} is no locale.", "Write one such as en-US or en_GB.", "bad-locale"),
    CASE_ID: ("{input} is no id.", "Write one without spaces and slashes.", "bad-id"),
    GROUP: ("{input} is no name of a group.", "Write small letters and digits, joined by `-`.", "bad-value"),
    HAYSTACK: ("{input} is no name of a haystack.", "Write the file's name without .yaml.", "bad-haystack"),
    CONVERSATION_ID: ("{input} is no id.", "Write one without spaces and `#`.", "bad-id"),
}

_FACT_FORMS = frozenset(("fact", "accept", "stale"))

# Keys that no other key refers to: without them a case can still be built and looked at.
_EXPENDABLE = frozenset(
    (
        *("abilities", "cluster", "description", "domain", "entities", "expected_behavior", "locale"),
        *("question_time", "dimension", "kind", "weight", "why"),
    )
)


def check(shape: Shape, document: Document, value: Plain, at: FieldPath = ()) -> Any:
    """Return the validated content of a value that stands at a path of the document.

    Raises:
        SuiteError: with a problem for everything that doesn't fit the shape.
    """
    fields, problems = look(shape, document, value, at)
    if fields is None or problems:
        raise SuiteError(problems)
    return fields


def look(shape: Shape, document: Document, value: Plain, at: FieldPath = ()) -> tuple[Any, list[Problem]]:
    """Return the validated content, or None, and a problem for everything that doesn't fit.

    Where only unknown or expendable keys are wrong, the content comes without them, so that
    the caller can go on and find what else is wrong with the file.
    """
    try:
        return shape.validator.validate_python(value), []
    except ValidationError as error:
        found = list(_telling_ones(error.errors(include_url=False)))
    problems = [_explain(shape, document, at, details) for details in found]
    try:
        return shape.validator.validate_python(
            _without(value, filter(None, map(_expendable, found)))
        ), problems
    except ValidationError:
        return None, problems


def _telling_ones(found: list[ErrorDetails]) -> Iterator[ErrorDetails]:
    """Leave out that a list is too short where that is only because its items are wrong."""
    for details in found:
        loc = details["loc"]
        inside = any(other["loc"][: len(loc)] == loc != other["loc"] for other in found)
        if not (details["type"] == "too_short" and inside):
            yield details


def _expendable(details: ErrorDetails) -> FieldPath | None:
    """Return the path of the key that can be left out to be rid of an error, or None."""
    loc = details["loc"]
    if details["type"] == "extra_forbidden":
        return loc
    return next((loc[: index + 1] for index, step in enumerate(loc) if step in _EXPENDABLE), None)


def _without(value: Plain, paths: Iterable[FieldPath]) -> Plain:
    """Copy a value, leaving out the keys at these paths."""
    copy: Any = deepcopy(value)
    for *parents, key in dict.fromkeys(paths):
        holder = copy
        for step in parents:
            holder = holder[step]
        del holder[key]
    return copy  # type: ignore[no-any-return]


def _explain(shape: Shape, document: Document, at: FieldPath, details: ErrorDetails) -> Problem:
    loc = details["loc"]
    if details["type"] == "missing":
        return document.problem((*at, *loc), "is missing.", f"Add `{loc[-1]}: …`.", "missing-key")
    if details["type"] == "extra_forbidden":
        key = str(loc[-1])
        level = next((step for step in reversed(loc[:-1]) if isinstance(step, str)), "")
        mend = f"Correct or delete it; {nearest(key, shape.keys.get(level, ()))}."
        return document.problem((*at, *loc), f"unknown key {key!r}.", mend, "unknown-key")
    message, mend, rule = _telling(details)
    filled = {"input": _brief(details["input"]), "expected": details.get("ctx", {}).get("expected")}
    return document.problem((*at, *loc), message.format(**filled), mend.format(**filled), rule)


def _telling(details: ErrorDetails) -> _Telling:
    kind = details["type"]
    if kind == "string_type" and details["input"] is None:
        return _EMPTY_FACT if _FACT_FORMS.intersection(details["loc"]) else _EMPTY
    if kind == "string_pattern_mismatch":
        return _PATTERNS[details["ctx"]["pattern"]]
    return _TELLINGS.get(kind, (details["msg"].replace("{", "{{") + ".", "Correct the value.", "bad-value"))


def _brief(value: Any) -> str:
    """Return a value as a message shows it; a whole conversation in it would hide the message."""
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
