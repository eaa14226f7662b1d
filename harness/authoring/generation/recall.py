"""Clusters of a recall data set: memories that are stored, and queries labelled by their ids.

Near misses are memories of the set like any other, with the grade 0 for the query: judged, and not relevant.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from harness.authoring.generation.repairing import MOST_TOLD, told
from harness.authoring.generation.wish import Spice, Wish
from harness.authoring.generation.writing import RECALL, Author, shared_values
from harness.errors import Problem, SuiteError
from harness.llm.reply_error import ReplyError
from harness.llm.schema import Items, ReplySchema, Text
from harness.llm.templates import neutralised
from harness.retrieval.loading import load_retrieval

FILE_NAME = "recall.json"
_WORD = re.compile(r"[^\W_]{4,}")
_ID = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Some memories and the queries over them, as the graded form has them."""

    memories: tuple[Mapping[str, Any], ...]
    queries: tuple[Mapping[str, Any], ...]

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"memories": list(self.memories), "test_cases": list(self.queries)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Cluster:
        """Return what `as_data` gave."""
        return cls(tuple(data["memories"]), tuple(data["test_cases"]))


async def cluster(
    author: Author,
    wish: Wish,
    spice: Spice,
    number: int,
    before: Cluster | None = None,
    problems: Sequence[Problem] = (),
    turn: str = "",
) -> Cluster:
    """Return a cluster; with problems, one that was found wanting, written again.

    Raises:
        Unanswered: when no usable reply comes.
        BudgetSpent, EndpointError: when the run has to stop.
    """
    values = {
        **recall_values(wish, spice),
        "problems": [neutralised(told(problem)) for problem in problems[:MOST_TOLD]],
        "reply": neutralised("" if before is None else json.dumps(before.as_data(), ensure_ascii=False)),
        "turn": turn,
    }
    read = partial(read_cluster, number=number)
    return await author.ask(RECALL, values, _schema(wish), read, f"{spice.label} {turn}")  # type: ignore[no-any-return]


def recall_values(wish: Wish, spice: Spice) -> dict[str, Any]:
    """Return what the template is given at first, but the fence."""
    values = {**shared_values(wish, spice), "memories": wish.memories, "queries": wish.queries}
    return {**values, "problems": [], "reply": "", "turn": ""}


def _schema(wish: Wish) -> ReplySchema:
    memory = (Text("id"), Text("content"), Text("type", required=False), Text("created_at", required=False))
    query = (Text("text"), Text("relevant"), Text("near_misses"))
    return ReplySchema(
        "recall_cluster",
        (Items("memories", memory, most=2 * wish.memories), Items("queries", query, most=2 * wish.queries)),
    )


def read_cluster(value: Mapping[str, Any], number: int) -> Cluster:
    """Return the cluster that a reply holds; ids get the cluster's number before them.

    Raises:
        ReplyError: when there is nothing in it.
    """
    if not value["memories"] or not value["queries"]:
        raise ReplyError("bad_cluster", "`memories` or `queries` is empty.")
    prefix = f"c{number:03}"
    memories = []
    for one in value["memories"]:
        memory = {"id": f"{prefix}-{_name(one['id'])}", "content": one["content"].strip()}
        memory |= {"type": kind} if (kind := (one["type"] or "").strip()) else {}
        memory |= {"created_at": when} if (when := _moment(one["created_at"])) else {}
        memories.append({**memory, "cluster": prefix})
    queries = []
    for at, one in enumerate(value["queries"], start=1):
        relevant, misses = (
            [f"{prefix}-{name}" for part in re.split(r"[,;\s]+", one[key]) if (name := _name(part))]
            for key in ("relevant", "near_misses")
        )
        graded = [(name, 1) for name in relevant] + [(name, 0) for name in misses]
        labels = [{"memory_id": name, "relevance_score": grade} for name, grade in graded]
        query = {"id": f"{prefix}-q{at}", "query": one["text"].strip(), "expected_results": labels}
        queries.append({**query, "metadata": {"tags": [prefix]}})
    return Cluster(tuple(memories), tuple(queries))


