"""Others' published answers, one a question, matched to the cases of a suite."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.suite.answer import Answer
from harness.suite.importers.made import SourceFile
from harness.suite.importers.reading import close_to, plain, read_json, short
from harness.suite.models import Case, Suite

IDS = ("test_id", "question_id", "id", "qid")
ANSWERS = (
    "hypothesis", "response", "prediction", "predicted_answer", "generated_answer", "model_answer", "output",
    "answer",
)  # fmt: skip
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Fields:
    """Where in a row things stand; a dot goes into a mapping, `_key` is the key that a row stands under.

    Attributes:
        id: the question's id; the usual names are tried when left out.
        question: the question's text, by which rows without an id are matched.
        answer: what the system said; the usual names are tried when left out.
        memory: what its memory handed back, a text or a list of texts.
        latency: seconds from question to answer.
        tokens: tokens used.
        error: why there is no answer.
        rows: where the rows stand in the file, when not at the top.
    """

    id: str | None = None
    question: str = "question"
    answer: str | None = None
    memory: str | None = None
    latency: str | None = None
    tokens: str | None = None
    error: str | None = None
    rows: str | None = None


class Supplied(NamedTuple):
    """What a file of answers holds.

    Attributes:
        answers: by test id, in the order of the suite.
        unknown: rows that fit no case, in words.
        file: what was read.
    """

    answers: Mapping[str, Answer]
    unknown: tuple[str, ...]
    file: SourceFile

    @property
    def digest(self) -> str:
        """SHA-256 of the answers as they were read: fields that are named otherwise give another one."""
        told = [[case, *astuple(answer)] for case, answer in self.answers.items()]
        return sha256(json.dumps(told).encode()).hexdigest()


def source_id(case: Case) -> str:
    """Return the name that an imported case's question has in its data set."""
    return case.id.removeprefix(f"{case.category}_")


def read_answers(path: Path, suite: Suite, fields: Fields, *, skip_unknown: bool = False) -> Supplied:
    """Read a JSON or JSONL file of answers.

    Rows are a list, JSON lines, lists under keys, or `{id: row}` and `{id: answer}`. A row is
    matched by its id (the case's, or the data set's own), else by its question.

    Args:
        path: the file.
        suite: what was asked.
        fields: where in a row things stand.
        skip_unknown: leave out rows that fit no case.

    Raises:
        InputError: for a file without rows, what is neither a row nor an answer, a row without an
            answer, two answers to one case, or rows that fit no case.
    """
    data, file = read_json(path)
    finder = _Finder(suite)
    try:
        rows = list(_rows(data if fields.rows is None else _at(data, fields.rows), fields, finder))
    except _NoRowError as error:
        raise InputError(f"{path}: {error}. Name where the rows stand with --rows.") from None
    if not rows:
        raise InputError(f"{path}: holds no rows. Name where they stand with --rows.")
    found: dict[str, Answer] = {}
    unknown: list[str] = []
    for number, row in enumerate(rows, start=1):
        case = finder.case_of(row, fields)
        if case is None:
            unknown.append(_told(row, fields))
            continue
        if case.id in found:
            raise InputError(f"{path}: row {number} answers {case.id} a second time. Leave one of them in.")
        found[case.id] = _answer(path, number, row, fields)
    if unknown and not (skip_unknown and found):
        shown = ", ".join(unknown[:_SHOWN]) + (" …" if len(unknown) > _SHOWN else "")
        near = close_to(unknown[0], finder.names)
        raise InputError(
            f"{path}: {len(unknown)} of {len(rows)} rows fit no case of {suite.root}: {shown}; {near}. "
            "Name the fields with --id and --question, where the rows stand with --rows, or leave such rows out "
            "with --skip-unknown."
        )
    return Supplied({case.id: found[case.id] for case in suite if case.id in found}, tuple(unknown), file)


class _Finder:
    """The cases of a suite by their ids, by the data set's ids, and by their questions."""

    def __init__(self, suite: Suite) -> None:
        self.names: dict[str, Case | None] = {}
        for case in suite:
            own = source_id(case)
            self.names[own] = case if own not in self.names else None
        self.names |= {case.id: case for case in suite}
        self._asking: dict[str, list[Case]] = {}
        for case in sorted(suite, key=source_id):  # as they stand in the data set, whatever their groups
            self._asking.setdefault(_squeezed(case.question), []).append(case)

    def case_of(self, row: Mapping[str, Any], fields: Fields) -> Case | None:
        keys = (fields.id,) if fields.id else (*IDS, "_key")
        for key in keys:
            value = _at(row, key)
            if value is not None and (case := self.names.get(plain(value))) is not None:
                return case
        asked = _at(row, fields.question)
        alike = self._asking.get(_squeezed(asked), []) if isinstance(asked, str) else []
        # A question that a data set asks several times is answered in the same order.
        return alike.pop(0) if len(alike) > 1 else alike[0] if alike else None


