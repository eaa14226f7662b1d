"""Gates and comparisons: which go red, and which queries they name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.adapters.memories.rankers import Ranked
from harness.errors import InputError
from harness.report import change_view
from harness.report.evaluation_view import as_json, read_json
from harness.report.terminal import as_text
from harness.retrieval.comparing import Change, compare
from harness.retrieval.dataset import Query
from harness.retrieval.evaluator import Found, RetrievalEvaluator, Searched
from harness.retrieval.gates import below_floor, below_other, parse_floor
from tests.retrieval.corpus import data, measured

QUERIES = tuple(Query(f"q{at}", f"query {at}", {f"m{at}": 1.0}) for at in range(1, 6))
GOOD = {query.id: [f"m{at}"] for at, query in enumerate(QUERIES, start=1)}
SET = data(QUERIES)


def worse(**changes: list[str] | str) -> dict[str, list[str] | str]:
    return {**GOOD, **changes}


def test_a_floor() -> None:
    assert below_floor(measured(SET, GOOD), parse_floor("recall@1=1")) is None
    breach = below_floor(measured(SET, worse(q3=["m9", "m3"])), parse_floor("recall@1=0.9"))
    assert breach is not None
    assert breach.message == "mine: recall@1 is 0.8000, below 0.9"
    assert breach.queries == ("q3: 0.000  query 3 (missed: m3)",)


@pytest.mark.parametrize(
    ("floor", "told"),
    [
        ("recall@1=1", "0.000  both (missed: m1, m2)"),
        ("recall@3=1", "0.500  both (missed: m2)"),
        ("rprec=1", "0.500  both (missed: m2)"),
        ("ndcg@5=1", "0.651  both (found at 2, 4)"),
        ("mrr=1", "0.500  both (found at 2, 4)"),
    ],
)
def test_a_gate_tells_what_was_missed_at_its_own_cutoff(floor: str, told: str) -> None:
    one = data([Query("q", "both", {"m1": 1.0, "m2": 1.0})])
    found = measured(one, {"q": ["m9", "m1", "m8", "m2"]}, ks=(1, 2, 3, 5))
    breach = below_floor(found, parse_floor(floor))
    assert breach is not None
    assert breach.queries == (f"q: {told}",)


def test_a_gate_tells_what_was_missed_at_the_querys_own_cutoff() -> None:
    one = measured(data([Query("q", "x", {"m1": 1.0}, k=2)]), {"q": ["m9", "m8", "m1"]}, ks=(1, 5))
    breach = below_floor(one, parse_floor("recall@5=1"))
    assert breach is not None
    assert breach.queries == ("q: 0.000  x (missed: m1)",)


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("recall@1", "1.000 → 0.000  query 3 (lost: m3)"),
        ("recall@2", "1.000 → 0.000  query 3 (lost: m3)"),
        ("mrr@3", "1.000 → 0.333  query 3 (sank: m3 from 1 to 3)"),
        ("map", "1.000 → 0.333  query 3 (sank: m3 from 1 to 3)"),
    ],
)
def test_a_baseline_tells_what_was_lost_at_the_metrics_own_cutoff(metric: str, told: str) -> None:
    base, now = (measured(SET, found, ks=(1, 2, 3)) for found in (GOOD, worse(q3=["m9", "m8", "m3"])))
    (breach,) = below_other(now, base, [metric], "old")
    assert breach.queries == (f"q3: {told}",)


def test_a_failure_never_opens_a_gate() -> None:
    one = measured(SET, worse(q3="timeout"))
    assert one.metric("recall@1").value == 1.0  # type: ignore[union-attr]
    breach = below_floor(one, parse_floor("recall@1=0.9"))
    assert breach is not None
    assert "1 of 5 failed and count as 0" in breach.message
    assert breach.queries == ("q3: timeout  query 3",)
    assert below_floor(measured(SET, {}), parse_floor("recall@1=0")) is not None


@pytest.mark.parametrize(
    "text", ["recall@5", "=0.5", "recall@5=x", "recall@5=1.5", "recall@5=-1", "recall@5=nan"]
)
def test_floors_that_mean_nothing(text: str) -> None:
    with pytest.raises(InputError, match="METRIC=SHARE"):
        parse_floor(text)


def test_what_must_stay_out_can_be_gated() -> None:
    trap = Query("t", "nothing", negative=True, unwanted=frozenset({"m9"}))
    one = data([*QUERIES, trap])
    clean = measured(one, {**GOOD, "t": ["m8"]})
    assert below_floor(clean, parse_floor("passed=1")) is None
    breach = below_floor(measured(one, {**GOOD, "t": ["m9"]}), parse_floor("passed=1"))
    assert breach is not None
    assert breach.message == "mine: passed is 0.8333 (5/6), below 1"
    assert breach.queries == ("t: not passed  nothing (unwanted: m9)",)


def test_what_can_neither_pass_nor_fail_opens_and_shuts_no_gate() -> None:
    one = data([*QUERIES, Query("open", "nothing is judged")])
    for found in ({**GOOD, "open": ["m8"]}, {**GOOD, "open": "timeout"}):
        assert below_floor(measured(one, found), parse_floor("passed=1")) is None
    breach = below_floor(measured(one, worse(q1="timeout", open=["m8"])), parse_floor("passed=1"))
    assert breach is not None
    assert breach.message == "mine: passed is 0.8000 (4/5), below 1"
    nobody = below_floor(measured(data([Query("open", "x")]), {"open": []}), parse_floor("passed=0.5"))
    assert nobody is not None
    assert nobody.message == "mine: passed has no value, below 0.5: no query can pass"


def test_a_metric_that_was_not_measured() -> None:
    with pytest.raises(InputError, match="Measured: hit@1"):
        below_floor(measured(SET, GOOD), parse_floor("recall@7=0.5"))


def test_never_below_another() -> None:
    base = measured(SET, worse(q1=["m9"]), system="keyword")
    assert below_other(measured(SET, GOOD), base, ["recall@1"], "keyword") == ()
    assert below_other(base, base, ["recall@1"], "keyword") == ()
    (breach,) = below_other(measured(SET, worse(q1=["m9"], q2=["m8", "m7"])), base, ["recall@1"], "keyword")
    assert breach.message == "mine: recall@1 is 0.6000, below 0.8000 of keyword"
    assert breach.queries == ("q2: 1.000 → 0.000  query 2 (lost: m2)",)
    swapped = measured(SET, worse(q2=["m8"]))
    assert below_other(swapped, base, ["recall@1"], "keyword") == (), "as good, though of other queries"


def test_other_data_is_not_comparable() -> None:
    with pytest.raises(InputError, match="not comparable"):
        below_other(measured(SET, GOOD), measured(data(QUERIES, 20), GOOD), ["recall@1"], "old")
    with pytest.raises(InputError, match="not comparable"):
        compare(measured(SET, GOOD), measured(data(QUERIES, 20), GOOD))


def test_what_rose_and_what_fell() -> None:
    (change,) = compare(
        measured(SET, worse(q1=["m9"])), measured(SET, worse(q2=["m8"], q3=["m9"])), ["recall@1"]
    )
    assert (change.first, change.second, change.n) == (0.8, 0.6, 5)
    assert [row[0] for row in change.rose] == ["q1"]
    assert [row[0] for row in change.fell] == ["q2", "q3"]
    assert change.p == pytest.approx(1.0), "three changes, one against two, are chance"
    assert change.difference == pytest.approx(-0.2)


def test_a_failed_query_is_no_pair() -> None:
    (change,) = compare(measured(SET, worse(q1="timeout")), measured(SET, GOOD), ["recall@1"])
    assert (change.n, change.rose, change.fell) == (4, (), ())


def test_an_evaluation_comes_back_from_json(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    one = measured(SET, worse(q1="timeout"))
    path.write_text(as_json([one]), encoding="utf-8")
    assert read_json(path) == (one,)
    path.write_text('{"schema": "recallbench.evaluation/9", "evaluations": []}', encoding="utf-8")
    with pytest.raises(InputError, match="this version reads"):
        read_json(path)


@pytest.mark.parametrize("names", [["recal@1"], ["recall@1", "recall@7"]])
def test_never_below_by_a_metric_that_was_not_measured(names: list[str]) -> None:
    with pytest.raises(InputError, match=r"was not measured in both\. Measured: hit@1"):
        below_other(measured(SET, GOOD), measured(SET, GOOD), names, "old")


def test_a_baseline_is_not_lower_for_what_failed_in_it() -> None:
    base = measured(SET, worse(q1="timeout", q2="timeout"))
    (breach,) = below_other(measured(SET, worse(q3=["m9"])), base, ["recall@1"], "old")
    assert breach.message == "mine: recall@1 is 0.6667, below 1.0000 of old"
    with pytest.raises(InputError, match="nothing to compare with"):
        below_other(measured(SET, GOOD), measured(SET, {}), ["recall@1"], "old")


def test_other_grades_that_are_relevant_are_not_comparable() -> None:
    graded = data([Query("q1", "query 1", {"m1": 2.0, "m2": 1.0})])
    searched = [Searched(graded, {"q1": Found((Ranked("m1", 1.0),), 0.0)}, "mine")]
    strict, lenient = (RetrievalEvaluator((1,), level).measure(searched, "set") for level in (2.0, None))
    with pytest.raises(InputError, match="from any above 0 and from 2"):
        below_other(strict, lenient, ["recall@1"], "old")
    with pytest.raises(InputError, match="from 2 and from any above 0"):
        compare(strict, lenient)


def test_a_comparison_says_what_failed_in_one_of_the_two() -> None:
    changes = compare(measured(SET, worse(q1="timeout")), measured(SET, worse(q2="timeout")), ["recall@1"])
    assert changes[0].failed == ("q1", "q2")
    assert change_view.notes(changes)[-1] == (
        "Left out: 2 queries without a value in one of the two, where the search failed: q1, q2."
    )


def test_a_metrics_name_is_no_markup() -> None:
    rows = (("q1", "text", 1.0, 0.0),)
    assert "First [/a]" in as_text(change_view.tables([Change("[/a]", 1.0, 0.0, 1, 1.0, (), rows)]), 100)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("values", {"recall@1": float("nan")}),
        ("values", {"recall@1": float("inf")}),
        ("values", {"recall@1": "x"}),
        ("values", {"recall@1": True}),
        ("values", None),
        ("detail", None),
    ],
)
def test_an_item_that_no_report_wrote(tmp_path: Path, field: str, value: object) -> None:
    path = tmp_path / "a.json"
    told = json.loads(as_json([measured(SET, GOOD)]))
    told["evaluations"][0]["items"][0][field] = value
    path.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(InputError, match="is no result that --format json wrote"):
        read_json(path)


def test_json_that_is_too_deep(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(InputError, match="is no result that --format json wrote"):
        read_json(path)
