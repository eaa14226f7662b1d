"""Score the answers of one system over the cases that were asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from harness.scoring.answer import Answer
from harness.scoring.keyword_recall import KeywordRecall
from harness.scoring.score import CaseScore
from harness.scoring.scorer import Scorer
from harness.suite import Case

_NO_ANSWER = Answer(None)


class SystemScores(NamedTuple):
    """One system's scores, one for each case asked, in the suite's order."""

    system: str
    scores: tuple[CaseScore, ...]


def score_case(case: Case, answer: str | Answer, scorer: Scorer | None = None) -> CaseScore:
    """Score one answer to one case, by keyword recall unless told otherwise."""
    given = answer if isinstance(answer, Answer) else Answer(answer)
    return (scorer or KeywordRecall()).score(case, given)


def score_batch(
    cases: Iterable[Case],
    answers: Mapping[str, Answer | str],
    scorer: Scorer | None = None,
    *,
    system: str = "responses",
) -> SystemScores:
    """Score a system's answers; a case without one is `missing`, never 0.

    Args:
        cases: the cases asked, fixed beforehand.
        answers: `{test_id: answer}`.
        scorer: keyword recall when left out.
        system: the name shown.
    """
    used = scorer or KeywordRecall()
    return SystemScores(
        system, tuple(score_case(case, answers.get(case.id, _NO_ANSWER), used) for case in cases)
    )
