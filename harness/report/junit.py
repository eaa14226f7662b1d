"""JUnit XML, which every CI system reads: a suite a system, a test a case.

- the class of a test is `SYSTEM.LAYER`, since viewers tell tests apart by class and name alone
- failed: an answer that did not pass; error: of the system or the judge; skipped: missing or not annotated
- a scorer without a pass fails nothing; the reward and the facts stand in each test's output
- a broken gate is a test of its own that failed, one that could not be held an error
- the schema is the one of Jenkins's JUnit plugin, `tests/report/junit.xsd`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from xml.etree import ElementTree as Xml

from harness.comparison import OVERALL, Comparison
from harness.gates import Breach, shortcomings
from harness.report import evidence, numbers
from harness.report.boxes import visible
from harness.scoring import CaseScore, JudgeFailed, Scored, SystemFailed, SystemScores

# What no XML 1.0 document may hold, escaped or not, beside the control characters.
_INVALID = re.compile("[\ud800-\udfff\ufffe\uffff]")


class _Counts(NamedTuple):
    tests: int
    failures: int
    errors: int
    skipped: int


def render(result: Comparison, breaches: Sequence[Breach] = ()) -> str:
    """Return a comparison as JUnit XML; each broken gate is a test that failed."""
    counted, gates = _counts(result, result.systems), _gate_counts(breaches)
    counts = _written(_Counts(*(one + other for one, other in zip(counted, gates, strict=True))))
    del counts["skipped"]  # the schema has it for a suite only
    root = Xml.Element("testsuites", {"name": "recallbench", **counts})
    for system in result.systems:
        root.append(_suite(result, system))
    if breaches:
        root.append(_gates(breaches))
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _gates(breaches: Sequence[Breach]) -> Xml.Element:
    made = Xml.Element("testsuite", {"name": "gates", **_written(_gate_counts(breaches))})
    for breach in breaches:
        test = Xml.SubElement(made, "testcase", name=clean(breach.gate), classname="gates")
        kind = "error" if breach.refused else "failure"
        failure = Xml.SubElement(test, kind, message=clean(breach.message), type="gate")
        failure.text = clean("\n".join(breach.cases)) or None
    return made


def _gate_counts(breaches: Sequence[Breach]) -> _Counts:
    refused = sum(breach.refused for breach in breaches)
    return _Counts(len(breaches), len(breaches) - refused, refused, 0)


def clean(text: str) -> str:
    """Return text that may stand in XML: what may not, and what a terminal would obey, is replaced."""
    return _INVALID.sub("\ufffd", visible(text))


def _suite(result: Comparison, system: SystemScores) -> Xml.Element:
    made = Xml.Element("testsuite", {"name": clean(system.system), **_written(_counts(result, [system]))})
    properties = Xml.SubElement(made, "properties")
    for name, value in _properties(result, system):
        Xml.SubElement(properties, "property", name=name, value=clean(value))
    for score in system.scores:
        made.append(_case(result, system, score))
    return made


def _properties(result: Comparison, system: SystemScores) -> Iterable[tuple[str, str]]:
    cell = result.cell(OVERALL, system)
    yield "suite", result.suite
    yield "suite_hash", result.suite_hash
    yield "source", result.source
    yield "scorer", result.scorer
    yield "pass_threshold", f"{result.threshold:g}" if result.has_pass else "none"
    if model := result.models.get(system.system):
        yield "model", model
    yield "mean", "none" if cell.mean is None else numbers.exact(cell.mean)
    for name in ("asked", "scored", "passed", "missing", "errors", "dumps", "not_annotated"):
        value = getattr(cell, name)
        if value is not None:
            yield name, str(value)


def _case(result: Comparison, system: SystemScores, score: CaseScore) -> Xml.Element:
    made = Xml.Element(
        "testcase", name=clean(score.case_id), classname=clean(f"{system.system}.{score.category}")
    )
    if score.latency_s is not None:
        made.set("time", f"{score.latency_s:.3f}")
    match score.outcome:
        case Scored():
            if _failed(result, score):
                failure = Xml.SubElement(
                    made, "failure", message=clean(_message(result, score)), type="not_passed"
                )
                failure.text = clean(_told(score)) or None
        case SystemFailed(kind) | JudgeFailed(kind):
            words = clean(evidence.outcome_words(score))
            Xml.SubElement(made, "error", message=words, type=clean(f"{score.status}.{kind}"))
        case _:
            Xml.SubElement(made, "skipped", message=clean(evidence.outcome_words(score)))
    if score.reward is not None:
        told = "" if made.find("failure") is not None else _told(score)
        out = f"reward {numbers.exact(score.reward)}"
        Xml.SubElement(made, "system-out").text = f"{out}\n{clean(told)}" if told else out
    return made


def _message(result: Comparison, score: CaseScore) -> str:
    """Say in one line why a case did not pass."""
    why = shortcomings(score)
    return (
        f"reward {numbers.exact(score.reward)}, passes from {result.threshold:g}{f'; {why}' if why else ''}"
    )


def _told(score: CaseScore) -> str:
    """Return a line a fact, as `batch` shows them."""
    return "\n".join(
        f"{line.mark}: {line.name} = {line.value}: {line.remark}" for line in evidence.fact_lines(score)
    )


def _failed(result: Comparison, score: CaseScore) -> bool:
    return result.has_pass and score.passed(result.threshold) is False


def _counts(result: Comparison, systems: Iterable[SystemScores]) -> _Counts:
    scores = [score for system in systems for score in system.scores]
    failures = sum(_failed(result, score) for score in scores)
    errors = sum(isinstance(score.outcome, SystemFailed | JudgeFailed) for score in scores)
    scored = sum(isinstance(score.outcome, Scored) for score in scores)
    return _Counts(len(scores), failures, errors, len(scores) - scored - errors)


def _written(counts: _Counts) -> dict[str, str]:
    return {name: str(value) for name, value in counts._asdict().items()}
