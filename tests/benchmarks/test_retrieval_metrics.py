"""Metrics of 10,000 queries × 100 results, as ratios to ranx and to pytrec_eval in the same run."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from harness.retrieval.metrics import means, measure

pytestmark = pytest.mark.benchmark

QUERIES, RESULTS, RELEVANT, CORPUS = 10_000, 100, 20, 1_000
KS = (5, 10)


def made() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    rng = random.Random(1)
    judged, run = {}, {}
    for at in range(QUERIES):
        relevant = rng.sample(range(CORPUS), RELEVANT)
        judged[f"q{at}"] = {f"d{name}": rng.choice([1, 2]) for name in relevant}
        found = rng.sample(range(CORPUS), RESULTS)
        run[f"q{at}"] = {f"d{name}": float(RESULTS - rank) for rank, name in enumerate(found)}
    return judged, run


@pytest.mark.filterwarnings("ignore")  # numba's own
def test_within_one_and_a_half_of_ranx_warm_and_faster_with_its_warm_up(
    fastest: Callable[..., float],
) -> None:
    ranx = pytest.importorskip("ranx", reason="ranx is not installed: pip install -e '.[bench]'")
    judged, run = made()
    names = [
        f"{name}@{k}"
        for k in KS
        for name in ("hit_rate", "recall", "precision", "mrr", "map", "ndcg", "ndcg_burges")
    ]
    names += ["mrr", "map", "r-precision"]

    began = time.perf_counter()
    qrels, ranked = ranx.Qrels(judged), ranx.Run(run)
    ranx.evaluate(qrels, ranked, names)
    with_warm_up = time.perf_counter() - began

    ours = fastest(lambda: means(measure(run[name], judged[name], KS) for name in judged))
    theirs = fastest(lambda: ranx.evaluate(qrels, ranked, names))
    print(
        f"\nours {ours:.3f} s, ranx {theirs:.3f} s warm ({ours / theirs:.2f}x), {with_warm_up:.1f} s with its warm-up"
    )
    assert ours < 1.5 * theirs
    assert ours < with_warm_up


def test_beside_trec_eval(fastest: Callable[..., float]) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval-terrier is not installed")
    judged, run = made()
    names = {f"{name}.5,10" for name in ("success", "recall", "P", "map_cut", "ndcg_cut")} | {
        "recip_rank",
        "map",
        "Rprec",
    }
    judge = pytrec_eval.RelevanceEvaluator(judged, names)
    ours = fastest(lambda: [measure(run[name], judged[name], KS) for name in judged])
    theirs = fastest(lambda: judge.evaluate(run))
    print(f"\nours {ours:.3f} s, pytrec_eval {theirs:.3f} s ({ours / theirs:.2f}x)")
    assert ours < 3 * theirs
