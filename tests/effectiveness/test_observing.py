"""Systems through their adapters: what each does well or badly shows in the right figure and no other."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from harness.adapters.registry import find_adapter
from harness.effectiveness import observing
from harness.effectiveness.evaluators import NAMES, make_evaluators, served_by
from harness.evaluation import Evaluation
from harness.llm.models import Models, ModelSettings
from harness.naming import Spec, parse_spec
from tests.effectiveness.agents import Leaking
from tests.effectiveness.made import dataset, values
from tests.effectiveness.test_evaluators import DELETED, NEW, OLD, SAME, USERS, said

HERE = "tests.effectiveness.agents"
FACTS = [
    said(
        "locker", "My locker is G-219.", "G-219", expected_memory_type="factual", expected_importance_score=7
    ),
    said(
        "storm",
        "We sat out a storm in Ostrava.",
        "Ostrava",
        expected_memory_type="episodic",
        expected_importance_score=3,
    ),
]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    def inline(spec: Spec) -> Any:
        return find_adapter(spec)._replace(isolation="inline")

    def call(system: str, cases: list[dict[str, Any]], evaluator: str) -> Evaluation:
        data = dataset(tmp_path, *cases)
        spec = parse_spec(system if system == "bm25" else f"{HERE}:{system}", "--system")
        models = Models(ModelSettings(), {})
        observed = asyncio.run(observing.observe(data, spec, models, [evaluator]))
        return make_evaluators()[evaluator].evaluate(observed)

    monkeypatch.setattr(observing, "find_adapter", inline)
    return call


def test_what_is_stored_word_for_word_is_extracted(run: Any) -> None:
    assert set(values(run("Keeper", FACTS, "extraction")).values()) == {1.0}


def test_an_invented_memory_is_a_hallucination(run: Any) -> None:
    one = run("Inventing", FACTS, "extraction")
    assert (values(one)["precision"], values(one)["supported"]) == (0.5, 0.5)
    assert [row[1] for row in one.sections["hallucinated"][1:]] == ["The user owns two yachts in Genoa."] * 2


def test_a_failure_is_the_failure_of_its_entry(run: Any) -> None:
    one = run("Failing", FACTS, "extraction")
    recall = one.metric("extraction.recall")
    assert (recall.value, recall.n, recall.of, recall.low) == (1.0, 1, 2, 0.5)
    assert one.errors == ("storm: raised: RuntimeError: no storms please",)


def test_types_and_weights_come_from_the_memories(run: Any) -> None:
    assert values(run("Knowing", FACTS, "classification"))["accuracy"] == 1.0
    assert values(run("Knowing", FACTS, "importance"))["mae"] == 0.5


def test_a_system_without_types_is_not_applicable(run: Any) -> None:
    one = run("Keeper", FACTS, "classification")
    assert {metric.reason for metric in one.metrics} == {"n/a: no memory of the system has a type"}


def test_copies_are_not_merged_and_merges_are_seen(run: Any) -> None:
    for system in ("Keeper", "Anonymous"):
        apart = values(run(system, SAME, "deduplication"))
        assert (apart["recall"], apart["precision"], apart["kept"]) == (0.0, None, 1.0)
    merged = values(run("Merging", SAME, "deduplication"))
    assert (merged["precision"], merged["recall"], merged["kept"]) == (1.0, 1.0, 1.0)


def test_memories_of_two_groups_are_not_merged_by_an_id_that_both_use(run: Any) -> None:
    lockers = [
        said(f"{group}{number}", f"My locker is {group}-21{number}.", f"{group}-21{number}",
             duplicates_of=None, group=group)
        for group in "AB"
        for number in range(2)
    ]  # fmt: skip
    found = values(run("Anonymous", lockers, "deduplication"))  # it calls its memories m0, m1 in each agent
    assert (found["bcubed_precision"], found["precision"]) == (1.0, None)


def test_where_everything_failed_no_reason_speaks_of_the_gold(run: Any) -> None:
    for evaluator in ("extraction", "deduplication"):
        storm = {**FACTS[1], "duplicates_of": None} if evaluator == "deduplication" else FACTS[1]
        one = run("Failing", [storm], evaluator)
        assert not [metric for metric in one.metrics if "gold" in metric.reason or "at all" in metric.reason]


def test_updates(run: Any) -> None:
    kept = values(run("Keeper", [OLD, NEW], "update"))
    assert (kept["kept_both"], kept["recalled"], kept["stale"]) == (1.0, 1.0, 1.0)
    updated = values(run("Updating", [OLD, NEW], "update"))
    assert (updated["updated"], updated["recalled"], updated["stale"]) == (1.0, 1.0, 0.0)


def test_users(run: Any) -> None:
    assert values(run("Keeper", USERS, "isolation"))["isolated"] == 1.0
    Leaking.shared.clear()
    leaked = run("Leaking", USERS, "isolation")
    assert values(leaked)["isolated"] == 0.0
    assert len(leaked.sections["leaks"]) > 2


def test_deletion(run: Any) -> None:
    assert values(run("Keeper", DELETED, "deletion")) == {"gone": 1.0, "kept": 1.0}
    assert values(run("Undeleting", DELETED, "deletion")) == {"gone": 0.0, "kept": 1.0}


def test_what_was_never_stored_cannot_be_deleted(run: Any) -> None:
    lost = said("lost", "A storm took the mast.", "mast", deleted=True, question="What did the storm take?")
    one = run("Failing", [*DELETED, lost], "deletion")
    gone = one.metric("deletion.gone")
    assert (gone.value, gone.n, gone.of) == (1.0, 1, 2)


@pytest.mark.parametrize("evaluator", NAMES)
def test_what_a_system_does_not_offer_is_not_applicable(run: Any, evaluator: str) -> None:
    one = run("Blind", [*FACTS, *SAME, OLD, NEW, *USERS, *DELETED], evaluator)
    assert {metric.value for metric in one.metrics} == {None}
    assert all(metric.reason.startswith("n/a: the system ") for metric in one.metrics)


def test_a_worker_process_serves_as_well(tmp_path: Path) -> None:
    data = dataset(tmp_path, *FACTS)
    spec = parse_spec(f"{HERE}:Keeper", "--system")
    observed = asyncio.run(observing.observe(data, spec, Models(ModelSettings(), {}), ["extraction"]))
    assert values(make_evaluators()["extraction"].evaluate(observed))["f1"] == 1.0


def test_keyword_search_keeps_everything_and_merges_nothing(run: Any) -> None:
    assert values(run("bm25", [OLD, NEW], "update"))["kept_both"] == 1.0
    assert values(run("bm25", DELETED, "deletion")) == {"gone": 1.0, "kept": 1.0}


def test_each_entry_serves_what_it_is_labelled_for(tmp_path: Path) -> None:
    data = dataset(tmp_path, *FACTS, OLD, NEW)
    assert served_by(data) == ("extraction", "classification", "importance", "update")
    assert {entry.id for entry in data.for_extraction()} == {"locker", "storm"}
