"""Data sets in their three forms, and everything that can be wrong with one."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError, SuiteError
from harness.retrieval.loading import load_retrieval, load_several
from tests.retrieval.corpus import measured

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
        ("q2", {"2": 0.0}, False),
    ]


def test_a_query_of_trecs_form_is_negative_only_where_it_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "trec"
    write(folder / "corpus.jsonl", '{"id": "d1", "content": "one"}')
    write(
        folder / "queries.jsonl",
        '{"id": "q1", "text": "One?"}\n{"id": "q2", "text": "Judged 0?"}\n{"id": "q3", "text": "Not judged?"}\n'
        '{"id": "q4", "text": "None on purpose?", "negative": true}\n',
    )
    write(folder / "qrels.txt", "q1 0 d1 1\nq2 0 d1 0\n")
    (data,) = load_retrieval(folder)
    assert [query.id for query in data.queries if query.negative] == ["q4"]
    assert [query.grades for query in data.queries] == [{"d1": 1.0}, {"d1": 0.0}, {}, {}]
    one = measured(data, {query.id: ["d1"] for query in data.queries})
    assert [item.passed for item in one.items] == [True, None, None, True]
    write(folder / "qrels.txt", "q1 0 d1 1\nq4 0 d1 1\n")
    write(
        folder / "queries.jsonl",
        '{"id": "q1", "text": "x", "negative": "yes"}\n{"id": "q4", "text": "y", "negative": true}\n',
    )
    with pytest.raises(SuiteError) as caught:
        load_retrieval(folder)
    (problem,) = caught.value.problems
    assert (problem.line, problem.field, problem.rule) == (1, "negative", "bad-value")
    write(
        folder / "queries.jsonl", '{"id": "q1", "text": "x"}\n{"id": "q4", "text": "y", "negative": true}\n'
    )
    with pytest.raises(SuiteError, match="is negative and has relevant documents"):
        load_retrieval(folder)


@pytest.mark.parametrize("qrels", ["", "\n\n", "query-id\tcorpus-id\tscore\n"])
def test_judgements_that_judge_nothing(tmp_path: Path, qrels: str) -> None:
    folder = tmp_path / "trec"
    write(folder / "corpus.jsonl", '{"id": "d1", "content": "one"}')
    write(folder / "queries.tsv", "q1\tWhich one?")
    write(folder / "qrels.tsv", qrels)
    with pytest.raises(SuiteError) as caught:
        load_retrieval(folder)
    (problem,) = caught.value.problems
    assert (problem.path, problem.rule) == (folder / "qrels.tsv", "no-judgements")


def test_every_file_of_a_folder_is_looked_at(tmp_path: Path) -> None:
    folder = tmp_path / "trec"
    write(
        folder / "corpus.jsonl", '{"id": "d1"}\n{"id": "d2", "content": "x", "metadata": ["x"], "title": 5}'
    )
    write(folder / "queries.tsv", "no tab\n")
    write(folder / "qrels.txt", "q1 0 d9 1\nnonsense\n")
    with pytest.raises(SuiteError) as caught:
        load_retrieval(folder)
    assert [(it.path.name, it.line, it.field, it.message) for it in caught.value.problems] == [
        ("corpus.jsonl", 1, "", "is no memory."),
        ("corpus.jsonl", 2, "metadata", "must be an object."),
        ("corpus.jsonl", 2, "title", "must be text."),
        ("qrels.txt", 2, "", "is no judgement."),
        ("queries.tsv", 1, "", "is no query."),
    ]
    (folder / "queries.tsv").unlink()
    (folder / "qrels.txt").write_bytes(b"\xff\xfe")
    (folder / "corpus.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        load_retrieval(folder)
    assert {problem.rule for problem in caught.value.problems} == {
        "missing-file",
        "unreadable",
        "no-memories",
    }


def test_a_corpus_keeps_what_stands_beside_the_text(tmp_path: Path) -> None:
    line = {
        "id": "d1",
        "content": "x",
        "importance": "high",
        "metadata": {"entities": "Rob, Sue", "by": "me"},
    }
    folder = tmp_path / "trec"
    write(folder / "corpus.jsonl", json.dumps(line))
    write(folder / "queries.tsv", "q1\tWhich one?")
    write(folder / "qrels.txt", "q1 0 d1 1\n")
    (memory,) = load_retrieval(folder)[0].memories
    assert memory.entities == ("Rob", "Sue")
    assert memory.metadata == {"entities": "Rob, Sue", "by": "me", "importance": "high"}


def test_a_directory_loads_sorted(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write(tmp_path / f"{name}.json", {"memories": MEMORIES, "queries": QUERIES})
    assert [data.id for data in load_retrieval(tmp_path)] == ["a", "b"]
    write(tmp_path / "c.json", {"id": "a", "memories": MEMORIES, "queries": QUERIES})
    with pytest.raises(SuiteError, match=r"is in .*a\.json too"):
        load_retrieval(tmp_path)


def changed(**changes: Any) -> dict[str, Any]:
    return {"memories": MEMORIES, "queries": QUERIES, **changes}


def graded(**metadata: Any) -> dict[str, Any]:
    case = {"id": "t1", "query": "x", "expected_results": [{"memory_id": "m1"}], "metadata": metadata}
    return {"memories": MEMORIES, "test_cases": [case]}


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
    "negative that is text": (changed(queries=[{"q": "x", "expected_ids": ["m1"], "negative": "yes"}]), "bad-value", "queries[0].negative"),
    "negative that is a number": (changed(queries=[{"q": "x", "expected_ids": ["m1"], "negative": 1}]), "bad-value", "queries[0].negative"),
    "negative that is text, graded": (graded(negative="true"), "bad-value", "test_cases[0].metadata.negative"),
    "metadata that is empty text": (changed(metadata=""), "bad-value", "metadata"),
    "metadata of a case that is a list": ({**graded(), "test_cases": [{**graded()["test_cases"][0], "metadata": []}]}, "bad-value", "test_cases[0].metadata"),
    "entities that are a number": (changed(memories=[*MEMORIES, {"id": "m4", "content": "x", "metadata": {"entities": 5}}]), "bad-value", "memories[3].metadata.entities"),
    "entities that are objects": (changed(memories=[*MEMORIES, {"id": "m4", "content": "x", "metadata": {"entities": [{}]}}]), "bad-value", "memories[3].metadata.entities"),
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
    (tmp_path / "encoding.json").write_bytes('{"queries": "\xe9"}'.encode("latin-1"))
    write(tmp_path / "trec" / "corpus.jsonl", '{"id": "d1", "content": "one"}')
    with pytest.raises(SuiteError) as caught:
        load_retrieval(tmp_path)
    rules = ["bad-json", "bad-value", "dangling-label", "missing-file", "missing-file", "unreadable"]
    assert sorted(problem.rule for problem in caught.value.problems) == rules
    (unread,) = [problem for problem in caught.value.problems if problem.rule == "unreadable"]
    assert (unread.path, unread.mend) == (tmp_path / "encoding.json", "Save it as UTF-8.")


def test_several_are_loaded_with_all_their_problems(tmp_path: Path) -> None:
    one, other = (write(tmp_path / f"{name}.json", BROKEN[name][0]) for name in ("dangling", "bad k"))
    with pytest.raises(SuiteError) as caught:
        load_several([one, other])
    assert {problem.path for problem in caught.value.problems} == {one, other}
    good = write(tmp_path / "good.json", changed())
    with pytest.raises(SuiteError, match="is named twice"):
        load_several([good, good])


def test_a_corpus_that_nothing_needs_is_refused(tmp_path: Path) -> None:
    corpus = write(tmp_path / "corpus.jsonl", "\n".join(json.dumps(memory) for memory in MEMORIES))
    own = write(tmp_path / "own.json", changed())
    with pytest.raises(InputError, match="has memories of its own"):
        load_retrieval(own, corpus)
    without = graded()
    del without["memories"]
    bare, bare_too = (write(tmp_path / f"{name}.json", without) for name in ("bare", "bare too"))
    assert [len(data.memories) for data in load_several([own, bare], corpus)] == [3, 3]
    corpus.write_bytes(b"\xff")
    with pytest.raises(SuiteError) as caught:
        load_several([bare, bare_too], corpus)
    assert [(problem.path, problem.rule) for problem in caught.value.problems] == [(corpus, "unreadable")]


def test_entities_of_metadata_may_be_one_text(tmp_path: Path) -> None:
    tagged = {"id": "m4", "content": "x", "entities": ["Orla"], "metadata": {"entities": "Rob,  Sue,, Rob"}}
    (data,) = load_retrieval(write(tmp_path / "set.json", changed(memories=[*MEMORIES, tagged])))
    assert data.memories[3].entities == ("Orla", "Rob", "Sue")


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


def test_the_problems_are_said_to_be_of_retrieval_data(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"\A1 problem in the retrieval data:\n.*empty\.json:1: "):
        load_retrieval(write(tmp_path / "empty.json", ""))
