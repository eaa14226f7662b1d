"""JSON reports against the published schemas in docs/schemas, and through the readers and back."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.comparison import Comparison, compare
from harness.evaluation import Evaluation
from harness.report import disclosure, evaluation_view, render
from harness.report.json_report import read_statistics, statistics_data
from harness.resources import example_responses, judge_cassette
from harness.scoring import Answer, find_scorer, load_responses
from harness.suite import Suite, load_suite
from tests.conftest import ROOT, Recallbench, WriteSuite
from tests.report.test_judged import PANEL
from tests.report.test_judged import comparison as panel

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

FOLDER = ROOT / "docs" / "schemas"
NAMES = ("comparison", "evaluation", "census")
FAILING = """
class Failing:
    def __init__(self, space):
        pass
    async def ingest(self, conversation):
        raise RuntimeError("no <room> | left")
    async def recall(self, query, limit):
        return []
"""
Change = Callable[[Any], None]


def schema(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    return read


def faults(name: str, data: Any) -> list[str]:
    checker = jsonschema.Draft202012Validator(
        schema(name), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    return [f"{error.json_path}: {error.message[:200]}" for error in checker.iter_errors(data)]


def check(name: str, text: str) -> Any:
    data = json.loads(text)
    assert faults(name, data) == []
    return data


def objects(part: Any) -> list[dict[str, Any]]:
    """Return every schema in a schema that lists the keys of an object."""
    if isinstance(part, list):
        return [found for one in part for found in objects(one)]
    if not isinstance(part, dict):
        return []
    own = [part] if part.get("type") == "object" and "required" in part and "properties" in part else []
    return own + [found for one in part.values() for found in objects(one)]


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one_itself_and_linked(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert f"(schemas/{name}.schema.json)" in (ROOT / "docs" / "report-json.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_no_object_with_fixed_keys_takes_another(name: str) -> None:
    found = objects(schema(name))
    assert found
    # A group's name, and the schema of a calibration that another version kept, are all that is fixed there.
    free = [set(one["properties"]) for one in found if one.get("additionalProperties") is not False]
    assert [keys for keys in free if keys != {"schema"}] == []


# --- comparisons ---


def answered(suite: Suite, scorer: str = "keyword-recall") -> Comparison:
    first, second, *_ = suite.ids
    given = {
        "good": {
            first: Answer("The fee is $45, due March 24.", latency_s=0.5, tokens=12),
            second: "Not $30: it's $45.",
        },
        "bad": {first: "The fee is $30 | `x` <b>.", second: Answer(None, error="HTTP 500")},
        "silent": {},
    }
    return compare(suite, given, scorer=find_scorer(scorer))


@pytest.fixture
def suite(write_suite: WriteSuite) -> Suite:
    return load_suite(write_suite("layer1_01_fee", "layer2_01_fee", "layer3_01_fee"))


@pytest.mark.parametrize("scorer", ["keyword-recall", "evidence-recall", "exact-match", "token-f1"])
def test_a_comparison_with_missing_answers_and_errors(suite: Suite, scorer: str) -> None:
    data = check("comparison", render(answered(suite, scorer), "json"))
    outcomes = {case["outcome"] for system in data["systems"] for case in system["cases"]}
    assert {"missing", "system_error"} <= outcomes
    assert "attribution" not in data, "there is no suite to follow facts through"
    rows = {row["key"]: row["value"] for row in data["disclosure"]["systems"][0]["rows"]}
    assert (rows["adapter"], rows["coverage"]["asked"]) == (None, 3)


def test_the_bundled_answers(recallbench: Recallbench) -> None:
    done = recallbench("compare", "--format", "json")
    assert done.returncode == 0, done.stderr
    data = check("comparison", done.stdout)
    systems = [one["system"] for one in data["systems"]]
    assert [one["system"] for one in data["disclosure"]["systems"]] == systems
    assert [one["system"] for one in data["attribution"]] == systems


@pytest.fixture
def of_runs(write_suite: WriteSuite, recallbench: Recallbench, tmp_path: Path) -> dict[str, Any]:
    where = write_suite("layer1_01_fee", "layer2_01_fee")
    (tmp_path / "failing.py").write_text(FAILING, encoding="utf-8")
    done = recallbench(
        "run", "--system", "bm25", "--system", "failing:Failing", "--controls", "--suite", where, "--format", "json",
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}"},
    )  # fmt: skip
    assert done.stdout, done.stderr
    data: dict[str, Any] = check("comparison", done.stdout)
    return data


def test_runs_with_controls_and_a_system_that_fails(of_runs: dict[str, Any]) -> None:
    outcomes = {one["system"]: {case["outcome"] for case in one["cases"]} for one in of_runs["systems"]}
    failing = next(name for name in outcomes if "Failing" in name or "failing" in name)
    assert outcomes[failing] == {"system_error"}
    assert len(outcomes) > 3
    assert len(of_runs["attribution"]) == len(of_runs["disclosure"]["systems"]) == len(outcomes)


def test_the_disclosure_comes_back(of_runs: dict[str, Any]) -> None:
    card = disclosure.from_data(of_runs["disclosure"])
    assert json.loads(json.dumps(disclosure.as_data(card))) == of_runs["disclosure"]


def test_the_statistics_come_back(suite: Suite) -> None:
    for result in (answered(suite), panel(**PANEL)):
        written = json.loads(json.dumps(statistics_data(result)))
        assert read_statistics(written) == result.statistics


def test_a_judged_table_of_replayed_rulings() -> None:
    from harness.llm.cassette import Cassette
    from harness.scoring.judge import LLMJudge

    path = judge_cassette()
    with Cassette(path, "replay") as cassette:
        about = cassette.note("about", "demo")
    whole = load_suite()
    part = Suite(whole.root, tuple(whole.get(name) for name in about["cases"]))
    judge = LLMJudge(cassette=path, cassette_mode="replay", **about["judge"])
    result = compare(part, load_responses(example_responses(), whole.ids), scorer=judge)
    data = check("comparison", render(result, "json"))
    assert any("judged" in case for system in data["systems"] for case in system["cases"])


@pytest.mark.parametrize(
    "changes", [{}, PANEL, {"stopped": "the cost limit is reached"}, {"disagreements": ()}]
)
def test_a_judged_table_with_every_outcome(changes: dict[str, Any]) -> None:
    check("comparison", render(panel(**changes), "json"))


def case(data: Any, outcome: str) -> Any:
    cases = [case for system in data["systems"] for case in system["cases"]]
    return next(one for one in cases if one["outcome"] == outcome)


WRONG: dict[str, Change] = {
    "a reward above 1": lambda d: case(d, "scored").update(reward=1.5),
    "a reward below 0": lambda d: case(d, "scored").update(reward=-0.1),
    "a scored case without a reward": lambda d: case(d, "scored").update(reward=None),
    "a missing answer with a reward": lambda d: case(d, "missing").update(reward=0.0),
    "a missing answer that passed": lambda d: case(d, "missing").update(passed=True),
    "an error without a reason": lambda d: case(d, "judge_error").update(reason=None),
    "an unknown outcome": lambda d: case(d, "scored").update(outcome="skipped"),
    "a missing key of a case": lambda d: case(d, "scored").pop("mention"),
    "a key too many": lambda d: case(d, "scored").update(score=1),
    "a missing key of the report": lambda d: d.pop("statistics"),
    "another schema": lambda d: d.update(schema="recallbench.comparison/2"),
    "a short hash": lambda d: d["suite"].update(hash="abc"),
    "a hash in capitals": lambda d: d["suite"].update(hash="AB" * 32),
    "a count below 0": lambda d: d["systems"][0]["summary"]["overall"].update(scored=-1),
    "no overall": lambda d: d["systems"][0]["summary"].pop("overall"),
    "a judged table without dimensions": lambda d: d["systems"][0].pop("dimensions"),
    "an unknown dimension": lambda d: d["systems"][0]["dimensions"].update(tone={"met": 1, "criteria": 1}),
    "judged cases without a judge": lambda d: d.pop("judge"),
    "an unknown verdict": lambda d: case(d, "scored")["judged"]["criteria"][0].update(verdict="partly"),
    "a cost below 0": lambda d: d["judge"]["judges"][0]["usage"].update(cost_usd=-1),
    "repeats without flips": lambda d: d["judge"].update(flips=None),
    "a panel without agreement": lambda d: d["judge"].update(agreement=None),
    "a damaged calibration": lambda d: d["judge"]["calibration"].pop("kinds"),
    "p above 1": lambda d: d["statistics"]["pairs"][0].update(p=1.01),
    "apart without a low p": lambda d: d["statistics"]["pairs"][0].update(apart=True, p_holm=0.5),
    "a place without a rank": lambda d: d["statistics"]["standings"][0].update(ranks=[], first_place=1),
    "a method too many": lambda d: d["statistics"]["methods"].update(magic="x"),
    "passed without a threshold": lambda d: d.update(pass_threshold=None),
}  # fmt: skip


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_changed_comparison_does_not_validate(change: Change) -> None:
    data = json.loads(render(panel(**PANEL), "json"))
    assert faults("comparison", data) == []
    change(data)
    assert faults("comparison", data)


def test_a_calibration_of_another_version_is_taken_as_it_is() -> None:
    check("comparison", render(panel(calibration={"schema": "recallbench.calibration/0", "x": 1}), "json"))


def row(data: Any, key: str) -> Any:
    return next(row for part in data["disclosure"]["systems"] for row in part["rows"] if row["key"] == key)


def lost(data: Any) -> Any:
    return next(miss for one in data["attribution"] for miss in one["missed"])


WRONG_RUNS: dict[str, Change] = {
    "an unknown fate": lambda d: lost(d).update(lost="eaten"),
    "a row that hides what is not known": lambda d: row(d, "tokens").update(text="free"),
    "a row left out": lambda d: d["disclosure"]["systems"][0]["rows"].remove(row(d, "coverage")),
    "no hash of the answers": lambda d: row(d, "answers_hash")["value"].update(all="0"),
    "no disclosure": lambda d: d.pop("disclosure"),
    "an unknown type of fact": lambda d: case(d, "scored")["facts"][0].update(type="colour"),
    "an unknown role": lambda d: case(d, "scored")["facts"][0].update(role="wanted"),
    "a span of one number": lambda d: case(d, "scored")["facts"][0].update(span=[3]),
}


def test_a_changed_report_of_runs_does_not_validate(of_runs: dict[str, Any]) -> None:
    for name, change in WRONG_RUNS.items():
        data = copy.deepcopy(of_runs)
        change(data)
        assert faults("comparison", data), name


# --- evaluations ---

CALLS = {
    "retrieval": ("retrieval", "evaluate", ROOT / "fixtures/retrieval/smoke.json", "-s", "fts5", "-s", "entities"),
    "effectiveness": ("effectiveness", ROOT / "fixtures/effectiveness/update.json", "-s", "bm25"),
    "performance": (
        "performance", "-s", "bm25", "--size", "20", "--length", "100", "--requests", "3", "--warm-up", "0",
        "--rate", "20", "--duration", "0.2", "--samples", "2", "--writers", "2", "--writes", "2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_an_evaluation_validates_and_comes_back(
    call: tuple[Any, ...], recallbench: Recallbench, tmp_path: Path
) -> None:
    done = recallbench(*call, "--format", "json")
    assert done.returncode == 0, done.stderr
    check("evaluation", done.stdout)
    path = tmp_path / "result.json"
    path.write_text(done.stdout, encoding="utf-8")
    assert evaluation_view.as_json(evaluation_view.read_json(path)) == done.stdout


def measured() -> Evaluation:
    from harness.retrieval.dataset import Query
    from tests.retrieval import corpus

    queries = (
        Query("a", "first | `x`\n<b>", {"m1": 1.0}, tags=("x",)),
        Query("b", "記憶 🧠", {"m2": 1.0}),
        Query("n", "none", negative=True),
    )
    return corpus.measured(corpus.data(queries), {"a": ["m1"], "b": "timeout: took 5 s", "n": []})


def test_failed_queries_and_figures_without_a_value(tmp_path: Path) -> None:
    text = evaluation_view.as_json([measured()])
    data = check("evaluation", text)
    assert any(item["failure"] for item in data["evaluations"][0]["items"])
    (tmp_path / "one.json").write_text(text, encoding="utf-8")
    assert evaluation_view.as_json(evaluation_view.read_json(tmp_path / "one.json")) == text


WRONG_EVALUATIONS: dict[str, Change] = {
    "another schema": lambda d: d.update(schema="recallbench.evaluation/2"),
    "a missing key": lambda d: d["evaluations"][0].pop("warnings"),
    "a key too many": lambda d: d["evaluations"][0].update(score=1),
    "a value that is a text": lambda d: d["evaluations"][0]["metrics"][0].update(value="0.5"),
    "no value and no reason": lambda d: d["evaluations"][0]["metrics"][0].update(value=None, reason=""),
    "a chance above 1": lambda d: d["evaluations"][0]["metrics"][0].update(chance=1.5),
    "a count below 0": lambda d: d["evaluations"][0]["metrics"][0].update(n=-1),
    "passed that is a number": lambda d: d["evaluations"][0]["items"][0].update(passed=1),
    "an item's value that is true": lambda d: d["evaluations"][0]["items"][0]["values"].update(mrr=True),
    "a date that is none": lambda d: d["evaluations"][0].update(at="yesterday"),
    "a hash that is none": lambda d: d["evaluations"][0]["provenance"].update(dataset_hash="?"),
    "a section with figures": lambda d: d["evaluations"][0]["sections"].update(x=[[1]]),
}


@pytest.mark.parametrize("change", WRONG_EVALUATIONS.values(), ids=WRONG_EVALUATIONS)
def test_a_changed_evaluation_does_not_validate(change: Change) -> None:
    data = json.loads(evaluation_view.as_json([measured()]))
    change(data)
    assert faults("evaluation", data)


# --- the census ---


@pytest.fixture
def census(write_suite: WriteSuite, recallbench: Recallbench) -> dict[str, Any]:
    done = recallbench(
        "dataset", "stats", "--suite", write_suite("layer1_01_fee", "layer2_01_fee"), "--format", "json"
    )
    data: dict[str, Any] = check("census", done.stdout)
    return data


def test_a_suite_that_breaks_limits(census: dict[str, Any]) -> None:
    assert census["problems"]
    assert not census["held"]


WRONG_CENSUS: dict[str, Change] = {
    "held with problems": lambda d: d.update(held=True),
    "a short hash": lambda d: d.update(suite_hash="ab"),
    "a missing key": lambda d: d["cases"][0].pop("criteria"),
    "a key too many": lambda d: d["cases"][0]["conversations"][0].update(turns=1),
    "a count below 0": lambda d: d["cases"][0]["conversations"][0].update(words=-1),
    "a name in one case": lambda d: d["shared_names"].update(Ada=["layer1_01_fee"]),
    "an ability that no case has": lambda d: d["abilities"].update(none=0),
}


def test_a_changed_census_does_not_validate(census: dict[str, Any]) -> None:
    for name, change in WRONG_CENSUS.items():
        data = copy.deepcopy(census)
        change(data)
        assert faults("census", data), name


def test_the_census_of_the_bundled_suite() -> None:
    from harness.report import census_view
    from harness.validation import take_census

    assert check("census", census_view.as_json(take_census()))["held"]
