"""JUnit XML: one suite a system, one test a case, valid whatever an answer or a name holds."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.comparison import CaseLabel, Comparison
from harness.facts import FactMatch, FactType, GoldFact
from harness.gates import Breach
from harness.report import render
from harness.scoring import (
    CaseScore,
    FactVerdict,
    JudgeFailed,
    Missing,
    NotAnnotated,
    Outcome,
    Scored,
    SystemFailed,
    SystemScores,
)

SCHEMA = Path(__file__).with_name("junit.xsd")
OUTCOMES: tuple[Outcome, ...] = (
    Scored(1.0),
    Scored(0.5),
    SystemFailed("timeout", "took longer than 2 s"),
    JudgeFailed("refusal", "I won't"),
    Missing(),
    NotAnnotated(),
)
FORBIDDEN = "\x00\x08\x0b\x1b\x7f\x85\ud800\udfff\ufffe\uffff\u202e"


def verdict(name: str, role: str, counts: bool) -> FactVerdict:
    fact = GoldFact(fact="$45", type=FactType.MONEY, id=name)
    return FactVerdict(fact, role, FactMatch(mentioned=counts, asserted=counts), counts)  # type: ignore[arg-type]


def made(*systems: str, has_pass: bool = True, text: str = "x") -> Comparison:
    cases = tuple(CaseLabel(f"layer{1 + at % 3}_{at:02}_case", f"layer{1 + at % 3}", text) for at in range(6))
    verdicts = (verdict("fee", "required", False), verdict(f"old {text}", "forbidden", True))

    def score(at: int) -> CaseScore:
        outcome = OUTCOMES[at]
        if isinstance(outcome, SystemFailed):
            outcome = SystemFailed(outcome.kind, f"{outcome.message} {text}")
        return CaseScore(
            cases[at].id, cases[at].category, "keyword-recall", outcome,
            verdicts=verdicts if at == 1 else (), latency_s=0.25 if at == 0 else None,
        )  # fmt: skip

    scores = tuple(map(score, range(6)))
    return Comparison(
        cases, tuple(SystemScores(name, scores) for name in systems), "keyword-recall", "", has_pass, 0.6,
        "test_cases", "0" * 64, text, models={systems[0]: text},
    )  # fmt: skip


def read(text: str) -> Xml.Element:
    return Xml.fromstring(text.encode())


def check(text: str) -> None:
    etree = pytest.importorskip("lxml.etree", reason="lxml is not installed")
    schema = etree.XMLSchema(etree.parse(SCHEMA))
    schema.assertValid(etree.fromstring(text.encode()))


def test_a_suite_a_system_and_a_test_a_case() -> None:
    root = read(render(made("bm25(k=8)", "mem0"), "junit"))
    assert [suite.get("name") for suite in root] == ["bm25(k=8)", "mem0"]
    assert [root.get(name) for name in ("tests", "failures", "errors")] == ["12", "2", "4"]
    first = root[0]
    assert [first.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["6", "1", "2", "2"]
    tests = first.findall("testcase")
    assert [test.get("name") for test in tests] == [f"layer{1 + at % 3}_{at:02}_case" for at in range(6)]
    assert tests[1].get("classname") == "bm25(k=8).layer2"
    assert [test[0].tag for test in tests] == [
        "system-out",
        "failure",
        "error",
        "error",
        "skipped",
        "skipped",
    ]
    assert [test.get("time") for test in tests] == ["0.250", *[None] * 5]


def test_the_reasons_stand_in_the_tests() -> None:
    tests = read(render(made("bm25"), "junit"))[0].findall("testcase")
    failure = tests[1][0]
    assert failure.get("message") == "reward 0.5, passes from 0.6; missing: fee; stated wrongly: old x"
    assert "missing: fee = $45: not found" in (failure.text or "")
    assert tests[2][0].attrib == {
        "message": "system error (timeout): took longer than 2 s x",
        "type": "system_error.timeout",
    }
    assert tests[3][0].get("type") == "judge_error.refusal"
    assert tests[4][0].get("message") == "missing: no answer was supplied"
    assert tests[5][0].get("message") == "not annotated: the case has no gold facts"


def test_properties_say_what_was_measured() -> None:
    suite = read(render(made("bm25", text="qwen"), "junit"))[0]
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert properties == {
        "suite": "test_cases", "suite_hash": "0" * 64, "source": "qwen", "scorer": "keyword-recall",
        "pass_threshold": "0.6", "model": "qwen", "mean": "0.75", "asked": "5", "scored": "2", "passed": "1",
        "missing": "1", "errors": "2", "dumps": "0", "not_annotated": "1",
    }  # fmt: skip


def test_a_scorer_without_a_pass_fails_nothing() -> None:
    root = read(render(made("bm25", has_pass=False), "junit"))
    assert root.get("failures") == "0"
    assert not list(root.iter("failure"))
    said = [str(out.text).splitlines() for out in root.iter("system-out")]
    assert [lines[0] for lines in said] == ["reward 1", "reward 0.5"]
    assert any(line.startswith("missing: fee") for line in said[1]), (
        "what was missed stands there all the same"
    )


def test_a_broken_gate_is_a_test_that_failed() -> None:
    broken = [Breach("--fail-under 0.9", "bm25 0.75, below 0.9", ("layer1_01_fee 0.5",))]
    root = read(render(made("bm25", has_pass=False), "junit", breaches=broken))
    assert root.get("failures") == "1"
    (gates,) = [suite for suite in root.iter("testsuite") if suite.get("name") == "gates"]
    (failure,) = gates.iter("failure")
    assert (failure.get("message"), failure.text) == ("bm25 0.75, below 0.9", "layer1_01_fee 0.5")


def test_a_gate_that_could_not_be_held_is_an_error() -> None:
    gates = [
        Breach("--fail-under 0.9", "bm25 0.75, below 0.9"),
        Breach("--not-below old.json", "--not-below old.json: does not fit\x1b", refused=True),
    ]
    document = render(made("bm25"), "junit", breaches=gates)
    root = read(document)
    assert [root.get(name) for name in ("tests", "failures", "errors")] == ["8", "2", "3"]
    suite = root[-1]
    assert [suite.get(name) for name in ("name", "tests", "failures", "errors")] == ["gates", "2", "1", "1"]
    assert [(test.get("name"), test[0].tag) for test in suite] == [
        ("--fail-under 0.9", "failure"),
        ("--not-below old.json", "error"),
    ]
    assert suite[1][0].get("message") == "--not-below old.json: does not fit\ufffd"
    check(document)


@pytest.mark.parametrize(
    "text",
    ["x", FORBIDDEN, ']]><testcase name="y"/>', "&amp; <b> \"q\" 'a'", "a\nb\tc\rd", "記憶システム 🙂", ""],
    ids=["plain", "forbidden", "markup", "entities", "lines", "wide", "empty"],
)
def test_it_is_valid_whatever_texts_hold(text: str) -> None:
    document = render(made(f"s{text}", text=text), "junit")
    root = read(document)
    assert len(list(root.iter("testcase"))) == 6
    assert not set(FORBIDDEN) & set(document)
    check(document)


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_any_text_parses(text: str) -> None:
    root = read(render(made(f"s{text}", text=text), "junit"))
    assert len(list(root.iter("testcase"))) == 6


@pytest.mark.parametrize(
    "part", [' failures="2"', ' classname="s.layer1"', ' type="not_passed"', ' name="s"']
)
def test_the_schema_refuses_what_lacks_a_part(part: str) -> None:
    etree = pytest.importorskip("lxml.etree", reason="lxml is not installed")
    document = render(made("s", "t"), "junit")
    assert part in document
    schema = etree.XMLSchema(etree.parse(SCHEMA))
    assert not schema.validate(etree.fromstring(document.replace(part, "", 1).encode()))
