"""Labelled answers as people write them, in YAML, JSON or CSV, read into entries.

An entry has its texts as they stand and can name its lines; what the texts mean, and whether
two entries get along, is for `probes` to say.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic_core import SchemaValidator
from pydantic_core import core_schema as core

from harness.errors import Problem, SuiteError
from harness.suite import nearest
from harness.suite.checking import look
from harness.suite.chunks import Chunk, read_chunks, read_header
from harness.suite.schema import Shape
from harness.suite.yaml_reader import Document, FieldPath, Plain, parse

_COLUMNS = ("test_id", "answer", "label", "kind", "id", "note")
_NEEDED = _COLUMNS[:3]
_LABELS_MEND = "Write `test_id: [{answer: …, label: accept}]` for each case."
_MENDS = {
    "answer": 'Write the text; "" is an answer of no words.',
    "probes": "Write at least one probe, as a list item.",
}

_TEXT = core.str_schema(strip_whitespace=True, min_length=1)
_KEYS: dict[str, core.CoreSchema] = {
    "id": _TEXT,
    "kind": _TEXT,
    "label": _TEXT,
    "answer": core.str_schema(),
    "note": _TEXT,
}


def _shape(fields: Mapping[str, core.CoreSchema], *optional: str) -> Shape:
    typed = {key: core.typed_dict_field(fields[key], required=key not in optional) for key in fields}
    return Shape(SchemaValidator(core.typed_dict_schema(typed, extra_behavior="forbid")), {"": tuple(fields)})


_CASE = _shape({"test_id": _TEXT, "probes": core.list_schema(core.any_schema(), min_length=1)})
_PROBE = _shape(_KEYS, "note")
_LABELLED = _shape(_KEYS, "id", "kind", "note")


class Entry(NamedTuple):
    """A probe as it stands in a file.

    Attributes:
        case_id: the case it answers.
        fields: its texts by key; `answer` and `label` are always there.
        problem: makes a problem, at its line, of a key, a message, a mend and a rule.
    """

    case_id: str
    fields: Mapping[str, str]
    problem: Callable[[str, str, str, str], Problem]


Read = tuple[list[Entry], list[Problem]]


def read_probe_file(path: Path, ids: tuple[str, ...]) -> tuple[Document, list[Entry], list[Problem]]:
    """Read the probes of one case.

    Raises:
        SuiteError: when the file can't be read or parsed.
    """
    document, problems = _document(read_header(path))
    entries, more = _of_case(document, document.value, (), ids, _PROBE)
    return document, entries, problems + more


def read_labels_file(path: Path, ids: tuple[str, ...]) -> Read:
    """Read a user's labels in JSON or YAML.

    Raises:
        SuiteError: when the file can't be read or parsed.
    """
    chunk = read_header(path)
    document, problems = _document(_json_chunk(chunk) if path.suffix.lower() == ".json" else chunk)
    value = document.value
    parts: list[Read] = [([], problems)]
    if isinstance(value, list):
        parts += [_of_case(document, item, (at,), ids, _LABELLED) for at, item in enumerate(value)]
    elif isinstance(value, dict) and ("probes" in value or "test_id" in value):
        parts.append(_of_case(document, value, (), ids, _LABELLED))
    elif isinstance(value, dict):
        named = [(key, listed) for key, listed in value.items() if not key.startswith("_")]
        parts += [_of_key(document, key, listed, ids) for key, listed in named]
    else:
        parts.append(([], [document.problem((), "is no labels file.", _LABELS_MEND, "bad-labels")]))
    entries = [entry for found, _ in parts for entry in found]
    problems = [problem for _, found in parts for problem in found]
    if not entries and not problems:
        problems.append(document.problem((), "holds no labelled answer.", _LABELS_MEND, "empty"))
    return entries, problems


def read_csv_file(path: Path, ids: tuple[str, ...]) -> Read:
    """Read a user's labels in CSV; the first line names the columns, in any order.

    Raises:
        SuiteError: when the file can't be read.
    """
    # Cut into documents and joined again, for what the reader says of bytes that are no text.
    text = "".join(chunk.text for chunk in read_chunks(path))
    header, _, _ = text.partition("\n")
    delimiter = max(",;\t", key=header.count)  # a spreadsheet writes what its country does
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # an answer may be a whole transcript
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    problems: list[Problem] = []
    entries: list[Entry] = []
    first = 1
    try:
        columns = [name.strip().casefold() for name in next(rows, [])]
        problems += _bad_columns(path, columns)
        if problems:
            return entries, problems
        first = rows.line_num + 1
        for row in rows:
            line, first = first, rows.line_num + 1
            if not row:
                continue
            if len(row) != len(columns):
                message = f"has {len(row)} cells, and the header {len(columns)}."
                mend = f"Put an answer that holds `{delimiter}` or a line end in quotes."
                problems.append(Problem(path, line, "", message, mend, "bad-row"))
                continue
            entry = _csv_entry(path, line, dict(zip(columns, row, strict=True)))
            entries.append(entry)
            if entry.case_id not in ids:
                problems.append(entry.problem("test_id", *_no_case(entry.case_id, ids)))
    except csv.Error as error:
        mend = 'Close every quote, and write a quote inside of one as "".'
        problems.append(Problem(path, first, "", f"broken CSV: {error}.", mend, "csv"))
    if not entries and not problems:
        problems.append(Problem(path, 0, "", "holds no labelled answer.", "Add a line for each.", "empty"))
    return entries, problems


def _of_key(document: Document, case_id: str, listed: Plain, ids: tuple[str, ...]) -> Read:
    if not isinstance(listed, list) or not listed:
        problem = document.problem((case_id,), "has no list of answers.", _LABELS_MEND, "bad-labels")
        return [], [problem, *_unknown(document, (case_id,), case_id, ids)]
    return _items(document, (case_id,), (case_id,), case_id, listed, ids, _LABELLED)


def _of_case(document: Document, value: Plain, at: FieldPath, ids: tuple[str, ...], shape: Shape) -> Read:
    fields, problems = look(_CASE, document, value, at)
    problems = list(map(_mended, problems))
    if fields is None:
        return [], problems
    name, listed = (*at, "test_id"), (*at, "probes")
    entries, more = _items(document, name, listed, fields["test_id"], fields["probes"], ids, shape)
    return entries, problems + more


def _items(
    document: Document,
    name: FieldPath,
    at: FieldPath,
    case_id: str,
    listed: Iterable[Plain],
    ids: tuple[str, ...],
    shape: Shape,
) -> Read:
    """Read the probes of a case; `name` is where its id stands, `at` where the list does."""
    entries: list[Entry] = []
    problems = list(_unknown(document, name, case_id, ids))
    for index, item in enumerate(listed):
        fields, more = look(shape, document, item, (*at, index))
        problems += map(_mended, more)
        if fields is not None:
            entries.append(Entry(case_id, fields, _teller(document, (*at, index))))
    return entries, problems


def _teller(document: Document, at: FieldPath) -> Callable[[str, str, str, str], Problem]:
    return lambda key, message, mend, rule: document.problem((*at, key), message, mend, rule)


def _unknown(document: Document, at: FieldPath, case_id: str, ids: tuple[str, ...]) -> Iterator[Problem]:
    if case_id not in ids:
        yield document.problem(at, *_no_case(case_id, ids))


def _no_case(case_id: str, ids: tuple[str, ...]) -> tuple[str, str, str]:
    return f"the suite has no case {case_id!r}.", f"Correct it; {nearest(case_id, ids)}.", "unknown-case"


def _mended(problem: Problem) -> Problem:
    """Say what to write where the general advice, to delete the key, is wrong."""
    key = problem.field.rpartition(".")[2]
    return problem._replace(mend=_MENDS.get(key, problem.mend)) if problem.rule == "bad-value" else problem


def _document(chunk: Chunk) -> tuple[Document, list[Problem]]:
    document = parse(chunk)
    if chunk.last:
        return document, []
    mend = "Write one document; probes of another case go into a file or list item of their own."
    return document, [document.problem((), "a further document follows.", mend, "extra-document")]


_ESCAPE = re.compile(
    r"\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|(ud[89a-f][0-9a-f]{2})|.)", re.IGNORECASE | re.DOTALL
)
_NOT_ASCII = re.compile("[^\n\r\x20-\x7e]")


def _json_chunk(chunk: Chunk) -> Chunk:
    """Return JSON as YAML that reads to the same texts on the same lines.

    YAML would fold a line separator inside a string and refuse a DEL; as escapes both stay.
    """
    try:
        json.loads(chunk.text)
    except json.JSONDecodeError as error:
        if chunk.text.strip():
            message = f"not JSON: {error.msg} (column {error.colno})."
            raise SuiteError(
                [Problem(chunk.path, error.lineno, "", message, "Correct the JSON.", "json")]
            ) from None
    except (RecursionError, ValueError):
        pass  # what is nested too deeply, the YAML reader says so; a number too long is text to us
    text = _ESCAPE.sub(_sound_escape, chunk.text).expandtabs()
    return chunk._replace(text=_NOT_ASCII.sub(lambda char: f"\\U{ord(char[0]):08x}", text))


def _sound_escape(found: re.Match[str]) -> str:
    """Join the halves of a character, and replace a half that stands alone: no output could write it."""
    if found[1]:
        return bytes.fromhex(found[1] + found[2]).decode("utf-16-be")
    return "\\ufffd" if found[3] else found[0]


def _csv_entry(path: Path, line: int, cells: dict[str, str]) -> Entry:
    def problem(key: str, message: str, mend: str, rule: str) -> Problem:
        return Problem(path, line, key, message, mend, rule)

    fields = {key: cell if key == "answer" else cell.strip() for key, cell in cells.items()}
    return Entry(fields.pop("test_id"), fields, problem)


def _bad_columns(path: Path, columns: list[str]) -> Iterator[Problem]:
    for name in _NEEDED:
        if name not in columns:
            message = f"the header has no column {name!r}."
            mend = f"Begin with a line such as {','.join(_NEEDED)}."
            yield Problem(path, 1, "", message, mend, "missing-column")
    for name, times in Counter(columns).items():
        if name not in _COLUMNS:
            mend = f"Correct or delete it; {nearest(name, _COLUMNS)}."
            yield Problem(path, 1, "", f"unknown column {name!r}.", mend, "unknown-column")
        elif times > 1:
            yield Problem(path, 1, "", f"the column {name!r} stands twice.", "Keep one.", "duplicate-column")
