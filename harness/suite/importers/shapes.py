"""The shapes of downloaded files: what the importers rely on, checked before anything is made of it.

What a published file gets wrong in its content (a date, a citation, a missing answer) is no matter of
shape: the importers repair or exclude it and say so. Keys that no importer reads are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from harness.errors import Problem, SuiteError
from harness.suite.importers.reading import short

SESSION = re.compile(r"session_([0-9]{1,6})")
_MEND = "Download the file anew, or mend this place."
_MOST = 50


def _single(value: Any) -> Any:
    if isinstance(value, list | dict):
        raise ValueError("must be text or a number")
    return value


def _texts(value: Any) -> Any:
    listed = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(listed, list) or any(isinstance(one, list | dict) for one in listed):
        raise ValueError("must be a text or a list of texts")
    return value


def _sessions(value: Any) -> Any:
    """Return the sessions of a LoCoMo conversation, which stand among their dates and the speakers' names."""
    if not isinstance(value, dict):
        return value
    found = {key: one for key, one in value.items() if SESSION.fullmatch(key)}
    numbers = [int(key.partition("_")[2]) for key in found]
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        raise ValueError(f"has session {twice[0]} twice")
    return found


Single = Annotated[Any, AfterValidator(_single)]
Texts = Annotated[Any, AfterValidator(_texts)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class LocomoTurn(_Shape):
    """A turn of a LoCoMo session."""

    speaker: Single = None
    dia_id: Single = None
    text: Single = None
    blip_caption: Single = None


class LocomoQuestion(_Shape):
    """A question of a LoCoMo sample."""

    question: Single = None
    answer: Single = None
    adversarial_answer: Single = None
    category: Single = None
    evidence: Texts = None


class LocomoSample(_Shape):
    """A LoCoMo sample."""

    sample_id: Single = None
    conversation: Annotated[dict[str, list[LocomoTurn] | None], BeforeValidator(_sessions)]
    qa: list[LocomoQuestion]


class LongMemEvalTurn(_Shape):
    """A turn of a LongMemEval session."""

    role: Single = None
    content: Single = None


class LongMemEvalItem(_Shape):
    """A LongMemEval question with its history."""

    question_id: Single
    question: Single
    question_type: Single = None
    answer: Single = None
    haystack_sessions: list[list[LongMemEvalTurn] | None]
    haystack_dates: list[Any] | None = None
    haystack_session_ids: list[Single] | None = None
    answer_session_ids: list[Single] | None = None


def check_shape(path: Path, listed: Sequence[Any], shape: type[BaseModel]) -> None:
    """Check every item of a file.

    Args:
        path: the file, for messages.
        listed: its items.
        shape: what each has to be.

    Raises:
        SuiteError: with the place of each problem; of a file that is wrong throughout, the first ones.
    """
    problems: list[Problem] = []
    for at, item in enumerate(listed):
        try:
            shape.model_validate(item)
        except ValidationError as error:
            for one in error.errors(include_url=False, include_context=False):
                problems.append(Problem(path, 0, _dotted((at, *one["loc"])), _told(one), _MEND, "bad-shape"))
        if len(problems) >= _MOST:
            break
    if problems:
        raise SuiteError(problems[:_MOST], "the data set")


def _told(error: Mapping[str, Any]) -> str:
    expected = {
        "list_type": "must be a list",
        "dict_type": "must be an object",
        "model_type": "must be an object",
    }.get(error["type"], str(error["msg"]).removeprefix("Value error, ").lower())
    if error["type"] == "missing":
        return "is missing."
    return f"is {short(repr(error['input']), 40)}, and {expected}."


def _dotted(at: Iterable[str | int]) -> str:
    told = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
    return told.removeprefix(".")
