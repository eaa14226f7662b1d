"""Score the answers of one system over the cases that were asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from harness.errors import HarnessError, InputError
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
    """Score one answer to one case, by keyword recall unless told otherwise.

    Raises:
        InputError: when the scorer fails, or returns something that is no score.
    """
    given = answer if isinstance(answer, Answer) else Answer(answer)
    used = scorer or KeywordRecall()
    try:
        score = used.score(case, given)
    except HarnessError:
        raise
    except Exception as error:  # a scorer of the user's own
        raise InputError(
            f"scorer {used.name} failed on {case.id}: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(score, CaseScore):
        raise InputError(
            f"scorer {used.name} returned a {type(score).__name__} for {case.id}; it has to be a CaseScore."
        )
    return replace(score, memory_words=given.memory_words, latency_s=given.latency_s, tokens=given.tokens)


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
