"""Score the answers of one system over the cases that were asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.errors import HarnessError, InputError
from harness.scoring.keyword_recall import KeywordRecall
from harness.scoring.outcome import Outcome
from harness.scoring.score import CaseScore
from harness.scoring.scorer import Scorer
from harness.suite import Case
from harness.suite.answer import Answer

_NO_ANSWER = Answer(None)


class SystemScores(NamedTuple):
    """One system's scores, one for each case asked, in the suite's order.

    Attributes:
        system: its label.
        scores: one a case; the mean over them where a case was asked several times.
        repeats: for each case what became of every answer to it; empty where each was asked once.
    """

    system: str
    scores: tuple[CaseScore, ...]
    repeats: tuple[tuple[Outcome, ...], ...] = ()

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What became of every answer."""
        if self.repeats:
            return tuple(outcome for answers in self.repeats for outcome in answers)
        return tuple(score.outcome for score in self.scores)


def score_case(case: Case, answer: str | Answer, scorer: Scorer | None = None) -> CaseScore:
    """Score one answer to one case, by keyword recall unless told otherwise.

    Raises:
        InputError: when the scorer fails, or returns something that is no score.
    """
    given = answer if isinstance(answer, Answer) else Answer(answer)
    return score_pairs([(case, given)], scorer or KeywordRecall())[0]


def score_pairs(pairs: Sequence[tuple[Case, Answer]], scorer: Scorer) -> list[CaseScore]:
    """Score answers, side by side where the scorer has `score_many`; the result stands in their order.

    Raises:
        InputError: when the scorer fails, or returns something that is no score.
    """
    many = getattr(scorer, "score_many", None)
    if many is None:
        return [_checked(_scored(case, given, scorer), case, given, scorer) for case, given in pairs]
    scores = list(many(pairs))
    if len(scores) != len(pairs):
        raise InputError(f"scorer {scorer.name} returned {len(scores)} scores for {len(pairs)} answers.")
    return [_checked(score, *pair, scorer) for pair, score in zip(pairs, scores, strict=True)]


def _scored(case: Case, given: Answer, scorer: Scorer) -> object:
    try:
        return scorer.score(case, given)
    except HarnessError:
        raise
    except Exception as error:  # a scorer of the user's own
        raise InputError(
            f"scorer {scorer.name} failed on {case.id}: {type(error).__name__}: {error}"
        ) from error


def _checked(score: object, case: Case, given: Answer, scorer: Scorer) -> CaseScore:
    if not isinstance(score, CaseScore):
        raise InputError(
            f"scorer {scorer.name} returned a {type(score).__name__} for {case.id}; it has to be a CaseScore."
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
    return score_systems(cases, {system: answers}, scorer)[0]


def score_systems(
    cases: Iterable[Case],
    systems: Mapping[str, Mapping[str, Answer | str]],
    scorer: Scorer | None = None,
) -> tuple[SystemScores, ...]:
    """Score several systems on the same cases, all of their answers in one go.

    Args:
        cases: the cases asked, fixed beforehand.
        systems: `{system: {test_id: answer}}`.
        scorer: keyword recall when left out.
    """
    asked = tuple(cases)
    given = [answers.get(case.id, _NO_ANSWER) for answers in systems.values() for case in asked]
    pairs = [
        (case, answer if isinstance(answer, Answer) else Answer(answer))
        for case, answer in zip(asked * len(systems), given, strict=True)
    ]
    scores = score_pairs(pairs, scorer or KeywordRecall())
    return tuple(
        SystemScores(system, tuple(scores[at * len(asked) : (at + 1) * len(asked)]))
        for at, system in enumerate(systems)
    )
