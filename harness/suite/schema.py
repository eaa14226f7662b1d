"""What a case file may hold, key by key.

The schemas are pydantic's own (`pydantic_core`), written as data: the first model class that
a process creates costs 70 ms, more than loading and scoring a whole suite.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, get_args

from pydantic_core import PydanticCustomError, SchemaValidator
from pydantic_core import core_schema as core

from harness.facts.model import FactType
from harness.suite.models import CriterionKind, Dimension, Layer, Role

_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?")


def parse_timestamp(text: Any) -> datetime | None:
    """Read an ISO 8601 timestamp; a day alone is its midnight, without an offset.

    Raises:
        PydanticCustomError: when it isn't one, or the calendar has no such day.
    """
    if text is None:
        return None
    try:
        if isinstance(text, str) and _ISO.fullmatch(text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass  # such as February 30
    raise PydanticCustomError("bad-timestamp", "is no day or time of the calendar")


GROUP = r"^[a-z0-9]+(-[a-z0-9]+)*$"
REF = r"^[^#\s]+#[1-9][0-9]*$"
LOCALE = r"^[a-z]{2,3}([-_][A-Z][a-z]{3})?([-_]([A-Z]{2}|[0-9]{3}))?$"
FORM = r"[\p{L}\p{N}]"  # GoldFact too refuses a form without letter or digit
CASE_ID = r"^[^\s/\\]+$"
HAYSTACK = r"^[A-Za-z0-9_][A-Za-z0-9._-]*$"
CONVERSATION_ID = r"^[^#\s]+$"

_TEXT = core.str_schema(strip_whitespace=True, min_length=1)
_FREE_TEXT = core.nullable_schema(core.str_schema(strip_whitespace=True))
_TIMESTAMP = core.no_info_plain_validator_function(parse_timestamp)


def _pattern(pattern: str) -> core.CoreSchema:
    return core.str_schema(strip_whitespace=True, pattern=pattern)


def _many(item: core.CoreSchema, **limits: Any) -> core.CoreSchema:
    return core.tuple_schema([item], variadic_item_index=0, **limits)


def _one_of(literal: Any) -> core.CoreSchema:
    return core.literal_schema(list(get_args(literal)))


def _mapping(
    required: Mapping[str, core.CoreSchema], optional: Mapping[str, core.CoreSchema]
) -> core.CoreSchema:
    fields = {key: core.typed_dict_field(schema) for key, schema in required.items()}
    fields |= {key: core.typed_dict_field(schema, required=False) for key, schema in optional.items()}
    return core.typed_dict_schema(fields, extra_behavior="forbid")


_FACT = _mapping(
    {"fact": _pattern(FORM)},
    {
        "id": _TEXT,
        "type": core.enum_schema(FactType, list(FactType)),
        "accept": _many(_pattern(FORM)),
        "stale": _many(_pattern(FORM)),
        "evidence": _many(_pattern(REF)),
        "derived_from": _many(_pattern(REF)),
        "why": _TEXT,
        "replaces": _TEXT,
    },
)

_CRITERION = _mapping(
    {"id": _TEXT, "text": _TEXT},
    {
        "facts": _many(_TEXT),
        "dimension": _one_of(Dimension),
        "weight": core.float_schema(gt=0, le=1_000_000, allow_inf_nan=False),
        "kind": _one_of(CriterionKind),
    },
)

_FACTS = core.nullable_schema(_many(_FACT))
_GOLD = _mapping({}, {"required": _FACTS, "optional": _FACTS, "forbidden": _FACTS})

_HEAD = {"test_id": _pattern(CASE_ID), "title": _TEXT, "user_question": _TEXT}
_HEADER_REST: dict[str, core.CoreSchema] = {
    "description": _FREE_TEXT,
    "domain": core.nullable_schema(_TEXT),
    "abilities": core.nullable_schema(_many(_TEXT)),
    "locale": _pattern(LOCALE),
    "cluster": core.nullable_schema(_TEXT),
    "entities": core.nullable_schema(_many(_TEXT)),
    "question_time": _TIMESTAMP,
    "evaluation_criteria": core.nullable_schema(_many(_CRITERION)),
    "expected_behavior": _FREE_TEXT,
    "answerable": core.bool_schema(),
    "gold_facts": core.nullable_schema(_GOLD),
    "evidence": core.nullable_schema(_many(_pattern(REF))),
}
_HEADER = _mapping({**_HEAD, "category": _one_of(Layer)}, _HEADER_REST)
_SHARED_HEADER = _mapping(
    {**_HEAD, "category": _pattern(GROUP), "haystack": _pattern(HAYSTACK)}, _HEADER_REST
)

_MESSAGE = core.custom_error_schema(
    core.dict_schema(_one_of(Role), _TEXT, min_length=1, max_length=1),
    custom_error_type="bad-message",
    custom_error_message="is no message",
)
_MESSAGES = _many(_MESSAGE, min_length=1)

_CONVERSATION_HEAD = {"conversation_id": _pattern(CONVERSATION_ID)}
_CONVERSATION_REST = {
    "timestamp": _TIMESTAMP,
    "metadata": core.nullable_schema(core.dict_schema(core.str_schema(), _FREE_TEXT)),
}
_CONVERSATION = _mapping({**_CONVERSATION_HEAD, "messages": _MESSAGES}, _CONVERSATION_REST)

_STATEMENTS = core.nullable_schema(_many(_TEXT))
_LEGACY_CRITERIA = _mapping(
    {},
    {
        "description": core.nullable_schema(_TEXT),
        "required_information": _STATEMENTS,
        "success_indicators": _STATEMENTS,
        "failure_indicators": _STATEMENTS,
    },
)
_LEGACY_CONVERSATION = _mapping(_CONVERSATION_HEAD, _CONVERSATION_REST)


class Shape(NamedTuple):
    """A schema made ready, with the keys it knows.

    Attributes:
        validator: turns a plain value into a dict whose keys and types are the schema's.
        keys: the keys known at each level, by the name of the field that holds the level;
            the outermost is named "".
    """

    validator: SchemaValidator
    keys: Mapping[str, tuple[str, ...]]


def _keys(schema: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(schema["fields"])


_HEADER_LEVELS = {
    "evaluation_criteria": _keys(_CRITERION),
    "gold_facts": _keys(_GOLD),
    **dict.fromkeys(_keys(_GOLD), _keys(_FACT)),
}
HEADER = Shape(SchemaValidator(_HEADER), {"": (*_keys(_HEADER), "haystack"), **_HEADER_LEVELS})
SHARED_HEADER = Shape(SchemaValidator(_SHARED_HEADER), {"": _keys(_SHARED_HEADER), **_HEADER_LEVELS})
CONVERSATION = Shape(SchemaValidator(_CONVERSATION), {"": _keys(_CONVERSATION)})
FACT = Shape(SchemaValidator(_FACT), {"": _keys(_FACT)})
LEGACY_CRITERIA = Shape(SchemaValidator(_LEGACY_CRITERIA), {"": _keys(_LEGACY_CRITERIA)})
LEGACY_CONVERSATION = Shape(
    SchemaValidator(_LEGACY_CONVERSATION), {"": (*_keys(_LEGACY_CONVERSATION), "messages")}
)
LEGACY_MESSAGES = Shape(SchemaValidator(_MESSAGES), {})
LEGACY_TIMES = Shape(SchemaValidator(_many(_TIMESTAMP)), {})