class _NoRowError(ValueError):
    """Something stands where a row is expected; says what, and where."""


def _rows(
    data: Any, fields: Fields, finder: _Finder, key: str = "", where: str = ""
) -> Iterator[dict[str, Any]]:
    """Yield the rows of whatever form; whatever is none is an error, never left out.

    Args:
        data: a row, or what holds rows.
        fields: where in a row things stand.
        finder: tells the keys that name a case.
        key: what it stands under.
        where: the same with all that is around it, for messages.
    """
    if isinstance(data, list):
        for number, item in enumerate(data, start=1):
            here = f"{where or 'the list'}, item {number}"
            if isinstance(item, Mapping):
                yield {"_key": key, **item}
            elif isinstance(item, list):
                yield from _rows(item, fields, finder, key, here)
            else:
                raise _NoRowError(f"{here} is {short(json.dumps(item))}, which is no row")
    elif isinstance(data, Mapping):
        if _is_row(data, fields):
            yield {"_key": key, **data}
            return
        for name, item in data.items():
            if name.startswith("_"):
                continue
            if not isinstance(item, list | dict):
                yield {"_key": name, "answer": item}
                continue
            holds_rows = bool(item) and (isinstance(item, list) or _is_row(item, fields))
            if finder.names.get(name) and not holds_rows:
                raise _NoRowError(
                    f"{name} has {short(json.dumps(item))}, which is neither an answer nor a row"
                )
            yield from _rows(item, fields, finder, name, f"{where}.{name}" if where else name)


def _is_row(data: Mapping[str, Any], fields: Fields) -> bool:
    """Tell a row from a mapping of rows: a row says something under a usual name, or one that was named."""
    named = [field for field in (fields.id, fields.answer, fields.error) if field]
    usual = (*ANSWERS, *IDS, fields.question)
    return any(_has(data, field) for field in named) or any(
        name in data and not isinstance(data[name], list | dict) for name in usual
    )


def _answer(path: Path, number: int, row: Mapping[str, Any], fields: Fields) -> Answer:
    error = _at(row, fields.error) if fields.error else None
    keys = (fields.answer,) if fields.answer else ANSWERS
    key = next((key for key in keys if _has(row, key)), None)
    if key is None and not error:
        raise InputError(
            f"{path}: row {number} ({_told(row, fields)}) has no {' or '.join(keys)}. "
            "Name the field with --answer."
        )
    said = None if key is None else _at(row, key)
    if isinstance(said, list | dict):
        raise InputError(
            f"{path}: row {number} ({_told(row, fields)}): {key} is {short(json.dumps(said))}, which is no text. "
            "Name the field of the answer itself with --answer; a dot goes into a mapping."
        )
    memory = _at(row, fields.memory) if fields.memory else None
    return Answer(
        None if said is None or error else plain(said),
        memory=None if memory is None else tuple(_texts(memory)),
        latency_s=_number(path, number, row, fields.latency),
        tokens=None if (used := _number(path, number, row, fields.tokens)) is None else int(used),
        error=plain(error) if error else None,
    )


def _texts(memory: Any) -> Iterator[str]:
    if isinstance(memory, list):
        for item in memory:
            yield from _texts(item)
    elif isinstance(memory, Mapping):
        texts = [memory[name] for name in ("memory", "text", "content") if isinstance(memory.get(name), str)]
        yield texts[0] if texts else str(memory)
    else:
        yield plain(memory)


def _number(path: Path, number: int, row: Mapping[str, Any], field: str | None) -> float | None:
    value = _at(row, field) if field else None
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return float(value)
    raise InputError(f"{path}: row {number}: {field} is {value!r}, and no number of 0 or more.")


def _at(row: Any, field: str) -> Any:
    if isinstance(row, Mapping) and field in row:
        return row[field]
    for step in field.split("."):
        if not isinstance(row, Mapping) or step not in row:
            return None
        row = row[step]
    return row


def _has(row: Mapping[str, Any], field: str) -> bool:
    *path, last = field.split(".")
    holder = _at(row, ".".join(path)) if path and field not in row else row
    return isinstance(holder, Mapping) and (field in holder or last in holder)


def _told(row: Mapping[str, Any], fields: Fields) -> str:
    keys: Sequence[str] = (fields.id,) if fields.id else (*IDS, fields.question, "_key")
    return next((plain(value) for key in keys if (value := _at(row, key)) not in (None, "")), "a row")


def _squeezed(text: str) -> str:
    return " ".join(text.casefold().split())