def problems_of(made: Cluster, wish: Wish, others: Iterable[Cluster] = ()) -> list[Problem]:
    """Return what is wrong with a cluster: what the loader says of it, and whether its labels can tell anything."""
    found: list[Problem] = []
    with tempfile.TemporaryDirectory(prefix="recallbench-draft-") as folder:
        path = Path(folder) / FILE_NAME
        path.write_text(data_set([made], wish), encoding="utf-8")
        try:
            load_retrieval(path)
        except SuiteError as error:
            found += (one._replace(path=Path(FILE_NAME)) for one in error.problems)
    for key, count, asked in (
        ("memories", len(made.memories), wish.memories),
        ("queries", len(made.queries), wish.queries),
    ):
        if count < asked:
            found.append(
                _wrong(key, f"there are {count}; {asked} are asked for.", "Write the others.", "too-few")
            )
    texts = {memory["id"]: memory["content"] for memory in made.memories}
    for query in made.queries:
        found += _of_query(query, texts)
    before = tuple(others)
    stored = [(memory["id"], memory["content"]) for one in before for memory in one.memories]
    for id, first in _repeated(stored, [(memory["id"], memory["content"]) for memory in made.memories]):
        message = f"{id} says the same as {first}."
        found.append(_wrong("memories", message, "Write another memory.", "same-memory"))
    queries = [(query["id"], query["query"]) for one in before for query in one.queries]
    for id, first in _repeated(queries, [(query["id"], query["query"]) for query in made.queries]):
        message = f"{id} asks the same as {first}, and a system can't tell which labels are meant."
        found.append(_wrong("queries", message, "Ask for something else.", "same-query"))
    return sorted(set(found))


def _repeated(
    before: Sequence[tuple[str, str]], made: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield the id of each text that stands there already, whatever its case and punctuation, and whose it is."""
    seen = {_folded(text): id for id, text in before}
    for id, text in made:
        first = seen.setdefault(_folded(text), id)
        if first != id:
            yield id, first


def _of_query(query: Mapping[str, Any], texts: Mapping[str, str]) -> Iterable[Problem]:
    grades = {one["memory_id"]: one["relevance_score"] for one in query["expected_results"]}
    text, at = query["query"], query["id"]
    if not any(grades.values()):
        yield _wrong(at, f"{text!r} has no relevant memory.", "Name one.", "no-relevant")
    misses = [name for name, grade in grades.items() if not grade]
    if not misses:
        yield _wrong(
            at, f"{text!r} has no near miss.", "Name one, and write it if there is none.", "no-near-miss"
        )
    wanted = [text, *(texts.get(name, "") for name, grade in grades.items() if grade)]
    words = {word for one in wanted for word in _words(one)}
    for name in misses:
        if name in texts and words.isdisjoint(_words(texts[name])):
            message = f"{name} has no word in common with {text!r} or its answer."
            yield _wrong(at, message, "Make it look alike, or name another.", "no-near-miss")
    for name, grade in grades.items():
        if grade and _folded(text) in _folded(texts.get(name, "")):
            yield _wrong(
                at, f"{text!r} stands in {name} word for word.", "Ask in other words.", "copied-query"
            )


def data_set(clusters: Sequence[Cluster], wish: Wish) -> str:
    """Return clusters as one graded data set, which `retrieval evaluate` reads."""
    about = f" about {wish.domain}" if wish.domain else ""
    data = {
        "id": "generated",
        "name": f"Generated{about}",
        "description": "Written by a model and checked; near misses are stored and have the grade 0.",
        "memories": [memory for one in clusters for memory in one.memories],
        "test_cases": [query for one in clusters for query in one.queries],
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def _wrong(field: str, message: str, mend: str, rule: str) -> Problem:
    return Problem(Path(FILE_NAME), 0, field, message, mend, rule)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _name(text: str) -> str:
    return _ID.sub("-", text.casefold()).strip("-")


def _moment(text: str | None) -> str:
    """Return a time that the loader reads, "" where the model's is none."""
    try:
        return datetime.fromisoformat((text or "").strip()).isoformat()
    except ValueError:
        return ""
