"""Rules about the scores of answers that everybody agrees on."""

from __future__ import annotations

from collections.abc import Iterator

from harness.errors import Problem
from harness.facts import FactType
from harness.validation.subject import Subject

_IGNORANCE = "I don't know."


def reference_answer(subject: Subject) -> Iterator[Problem]:
    """The reference answer scores 1.0."""
    from harness.scoring import score_case  # the basic profile scores nothing

    case = subject.case
    if not case.gold.annotated:
        return
    score = score_case(case, case.expected_behavior)
    if score.reward == 1.0:
        return
    missing = [verdict.fact.id for verdict in score.of_role("required") if not verdict.counts]
    wrong = [verdict.fact.id for verdict in score.of_role("forbidden") if verdict.counts]
    causes = [f"not stated: {', '.join(missing)}"] * bool(missing)
    causes += [f"stated though forbidden: {', '.join(wrong)}"] * bool(wrong)
    message = f"the reference answer scores {_shown(score.reward)}; {'; '.join(causes) or 'see `explain`'}."
    mend = "State every required fact as true, and no forbidden one."
    yield subject.header_problem(("expected_behavior",), message, mend, "reference-answer")


def hollow_answers(subject: Subject) -> Iterator[Problem]:
    """Nothing, the question itself and "I don't know" score 0; the last 1.0 where it is right.

    Where a case asks for other things too, "I don't know" is worth its one fact of many.
    """
    from harness.scoring import score_case  # the basic profile scores nothing

    case = subject.case
    if not case.gold.annotated:
        return
    unsaid = sum(fact.type is FactType.ABSTAIN for fact in case.gold.required)
    worth = unsaid / len(case.gold.required)
    for name, answer, due in (
        ("empty-answer", "", 0.0),
        ("echoed-question", case.question, 0.0),
        ("i-dont-know", _IGNORANCE, worth),
    ):
        reward = score_case(case, answer).reward
        if reward is None or abs(reward - due) > 1e-9:
            message = f"the answer {answer!r} scores {_shown(reward)} and must score {due:g}."
            mend = "Change the question or the facts that it states."
            yield subject.header_problem(("gold_facts",), message, mend, name)


def _shown(reward: float | None) -> str:
    return "nothing" if reward is None else f"{reward:.3g}"
