"""Retrieval data sets in TREC's form: a folder with a corpus, queries and relevance judgements.

    corpus.jsonl                {"id" or "_id": …, "content" or "text": …, "title": …}
    queries.jsonl or .tsv       {"id" or "_id": …, "text" or "query": …}; or `id<TAB>text`
    qrels, qrels.txt or .tsv    `query 0 document grade`, or `query<TAB>document<TAB>grade` with a header

Judgements of one folder are also looked for as `qrels/test.tsv`, where BEIR keeps them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.errors import InputError, Problem, SuiteError
from harness.retrieval.dataset import Query, RetrievalSet, StoredMemory
from harness.retrieval.pages import read_page

LARGEST_GRADE = 1e6
"""No grade is as large, in any of the forms."""
_QUERIES = ("queries.jsonl", "queries.tsv")
_QRELS = ("qrels", "qrels.txt", "qrels.tsv", "qrels/test.tsv")


def is_folder(path: Path) -> bool:
    """Tell whether a folder holds a corpus in this form."""
    return path.is_dir() and (path / "corpus.jsonl").is_file()


def read_folder(path: Path) -> RetrievalSet:
    """Read a folder.

    Raises:
        SuiteError: with every problem of its files.
        InputError: when one of them is missing.
    """
    memories = read_corpus(path / "corpus.jsonl")
    texts = dict(_read_queries(_first(path, _QUERIES)))
    judged = _first(path, _QRELS)
    grades: dict[str, dict[str, float]] = {name: {} for name in texts}
    problems: list[Problem] = []
    ids = {memory.id for memory in memories}
    for line, query, document, grade in _read_qrels(judged):
        for name, known, what in ((query, texts, "query"), (document, ids, "document")):
            if name not in known:
                told = f"there is no {what} {name!r}."
                problems.append(Problem(judged, line, "", told, "Correct the id.", "dangling-label"))
        if document in grades.get(query, {}):
            told = f"judges {document!r} twice for {query!r}."
            problems.append(Problem(judged, line, "", told, "Keep one of them.", "duplicate-label"))
        grades.setdefault(query, {})[document] = grade
    if problems:
        raise SuiteError(problems)
    queries = tuple(
        # What has no relevant document is left out of the means, as trec_eval does.
        Query(name, text, grades[name], negative=not any(grade > 0 for grade in grades[name].values()))
        for name, text in texts.items()
    )
    return RetrievalSet(path.resolve().name, tuple(memories), queries)


def read_corpus(path: Path) -> list[StoredMemory]:
    """Read memories, one JSON object a line.

    Raises:
        SuiteError: with every problem.
    """
    problems: list[Problem] = []
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
        extra = record.get("metadata") if isinstance(record.get("metadata"), dict) else {}
        links, named, tagged = (
            _texts(each, key, path, line, problems)
            for each, key in ((record, "links"), (record, "entities"), (extra or {}, "entities"))
        )
        found[str(name)] = StoredMemory(
            id=str(name),
            content=page.body,
            title=str(record.get("title") or page.title),
            type=str(record.get("type") or ""),
            created_at=_moment(record, path, line, problems),
            entities=tuple(dict.fromkeys((*named, *page.entities, *tagged))),
            links=tuple(dict.fromkeys((*links, *page.links))),
            raw=str(record.get("raw") or ""),
            metadata=extra or {},
        )
    if problems:
        raise SuiteError(problems)
    if not found:
        raise InputError(f"{path}: holds no memory.")
    return list(found.values())


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


def _read_queries(path: Path) -> Iterator[tuple[str, str]]:
    problems: list[Problem] = []
    seen: set[str] = set()
    rows: list[tuple[int, Any, Any]]
    if path.suffix == ".jsonl":
        rows = [
            (line, record.get("id", record.get("_id")), record.get("text", record.get("query")))
            for line, record in _read_jsonl(path, problems)
        ]
    else:
        cut = [(line, text.split("\t")) for line, text in _lines(path)]
        rows = [(line, parts[0], parts[1] if len(parts) == 2 else None) for line, parts in cut]
    for line, name, text in rows:
        if not isinstance(name, str | int) or not isinstance(text, str) or not text.strip():
            mend = 'Write {"id": …, "text": …}, or the id, a tab and the text.'
            problems.append(Problem(path, line, "", "is no query.", mend, "bad-value"))
            continue
        if str(name) in seen:
            told = f"the id {name!r} stands twice."
            problems.append(Problem(path, line, "", told, "Give each an id of its own.", "duplicate-id"))
        seen.add(str(name))
        yield str(name), text
    if problems:
        raise SuiteError(problems)


def _read_qrels(path: Path) -> Iterator[tuple[int, str, str, float]]:
    problems: list[Problem] = []
    for line, text in _lines(path):
        parts = text.split()
        if line == 1 and parts[-1] in ("score", "relevance", "rel", "grade"):
            continue
        grade = _number(parts[-1]) if len(parts) in (3, 4) else None
        if grade is not None:
            yield line, parts[0], parts[-2], grade
        else:
            mend = "Write `query 0 document grade`."
            problems.append(Problem(path, line, "", "is no judgement.", mend, "bad-value"))
    if problems:
        raise SuiteError(problems)


def _number(text: str) -> float | None:
    try:
        grade = float(text)
    except ValueError:
        return None
    return grade if abs(grade) < LARGEST_GRADE else None


def _read_jsonl(path: Path, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, text in _lines(path):
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


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def _first(folder: Path, names: Sequence[str]) -> Path:
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    if found is None:
        raise InputError(f"{folder}: lacks {' or '.join(names)}.")
    return found
