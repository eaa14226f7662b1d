"""Scores of several systems over the same cases, summed up by layer.

The cases asked are fixed before any answer is looked at. A mean is over the scored
answers, shown with how many were scored of how many asked, and with the bounds it would
have if every missing answer and every error had been worth 0 or 1. A case that a scorer
cannot score for anybody (`not_annotated`) is asked of nobody; it is counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.errors import ResponsesError
from harness.scoring import (
    PASS_THRESHOLD,
    Answer,
    CaseScore,
    Missing,
    NotAnnotated,
    Responses,
    Scored,
    Scorer,
    SystemScores,
    find_scorer,
    score_systems,
)
from harness.scoring.scorer import DEFAULT_SCORER, options_of
from harness.suite import Case, Suite

if TYPE_CHECKING:
    from harness.scoring.judge.record import JudgeSummary
    from harness.standing import Statistics

LAYER_TITLES = {
    "layer1": "Layer 1 · Basic Recall",
    "layer2": "Layer 2 · Disambiguation",
    "layer3": "Layer 3 · Cross-Session Synthesis",
}
OVERALL = "overall"
OVERALL_TITLE = "Overall (mean over cases)"


class Cell(NamedTuple):
    """One group of cases for one system.

    Attributes:
        mean: mean reward over the scored, None when nothing was scored.
        scored: how many answers have a score.
        asked: how many cases were asked (those that nobody can be scored on left out).
        low: the mean if every answer without a score had been worth 0.
        high: the same with 1.
        passed: how many rewards reached the threshold; None for scorers without a pass.
        mention: mean mention recall over the scored, None where the scorer has none.
        missing: answers that were not supplied.
        errors: system and judge errors.
        dumps: answers flagged as dumps.
        not_annotated: cases left out because the scorer has nothing to compare with.
    """

    mean: float | None
    scored: int
    asked: int
    low: float | None
    high: float | None
    passed: int | None
    mention: float | None
    missing: int
    errors: int
    dumps: int
    not_annotated: int

    @property
    def complete(self) -> bool:
        """Whether every case asked has a score."""
        return self.scored == self.asked


def summarise(
    scores: Sequence[CaseScore], *, threshold: float = PASS_THRESHOLD, has_pass: bool = True
) -> Cell:
    """Sum up scores; see `Cell` for what each figure is."""
    rewards = [score.outcome.reward for score in scores if isinstance(score.outcome, Scored)]
    mentions = [score.mention for score in scores if score.mention is not None]
    unannotated = sum(isinstance(score.outcome, NotAnnotated) for score in scores)
    missing = sum(isinstance(score.outcome, Missing) for score in scores)
    asked = len(scores) - unannotated
    without = asked - len(rewards)
    total = sum(rewards)
    return Cell(
        mean=total / len(rewards) if rewards else None,
        scored=len(rewards),
        asked=asked,
        low=total / asked if asked else None,
        high=(total + without) / asked if asked else None,
        passed=sum(bool(score.passed(threshold)) for score in scores) if has_pass else None,
        mention=sum(mentions) / len(mentions) if mentions else None,
        missing=missing,
        errors=without - missing,
        dumps=sum("dump" in score.flags for score in scores),
        not_annotated=unannotated,
    )


class CaseLabel(NamedTuple):
    """What a report needs to name a case, and the cluster it belongs to (None: it stands by itself)."""

    id: str
    category: str
    title: str
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything a renderer needs: the cases asked and each system's scores on them.

    Attributes:
        cases: the cases asked, in the suite's order.
        systems: one a system, in the order given; each has a score for every case.
        scorer: name of the scorer.
        footnote: what the scorer cannot see.
        has_pass: whether rewards of this scorer can pass.
        threshold: the pass threshold.
        suite: where the suite came from.
        suite_hash: what it held.
        source: where the answers came from.
        notes: what a reader has to know: where answers come from, a partial comparison, …
        models: the model behind a system, where the answers say so.
        scorer_options: the scorer's options, None where it does not say.
        judge: who judged and how far it can be trusted, None for the offline scorers.
    """

    cases: tuple[CaseLabel, ...]
    systems: tuple[SystemScores, ...]
    scorer: str
    footnote: str
    has_pass: bool
    threshold: float
    suite: str
    suite_hash: str
    source: str
    notes: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    judge: JudgeSummary | None = None
    scorer_options: Mapping[str, Any] | None = None
    _kept: list[Statistics] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def statistics(self) -> Statistics:
        """Intervals, tests and ranks, computed when they are first asked for."""
        if not self._kept:
            from harness.inference import statistics_of  # it imports this module

            self._kept.append(statistics_of(self))
        return self._kept[0]

    @property
    def groups(self) -> tuple[str, ...]:
        """The layers that have cases, in order, then `overall`."""
        present = dict.fromkeys(case.category for case in self.cases)
        return (*sorted(present), OVERALL)

    def title(self, group: str) -> str:
        """Return a group's name as tables show it."""
        return OVERALL_TITLE if group == OVERALL else LAYER_TITLES.get(group, group)

    def size(self, group: str) -> int:
        """Return how many cases were asked in a group."""
        return len(self.cases) if group == OVERALL else sum(case.category == group for case in self.cases)

    def cell(self, group: str, system: SystemScores) -> Cell:
        """Sum up one group for one system."""
        scores = system.scores
        if group != OVERALL:
            scores = tuple(score for score in scores if score.category == group)
        return summarise(scores, threshold=self.threshold, has_pass=self.has_pass)


