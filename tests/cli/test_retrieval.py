"""`recallbench retrieval`, as a process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.resources import bundled

MEMORIES = [
    {"id": "boat", "content": "The boat was sold to Wendell in May."},
    {"id": "car", "content": "Orla's car goes to the garage on Thursday.", "entities": ["Verano Lynx"]},
    {"id": "card", "content": "The card number ends in 3327.", "raw": "user: mine has a zebra on it"},
    {"id": "bank", "content": "The bank closes at five on Fridays."},
    *({"id": f"n{at}", "content": f"Note number {at} on nothing much."} for at in range(8)),
]
QUERIES = [
    {"id": "a", "q": "Who bought the boat?", "expected_ids": ["boat"]},
    {"id": "b", "q": "Verano Lynx appointment?", "expected_ids": ["car"], "tags": ["entity"]},
    {"id": "c", "q": "Which one shows a zebra?", "expected_ids": ["card"], "tags": ["raw"]},
]
LEXICAL = "hybrid(streams='fts5,entities,raw')"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"memories": MEMORIES, "queries": QUERIES}, indent=1), encoding="utf-8")
    return path


def test_systems_stand_side_by_side_with_rows_and_an_aggregate(recallbench: Any, data: Path) -> None:
    done = recallbench("retrieval", "evaluate", data, "--system", "fts5", "--system", f"all={LEXICAL}")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    (row,) = [line for line in lines if line.startswith("│ a ")]
    assert "Who bought" in row
    (hit,) = [line for line in lines if line.startswith("│ hit@5")]
    assert [cell.strip() for cell in hit.strip("│").split("│")] == [
        "hit@5",
        "0.333 n=3",
        "1.000 n=3",
        "0.417",
    ]
    assert "set: 12 memories, 3 queries, hash " in done.stdout
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("format", ["json", "csv", "md"])
def test_formats(recallbench: Any, data: Path, format: str) -> None:
    done = recallbench("retrieval", "evaluate", data, "-s", "fts5", "--format", format)
    assert done.returncode == 0, done.stderr
    if format == "json":
        (one,) = json.loads(done.stdout)["evaluations"]
        assert {metric["name"]: metric["value"] for metric in one["metrics"]}["recall@5"] == pytest.approx(
            1 / 3
        )
    elif format == "csv":
        assert "set,fts5,recall@5,0.333" in done.stdout
    else:
        assert "| hit@5 | 0.333 n=3 | 0.417 |" in done.stdout


def test_a_floor_goes_red_and_green_again(recallbench: Any, data: Path) -> None:
    gate = ("retrieval", "evaluate", data, "--fail-under", "recall@5=0.9")
    red = recallbench(*gate, "-s", "fts5")
    assert red.returncode == 1
    assert "fts5: recall@5 is 0.3333, below 0.9" in red.stderr
    assert "b: 0.000  Verano Lynx appointment? (missed: car)" in red.stderr
    assert "c: 0.000  Which one shows a zebra? (missed: card)" in red.stderr
    assert "  a:" not in red.stderr
    assert recallbench(*gate, "-s", LEXICAL).returncode == 0


def test_never_below_keyword_search(recallbench: Any, data: Path) -> None:
    gate = ("retrieval", "evaluate", data, "-s", "keyword=fts5", "--not-below", "keyword")
    assert recallbench(*gate, "-s", LEXICAL).returncode == 0
    best = ("retrieval", "evaluate", data, "-s", f"all={LEXICAL}", "--not-below", "all")
    red = recallbench(*best, "-s", "fts5")
    assert red.returncode == 1
    assert "fts5: recall@5 is 0.3333, below 1.0000 of all" in red.stderr
    assert "b: 1.000 → 0.000  Verano Lynx appointment? (lost: car)" in red.stderr


def test_never_below_an_earlier_result(recallbench: Any, data: Path, tmp_path: Path) -> None:
    base = tmp_path / "base.json"
    assert recallbench("retrieval", "evaluate", data, "-s", f"mine={LEXICAL}", "-o", base).returncode == 0
    gate = ("retrieval", "evaluate", data, "--not-below", base)
    assert recallbench(*gate, "-s", f"mine={LEXICAL}").returncode == 0
    red = recallbench(*gate, "-s", "mine=hybrid(streams='fts5,entities')")
    assert red.returncode == 1, "a stream was dropped"
    assert "c: 1.000 → 0.000  Which one shows a zebra? (lost: card)" in red.stderr
    other = json.loads(data.read_text(encoding="utf-8"))
    other["memories"].pop()
    data.write_text(json.dumps(other), encoding="utf-8")
    changed = recallbench(*gate, "-s", f"mine={LEXICAL}")
    assert (changed.returncode, "not comparable" in changed.stderr) == (2, True)


def test_compare_names_what_rose_and_fell(recallbench: Any, data: Path, tmp_path: Path) -> None:
    for name, spec in (("a", "fts5"), ("b", LEXICAL)):
        made = recallbench("retrieval", "evaluate", data, "-s", spec, "-o", tmp_path / f"{name}.json")
        assert made.returncode == 0, made.stderr
    done = recallbench(
        "retrieval", "compare", tmp_path / "a.json", tmp_path / "b.json", "--metric", "recall@5"
    )
    assert done.returncode == 0, done.stderr
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("│ recall@5")]
    assert [cell.strip() for cell in row.strip("│").split("│")][1:] == [
        "0.3333", "1.0000", "+0.6667", "0.5", "2", "0", "3",
    ]  # fmt: skip
    as_json = recallbench(
        "retrieval", "compare", tmp_path / "a.json", tmp_path / "b.json", "--format", "json"
    )
    changes = {change["metric"]: change for change in json.loads(as_json.stdout)}
    assert [row["id"] for row in changes["recall@5"]["rose"]] == ["b", "c"]


def test_a_sweep_tries_every_value(recallbench: Any, data: Path) -> None:
    done = recallbench(
        "retrieval", "evaluate", data, "-s", "mine=hybrid(streams='fts5,entities')", "--sweep", "k=1,60", "--format", "csv"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {line.split(",")[1] for line in done.stdout.splitlines()[1:]} == {"mine k=1", "mine k=60"}
    bare = recallbench(
        "retrieval", "evaluate", data, "-s", "hybrid", "--sweep", "embedder=hashing", "--format", "csv"
    )
    assert "hybrid(embedder='hashing')" in bare.stdout


def test_a_sweep_holds_each_value_against_the_first(recallbench: Any, data: Path, tmp_path: Path) -> None:
    swept, page = tmp_path / "swept.json", tmp_path / "swept.md"
    done = recallbench(
        "retrieval", "evaluate", data, "-s", "a=hybrid", "-s", "b=hybrid(k=1)",
        "--sweep", "streams=fts5,'fts5,entities','fts5,entities,raw'", "-o", swept, "-o", page,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (row,) = [
        line
        for line in done.stdout.partition("b streams='fts5,entities,raw': against b streams=fts5")[
            2
        ].splitlines()
        if line.startswith("│ recall@5")
    ]
    cells = ["0.3333", "1.0000", "+0.6667", "0.5", "2", "0", "3"]
    assert [cell.strip() for cell in row.strip("│").split("│")][1:] == cells
    assert "| recall@5 | 0.3333 | 1.0000 | +0.6667 | 0.5 | 2 | 0 | 3 |" in page.read_text(encoding="utf-8")
    evaluations = json.loads(swept.read_text(encoding="utf-8"))["evaluations"]
    held = {
        one["system"]: {name: rows for name, rows in one["sections"].items() if name.startswith("against ")}
        for one in evaluations
    }
    assert (held["a streams=fts5"], held["b streams=fts5"]) == ({}, {})
    sections = held["a streams='fts5,entities,raw'"]
    name = "against a streams=fts5"
    assert set(sections) == {name, f"{name}, queries that rose and fell"}
    assert ["recall@5", *cells] in sections[name]
    assert [row[0] for row in sections[f"{name}, queries that rose and fell"][1:]] == ["b", "c"]


def test_a_value_that_changes_nothing_says_so(recallbench: Any, data: Path) -> None:
    done = recallbench("retrieval", "evaluate", data, "-s", "hybrid(streams='fts5')", "--sweep", "k=1,60")
    assert "queries that rose and fell" not in done.stdout
    assert "against hybrid(streams='fts5', k=1): No query changed." in " ".join(done.stdout.split())


def test_a_sweep_over_negatives_goes_on_without_a_comparison(recallbench: Any, data: Path) -> None:
    nothing = [{"q": "What of the zebra?", "expected_ids": [], "negative": True}]
    data.write_text(json.dumps({"memories": MEMORIES, "queries": nothing}), encoding="utf-8")
    done = recallbench("retrieval", "evaluate", data, "-s", "hybrid(streams='fts5')", "--sweep", "k=1,60")
    assert done.returncode == 0, done.stderr
    assert "not comparable" in done.stdout


def test_compare_takes_results_only(recallbench: Any, data: Path, tmp_path: Path) -> None:
    listed = tmp_path / "list.json"
    listed.write_text("[]", encoding="utf-8")
    for path, told in ((data, "is a data set and no result"), (listed, "is no result")):
        done = recallbench("retrieval", "compare", path, path)
        assert (done.returncode, f"{path}: {told}. Name a file" in done.stderr) == (2, True), done.stderr


def test_compare_takes_two_systems_of_one_file(recallbench: Any, data: Path, tmp_path: Path) -> None:
    both = tmp_path / "both.json"
    made = recallbench("retrieval", "evaluate", data, "-s", "a=fts5", "-s", f"b={LEXICAL}", "-o", both)
    assert made.returncode == 0, made.stderr
    args = ("retrieval", "compare", both, both, "--metric", "recall@5")
    done = recallbench(*args, "--system", "a", "--system", "b", "--format", "md")
    assert "| recall@5 | 0.3333 | 1.0000 | +0.6667 | 0.5 | 2 | 0 | 3 |" in done.stdout
    assert "First is a of " in done.stdout
    back = recallbench(*args, "--system", "b", "--system", "a", "--format", "csv")
    assert back.stdout.splitlines()[1].startswith("recall@5,1.0,0.333")
    assert "+0.0000" in recallbench(*args, "--system", "b", "--format", "md").stdout
    unclear = recallbench(*args)
    assert (unclear.returncode, "Name one with --system (twice, where" in unclear.stderr) == (2, True)
    three = recallbench(*args, "--system", "a", "--system", "b", "--system", "a")
    assert (three.returncode, "one for each" in three.stderr) == (2, True)
    unknown = recallbench(*args, "--system", "a", "--system", "c")
    assert (unknown.returncode, "holds no system 'c' (a, b)" in unknown.stderr) == (2, True)


def test_a_sweep_tries_weights(recallbench: Any, data: Path) -> None:
    done = recallbench(
        "retrieval", "evaluate", data, "-s", "mine=hybrid(streams='fts5,raw')", "--sweep", "weights=[1,2],[2,1]", "--format", "json"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = [one["system"] for one in json.loads(done.stdout)["evaluations"]]
    assert found == ["mine weights=[1,2]", "mine weights=[2,1]"]


def test_a_sweep_tries_streams(recallbench: Any, data: Path) -> None:
    done = recallbench(
        "retrieval", "evaluate", data, "-s", "mine=hybrid", "--sweep", "streams='fts5,raw',fts5", "--format", "csv"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "set,\"mine streams='fts5,raw'\",recall@5,0.666" in done.stdout
    assert "set,mine streams=fts5,recall@5,0.333" in done.stdout


@pytest.mark.parametrize("system", ["mine=vector(embedder='hashing')", "Hybrid=hybrid(embedder='hashing')"])
def test_no_label_hides_that_vectors_are_lexical(recallbench: Any, data: Path, system: str) -> None:
    done = recallbench("retrieval", "evaluate", data, "-s", system, "--format", "json")
    (one,) = json.loads(done.stdout)["evaluations"]
    assert any("what stands behind it is lexical" in warning for warning in one["warnings"])


@pytest.mark.parametrize("gate", [("--gate-on", "recal@5"), ("-k", "3")])
def test_a_gate_that_compares_nothing_is_refused(
    recallbench: Any, data: Path, tmp_path: Path, gate: tuple[str, ...]
) -> None:
    base = tmp_path / "base.json"
    assert recallbench("retrieval", "evaluate", data, "-s", "fts5", "-o", base).returncode == 0
    done = recallbench("retrieval", "evaluate", data, "-s", "fts5", "--not-below", base, *gate)
    assert (done.returncode, done.stdout, "was not measured in both" in done.stderr) == (2, "", True)


UNREACHABLE = "memory_api(url='http://127.0.0.1:9', api_key_env=None)"
GATES = {
    "floor": (("--fail-under", "foo=1"), "--fail-under foo: is not measured"),
    "cutoff": (("-k", "5", "--fail-under", "recall@3=.5"), "--fail-under recall@3: is not measured"),
    "gate on": (("--gate-on", "mrr"), "--gate-on is for --not-below"),
    "no file": (("--not-below", "nofile.json"), "is no file, and no --system"),
    "metric": (("--not-below", "{base}", "--gate-on", "foo"), "was not measured in both"),
    "grade": (("--not-below", "{base}", "--relevant-from", "2"), "different grades that are relevant"),
    "other data": (("--not-below", "{other}"), "measured on different data"),
    "other name": (("--not-below", "{named}"), "holds no result of mine on set"),
}


@pytest.mark.parametrize("name", GATES)
def test_a_gate_that_cannot_be_held_is_refused_before_any_search(
    recallbench: Any, data: Path, tmp_path: Path, name: str
) -> None:
    """A search of this system would end in a message about its server."""
    files = {name: tmp_path / f"{name}.json" for name in ("base", "other", "named")}
    assert recallbench("retrieval", "evaluate", data, "-s", "fts5", "-o", files["base"]).returncode == 0
    result = json.loads(files["base"].read_text())
    result["evaluations"][0]["provenance"]["dataset_hash"] = "0" * 64
    files["other"].write_text(json.dumps(result))
    result["evaluations"][0]["dataset"] = "another"
    files["named"].write_text(json.dumps(result))
    args, told = GATES[name]
    asked = ("retrieval", "evaluate", data, "-s", f"mine={UNREACHABLE}")
    done = recallbench(*asked, *(arg.format(**files) for arg in args))
    assert (done.returncode, done.stdout, told in done.stderr) == (2, "", True), done.stderr
    allowed = recallbench(*asked, "--fail-under", "passed=0", "--not-below", files["base"])
    assert "127.0.0.1:9" in allowed.stderr


def test_a_reader_that_leaves_opens_no_gate(data: Path, tmp_path: Path, unread: Any) -> None:
    args = ("retrieval", "evaluate", data, "-s", "fts5", "-o", tmp_path / "out.json")
    for floor, status in (("0.9", 1), ("0.1", 0)):
        found, said = unread(*args, "--fail-under", f"recall@5={floor}")
        assert found == status, said
        assert ("below 0.9" in said) == bool(status)
        assert "Exception" not in said
        (tmp_path / "out.json").unlink()


def test_what_is_read_is_not_written_over(recallbench: Any, data: Path, tmp_path: Path) -> None:
    base = tmp_path / "base.json"
    assert recallbench("retrieval", "evaluate", data, "-s", f"mine={LEXICAL}", "-o", base).returncode == 0
    for args in (
        (data, "-s", "mine=fts5", "--not-below", base, "-o", base),
        (tmp_path, "-s", "mine=fts5", "-o", data),
    ):
        before = data.read_bytes(), base.read_bytes()
        done = recallbench("retrieval", "evaluate", *args)
        assert (done.returncode, "would overwrite what is read" in done.stderr) == (2, True), done.stderr
        assert (data.read_bytes(), base.read_bytes()) == before


def test_compare_takes_one_of_several_data_sets(recallbench: Any, data: Path, tmp_path: Path) -> None:
    other, base = tmp_path / "other.json", tmp_path / "base.json"
    other.write_bytes(data.read_bytes())
    assert recallbench("retrieval", "evaluate", data, other, "-s", "fts5", "-o", base).returncode == 0
    unclear = recallbench("retrieval", "compare", base, base)
    assert (unclear.returncode, unclear.stderr) == (
        2,
        f"recallbench: {base}: holds more than one dataset (set, other). Name one with --dataset.\n",
    )
    assert recallbench("retrieval", "compare", base, base, "--dataset", "other").returncode == 0
    unknown = recallbench("retrieval", "compare", base, base, "--dataset", "third")
    assert "holds no dataset 'third' (set, other)" in unknown.stderr


def test_two_data_sets_of_one_id_are_refused(recallbench: Any, data: Path) -> None:
    done = recallbench("retrieval", "evaluate", data, data, "-s", "fts5")
    assert (done.returncode, "is named twice" in done.stderr) == (2, True)


def test_a_suite_measures_retrieval_too(recallbench: Any) -> None:
    args = (
        "retrieval",
        "evaluate",
        "--suite",
        "bundled",
        "--case",
        "layer1_10*,layer3_12*",
        "--level",
        "round",
    )
    done = recallbench(*args, "-s", "fts5", "-s", "bm25(rounds=1)", "--format", "json")
    assert done.returncode == 0, done.stderr
    words, memory = json.loads(done.stdout)["evaluations"]
    assert [item["id"] for item in words["items"]] == [
        "layer1_10_pharmacy_transfer",
        "layer3_12_solar_and_roof",
    ]
    assert words["provenance"]["dataset_hash"] == memory["provenance"]["dataset_hash"]
    assert (words["errors"], memory["errors"]) == ([], [])
    assert all(item["detail"]["results"] for item in memory["items"])


def test_a_memory_system_takes_the_memories_in(recallbench: Any, data: Path) -> None:
    done = recallbench("retrieval", "evaluate", data, "-s", "bm25", "-s", "fts5", "--format", "json")
    assert done.returncode == 0, done.stderr
    system, words = json.loads(done.stdout)["evaluations"]
    assert system["items"][0]["detail"]["results"][0] == "boat"
    assert [item["values"]["recall@5"] for item in system["items"]] == [
        item["values"]["recall@5"] for item in words["items"]
    ]


def test_a_system_without_scores_is_swept_by_no_threshold(recallbench: Any, data: Path) -> None:
    done = recallbench("retrieval", "evaluate", data, "-s", "full_context", "-s", "bm25", "--format", "json")
    whole, words = (one["sections"]["thresholds"] for one in json.loads(done.stdout)["evaluations"])
    assert [row[0] for row in whole] == ["Floor", "results without scores"]
    assert len(words) == 12


WRONG = {
    "no system": ((), "name at least one --system"),
    "unknown system": (
        ("-s", "magic"),
        "no such system. Known: fts5, vector, entities, links, raw, hybrid, memory_api, ",
    ),
    "nearly a retriever": (("-s", "fts"), "Did you mean fts5?"),
    "a module": (("-s", "json"), "is a module. Name its class too: json:ClassName"),
    "weights": (("-s", "hybrid(weights='0,0')"), "one a stream and not all 0"),
    "swept weights": (("-s", "hybrid", "--sweep", "weights=[1,1],[0,0.0]"), "one a stream and not all 0"),
    "an answerer": (("-s", "echo"), "cannot recall"),
    "twice": (("-s", "a=fts5", "-s", "a=raw"), "two systems are called a"),
    "floor": (("-s", "fts5", "--fail-under", "recall@7=1"), "rprec, passed."),
    "unknown floor": (("-s", "fts5", "--fail-under", "foo@5=1"), "--fail-under foo@5: is not measured"),
    "baseline": (("-s", "fts5", "--not-below", "nothing"), "is no file, and no --system"),
    "a data set as a baseline": (
        ("-s", "fts5", "--not-below", "{data}"),
        "is a data set and no result. Name a file",
    ),
    "baseline of a sweep": (
        ("-s", "mine=hybrid", "--sweep", "k=1,2", "--not-below", "mine"),
        "is no file, and no --system (mine k=1, mine k=2)",
    ),
    "only itself": (("-s", "fts5", "--not-below", "fts5"), "no other system to hold against it"),
    "grade": (("-s", "fts5", "--relevant-from", "nan"), "is a finite number"),
    "sweep": (("-s", "fts5", "--sweep", "k"), "write NAME=V1,V2"),
    "corpus": (
        ("-s", "fts5", "--corpus", "x.jsonl"),
        "--corpus x.jsonl: every data set has memories of its own",
    ),
    "level": (("-s", "fts5", "--level", "round"), "--level is for --suite"),
    "gate": (("-s", "fts5", "--gate-on", "mrr"), "--gate-on is for --not-below"),
    "suite and data": (("-s", "fts5", "--suite", "bundled"), "one of the two"),
    "ending": (("-s", "fts5", "-o", "x.xyz"), "says nothing about the format"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_is_told_in_one_line(recallbench: Any, data: Path, name: str) -> None:
    args, told = WRONG[name]
    done = recallbench("retrieval", "evaluate", data, *(arg.format(data=data) for arg in args))
    assert done.returncode == 2, done.stdout
    assert told in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_broken_data_set_lists_every_problem(recallbench: Any, data: Path) -> None:
    data.write_text(
        json.dumps(
            {"memories": MEMORIES, "queries": [{"q": "x", "expected_ids": ["zz"]}, {"q": "y"}]}, indent=1
        )
    )
    done = recallbench("retrieval", "evaluate", data, "-s", "fts5")
    assert done.returncode == 2
    assert "dangling-label" in done.stderr
    assert "no-relevant" in done.stderr
    assert f"{data}:" in done.stderr


def test_dataset_validate_covers_retrieval_sets(recallbench: Any, data: Path) -> None:
    good = recallbench("dataset", "validate", data)
    assert good.returncode == 0, good.stderr
    assert good.stdout == f"{data}: no problems as a retrieval data set (1 set, 12 memories, 3 queries)\n"
    folder = recallbench("dataset", "validate", bundled("fixtures") / "retrieval")
    assert "(3 sets, " in folder.stdout
    data.write_text(
        json.dumps({"memories": MEMORIES, "queries": [{"q": "x", "expected_ids": ["zz"]}]}, indent=1)
    )
    bad = recallbench("dataset", "validate", data)
    assert bad.returncode == 2
    assert "[dangling-label]" in bad.stderr
    assert "1 problem as a retrieval data set" in bad.stderr
    (data.parent / "encoding.json").write_bytes(b'{"queries": "\xe9"}')
    unread = recallbench("dataset", "validate", data.parent)
    assert unread.returncode == 2
    assert "[dangling-label]" in unread.stderr
    assert "encoding.json: cannot be read: " in unread.stderr
    assert "2 problems as a retrieval data set" in unread.stderr
    data.write_text('{"queries": ' + "[" * 100_000)
    deep = recallbench("dataset", "validate", data)
    assert (deep.returncode, "[bad-json]" in deep.stderr) == (2, True), deep.stderr


def test_a_suites_corpora_are_its_conversations(recallbench: Any) -> None:
    done = recallbench("retrieval", "evaluate", "--suite", "bundled", "-s", "fts5", "--corpus", "x.jsonl")
    assert (done.returncode, "a suite has conversations of its own" in done.stderr) == (2, True)


def test_the_smoke_set_side_by_side(recallbench: Any) -> None:
    smoke = bundled("fixtures") / "retrieval" / "smoke.json"
    done = recallbench("retrieval", "evaluate", smoke, "--system", "fts5", "--system", "hybrid")
    assert done.returncode == 0, done.stderr
    header = next(line for line in done.stdout.splitlines() if line.startswith("┃ Metric"))
    assert [cell.strip() for cell in header.strip("┃").split("┃")] == ["Metric", "fts5", "hybrid", "Chance"]
    assert sum(line.startswith("│ ") for line in done.stdout.splitlines()) > 24


FULL = "mine=hybrid(streams='fts5,entities,links,raw')"


@pytest.mark.parametrize(
    ("worse", "named"),
    [
        ("mine=hybrid(streams='fts5,links,raw')", "entities-marigold"),
        ("mine=hybrid(streams='fts5,entities,links,raw', weights='1,0,1,1')", "entities-kittiwake"),
        ("mine=hybrid(streams='fts5,entities,links,raw', weights='1,0.01,0.01,0.01')", "links-winch"),
        ("mine=hybrid(streams='fts5,entities,links,raw', seeds=1)", "links-bed"),
        ("mine=fts5", "raw-"),
    ],
)
def test_quality_lowered_by_design_turns_the_gate_red(
    recallbench: Any, tmp_path: Path, worse: str, named: str
) -> None:
    rescue, base = bundled("fixtures") / "retrieval" / "rescue.json", tmp_path / "base.json"
    assert recallbench("retrieval", "evaluate", rescue, "-s", FULL, "-o", base).returncode == 0
    red = recallbench("retrieval", "evaluate", rescue, "-s", worse, "--not-below", base)
    assert red.returncode == 1
    assert f"  {named}" in red.stderr
    green = recallbench("retrieval", "evaluate", rescue, "-s", FULL, "--not-below", base)
    assert (green.returncode, green.stderr) == (0, "")
