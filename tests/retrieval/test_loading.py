"""Data sets in their three forms, and everything that can be wrong with one."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError, SuiteError
from harness.retrieval.loading import load_retrieval

MEMORIES = [
    {"id": "m1", "content": "Orla's card number ends in 3327.", "type": "fact", "importance": "high"},
    {"id": "m2", "content": "---\ntitle: Harbor\nentities: [Orla Brandt, Quay 4]\n---\nSee [[Orla]] and [[m1|the card]]."},
    {"id": "m3", "title": "Orla", "content": "She banks at Harbor Lane.", "created_at": "2025-03-04"},
]  # fmt: skip
QUERIES = [
    {"q": "Which card?", "expected_ids": ["m1", "m2"], "k": 3, "tags": ["card"]},
    {"id": "none", "q": "What of the boat?", "expected_ids": [], "negative": True, "unwanted": ["m3"]},
]


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1), encoding="utf-8")
    return path


def test_memories_with_queries(tmp_path: Path) -> None:
    (data,) = load_retrieval(write(tmp_path / "set.json", {"memories": MEMORIES, "queries": QUERIES}))
    assert (data.id, len(data.memories)) == ("set", 3)
    one, page, orla = data.memories
    assert (one.type, one.metadata) == ("fact", {"importance": "high"})
    assert (page.title, page.entities) == ("Harbor", ("Orla Brandt", "Quay 4"))
    assert page.content == "See Orla and the card."
    assert page.links == ("m3", "m1"), "a link may name a title or an id"
    assert orla.text == "Orla\nShe banks at Harbor Lane."
    first, second = data.queries
    assert (first.id, first.grades, first.k, first.tags) == ("q01", {"m1": 1.0, "m2": 1.0}, 3, ("card",))
    assert (second.negative, second.unwanted) == (True, frozenset({"m3"}))


def test_a_graded_data_set(tmp_path: Path) -> None:
    results = [
        {"memory_id": "m1", "relevance_score": 3, "position": 1},
        {"memory_id": "m2", "relevance_score": 0.5, "position": 2},
        {"memory_id": "m3", "relevance_score": 0},
    ]
    graded = {
        "id": "graded",
        "name": "Graded",
        "description": "d",
        "test_cases": [
            {"id": "t1", "query": "Which card?", "expected_results": results, "metadata": {"tags": ["x"]}}
        ],
        "metadata": {"version": 1},
    }
    corpus = write(tmp_path / "corpus.jsonl", "\n".join(json.dumps(memory) for memory in MEMORIES))
    (data,) = load_retrieval(write(tmp_path / "graded.json", graded), corpus)
    assert (data.id, data.metadata) == ("graded", {"version": 1})
    assert data.queries[0].grades == {"m1": 3.0, "m2": 0.5, "m3": 0.0}
    assert data.queries[0].tags == ("x",)
    with pytest.raises(SuiteError, match="--corpus"):
        load_retrieval(tmp_path / "graded.json")


@pytest.mark.parametrize("form", ["trec", "beir"])
def test_a_folder_in_trecs_form(tmp_path: Path, form: str) -> None:
    folder = tmp_path / "trec"
    write(
        folder / "corpus.jsonl", '{"_id": "d1", "title": "A", "text": "one"}\n\n{"id": 2, "content": "two"}\n'
    )
    if form == "trec":
        write(folder / "queries.tsv", "q1\tWhich one?\nq2\tNothing?\n")
        write(folder / "qrels.txt", "q1 0 d1 2\nq1 0 2 0\nq2 0 2 0\n")
    else:
        write(
            folder / "queries.jsonl", '{"_id": "q1", "text": "Which one?"}\n{"_id": "q2", "text": "Nothing?"}'
        )
        write(folder / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\t2\t0\nq2\t2\t0\n")
    (data,) = load_retrieval(folder)
    assert [memory.id for memory in data.memories] == ["d1", "2"]
    assert [(query.id, query.grades, query.negative) for query in data.queries] == [
        ("q1", {"d1": 2.0, "2": 0.0}, False),
        ("q2", {"2": 0.0}, True),
    ]


def test_a_directory_loads_sorted(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write(tmp_path / f"{name}.json", {"memories": MEMORIES, "queries": QUERIES})
    assert [data.id for data in load_retrieval(tmp_path)] == ["a", "b"]
    write(tmp_path / "c.json", {"id": "a", "memories": MEMORIES, "queries": QUERIES})
    with pytest.raises(SuiteError, match=r"is in .*a\.json too"):
        load_retrieval(tmp_path)


def changed(**changes: Any) -> dict[str, Any]:
    return {"memories": MEMORIES, "queries": QUERIES, **changes}


BROKEN: dict[str, tuple[Any, str, str]] = {
    "dangling": (changed(queries=[{"q": "x", "expected_ids": ["m9"]}]), "dangling-label", "queries[0].expected_ids[0]"),
    "duplicate label": (changed(queries=[{"q": "x", "expected_ids": ["m1", "m1"]}]), "duplicate-label", "queries[0].expected_ids[1]"),
    "no relevant": (changed(queries=[{"q": "x", "expected_ids": []}]), "no-relevant", "queries[0]"),
    "negative with some": (changed(queries=[{"q": "x", "expected_ids": ["m1"], "negative": True}]), "negative", "queries[0]"),
    "wanted and unwanted": (changed(queries=[{"q": "x", "expected_ids": ["m1"], "unwanted": ["m1"]}]), "duplicate-label", "queries[0]"),
    "duplicate id": (changed(memories=[*MEMORIES, MEMORIES[0]]), "duplicate-id", "memories[3].id"),
    "unknown key": (changed(queries=[{"q": "x", "expected_ids": ["m1"], "topk": 3}]), "unknown-key", "queries[0].topk"),
    "bad k": (changed(queries=[{"q": "x", "expected_ids": ["m1"], "k": 0}]), "bad-value", "queries[0].k"),
    "huge k": (changed(queries=[{"q": "x", "expected_ids": ["m1"], "k": 10**20}]), "bad-value", "queries[0].k"),
    "an id that is a list": (changed(queries=[{"id": ["x"], "q": "x", "expected_ids": ["m1"]}]), "bad-value", "queries[0].id"),
    "a set's id that is a list": (changed(id=["x"]), "bad-value", "id"),
    "metadata that is a list": (changed(metadata=["x"]), "bad-value", "metadata"),
    "no content": (changed(memories=[*MEMORIES, {"id": "m4"}]), "bad-value", "memories[3].content"),
    "blank query": (changed(queries=[{"q": " ", "expected_ids": ["m1"]}]), "bad-value", "queries[0].q"),
    "no form": ({"documents": []}, "bad-form", ""),
    "bad time": (changed(memories=[*MEMORIES, {"id": "m4", "content": "x", "created_at": "soon"}]), "bad-value", "memories[3].created_at"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, name: str) -> None:
    value, rule, field = BROKEN[name]
    path = write(tmp_path / "set.json", value)
    with pytest.raises(SuiteError) as caught:
        load_retrieval(path)
    (problem,) = caught.value.problems
    assert (problem.rule, problem.field, problem.path) == (rule, field, path)
    assert problem.line > 0
    assert problem.mend


def test_every_problem_of_every_file_at_once(tmp_path: Path) -> None:
    for name in ("dangling", "bad k"):
        write(tmp_path / f"{name}.json", BROKEN[name][0])
    write(tmp_path / "no.json", "{")
    with pytest.raises(SuiteError) as caught:
        load_retrieval(tmp_path)
    assert {problem.rule for problem in caught.value.problems} == {"dangling-label", "bad-value", "bad-json"}


def test_trec_files_that_do_not_fit(tmp_path: Path) -> None:
    folder = tmp_path / "trec"
    write(folder / "corpus.jsonl", '{"id": "d1", "content": "one"}')
    write(folder / "queries.tsv", "q1\tWhich one?")
    write(folder / "qrels.txt", "q1 0 d1 1\nq1 0 d1 1\nq9 0 d1 1\nq1 0 d9 1\n")
    with pytest.raises(SuiteError) as caught:
        load_retrieval(folder)
    assert [(problem.line, problem.rule) for problem in caught.value.problems] == [
        (2, "duplicate-label"),
        (3, "dangling-label"),
        (4, "dangling-label"),
    ]
    for judgement in ("q1 d1", "q1 0 d1 nan", "q1 0 d1 inf", "q1 0 d1 1e6"):
        write(folder / "qrels.txt", f"{judgement}\n")
        with pytest.raises(SuiteError, match="is no judgement"):
            load_retrieval(folder)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"id": "d1", "content": "x", "links": null}', "links: must be a list of texts"),
        ('{"id": "d1", "content": "x", "links": 5}', "links: must be a list of texts"),
        ('{"id": "d1", "content": "x", "entities": "Orla"}', "entities: must be a list of texts"),
        ('{"id": "d1", "content": "x", "metadata": {"entities": 5}}', "entities: must be a list of texts"),
        ('{"id": "", "content": "x"}', "is no memory"),
        ('{"id": "d1", "content": "x", "created_at": "soon"}', "created_at: is 'soon'"),
        ('{"id": "d1", "content": "x", "created_at": 5}', "created_at: is 5"),
        ("[" * 100_000, "is no JSON"),
        ('{"id": %s, "content": "x"}' % ("9" * 5000), "is no JSON"),
    ],
)
def test_a_line_of_a_corpus_that_is_no_memory(tmp_path: Path, line: str, told: str) -> None:
    folder = tmp_path / "trec"
    write(folder / "corpus.jsonl", line)
    write(folder / "queries.tsv", "q1\tWhich one?")
    write(folder / "qrels.txt", "q1 0 d1 1\n")
    with pytest.raises(SuiteError, match=told):
        load_retrieval(folder)


def test_a_link_of_a_folder_may_name_a_title(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "trec"
    write(
        folder / "corpus.jsonl",
        '{"id": "d1", "content": "See [[Orla]] and [[Nobody]].", "created_at": "2025-03-04"}\n{"id": "d2", "title": "Orla", "content": "x"}',
    )
    write(folder / "queries.tsv", "q1\tWhich one?")
    write(folder / "qrels.txt", "q1 0 d2 1\n")
    monkeypatch.chdir(folder)
    (data,) = load_retrieval(".")
    assert data.memories[0].links == ("d2",)
    assert data.memories[0].created_at == datetime(2025, 3, 4)
    assert data.id == "trec"


@pytest.mark.parametrize("text", ['{"queries": ' + "[" * 100_000, '{"queries": %s}' % ("9" * 5000)])
def test_json_that_cannot_be_read(tmp_path: Path, text: str) -> None:
    with pytest.raises(SuiteError, match="is no sound JSON"):
        load_retrieval(write(tmp_path / "set.json", text))


@pytest.mark.parametrize("place", ["nothing.json", "empty"])
def test_nothing_to_load(tmp_path: Path, place: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError):
        load_retrieval(tmp_path / place)


def test_the_hash_is_of_what_decides_a_result(tmp_path: Path) -> None:
    def hash_of(value: Any) -> str:
        return load_retrieval(write(tmp_path / "set.json", value))[0].hash

    plain = hash_of(changed())
    assert hash_of(changed(name="Another", description="d")) == plain
    assert hash_of(changed(queries=QUERIES[:1])) != plain
    for told in ({"created_at": "2025-03-05"}, {"subject": "orla"}, {"importance": "low"}):
        assert hash_of(changed(memories=[*MEMORIES[:2], {**MEMORIES[2], **told}])) != plain, told
    assert hash_of(changed(memories=[{**MEMORIES[0], "content": "x"}, *MEMORIES[1:]])) != plain
