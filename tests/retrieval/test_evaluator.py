"""The evaluator: means, bounds, chance, own cutoffs, failures, sections, warnings."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness.adapters.memories.rankers import Ranked
from harness.adapters.protocol import AgentFailure
from harness.errors import InputError
from harness.report import evaluation_view
from harness.retrieval.dataset import Query
from harness.retrieval.evaluator import Found, RetrievalEvaluator, Searched, search_all
from tests.retrieval.corpus import data, measured

QUERIES = (
    Query("a", "first", {"m1": 1.0}, tags=("x",)),
    Query("b", "second", {"m2": 1.0, "m3": 1.0}, tags=("x", "y")),
    Query("n", "nothing", negative=True, unwanted=frozenset({"m9"})),
)


def test_means_counts_and_chance() -> None:
    one = measured(data(QUERIES), {"a": ["m1", "m2"], "b": ["m5", "m2", "m3"], "n": ["m4"]})
    assert (one.metric("hit@1").value, one.metric("hit@1").n) == (0.5, 2)  # type: ignore[union-attr]
    assert one.metric("recall@3").value == 1.0  # type: ignore[union-attr]
    assert one.metric("mrr").value == pytest.approx((1 + 0.5) / 2)  # type: ignore[union-attr]
    assert one.metric("hit@1").chance == pytest.approx((1 / 12 + 2 / 12) / 2)  # type: ignore[union-attr]
    assert one.metric("recall@1").chance is None  # type: ignore[union-attr]
    assert (one.passed, one.total) == (2, 3), "b has nothing at 1; nothing unwanted came for n"
    assert one.provenance["dataset_hash"] == data(QUERIES).hash


def test_a_failed_query_is_named_and_bounded() -> None:
    one = measured(data(QUERIES), {"a": ["m1"], "b": "timeout: took 5 s", "n": []})
    hit = one.metric("hit@1")
    assert hit is not None
    assert (hit.value, hit.n, hit.of, hit.low, hit.high) == (1.0, 1, 2, 0.5, 1.0)
    assert one.errors == ("b: timeout: took 5 s",)
    assert (one.passed, one.total) == (2, 2)
    nobody = measured(data(QUERIES), {})
    assert nobody.metric("hit@1").value is None  # type: ignore[union-attr]
    assert nobody.metric("hit@1").reason == "every search failed"  # type: ignore[union-attr]


def test_an_unwanted_result_fails_a_query() -> None:
    one = measured(data(QUERIES), {"a": ["m1"], "b": ["m2"], "n": ["m9"]})
    assert {item.id: item.passed for item in one.items} == {"a": True, "b": True, "n": False}
    assert ("n", "nothing", "–", "m9", "m9") in one.sections["misses"]


def test_a_cutoff_of_its_own_changes_the_metrics() -> None:
    own = Query("a", "first", {"m1": 1.0, "m2": 1.0}, k=2)
    one = measured(data([own]), {"a": ["m1", "m5", "m2"]}, ks=(1, 5))
    assert one.items[0].values["recall@1"] == one.items[0].values["recall@5"] == 0.5
    assert any("cutoff" in warning for warning in one.warnings)


def test_misses_are_listed_with_what_came_instead() -> None:
    one = measured(data(QUERIES[:2]), {"a": ["m7", "m8"], "b": ["m2", "m3"]}, ks=(3,))
    header, row = one.sections["misses"]
    assert header == ("Query", "Text", "Missed", "Unwanted", "Came instead")
    assert row == ("a", "first", "m1", "–", "m7, m8")


def test_misses_are_those_of_the_first_cutoff() -> None:
    deep = {"a": ["m7", "m8", "m1"], "b": ["m2", "m9", "m3"]}
    one = measured(data(QUERIES[:2]), deep, ks=(2, 10))
    _, *rows = one.sections["misses"]
    assert rows == [("a", "first", "m1", "–", "m7, m8"), ("b", "second", "m3", "–", "m9")]
    assert [item.detail["missed"] for item in one.items] == [["m1"], ["m3"]]
    assert measured(data(QUERIES[:2]), deep, ks=(3,)).sections["misses"] == ()


def test_a_query_without_relevant_ids_passes_only_where_it_says_that_it_is_negative() -> None:
    graded = (
        Query("weak", "graded below the level", {"m1": 1.0}, unwanted=frozenset({"m9"})),
        Query("open", "nothing is judged"),
        Query("none", "nothing, on purpose", negative=True),
        Query("good", "graded", {"m1": 3.0}),
    )
    found = {query.id: Found((Ranked("m1", 1.0),), 0.0) for query in graded}
    one = RetrievalEvaluator((1,), 2.0).measure([Searched(data(graded), found, "mine")], "set")
    assert {item.id: item.passed for item in one.items} == {
        "weak": None,
        "open": None,
        "none": True,
        "good": True,
    }
    assert (one.passed, one.total) == (2, 2)
    assert "3 queries have no relevant memory and count in no mean." in one.warnings
    told = "2 of these do not say that they are negative, and can neither pass nor fail, such as weak."
    assert told in one.warnings


def test_tags_stand_apart() -> None:
    one = measured(data(QUERIES), {"a": ["m1"], "b": ["m9"], "n": []})
    _, x, y = one.sections["tags"]
    assert (x[:3], y[:3]) == (("x", "2", "0.500"), ("y", "1", "0.000"))


def test_the_thresholds_trade_precision_for_recall() -> None:
    one = measured(data(QUERIES[:2]), {"a": ["m1", "m2", "m4"], "b": ["m2", "m5", "m3"]})
    _, *rows = one.sections["thresholds"]
    assert len(rows) == 11
    recalls = [float(row[2]) for row in rows]
    assert recalls[0] == 1.0
    assert recalls == sorted(recalls, reverse=True)
    assert (rows[-1][1], rows[-1][4]) == ("1.000", "1.0")


@pytest.mark.parametrize(
    ("ks", "rankings", "told"),
    [
        ((20,), {"a": ["m1"], "b": []}, "k = 20 is more than the 12 memories"),
        ((1,), {"a": ["m1", "zz"], "b": []}, "1 results are no memory of the data set"),
    ],
)
def test_warnings(ks: tuple[int, ...], rankings: dict[str, Any], told: str) -> None:
    assert any(told in warning for warning in measured(data(QUERIES[:2]), rankings, ks).warnings)


def test_a_cutoff_of_its_own_beyond_the_corpus_is_flagged() -> None:
    (told,) = [
        warning
        for warning in measured(data([Query("a", "a", {"m1": 1.0}, k=13)]), {"a": ["m1"]}).warnings
        if "more than the memories" in warning
    ]
    assert told.endswith("such as that of a.")


@pytest.mark.parametrize("level", [float("nan"), float("inf")])
def test_a_level_that_is_no_number(level: float) -> None:
    with pytest.raises(InputError, match="finite"):
        RetrievalEvaluator((1,), level)


def test_the_level_stands_in_the_provenance() -> None:
    one = data(QUERIES[:1])
    strict, lenient = (
        RetrievalEvaluator((1,), level).measure([Searched(one, {}, "mine")], "set") for level in (2.0, None)
    )
    assert (strict.provenance["relevant_from"], "relevant_from" in lenient.provenance) == ("2", False)
    assert "relevant from grade 2 on." in evaluation_view.notes([strict])[-1]


def test_the_highest_floor_keeps_the_best_result() -> None:
    low, high = 0.07, 0.62
    assert low + (high - low) * 10 / 10 > high
    found = {"a": Found((Ranked("m1", high), Ranked("m2", low)), 0.0)}
    one = RetrievalEvaluator((1,)).measure(
        [Searched(data([Query("a", "a", {"m1": 1.0})]), found, "mine")], "set"
    )
    assert one.sections["thresholds"][-1][1:4] == ("1.000", "1.000", "1.000")


def test_results_without_scores_are_swept_by_no_floor() -> None:
    one = data([Query("a", "a", {"m1": 1.0})])
    found = {"a": Found((Ranked("m1", 0.0), Ranked("m2", 0.5)), 0.0)}
    scored, bare = (
        RetrievalEvaluator((1,))
        .measure([Searched(one, found, "mine", scored=so)], "set")
        .sections["thresholds"]
        for so in (True, False)
    )
    assert len(scored) == 12
    assert bare == (scored[0], ("results without scores", "–", "–", "–", "–"))


class Flaky:
    """Finds everything twice, and fails once."""

    name, version, lexical, scored = "semantic", "spelling", True, True

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.closed = False

    async def fill(self, memories: Any) -> None:
        self.ids = [memory.id for memory in memories]

    async def search(self, query: str, limit: int) -> list[Ranked]:
        self.asked.append((query, limit))
        if query == "second":
            raise AgentFailure("raised", "no")
        return [Ranked(id, 1.0) for id in (*self.ids, *self.ids)][:limit]

    async def close(self) -> None:
        self.closed = True


def test_one_search_a_query_serves_every_cutoff() -> None:
    flaky = Flaky()
    evaluator = RetrievalEvaluator((1, 3, 60))
    searched = asyncio.run(search_all(data(QUERIES), flaky, evaluator.depth))
    one = evaluator.measure([searched], "set")
    assert flaky.asked == [("first", 60), ("second", 60), ("nothing", 60)]
    assert flaky.closed
    assert len(one.items[0].detail["results"]) == 12, "each id once"
    assert [item.failure for item in one.items] == ["", "raised: no", ""]
    (warning,) = [warning for warning in one.warnings if "lexical" in warning]
    assert (
        warning
        == f"stands for more than keyword search, and what stands behind it is lexical: {flaky.version}."
    )


def test_several_corpora_make_one_evaluation() -> None:
    from harness.retrieval.evaluator import Found, Searched

    parts = [
        Searched(data([query], size), {query.id: Found((Ranked("m1", 1.0),), 0.0)}, "mine")
        for query, size in zip(QUERIES[:2], (4, 10), strict=True)
    ]
    one = RetrievalEvaluator((1,)).measure(parts, "both")
    assert (one.metric("hit@1").value, one.metric("hit@1").n) == (0.5, 2)  # type: ignore[union-attr]
    assert one.metric("hit@1").chance == pytest.approx((1 / 4 + 2 / 10) / 2)  # type: ignore[union-attr]
    assert one.provenance["memories"] == "14"
