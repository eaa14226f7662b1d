"""The metrics: reference values, trec_eval itself, and what holds for every ranking."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import InputError
from harness.retrieval.metrics import (
    by_trec_order,
    chance_of_a_hit,
    means,
    measure,
    names,
    relevant_of,
)

VECTORS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("vectors").joinpath("ir_metrics.json").read_text(encoding="utf-8")
)
NAMES = {
    **{"P": "precision", "R": "recall", "Success": "hit", "RR": "rr", "AP": "ap", "Rprec": "rprec"},
    **{"recall_any": "hit", "recall_all": "all", "nDCG": "ndcg", "nDCG_exp": "ndcg_exp"},
}


@pytest.mark.parametrize(
    "vector", [one for one in VECTORS if one["kind"] != "aggregate"], ids=lambda vector: vector["id"]
)
def test_vectors(vector: dict[str, Any]) -> None:
    ranking = vector["ranking"] if "ranking" in vector else by_trec_order(vector["scores"])
    for name, expected in vector["expected"].items():
        base, _, k = name.partition("@")
        found = measure(ranking, vector["qrels"], (int(k or 5),), level=vector["relevance_level"])
        value = found[NAMES[base] + (f"@{k}" if k else "")]
        assert value == (None if expected is None else pytest.approx(expected, abs=1e-6)), name


@pytest.mark.parametrize("vector", [one for one in VECTORS if one["kind"] == "aggregate"])
def test_a_query_without_judgements_is_in_no_mean(vector: dict[str, Any]) -> None:
    judged, rankings = vector["qrels_multi"], vector["rankings"]
    rows = [measure(ranking, judged.get(name, {})) for name, ranking in rankings.items()]
    assert means(rows)["rr"] == vector["expected_mean"]["RR"]


IDS = [f"d{number}" for number in range(12)]
GRADES = st.dictionaries(st.sampled_from(IDS), st.integers(-1, 3), max_size=12)
RANKINGS = st.lists(st.sampled_from(IDS), max_size=14)
KS = (1, 3, 5, 10, 20)


@settings(max_examples=300)
@given(GRADES, st.permutations(IDS), st.integers(0, 12))
def test_trec_eval_says_the_same(grades: dict[str, int], order: list[str], length: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")
    ranking = order[:length]
    if not ranking or not any(grade > 0 for grade in grades.values()):
        return  # trec_eval leaves both out
    measures = {
        f"{name}.{','.join(map(str, KS))}" for name in ("P", "recall", "success", "ndcg_cut", "map_cut")
    }
    judge = pytrec_eval.RelevanceEvaluator({"q": grades}, measures | {"recip_rank", "map", "Rprec"})
    theirs = judge.evaluate({"q": {name: -float(at) for at, name in enumerate(ranking)}})["q"]
    ours = measure(ranking, grades, KS)
    pairs = {"recip_rank": "rr", "map": "ap", "Rprec": "rprec"}
    for k in KS:
        pairs |= {f"P_{k}": f"precision@{k}", f"recall_{k}": f"recall@{k}", f"success_{k}": f"hit@{k}"}
        pairs |= {f"ndcg_cut_{k}": f"ndcg@{k}", f"map_cut_{k}": f"ap@{k}"}
    assert {name: ours[mine] for name, mine in pairs.items()} == {
        name: pytest.approx(theirs[name], abs=1e-6) for name in pairs
    }


@given(RANKINGS, GRADES)
def test_every_value_is_finite_and_in_range(ranking: list[str], grades: dict[str, int]) -> None:
    found = measure(ranking, grades, KS)
    assert tuple(sorted(found)) == tuple(sorted(names(KS)))
    for name, value in found.items():
        assert value is None or (math.isfinite(value) and 0 <= value <= 1), name
    assert (found["recall@5"] is None) == (not relevant_of(grades))


@given(RANKINGS, GRADES, st.sampled_from(IDS))
def test_an_id_again_changes_nothing(ranking: list[str], grades: dict[str, int], again: str) -> None:
    if again in ranking:
        assert measure([*ranking, again], grades, KS) == measure(ranking, grades, KS)


@given(st.permutations(IDS), GRADES)
def test_the_best_order_is_perfect(order: list[str], grades: dict[str, int]) -> None:
    best = sorted(order, key=lambda name: -grades.get(name, 0))
    found = measure(best, grades, (5,))
    if relevant_of(grades):
        perfect = [found[name] for name in ("hit@5", "rr", "ap", "rprec", "ndcg@5", "ndcg_exp@5")]
        assert perfect == pytest.approx([1.0] * 6)


@given(RANKINGS, GRADES)
def test_recall_rises_with_the_cutoff(ranking: list[str], grades: dict[str, int]) -> None:
    found = measure(ranking, grades, KS)
    recalls = [found[f"recall@{k}"] or 0.0 for k in KS]
    assert recalls == sorted(recalls)


def test_grades_below_the_level_still_gain() -> None:
    found = measure(["a", "b"], {"a": 1, "b": 2}, (1,), level=2)
    assert (found["hit@1"], found["recall@1"]) == (0.0, 0.0)
    assert found["ndcg@1"] == 0.5
    nobody = measure(["a"], {"a": 1}, (1,), level=2)
    assert (nobody["hit@1"], nobody["ndcg@1"]) == (None, 1.0)


@pytest.mark.parametrize("best", [100, 1023, 5000, 999_999])
def test_the_gain_of_a_large_grade_is_exponential_too(best: int) -> None:
    found = measure(["b", "a"], {"a": best, "b": best - 1}, (2,))
    assert found["ndcg_exp@2"] == pytest.approx((0.5 + 1 / math.log2(3)) / (1 + 0.5 / math.log2(3)))
    assert measure(["b"], {"a": best, "b": 1}, (2,))["ndcg_exp@2"] == pytest.approx(0.0, abs=1e-29)


@pytest.mark.parametrize("ks", [(), (0,), (-1, 5), (5, 5), (10**20,)])
def test_cutoffs_that_mean_nothing(ks: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="cutoffs"):
        measure(["a"], {"a": 1}, ks)


def test_a_grade_that_is_no_number() -> None:
    with pytest.raises(InputError, match="finite"):
        measure(["a"], {"a": math.nan})


@pytest.mark.parametrize(
    ("corpus", "relevant", "k", "chance"),
    [(10, 1, 1, 0.1), (10, 1, 10, 1.0), (10, 1, 20, 1.0), (10, 0, 5, 0.0), (4, 2, 2, 1 - 1 / 6), (0, 0, 5, 0.0)],
)  # fmt: skip
def test_the_chance_of_a_hit(corpus: int, relevant: int, k: int, chance: float) -> None:
    assert chance_of_a_hit(corpus, relevant, k) == pytest.approx(chance)
