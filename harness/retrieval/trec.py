"""Retrieval data sets in TREC's form: a folder with a corpus, queries and relevance judgements.

    corpus.jsonl                {"id" or "_id": …, "content" or "text": …, "title": …}
    queries.jsonl or .tsv       {"id" or "_id": …, "text" or "query": …, "negative"?: true}; or `id<TAB>text`
    qrels, qrels.txt or .tsv    `query 0 document grade`, or `query<TAB>document<TAB>grade` with a header

Judgements of one folder are also looked for as `qrels/test.tsv`, where BEIR keeps them.

A query whose judgements are all 0, and one without any, have no relevant document: they have no value, as in
trec_eval, and neither pass nor fail. Negative is only what says `"negative": true`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import Problem, SuiteError
from harness.json_file import unreadable
from harness.retrieval.dataset import Query, RetrievalSet, StoredMemory
from harness.retrieval.pages import listed, read_page

LARGEST_GRADE = 1e6
"""No grade is as large, in any of the forms."""
_QUERIES = ("queries.jsonl", "queries.tsv")
_QRELS = ("qrels", "qrels.txt", "qrels.tsv", "qrels/test.tsv")
_MEMORY_KEYS = frozenset(
    ("id", "_id", "content", "text", "title", "type", "created_at", "entities", "links", "raw", "metadata")
)


class _Judgement(NamedTuple):
    line: int
    query: str
    document: str
    grade: float


def is_folder(path: Path) -> bool:
    """Tell whether a folder holds a corpus in this form."""
    return path.is_dir() and (path / "corpus.jsonl").is_file()


def read_folder(path: Path) -> RetrievalSet:
    """Read a folder.

    Raises:
        SuiteError: with every problem of its files.
    """
    problems: list[Problem] = []
    memories = _read_memories(path / "corpus.jsonl", problems)
    asked, judged = (_first(path, names, problems) for names in (_QUERIES, _QRELS))
    queries = {} if asked is None else _read_queries(asked, problems)
    # What a broken file lacks would be told again by every judgement of it.
    whole = not problems
    judgements = [] if judged is None else _read_qrels(judged, problems)
    grades: dict[str, dict[str, float]] = {}
    for one in judgements:
        grades.setdefault(one.query, {}).setdefault(one.document, one.grade)
    if whole and asked is not None and judged is not None:
        problems += _labels(judged, judgements, queries.keys(), {memory.id for memory in memories})
        problems += _negatives(asked, queries.values(), grades)
    if problems:
        raise SuiteError(problems)
    made = tuple(replace(query, grades=grades.get(query.id, {})) for _, query in queries.values())
    return RetrievalSet(path.resolve().name, tuple(memories), made)


def _labels(
    path: Path, judgements: Sequence[_Judgement], queries: Collection[str], documents: Collection[str]
) -> Iterator[Problem]:
    """Yield what is wrong with judgements of queries and documents that were read whole."""
    seen: set[tuple[str, str]] = set()
    for line, query, document, _ in judgements:
        for name, known, what in ((query, queries, "query"), (document, documents, "document")):
            if name not in known:
                told = f"there is no {what} {name!r}."
                yield Problem(path, line, "", told, "Correct the id.", "dangling-label")
        if (query, document) in seen:
            told = f"judges {document!r} twice for {query!r}."
            yield Problem(path, line, "", told, "Keep one of them.", "duplicate-label")
        seen.add((query, document))


def _negatives(
    path: Path, queries: Iterable[tuple[int, Query]], grades: Mapping[str, Mapping[str, float]]
) -> Iterator[Problem]:
    for line, query in queries:
        if query.negative and any(grade > 0 for grade in grades.get(query.id, {}).values()):
            told = f"the query {query.text!r} is negative and has relevant documents."
            mend = 'Take out "negative": true, or the judgements.'
            yield Problem(path, line, "negative", told, mend, "negative")


def read_corpus(path: Path) -> list[StoredMemory]:
    """Read memories, one JSON object a line.

    Raises:
        SuiteError: with every problem.
    """
    problems: list[Problem] = []
    found = _read_memories(path, problems)
    if problems:
        raise SuiteError(problems)
    return found


def _read_memories(path: Path, problems: list[Problem]) -> list[StoredMemory]:
    before = len(problems)
    found: dict[str, StoredMemory] = {}
    for line, record in _read_jsonl(path, problems):
        name = record.get("id", record.get("_id"))
        content = record.get("content", record.get("text"))
        if not isinstance(name, str | int) or not str(name).strip() or not isinstance(content, str):
            mend = 'Write {"id": …, "content": …}.'
            problems.append(Problem(path, line, "", "is no memory.", mend, "bad-value"))
            continue
        if str(name) in found:
            told = f"the id {name!r} stands twice."
            problems.append(Problem(path, line, "", told, "Give each an id of its own.", "duplicate-id"))
        page = read_page(content)
        extra = record.get("metadata")
        if not isinstance(extra, dict | None):
            problems.append(
                Problem(path, line, "metadata", "must be an object.", "Write it as {…}.", "bad-value")
            )
        extra = extra if isinstance(extra, dict) else {}
        tagged = extra.get("entities")
        tags = listed(tagged) if isinstance(tagged, str) else _texts(extra, "entities", path, line, problems)
        links, named = (_texts(record, key, path, line, problems) for key in ("links", "entities"))
        title, type, raw = (_text(record, key, path, line, problems) for key in ("title", "type", "raw"))
        found[str(name)] = StoredMemory(
            id=str(name),
            content=page.body,
            title=title or page.title,
            type=type,
            created_at=_moment(record, path, line, problems),
            entities=tuple(dict.fromkeys((*named, *page.entities, *tags))),
            links=tuple(dict.fromkeys((*links, *page.links))),
            raw=raw,
            metadata={**extra, **{key: record[key] for key in record.keys() - _MEMORY_KEYS}},
        )
    if not found and len(problems) == before:
        mend = 'Write {"id": …, "content": …}, one a line.'
        problems.append(Problem(path, 0, "", "holds no memory.", mend, "no-memories"))
    return list(found.values())


def _text(record: Mapping[str, Any], key: str, path: Path, line: int, problems: list[Problem]) -> str:
    value = record.get(key)
    if isinstance(value, str | None):
        return value or ""
    problems.append(Problem(path, line, key, "must be text.", f'Write "{key}": "…".', "bad-value"))
    return ""


def _texts(
    record: dict[str, Any], key: str, path: Path, line: int, problems: list[Problem]
) -> tuple[str, ...]:
    value = record.get(key, [])
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return tuple(map(str, value))
    problems.append(Problem(path, line, key, "must be a list of texts.", 'Write it as ["…"].', "bad-value"))
    return ()


def _moment(record: dict[str, Any], path: Path, line: int, problems: list[Problem]) -> datetime | None:
    value = record.get("created_at")
    try:
        return None if value is None else datetime.fromisoformat(value)
    except (TypeError, ValueError):
        mend = "Write ISO 8601, such as 2025-03-20T09:00:00-05:00."
        problems.append(Problem(path, line, "created_at", f"is {value!r}.", mend, "bad-value"))
        return None


def _read_queries(path: Path, problems: list[Problem]) -> dict[str, tuple[int, Query]]:
    """Return the queries by id, with their lines and without grades."""
    before = len(problems)
    records: Iterable[tuple[int, Mapping[str, Any]]]
    if path.suffix == ".jsonl":
        records = _read_jsonl(path, problems)
    else:
        cut = ((line, text.split("\t")) for line, text in _lines(path, problems))
        records = (
            (line, {"id": parts[0], "text": parts[1] if len(parts) == 2 else None}) for line, parts in cut
        )
    found: dict[str, tuple[int, Query]] = {}
    for line, record in records:
        name, text = record.get("id", record.get("_id")), record.get("text", record.get("query"))
        negative = record.get("negative")
        if not isinstance(name, str | int) or not isinstance(text, str) or not text.strip():
            mend = 'Write {"id": …, "text": …}, or the id, a tab and the text.'
            problems.append(Problem(path, line, "", "is no query.", mend, "bad-value"))
            continue
        if not isinstance(negative, bool | None):
            told = f"is {negative!r}."
            problems.append(Problem(path, line, "negative", told, "Write true or false.", "bad-value"))
        if str(name) in found:
            told = f"the id {name!r} stands twice."
            problems.append(Problem(path, line, "", told, "Give each an id of its own.", "duplicate-id"))
        found[str(name)] = (line, Query(str(name), text, negative=negative is True))
    if not found and len(problems) == before:
        mend = 'Write {"id": …, "text": …}, or the id, a tab and the text, one a line.'
        problems.append(Problem(path, 0, "", "holds no query.", mend, "no-queries"))
    return found


def _read_qrels(path: Path, problems: list[Problem]) -> list[_Judgement]:
    before = len(problems)
    found = []
    for line, text in _lines(path, problems):
        parts = text.split()
        if line == 1 and parts[-1] in ("score", "relevance", "rel", "grade"):
            continue
        grade = _number(parts[-1]) if len(parts) in (3, 4) else None
        if grade is not None:
            found.append(_Judgement(line, parts[0], parts[-2], grade))
        else:
            mend = "Write `query 0 document grade`."
            problems.append(Problem(path, line, "", "is no judgement.", mend, "bad-value"))
    if not found and len(problems) == before:
        mend = "Write `query 0 document grade`, one a line."
        problems.append(Problem(path, 0, "", "holds no judgement.", mend, "no-judgements"))
    return found


def _number(text: str) -> float | None:
    try:
        grade = float(text)
    except ValueError:
        return None
    return grade if abs(grade) < LARGEST_GRADE else None


def _read_jsonl(path: Path, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, text in _lines(path, problems):
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            told = f"is no JSON: {getattr(error, 'msg', error)}."
            problems.append(Problem(path, line, "", told, "Write one object a line.", "bad-json"))
            continue
        if isinstance(record, dict):
            yield line, record
        else:
            problems.append(Problem(path, line, "", "is no object.", "Write one object a line.", "bad-value"))


def _lines(path: Path, problems: list[Problem]) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        problems.append(unreadable(path, error))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def _first(folder: Path, names: Sequence[str], problems: list[Problem]) -> Path | None:
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    if found is None:
        told = f"lacks {' or '.join(names)}."
        problems.append(Problem(folder, 0, "", told, "Add one of them.", "missing-file"))
    return found
