"""The figures, against their definitions, scikit-learn and scipy."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.effectiveness import figures
from harness.effectiveness.matching import assignment

LABELS = st.sampled_from(["a", "b", "c", "d"])
PAIRS = st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=40)
NUMBERS = st.lists(st.tuples(st.integers(1, 10), st.integers(1, 10)), max_size=30)
CLUSTERS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=25)


@pytest.fixture(scope="session")
def metrics() -> Any:
    return pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is not installed: pip install scikit-learn"
    )


@pytest.fixture(scope="session")
def stats() -> Any:
    return pytest.importorskip("scipy.stats", reason="scipy is not installed: pip install scipy")


@pytest.fixture(scope="session")
def optimize() -> Any:
    return pytest.importorskip("scipy.optimize", reason="scipy is not installed: pip install scipy")


def same(value: float | None, other: float) -> bool:
    return math.isnan(other) if value is None else value == pytest.approx(other)


@pytest.mark.parametrize(
    ("right", "predicted", "gold", "expected"),
    [
        (3, 4, 6, (0.75, 0.5, 0.6)),
        (2, 2, 2, (1.0, 1.0, 1.0)),
        (0, 3, 2, (0.0, 0.0, 0.0)),
        (0, 0, 2, (None, 0.0, 0.0)),
        (0, 2, 0, (0.0, None, 0.0)),
        (0, 0, 0, (None, None, None)),
    ],
)
def test_scores_of_counts(right: int, predicted: int, gold: int, expected: tuple[float | None, ...]) -> None:
    assert figures.scores(right, predicted, gold) == pytest.approx(expected)


@settings(deadline=None)
@given(PAIRS)
def test_classes_agree_with_scikit_learn(metrics: Any, pairs: list[tuple[str, str]]) -> None:
    gold, predicted = ([pair[side] for pair in pairs] for side in (0, 1))
    found = figures.by_class(gold, predicted)
    labels = [one.label for one in found]
    options = {"labels": labels, "zero_division": math.nan}
    theirs = metrics.precision_recall_fscore_support(gold, predicted, **options)
    for at, one in enumerate(found):
        assert all(same(value, float(column[at])) for value, column in zip(one.scores, theirs, strict=False))
        assert one.support == theirs[3][at]
    for average, weights in (("macro", [1] * len(found)), ("weighted", [one.support for one in found])):
        means = metrics.precision_recall_fscore_support(gold, predicted, average=average, **options)
        for part in range(3):
            mean = figures.weighted_mean([one.scores[part] for one in found], weights)
            if mean is None and average == "weighted":
                continue  # scikit-learn falls back to the unweighted mean where nothing has a weight
            assert same(mean, float(means[part]))


@settings(deadline=None)
@given(CLUSTERS)
def test_pairs_agree_with_scikit_learn(metrics: Any, clusters: list[tuple[int, int]]) -> None:
    if len(clusters) < 2:
        return
    gold, predicted = ({str(at): pair[side] for at, pair in enumerate(clusters)} for side in (0, 1))
    ((_, wrong), (missed, right)) = metrics.cluster.pair_confusion_matrix(
        *zip(*clusters, strict=True)
    ).tolist()
    # Its counts are of ordered pairs.
    assert figures.pair_counts(gold, predicted) == (right // 2, (right + wrong) // 2, (right + missed) // 2)


@settings(deadline=None)
@given(NUMBERS)
def test_correlations_agree_with_scipy(stats: Any, pairs: list[tuple[int, int]]) -> None:
    xs, ys = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    found = figures.pearson(xs, ys), figures.spearman(xs, ys)
    if len(set(xs)) < 2 or len(set(ys)) < 2:
        assert found == (None, None)
        return
    assert found[0] == pytest.approx(stats.pearsonr(xs, ys).statistic, abs=1e-9)
    assert found[1] == pytest.approx(stats.spearmanr(xs, ys).statistic, abs=1e-9)
    assert figures.ranks(xs) == list(stats.rankdata(xs))


@settings(deadline=None)
@given(NUMBERS)
def test_correlations_stay_in_their_bounds(pairs: list[tuple[int, int]]) -> None:
    xs, ys = ([pair[side] * 0.1 for pair in pairs] for side in (0, 1))
    for value in (figures.pearson(xs, ys), figures.pearson(xs, xs), figures.spearman(xs, ys)):
        assert value is None or -1 <= value <= 1


def test_b_cubed_of_the_textbook_example() -> None:
    # Bagga and Baldwin 1998: {1-5} {6 7} {8-c} taken for {1-5} {6-c}
    gold = {str(at): "A" if at <= 5 else "B" if at <= 7 else "C" for at in range(1, 13)}
    found = figures.b_cubed(gold, {id: "A" if cluster == "A" else "D" for id, cluster in gold.items()})
    precision, recall = ([one[side] for one in found.values()] for side in (0, 1))
    assert sum(precision) / 12 == pytest.approx(0.762, abs=5e-4)
    assert sum(recall) / 12 == 1.0


@settings(deadline=None)
@given(CLUSTERS)
def test_b_cubed_by_its_definition(clusters: list[tuple[int, int]]) -> None:
    gold, predicted = ({str(at): pair[side] for at, pair in enumerate(clusters)} for side in (0, 1))
    for id, (precision, recall) in figures.b_cubed(gold, predicted).items():
        ours = {other for other in gold if predicted[other] == predicted[id]}
        theirs = {other for other in gold if gold[other] == gold[id]}
        assert (precision, recall) == pytest.approx(
            (len(ours & theirs) / len(ours), len(ours & theirs) / len(theirs))
        )


@settings(deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), max_size=5))
def test_an_assignment_is_one_to_one_and_largest(edges: list[list[bool]]) -> None:
    found = assignment(edges)
    assert len(set(found.values())) == len(found)
    assert all(edges[row][column] for row, column in found.items())
    padded = edges + [[False] * 5] * (5 - len(edges))
    best = max(
        sum(padded[row][column] for row, column in enumerate(order))
        for order in itertools.permutations(range(5))
    )
    assert len(found) == best


@settings(deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=8, max_size=8), min_size=1, max_size=20))
def test_an_assignment_is_as_large_as_that_of_scipy(optimize: Any, edges: list[list[bool]]) -> None:
    rows, columns = optimize.linear_sum_assignment([[not one for one in row] for row in edges])
    assert len(assignment(edges)) == sum(edges[a][b] for a, b in zip(rows, columns, strict=True))


def test_a_long_chain_of_reassignments_needs_no_recursion() -> None:
    size = 1200
    edges = [[column in (row, row + 1) for column in range(size)] for row in range(size - 1)]
    edges.append([column == 0 for column in range(size)])
    assert len(assignment(edges)) == size
