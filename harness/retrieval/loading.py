"""Reading retrieval data sets: three forms, every problem of a file at once.

    {memories: [{id, content, …}], queries: [{q, expected_ids, k?, …}]}
    {id, name, description, test_cases: [{id, query, expected_results: [{memory_id, relevance_score,
        position}], metadata}], metadata}, with its memories beside it or in `memories`
    a folder with corpus.jsonl, queries.jsonl or .tsv, and qrels in TREC's form

A directory of such files or folders loads in the order of the names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.errors import InputError, Problem, SuiteError
from harness.json_file import FieldPath, JsonFile
from harness.retrieval import trec
from harness.retrieval.dataset import Query, RetrievalSet, StoredMemory
from harness.retrieval.metrics import LARGEST_K
from harness.retrieval.pages import listed as listed_in_text
from harness.retrieval.pages import read_page

_FORMS = (
    "Write `memories` with `queries`, or `test_cases` as a graded data set has them; see docs/retrieval.md."
)


def load_retrieval(root: Path | str, corpus: Path | str | None = None) -> tuple[RetrievalSet, ...]:
    """Load one data set, or every one of a directory, sorted.

    Args:
        root: a JSON file, a folder in TREC's form, or a directory of those.
        corpus: a JSONL or JSON file with the memories of graded data sets that hold none.

    Raises:
        SuiteError: with every problem of every file.
        InputError: when there is nothing to load, or no data set needs the corpus.
    """
    return load_several([root], corpus)


def load_several(roots: Sequence[Path | str], corpus: Path | str | None = None) -> tuple[RetrievalSet, ...]:
    """Load what `load_retrieval` loads of each, in the order given, with the problems of all at once.

    Raises:
        SuiteError: with every problem of every file.
        InputError: when there is nothing to load, or no data set needs the corpus.
    """
    stored = _Corpus(corpus)
    sets: dict[str, Path] = {}
    found: list[RetrievalSet] = []
    problems: list[Problem] = []
    for place in (place for root in roots for place in _places(Path(root))):
        try:
            one = _read_folder(place) if place.is_dir() else _read_file(place, stored)
        except SuiteError as error:
            problems += error.problems
            continue
        if (other := sets.get(one.id)) is not None:
            told, mend = f"a data set of the id {one.id!r} is in {other} too.", "Give each an id of its own."
            if other == place:
                told, mend = "is named twice.", "Name it once."
            problems.append(Problem(place, 0, "id", told, mend, "duplicate-id"))
        sets[one.id] = place
        found.append(one)
    if problems:
        raise SuiteError(list(dict.fromkeys(problems)), "the retrieval data")
    if corpus is not None and not stored.needed:
        raise InputError(f"--corpus {corpus}: every data set has memories of its own. Leave it out.")
    return tuple(found)


class _Corpus:
    """The memories of data sets that hold none, read when one of them asks.

    Args:
        path: a JSONL or JSON file, or None where there is none.
    """

    def __init__(self, path: Path | str | None) -> None:
        self.needed = False
        self._path = path

    def memories(self) -> list[StoredMemory]:
        """Return them, none without a file.

        Raises:
            SuiteError: with every problem of the file.
        """
        self.needed = True
        return [] if self._path is None else list(self._read)

    @cached_property
    def _read(self) -> list[StoredMemory]:
        return _read_corpus(Path(self._path or ""))


def _places(path: Path) -> list[Path]:
    if path.is_file() or trec.is_folder(path):
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: there is no such file or folder.")
    found = sorted(
        place
        for place in path.iterdir()
        if (place.is_file() and place.suffix == ".json") or trec.is_folder(place)
    )
    if not found:
        raise InputError(f"{path}: holds no retrieval data set (*.json, or a folder with corpus.jsonl).")
    return found


def _read_folder(path: Path) -> RetrievalSet:
    found = trec.read_folder(path)
    return replace(found, memories=tuple(_resolve_links(found.memories)))


def _read_file(path: Path, corpus: _Corpus) -> RetrievalSet:
    file = JsonFile(path)
    value = file.value
    if not isinstance(value, dict) or not ("queries" in value or "test_cases" in value):
        raise SuiteError([Problem(path, 1, "", "is no retrieval data set.", _FORMS, "bad-form")])
    graded = "test_cases" in value
    known = {"id", "name", "description", "memories", "metadata", "test_cases" if graded else "queries"}
    for key in value.keys() - known:
        file.wrong(
            (key,), "unknown key.", f"Correct or delete it; known: {', '.join(sorted(known))}.", "unknown-key"
        )
    memories = (
        _memories(file, value.get("memories"), ("memories",)) if "memories" in value else corpus.memories()
    )
    if not memories and not file.problems:
        mend = "Write `memories`, or name their file with --corpus."
        file.wrong((), "holds no memories.", mend, "no-memories")
    ids = _ids(file, memories, "memories" if "memories" in value else None)
    read = _graded_queries if graded else _queries
    queries = list(read(file, value["test_cases" if graded else "queries"], ids))
    _unique(file, [query.id for query in queries], "test_cases" if graded else "queries")
    id, name, description = (
        _text(file, value, key, (), needed=False) for key in ("id", "name", "description")
    )
    metadata = _object(file, value, "metadata", ())
    if file.problems:
        raise SuiteError(file.problems)
    return RetrievalSet(
        id=id or path.stem,
        memories=tuple(_resolve_links(memories)),
        queries=tuple(queries),
        name=name,
        description=description,
        metadata=metadata,
    )


def _read_corpus(path: Path) -> list[StoredMemory]:
    if path.suffix == ".jsonl":
        return _resolve_links(trec.read_corpus(path))
    file = JsonFile(path)
    listed = file.value.get("memories") if isinstance(file.value, dict) else file.value
    memories = _memories(file, listed, ())
    _ids(file, memories, None)
    if file.problems:
        raise SuiteError(file.problems)
    return _resolve_links(memories)


_MEMORY_KEYS = ("id", "content", "title", "type", "created_at", "entities", "links", "raw", "metadata")


def _memories(file: JsonFile, listed: Any, at: FieldPath) -> list[StoredMemory]:
    if not isinstance(listed, list) or not listed:
        file.wrong(at, "must be a list with at least one memory.", 'Write `[{"id": …, "content": …}]`.')
        return []
    found = []
    for number, item in enumerate(listed):
        memory = _memory(file, item, (*at, number))
        if memory is not None:
            found.append(memory)
    return found


def _memory(file: JsonFile, item: Any, at: FieldPath) -> StoredMemory | None:
    if not isinstance(item, dict):
        file.wrong(at, "must be an object.", 'Write {"id": …, "content": …}.')
        return None
    before = len(file.problems)
    id, content = (_text(file, item, key, at) for key in ("id", "content"))
    raw, title, type = (_text(file, item, key, at, needed=False) for key in ("raw", "title", "type"))
    page = read_page(content)
    entities = (*_texts(file, item, "entities", at), *page.entities)
    links = (*_texts(file, item, "links", at), *page.links)
    metadata = _object(file, item, "metadata", at)
    tagged, here = metadata.get("entities"), (*at, "metadata")
    # One text with commas, as front matter may have it, or a list.
    tags = listed_in_text(tagged) if isinstance(tagged, str) else _texts(file, metadata, "entities", here)
    when = _moment(file, item.get("created_at"), (*at, "created_at"))
    if len(file.problems) > before:
        return None
    return StoredMemory(
        id=id,
        content=page.body,
        title=title or page.title,
        type=type,
        created_at=when,
        entities=tuple(dict.fromkeys((*entities, *tags))),
        links=tuple(dict.fromkeys(links)),
        raw=raw,
        metadata={**metadata, **{key: item[key] for key in item.keys() - set(_MEMORY_KEYS)}},
    )


def _queries(file: JsonFile, listed: Any, ids: frozenset[str]) -> Iterator[Query]:
    known = {"id", "q", "expected_ids", "k", "negative", "unwanted", "tags", "needs"}
    for number, item, at in _objects(file, listed, "queries", known):
        text = _text(file, item, "q", at)
        expected = _texts(file, item, "expected_ids", at)
        grades = dict.fromkeys(expected, 1.0)
        _labels(file, expected, ids, (*at, "expected_ids"))
        query = Query(
            id=_text(file, item, "id", at, needed=False) or f"q{number + 1:02}",
            text=text,
            grades=grades,
            k=_cutoff(file, item.get("k"), (*at, "k")),
            negative=file.flag(item, "negative", at) is True,
            unwanted=frozenset(_texts(file, item, "unwanted", at)),
            tags=tuple(_texts(file, item, "tags", at)),
            needs=_text(file, item, "needs", at, needed=False),
        )
        _labels(file, sorted(query.unwanted), ids, (*at, "unwanted"))
        _relevant_or_negative(file, query, at)
        yield query


def _graded_queries(file: JsonFile, listed: Any, ids: frozenset[str]) -> Iterator[Query]:
    known = {"id", "query", "expected_results", "metadata"}
    for _, item, at in _objects(file, listed, "test_cases", known):
        metadata = _object(file, item, "metadata", at)
        grades = _grades(file, item.get("expected_results", []), (*at, "expected_results"), ids)
        query = Query(
            id=_text(file, item, "id", at),
            text=_text(file, item, "query", at),
            grades=grades,
            k=_cutoff(file, metadata.get("k"), (*at, "metadata", "k")),
            negative=file.flag(metadata, "negative", (*at, "metadata")) is True,
            unwanted=frozenset(_texts(file, metadata, "unwanted", (*at, "metadata"))),
            tags=tuple(_texts(file, metadata, "tags", (*at, "metadata"))),
            needs=_text(file, metadata, "needs", (*at, "metadata"), needed=False),
        )
        _labels(file, sorted(query.unwanted), ids, (*at, "metadata", "unwanted"))
        _relevant_or_negative(file, query, at)
        yield query


def _grades(file: JsonFile, listed: Any, at: FieldPath, ids: frozenset[str]) -> dict[str, float]:
    if not isinstance(listed, list):
        file.wrong(at, "must be a list.", 'Write [{"memory_id": …, "relevance_score": …}].')
        return {}
    grades: dict[str, float] = {}
    positions: dict[int, str] = {}
    for number, item in enumerate(listed):
        here = (*at, number)
        if not isinstance(item, dict) or not item.keys() <= {"memory_id", "relevance_score", "position"}:
            known = "memory_id, relevance_score, position"
            file.wrong(here, "is no expected result.", f"Write an object with {known}.", "unknown-key")
            continue
        name = _text(file, item, "memory_id", here)
        grade = item.get("relevance_score", 1.0)
        if (
            isinstance(grade, bool)
            or not isinstance(grade, int | float)
            or not abs(grade) < trec.LARGEST_GRADE
        ):
            file.wrong((*here, "relevance_score"), f"is {grade!r}.", "Write a number; above 0 is relevant.")
            continue
        if name in grades:
            file.wrong(
                (*here, "memory_id"), f"labels {name!r} twice.", "Keep one of them.", "duplicate-label"
            )
        place = item.get("position")
        if place is not None:
            if isinstance(place, bool) or not isinstance(place, int) or place < 1:
                file.wrong((*here, "position"), f"is {place!r}.", "Write a whole number from 1 on.")
            elif place in positions:
                told = f"the position {place} is {positions[place]!r}'s too."
                file.wrong((*here, "position"), told, "Give each its own.", "duplicate-label")
            else:
                positions[place] = name
        grades[name] = float(grade)
    _labels(file, list(grades), ids, at)
    return grades


def _relevant_or_negative(file: JsonFile, query: Query, at: FieldPath) -> None:
    relevant = [name for name, grade in query.grades.items() if grade > 0]
    if not relevant and not query.negative:
        mend = 'Say what it should find, or write "negative": true.'
        file.wrong(at, f"the query {query.text!r} has no relevant memory.", mend, "no-relevant")
    if relevant and query.negative:
        mend = 'Take out the ids, or "negative": true.'
        file.wrong(at, f"the query {query.text!r} is negative and has relevant memories.", mend, "negative")
    for name in sorted(query.unwanted & set(relevant)):
        mend = "Take it out of one of the two."
        file.wrong(at, f"{name!r} is both wanted and unwanted.", mend, "duplicate-label")


def _labels(file: JsonFile, names: Sequence[str], ids: frozenset[str], at: FieldPath) -> None:
    for number, name in enumerate(names):
        if name not in ids:
            from harness.suite import nearest

            told = f"there is no memory {name!r}; {nearest(name, tuple(sorted(ids)))}."
            file.wrong((*at, number), told, "Correct the id.", "dangling-label")
        elif name in names[:number]:
            file.wrong((*at, number), f"labels {name!r} twice.", "Keep one of them.", "duplicate-label")


def _objects(
    file: JsonFile, listed: Any, key: str, known: set[str]
) -> Iterator[tuple[int, Mapping[str, Any], FieldPath]]:
    if not isinstance(listed, list) or not listed:
        file.wrong((key,), "must be a list with at least one query.", "Write at least one.")
        return
    for number, item in enumerate(listed):
        at = (key, number)
        if not isinstance(item, dict):
            file.wrong(at, "must be an object.", f"Write one with {', '.join(sorted(known))}.")
            continue
        for extra in item.keys() - known:
            mend = f"Correct or delete it; known: {', '.join(sorted(known))}."
            file.wrong((*at, extra), "unknown key.", mend, "unknown-key")
        yield number, item, at


def _ids(file: JsonFile, memories: Sequence[StoredMemory], key: str | None) -> frozenset[str]:
    _unique(file, [memory.id for memory in memories], key)
    return frozenset(memory.id for memory in memories)


def _unique(file: JsonFile, names: Sequence[str], key: str | None) -> None:
    seen: set[str] = set()
    for number, name in enumerate(names):
        if name in seen:
            at: FieldPath = (key, number, "id") if key else ()
            file.wrong(at, f"the id {name!r} stands twice.", "Give each an id of its own.", "duplicate-id")
        seen.add(name)


def _text(file: JsonFile, item: Mapping[str, Any], key: str, at: FieldPath, *, needed: bool = True) -> str:
    value = item.get(key)
    if value is None and not needed:
        return ""
    if isinstance(value, int) and not isinstance(value, bool) and key in ("id", "memory_id"):
        return str(value)
    if not isinstance(value, str) or (needed and not value.strip()):
        told = "is missing." if value is None else "must be text that isn't empty."
        file.wrong((*at, key), told, f'Write "{key}": "…".')
        return ""
    return value


def _texts(file: JsonFile, item: Mapping[str, Any], key: str, at: FieldPath) -> list[str]:
    value = item.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str | int) for each in value):
        file.wrong((*at, key), "must be a list of texts.", 'Write it as ["…"].')
        return []
    return [str(each) for each in value]


def _object(file: JsonFile, item: Mapping[str, Any], key: str, at: FieldPath) -> Mapping[str, Any]:
    value = item.get(key)
    if value is None or isinstance(value, dict):
        return value or {}
    file.wrong((*at, key), "must be an object.", "Write it as {…}.")
    return {}


def _cutoff(file: JsonFile, value: Any, at: FieldPath) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST_K:
        file.wrong(at, f"is {value!r}.", f"Write a whole number from 1 to {LARGEST_K:,}.")
        return None
    return value


def _moment(file: JsonFile, value: Any, at: FieldPath) -> Any:
    from datetime import datetime

    if value is None:
        return None
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        file.wrong(at, f"is {value!r}.", "Write ISO 8601, such as 2025-03-20T09:00:00-05:00.")
        return None


def _resolve_links(memories: Sequence[StoredMemory]) -> list[StoredMemory]:
    """Return the memories with their links as ids; a link may name a title, and may lead nowhere."""
    by_title = {memory.title.casefold(): memory.id for memory in reversed(memories) if memory.title}
    ids = {memory.id for memory in memories}
    resolve: Callable[[str], str | None] = lambda link: link if link in ids else by_title.get(link.casefold())  # noqa: E731
    return [
        replace(
            memory,
            links=tuple(
                dict.fromkeys(found for link in memory.links if (found := resolve(link)) is not None)
            ),
        )
        for memory in memories
    ]
