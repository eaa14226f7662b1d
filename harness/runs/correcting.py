"""A run scored with the gold as it was published, with corrections of it, and the ceiling between the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from harness.runs.folder import RunFolder
from harness.runs.scoring import score_run
from harness.scoring import Answer, CaseScore, Scorer, score_pairs
from harness.suite import Case
from harness.suite.importers import Overlay

ALL = "all"


@dataclass(frozen=True, slots=True)
class CorrectedRow:
    """One group of cases.

    Attributes:
        group: its name; `all` for all of them.
        asked: how many cases it has.
        counted: how many of them the corrections leave.
        raw: the mean reward against the published gold, None where nothing is scored.
        corrected: the same against the corrected gold.
        ceiling: what a system that makes no mistake gets against the published gold.
    """

    group: str
    asked: int
    counted: int
    raw: float | None
    corrected: float | None
    ceiling: float | None


def corrected_rows(
    folder: RunFolder, cases: Sequence[Case], overlay: Overlay, scorer: Scorer
) -> list[CorrectedRow]:
    """Return the figures of a run for each group and for all.

    The ceiling scores the published gold's own answer, and the right one where that is corrected; a
    question that no answer fits is worth 0 there.
    """
    raw = score_run(folder, cases, scorer).scores.scores
    right = [case for one in cases if (case := overlay.corrected(one)) is not None]
    corrected = score_run(folder, right, scorer).scores.scores
    best = score_pairs([(case, Answer(_perfect(case, overlay))) for case in cases], scorer)
    worth = [
        0.0 if (one := overlay.corrections.get(score.case_id)) and one.excluded else score.reward
        for score in best
    ]
    rows = []
    for group in (*sorted({case.category for case in cases}), ALL):
        inside = [group in (ALL, case.category) for case in cases]
        rows.append(
            CorrectedRow(
                group,
                sum(inside),
                sum(group in (ALL, case.category) for case in right),
                _mean([score.reward for score in _of(raw, group)]),
                _mean([score.reward for score in _of(corrected, group)]),
                _mean([value for value, is_in in zip(worth, inside, strict=True) if is_in]),
            )
        )
    return rows


def _perfect(case: Case, overlay: Overlay) -> str:
    one = overlay.corrections.get(case.id)
    return case.expected_behavior if one is None else one.perfect


def _of(scores: Sequence[CaseScore], group: str) -> list[CaseScore]:
    return [score for score in scores if group in (ALL, score.category)]


def _mean(values: Sequence[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return fmean(found) if found else None
