"""The gold file: its spellings, what it overrides, what is wrong with it."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.errors import SuiteError
from harness.facts.model import FactType, GoldFact
from harness.suite import Suite, load_suite, read_suite, yaml_reader

from .conftest import WriteCase

ABSTAIN = {"fact": "__ABSTAIN__", "type": "abstain"}


@pytest.fixture(autouse=True)
def case(write_case: WriteCase) -> Path:
    return write_case("layer1", "01_account")


def with_gold(tmp_path: Path, content: Any, name: str = "gold.json") -> Suite:
    gold = tmp_path / name
    gold.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return load_suite(tmp_path, gold=gold)


@pytest.mark.parametrize(
    ("entry", "facts"),
    [
        pytest.param(["4429853327"], [GoldFact("4429853327", id="fact_1")], id="list"),
        pytest.param({"required_facts": ["a", "b"]}, [GoldFact("a", id="fact_1"), GoldFact("b", id="fact_2")],
                     id="mapping"),
        pytest.param([["Feb 18", "February 18"]], [GoldFact("Feb 18", accept=("February 18",), id="fact_1")],
                     id="any-of"),
        pytest.param([["one"]], [GoldFact("one", id="fact_1")], id="any-of-one"),
        pytest.param([0.50, True], [GoldFact("0.5", id="fact_1"), GoldFact("true", id="fact_2")],
                     id="not-quoted"),
        pytest.param([{"fact": "$5", "type": "money", "accept": ["five dollars"], "id": "fee"}],
                     [GoldFact("$5", FactType.MONEY, ("five dollars",), id="fee")], id="full"),
        pytest.param({"_note": "x", "required_facts": ["a"]}, [GoldFact("a", id="fact_1")], id="comment"),
        pytest.param([], [], id="not-annotated"),
        pytest.param(["naïve 🦊 \u2028", "tab\there"],
                     [GoldFact("naïve 🦊", id="fact_1"), GoldFact("tab\there", id="fact_2")], id="escapes"),
    ],
)  # fmt: skip
def test_spellings(tmp_path: Path, entry: Any, facts: list[GoldFact]) -> None:
    suite = with_gold(tmp_path, {"_comment": ["none"], "layer1_01_account": entry})
    (case,) = suite
    assert list(case.gold.required) == facts
    assert (case.gold.optional, case.gold.forbidden) == ((), ())
    assert case.gold.annotated is bool(facts)
    assert case.gold_path == tmp_path / "gold.json"


def test_yaml(tmp_path: Path) -> None:
    (case,) = with_gold(tmp_path, "layer1_01_account: [010, yes]\n", "gold.yaml")
    assert [fact.fact for fact in case.gold.required] == ["010", "yes"]


@pytest.mark.parametrize("loader", [yaml.CSafeLoader, yaml.SafeLoader])
def test_tabs_in_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loader: Any) -> None:
    monkeypatch.setattr(yaml_reader, "_loader_class", lambda: loader)
    (case,) = with_gold(tmp_path, '{\n\t"layer1_01_account":\t[\n\t\t"a"\n\t]\n}\n')
    assert [fact.fact for fact in case.gold.required] == ["a"]


def test_what_it_overrides(tmp_path: Path, write_case: WriteCase) -> None:
    write_case("layer1", "02_other")
    write_case("layer1", "03_unsaid", answerable=False, gold_facts={"required": [ABSTAIN]},
               evaluation_criteria=None)  # fmt: skip
    write_case("layer1", "04_unsaid")
    suite = with_gold(
        tmp_path,
        {
            "layer1_01_account": [{"fact": "1", "id": "digit"}],
            "layer1_03_unsaid": ["1"],
            "layer1_04_unsaid": [ABSTAIN],
        },
    )
    first, second, third, fourth = suite
    assert [fact.id for fact in first.gold] == ["digit"]
    assert first.criteria[0].facts == ()
    assert (second.gold.required[0].id, second.gold_path) == ("number", None)
    assert second.criteria[0].facts == ("number",)
    assert (third.answerable, fourth.answerable) == (True, False)


@pytest.mark.parametrize(
    ("content", "line", "field", "rule", "said"),
    [
        pytest.param('{\n "layer1_01_acount": ["a"]\n}', 2, "layer1_01_acount", "unknown-case",
                     "nearest: layer1_01_account", id="unknown-case"),
        pytest.param('{"layer1_01_account":\n [""]\n}', 2, "layer1_01_account[0].fact", "empty-fact", "",
                     id="blank"),
        pytest.param('{"layer1_01_account":\n ["a",\n "--"]\n}', 3, "layer1_01_account[1].fact", "empty-fact",
                     "", id="punctuation"),
        pytest.param('{"layer1_01_account": [[]]}', 1, "layer1_01_account[0].fact", "empty-fact", "",
                     id="none-of"),
        pytest.param('{"layer1_01_account": [["a", " "]]}', 1, "layer1_01_account[0].accept[0]", "empty-fact",
                     "", id="any-of-blank"),
        pytest.param('{"layer1_01_account": [null]}', 1, "layer1_01_account[0].fact", "empty-fact", "",
                     id="null"),
        pytest.param('{"layer1_01_account": {"required_facts": [""]}}', 1,
                     "layer1_01_account.required_facts[0].fact", "empty-fact", "", id="blank-in-mapping"),
        pytest.param('{"layer1_01_account": "a"}', 1, "layer1_01_account", "bad-gold", "required_facts",
                     id="no-list"),
        pytest.param('{"layer1_01_account": {}}', 1, "layer1_01_account.required_facts", "bad-gold", "",
                     id="no-facts"),
        pytest.param('{"layer1_01_account": {"facts": ["a"], "required_facts": []}}', 1,
                     "layer1_01_account.facts", "unknown-key", "required_facts", id="unknown-key"),
        pytest.param('{"layer1_01_account": [{"fact": "a", "accepted": ["b"]}]}', 1,
                     "layer1_01_account[0].accepted", "unknown-key", "nearest: accept", id="fact-key"),
        pytest.param('{"layer1_01_account": [{"fact": "a", "id": "x"},\n {"fact": "b", "id": "x"}]}', 2,
                     "layer1_01_account[1]", "duplicate-id", "'x'", id="duplicate-id"),
        pytest.param('{"layer1_01_account":\n [{"fact": "a", "evidence": ["c#1"], "derived_from": ["c#2"]}]}',
                     2, "layer1_01_account[0]", "evidence-and-derived", "", id="cited-and-derived"),
        pytest.param('{"layer1_01_account": [{"fact": "a", "replaces": "b"}]}', 1,
                     "layer1_01_account[0].replaces", "bad-replaces", "is required", id="replaces"),
        pytest.param('{"layer1_01_account": ["a"],\n "layer1_01_account": ["b"]}', 2, "layer1_01_account",
                     "duplicate-key", "", id="duplicate-case"),
        pytest.param('{"layer1_01_account": ["a"}', 1, "", "yaml", "", id="broken"),
        pytest.param("[]", 1, "", "bad-gold", "", id="list"),
        pytest.param("a: []\n---\nb: []\n", 1, "", "extra-document", "", id="documents"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, content: str, line: int, field: str, rule: str, said: str) -> None:
    with pytest.raises(SuiteError) as caught:
        with_gold(tmp_path, content)
    found = [problem for problem in caught.value.problems if problem.rule == rule]
    assert [(problem.path.name, problem.line, problem.field) for problem in found] == [
        ("gold.json", line, field)
    ]
    assert said in str(found[0])


def test_a_missing_gold_file(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="no such file"):
        load_suite(tmp_path, gold=tmp_path / "gone.json")


def test_a_gold_file_among_the_cases_is_no_case(tmp_path: Path) -> None:
    suite = with_gold(tmp_path, "layer1_01_account: [a]\n", "gold.yaml")
    assert len(suite) == 1
    assert len(read_suite(tmp_path)[1]) > 0, "without --gold it is a stray file"


def test_problems_of_gold_and_cases_come_together(tmp_path: Path, write_case: WriteCase) -> None:
    write_case("layer1", "02_other", titel="T")
    with pytest.raises(SuiteError) as caught:
        with_gold(tmp_path, {"layer1_02_other": [""], "layer1_03": ["a"]})
    assert sorted(problem.rule for problem in caught.value.problems) == [
        "empty-fact", "unknown-case", "unknown-key"
    ]  # fmt: skip