def compare(
    suite: Suite,
    responses: Responses | Mapping[str, Mapping[str, Answer | str]],
    *,
    scorer: Scorer | None = None,
    partial: bool = False,
    threshold: float = PASS_THRESHOLD,
    notes: Iterable[str] = (),
) -> Comparison:
    """Score every system on the cases of a suite.

    Args:
        suite: the cases asked; hand in a selection to compare over a layer.
        responses: answers by system and test id.
        scorer: keyword recall when left out.
        partial: compare over the cases that every system answered, and say so.
        threshold: reward from which an answer passes, in [0, 1].
        notes: further notes for under the table.

    Raises:
        ResponsesError: for a test id that the suite does not have, or with `partial`, when no
            case was answered by all.
        ValueError: for a threshold outside [0, 1].
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold is {threshold}; a reward lies in [0, 1]")
    given = responses if isinstance(responses, Responses) else _as_responses(responses, suite)
    used = scorer or find_scorer(DEFAULT_SCORER)
    cases: Sequence[Case] = suite.cases
    all_notes = [note for note in (given.note, *notes) if note]
    if partial:
        common = [
            case for case in cases if all(_answered(answers, case.id) for answers in given.systems.values())
        ]
        if not common:
            raise ResponsesError(
                f"{given.source}: no case was answered by every system, so there is nothing to compare."
            )
        if len(common) < len(cases):
            all_notes.append(
                f"Partial: {len(common)} of {len(cases)} cases, those that every system answered "
                f"({len(cases) - len(common)} left out)."
            )
        cases = common
    return compare_scores(
        Suite(suite.root, tuple(cases)),
        score_systems(cases, given.systems, used),
        used,
        threshold=threshold,
        source=given.source,
        notes=all_notes,
        models=given.models,
    )


def compare_scores(
    suite: Suite,
    systems: Sequence[SystemScores],
    scorer: Scorer,
    *,
    threshold: float = PASS_THRESHOLD,
    source: str = "",
    notes: Iterable[str] = (),
    models: Mapping[str, str] | None = None,
) -> Comparison:
    """Put scores that are there already side by side.

    Args:
        suite: the cases asked; each system has a score for every one, in the same order.
        systems: the scores.
        scorer: who scored them.
        threshold: reward from which an answer passes, in [0, 1].
        source: where the answers came from.
        notes: lines for under the table.
        models: the model behind a system, where one is known.
    """
    return Comparison(
        cases=tuple(CaseLabel(case.id, case.category, case.title, case.cluster) for case in suite),
        systems=tuple(systems),
        scorer=scorer.name,
        footnote=scorer.footnote,
        has_pass=scorer.has_pass,
        threshold=threshold,
        suite=str(suite.root),
        suite_hash=suite.hash,
        source=source,
        notes=tuple(notes),
        models=models or {},
        judge=_judge_of(scorer, systems),
        scorer_options=options_of(scorer),
    )


def _judge_of(scorer: Scorer, systems: Sequence[SystemScores]) -> JudgeSummary | None:
    """Return what a judge has to say of itself; the offline scorers have nothing to."""
    summary = getattr(scorer, "summary", None)
    if summary is None:
        return None
    found: JudgeSummary = summary([score for system in systems for score in system.scores])
    return found


def _answered(answers: Mapping[str, Answer], test_id: str) -> bool:
    answer = answers.get(test_id)
    return (
        answer is not None and answer.error is None and (answer.text is not None or answer.memory is not None)
    )


def _as_responses(systems: Mapping[str, Mapping[str, Answer | str]], suite: Suite) -> Responses:
    for answers in systems.values():
        for test_id in answers:
            suite.get(test_id)
    read = {
        system: {
            test_id: answer if isinstance(answer, Answer) else Answer(answer)
            for test_id, answer in answers.items()
        }
        for system, answers in systems.items()
    }
    return Responses(read, "answers given in code")
