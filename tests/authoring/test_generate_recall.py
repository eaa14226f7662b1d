"""Recall data sets written by a model: every label leads to a memory that is stored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.authoring.generation import Wish
from harness.authoring.generation.journal import FOLDER, Journal
from harness.authoring.generation.recall import FILE_NAME, Cluster, problems_of, read_cluster
from harness.errors import InputError
from harness.retrieval.loading import load_retrieval
from tests.authoring.author import memories, rule
from tests.model_server import Server

WISH = Wish(kind="recall", memories=3, queries=1)


def task(number: int, turn: str = "") -> str:
    return f"Task: write memories and queries. Cluster {number}, seed 0. {turn}".strip()


def test_clusters_become_one_data_set(write: Any, server: Server, tmp_path: Path) -> None:
    server.set_faults([rule(task(1), memories(1)), rule(task(2), memories(2))])
    result = write(WISH, 2)
    assert (result.accepted, result.rejected) == (2, 0)
    (data,) = load_retrieval(tmp_path / "out")
    assert [memory.id for memory in data.memories] == [
        f"c{number:03}-{name}" for number in (1, 2) for name in ("rent-old", "rent-new", "flat")
    ]
    assert data.queries[0].grades == {"c001-rent-new": 1, "c001-rent-old": 0, "c001-flat": 0}
    assert data.memories[0].created_at is not None
    assert data.memories[1].created_at is None  # "soon" is no time


def test_a_label_that_leads_nowhere_is_sent_back(write: Any, server: Server, tmp_path: Path) -> None:
    server.set_faults([rule(task(1), memories(1, dangling=True)), rule(task(1, "Repair 1."), memories(1))])
    result = write(WISH, 1)
    assert (result.accepted, result.finished[0].repairs) == (1, 1)
    told = server.requests()[-1]["messages"][-1]["content"]
    assert "there is no memory 'c001-attic'" in told
    assert load_retrieval(tmp_path / "out")


def test_a_cluster_that_repeats_another_is_rejected(write: Any, server: Server, tmp_path: Path) -> None:
    server.set_faults([rule(task(1), memories(1)), rule(task(2), memories(1))])
    result = write(WISH, 2, repairs=1)
    assert (result.accepted, result.rejected) == (1, 1)
    assert "c002-flat says the same as c001-flat" in " ".join(result.finished[1].reasons)
    (data,) = load_retrieval(tmp_path / "out")
    assert len(data.memories) == 3
    rejected = json.loads((tmp_path / "rejects" / "c002.json").read_text())
    assert rejected["test_cases"][0]["id"] == "c002-q1"


def test_a_query_that_another_cluster_asks_is_a_problem() -> None:
    first, second = (read_cluster(memories(number), number) for number in (1, 2))
    same = replace(second, queries=({**second.queries[0], "query": f"{first.queries[0]['query'].upper()} "},))
    (problem,) = problems_of(same, WISH, [first])
    assert problem.rule == "same-query"
    assert problem.message.startswith("c002-q1 asks the same as c001-q1")
    assert problems_of(second, WISH, iter([first])) == []


def test_a_larger_count_takes_no_place_of_another_wish(write: Any, server: Server, tmp_path: Path) -> None:
    theirs = task(1).replace("seed 0", "seed 5")
    server.set_faults([rule(task(1), memories(1)), rule(theirs, memories(2)), rule(task(2), memories(3))])
    write(WISH, 1)
    write(replace(WISH, seed=5), 1)
    before = (tmp_path / "out" / FILE_NAME).read_bytes()
    with pytest.raises(InputError, match="c002 was written to another wish"):
        write(WISH, 2)
    assert (tmp_path / "out" / FILE_NAME).read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "5",
        '{"what": "begun"}',
        '{"item": 1}',
        '{"item": true, "name": "c001", "repairs": 0, "reasons": []}',
    ],
)
def test_a_journal_that_somebody_edited_is_named_with_its_line(tmp_path: Path, line: str) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "journal.jsonl").write_text(f"{line}\n")
    with pytest.raises(InputError, match=r"journal\.jsonl:1: no line of a journal"):
        Journal(tmp_path, "w")


def test_the_second_run_asks_nothing_and_a_larger_one_goes_on(
    write: Any, server: Server, tmp_path: Path
) -> None:
    server.set_faults([rule(task(1), memories(1)), rule(task(2), memories(2))])
    write(WISH, 1)
    (tmp_path / "tape.sqlite").unlink()
    server.reset()
    assert write(WISH, 2).accepted == 2
    assert server.stats()["chat"] == 1
    assert len(load_retrieval(tmp_path / "out")[0].queries) == 2


def cluster(**changes: Any) -> Cluster:
    value = {**memories(1), **changes}
    return read_cluster({key: tuple(items) for key, items in value.items()}, 1)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({}, None),
        ({"queries": [{"text": "What is the rent?", "relevant": "", "near_misses": "flat"}]}, "no-relevant"),
        ({"queries": [{"text": "What is the rent?", "relevant": "flat", "near_misses": ""}]}, "no-near-miss"),
        ({"queries": [{"text": "What is the rent?", "relevant": "flat", "near_misses": "flat"}]}, "duplicate-label"),
        ({"queries": [{"text": "Costs 810 a month", "relevant": "flat", "near_misses": "rent-old"}]}, "copied-query"),
        ({"memories": memories(1)["memories"][:2]}, "too-few"),
        ({"memories": [*memories(1)["memories"], memories(1)["memories"][0]]}, "duplicate-id"),
        (
            {
                "queries": [
                    {"text": "What is the rent?", "relevant": "rent-new", "near_misses": "flat"},
                    {"text": "what is the  rent", "relevant": "flat", "near_misses": "rent-new"},
                ]
            },
            "same-query",
        ),
    ],
    ids=["sound", "nothing relevant", "no near miss", "both", "copied", "too few", "twice", "asked twice"],
)  # fmt: skip
def test_what_is_wrong_with_a_cluster(changes: dict[str, Any], rule: str | None) -> None:
    found = {problem.rule for problem in problems_of(cluster(**changes), WISH)}
    assert rule in found if rule else not found
