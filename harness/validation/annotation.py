"""Rules about what a scorer is given: enough criteria, enough facts, and wrong values to tell apart."""

from __future__ import annotations

from collections.abc import Iterator

from harness.errors import Problem
from harness.validation.subject import Subject

MIN_CRITERIA, MAX_CRITERIA = 4, 8
MIN_REQUIRED = {"layer1": 2, "layer2": 4, "layer3": 4}
MIN_FORBIDDEN = 2


def criteria_counted(subject: Subject) -> Iterator[Problem]:
    """A case has four to eight criteria, and above layer 1 one of them is about behaviour."""
    case, at = subject.case, ("evaluation_criteria",)
    count = len(case.criteria)
    if not MIN_CRITERIA <= count <= MAX_CRITERIA:
        message = f"the case has {count} criteria; {MIN_CRITERIA} to {MAX_CRITERIA} are asked for."
        mend = (
            "Split what is really two statements." if count < MIN_CRITERIA else "Join what is ruled on alike."
        )
        yield subject.header_problem(at, message, mend, "criteria-count")
    if case.category != "layer1" and not any(it.kind == "behaviour" for it in case.criteria):
        message = f"no criterion of this {case.category} case is about behaviour."
        mend = "Say what a good answer does: which one it asks for, what it raises unasked."
        yield subject.header_problem(at, message, mend, "no-behaviour")


def facts_counted(subject: Subject) -> Iterator[Problem]:
    """A case requires enough values that a lucky guess fails, and forbids the likeliest wrong ones.

    A case whose whole answer is that nothing was said requires just that.
    """
    case, gold = subject.case, subject.case.gold
    least = MIN_REQUIRED.get(case.category, 1) if case.answerable else 1
    if gold.annotated and len(gold.required) < least:
        message = f"the case requires {_facts(len(gold.required))}; {least} are asked for."
        mend = "Let the question draw more of what was said."
        yield subject.header_problem(("gold_facts", "required"), message, mend, "few-required-facts")
    if gold.annotated and len(gold.forbidden) < MIN_FORBIDDEN:
        message = f"the case forbids {_facts(len(gold.forbidden))}; {MIN_FORBIDDEN} are asked for."
        mend = "Forbid the wrong values that a bad memory would give."
        yield subject.header_problem(("gold_facts",), message, mend, "few-forbidden-facts")


def _facts(count: int) -> str:
    return "1 fact" if count == 1 else f"{count} facts"
