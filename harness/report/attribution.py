"""Missed required facts of a whole comparison, summed by where they were lost; `fates` follows each one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.comparison import OVERALL, Comparison
from harness.report.fates import TITLES, Fate, Miss, Trail, misses, trail_of, trail_of_answer
from harness.report.layout import Grid
from harness.runs.folder import RunFolder
from harness.scoring import Answer, CaseScore
from harness.suite import Suite

__all__ = [
    "TITLES",
    "Attribution",
    "Fate",
    "Miss",
    "Tally",
    "Trail",
    "as_data",
    "attribute",
    "grid",
    "misses",
    "run_of",
    "trail_of",
    "trail_of_answer",
]


class Tally(NamedTuple):
    """The required facts of one group of cases.

    Attributes:
        group: a layer, or `overall`.
        facts: required facts in the cases that were scored.
        met: those that count.
        fates: the others, by where they were lost.
        unscored: cases without a score, whose facts are in no figure here.
    """

    group: str
    facts: int
    met: int
    fates: Mapping[Fate, int]
    unscored: int


@dataclass(frozen=True, slots=True)
class Attribution:
    """One system: its missed facts, and their sums by layer and overall."""

    system: str
    misses: tuple[Miss, ...]
    tallies: tuple[Tally, ...]

    @property
    def overall(self) -> Tally:
        """The sums over all cases."""
        return self.tallies[-1]


def attribute(
    result: Comparison,
    suite: Suite,
    runs: Sequence[RunFolder] = (),
    answers: Mapping[str, Mapping[str, Answer]] | None = None,
) -> tuple[Attribution, ...]:
    """Attribute the missed facts of every system of a comparison; repeats count by their first.

    Args:
        result: the scores.
        suite: holds the cases that were compared.
        runs: the runs behind the systems, told by label or by folder.
        answers: by system and case, where the scores come from a responses file instead.
    """
    made = []
    for system in result.systems:
        scores = {score.case_id: score for score in system.scores}
        trails: dict[str, Trail] = {}
        run = run_of(system.system, runs)
        if run is not None:
            trails = {
                record.case: trail_of(record, run.manifest.system)
                for record in run.records()
                if record.repeat == 0 and record.case in scores and _reward_lost(scores[record.case])
            }
        elif answers and system.system in answers:
            trails = {case: trail_of_answer(one) for case, one in answers[system.system].items()}
        found = [
            miss
            for score in system.scores
            if _reward_lost(score)
            for miss in misses(suite.get(score.case_id), score, trails.get(score.case_id))
        ]
        tallies = tuple(_tally(group, system.scores, found, suite) for group in result.groups)
        made.append(Attribution(system.system, tuple(found), tallies))
    return tuple(made)


def run_of(system: str, runs: Iterable[RunFolder]) -> RunFolder | None:
    """Return the run behind a system of a comparison, None where there is none."""
    every = tuple(runs)
    for name in (lambda run: run.manifest.system.label, lambda run: run.path.name, lambda run: str(run.path)):
        found = [run for run in every if name(run) == system]
        if len(found) == 1:
            return found[0]
    return None


def _reward_lost(score: CaseScore) -> bool:
    return score.reward is not None and (score.reward < 1 or score.judged is not None)


def _tally(group: str, scores: Sequence[CaseScore], found: Sequence[Miss], suite: Suite) -> Tally:
    within = [score for score in scores if group in (OVERALL, score.category)]
    scored = [score for score in within if score.reward is not None]
    facts = sum(len(score.of_role("required")) or _asked_of(score, suite) for score in scored)
    lost = Counter(miss.fate for miss in found if group in (OVERALL, miss.category))
    return Tally(group, facts, facts - lost.total(), {fate: lost[fate] for fate in Fate if lost[fate]},
                 len(within) - len(scored))  # fmt: skip


def _asked_of(score: CaseScore, suite: Suite) -> int:
    return len(suite.get(score.case_id).gold.required)


# ---- shown ----------------------------------------------------------------------------


def grid(found: Sequence[Attribution], group: str = OVERALL) -> Grid | None:
    """Return the table of where facts were lost, a row a system; None when none was lost."""
    tallies = [(one.system, tally) for one in found for tally in one.tallies if tally.group == group]
    used = [fate for fate in Fate if any(fate in tally.fates for _, tally in tallies)]
    if not used:
        return None
    rows = tuple(
        (system, f"{tally.met}/{tally.facts}", *(str(tally.fates.get(fate, 0)) for fate in used))
        for system, tally in tallies
    )
    return Grid(("Missed facts", "met", *(TITLES[fate] for fate in used)), rows)


def as_data(found: Sequence[Attribution]) -> list[dict[str, Any]]:
    """Return the attribution as plain data: sums by group, and each missed fact."""
    return [
        {
            "system": one.system,
            "groups": [
                {
                    "group": tally.group,
                    "facts": tally.facts,
                    "met": tally.met,
                    "lost": {fate.value: count for fate, count in tally.fates.items()},
                    "unscored_cases": tally.unscored,
                }
                for tally in one.tallies
            ],
            "missed": [
                {
                    "test_id": miss.case_id,
                    "fact": miss.fact.id or miss.fact.fact,
                    "lost": miss.fate.value,
                    "why": miss.why or None,
                }
                for miss in one.misses
            ],
        }
        for one in found
    ]
