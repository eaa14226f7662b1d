"""The figures of the overview: systems by layer, outcomes, heat maps, what accuracy costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from harness.comparison import OVERALL, Comparison, summarise
from harness.report import numbers
from harness.report.html.marks import visible
from harness.scoring import CaseScore, JudgeFailed, SystemFailed, SystemScores
from harness.suite import Case

Outcome = Literal["passed", "failed", "scored", "missing", "system_error", "judge_error", "not_annotated"]
OUTCOMES: dict[Outcome, str] = {
    "passed": "passed",
    "failed": "not passed",
    "scored": "scored",
    "missing": "missing",
    "system_error": "system error",
    "judge_error": "judge error",
    "not_annotated": "not annotated",
}
EVIDENCE_RECALL = "evidence-recall"
_HEAT_STEPS = 10


@dataclass(frozen=True, slots=True)
class GroupCell:
    """One group of cases for one system, as figures and as text.

    Attributes:
        mean: mean reward, None where nothing was scored.
        shown: the mean as written.
        count: how many are scored, `n=20` or `18/20`.
        bounds: the mean with errors and missing answers as 0 and as 1; empty at full coverage.
        interval: the 95% interval of the mean, None where none is known.
        span: the interval as written; empty where none is known.
    """

    mean: float | None
    shown: str
    count: str
    bounds: str
    interval: tuple[float, float] | None
    span: str


class OutcomeCount(NamedTuple):
    """How many of a system's answers came to one end, `kinds` in words where errors have some."""

    key: Outcome
    label: str
    n: int
    kinds: str


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system.

    Attributes:
        at: its place in the comparison.
        letter: what plots call it.
        name: its name.
        model: the model behind it, empty where none is known.
        rank: the ranks that it holds as written, empty where it holds none.
        places: the places that it takes in 95% of resamples, empty where it is not ranked.
        complete: whether every case asked has a score.
        low: the overall mean with errors and missing answers as 0, None where nothing was asked.
        high: the same as 1.
        cells: one a group, in the order of the groups; the last one is overall.
        passed: `12/20`, empty for scorers without a pass; so is its interval.
        passed_span: the 95% interval of the share that passed, as written.
        mention: mean mention recall as written, empty where it is the reward itself.
        words: mean words handed over, None where not known.
        latency: mean seconds, None where not known.
        tokens: mean tokens, None where not known.
        outcomes: those that occurred.
    """

    at: int
    letter: str
    name: str
    model: str
    rank: str
    places: str
    complete: bool
    low: float | None
    high: float | None
    cells: tuple[GroupCell, ...]
    passed: str
    passed_span: str
    mention: str
    words: float | None
    latency: float | None
    tokens: float | None
    outcomes: tuple[OutcomeCount, ...]

    @property
    def overall(self) -> GroupCell:
        """The cell over all cases."""
        return self.cells[-1]


def heat_step(value: float | None) -> int | None:
    """Return how strongly a mean is coloured, 0 to 10."""
    return None if value is None else round(value * _HEAT_STEPS)


class HeatCell(NamedTuple):
    """A mean as text, how strongly it is coloured (0 to 10, None where there is none), and of how many."""

    shown: str
    heat: int | None
    scored: str


class HeatRow(NamedTuple):
    """One label, how many cases have it, and a cell a system."""

    label: str
    size: int
    cells: tuple[HeatCell, ...]


def system_rows(comparison: Comparison) -> tuple[SystemRow, ...]:
    """Return the systems, the best mean first, those that are not fully scored last."""
    rows = [_row(comparison, at, system) for at, system in enumerate(comparison.systems)]
    rows.sort(key=lambda row: (not row.complete, -(row.overall.mean if row.overall.mean is not None else -1)))
    return tuple(rows)


def outcome_of(score: CaseScore, comparison: Comparison) -> Outcome:
    """Return what became of an answer, a scored one by whether it passed."""
    if score.reward is None:
        return score.status  # type: ignore[return-value]  # the other names are the same
    if not comparison.has_pass:
        return "scored"
    return "passed" if score.passed(comparison.threshold) else "failed"


def abilities(comparison: Comparison, cases: Mapping[str, Case]) -> tuple[HeatRow, ...]:
    """Return the heat map of abilities; a case counts for each of its own."""
    return _heat(comparison, cases, lambda case: case.abilities)


def domains(comparison: Comparison, cases: Mapping[str, Case]) -> tuple[HeatRow, ...]:
    """Return the heat map of domains; those of one case stand in one row, as one case says nothing."""
    counts = Counter(case.domain for case in cases.values())
    single = sum(count == 1 for count in counts.values())
    rest = f"{single} domains of one case each"

    def of(case: Case) -> tuple[str, ...]:
        if not case.domain:
            return ()
        return (rest if single > 1 and counts[case.domain] == 1 else case.domain,)

    return tuple(sorted(_heat(comparison, cases, of), key=lambda row: row.label == rest))


def _row(comparison: Comparison, at: int, system: SystemScores) -> SystemRow:
    cell = comparison.cell(OVERALL, system)
    standing = comparison.statistics.standing(system.system)
    first, last = standing.first_place, standing.last_place
    return SystemRow(
        at=at,
        letter=letter(at),
        name=visible(system.system),
        model=visible(comparison.models.get(system.system, "")),
        rank=numbers.ranks(standing.ranks) if standing.ranks else "",
        places=numbers.ranks(range(first, last + 1)) if first is not None and last is not None else "",
        complete=cell.complete,
        low=cell.low,
        high=cell.high,
        cells=tuple(_cell(comparison, group, system) for group in comparison.groups),
        passed=f"{cell.passed}/{cell.scored}" if cell.passed is not None and cell.scored else "",
        passed_span=""
        if standing.pass_low95 is None
        else numbers.interval(standing.pass_low95, standing.pass_high95),
        mention=""
        if cell.mention is None or comparison.scorer == EVIDENCE_RECALL
        else numbers.reward(cell.mention),
        words=_mean(score.memory_words for score in system.scores),
        latency=_mean(score.latency_s for score in system.scores),
        tokens=_mean(score.tokens for score in system.scores),
        outcomes=_outcomes(comparison, system),
    )


def letter(at: int) -> str:
    """Return the letter of a system: A to Z, then AA."""
    return (letter(at // 26 - 1) if at >= 26 else "") + chr(ord("A") + at % 26)


def _cell(comparison: Comparison, group: str, system: SystemScores) -> GroupCell:
    cell = comparison.cell(group, system)
    standing = comparison.statistics.standing(system.system, group)
    ends = (standing.low95, standing.high95)
    return GroupCell(
        mean=cell.mean,
        shown=numbers.reward(cell.mean),
        count=numbers.count(cell) if cell.asked else "",
        bounds=numbers.bounds(cell),
        interval=(ends[0], ends[1]) if ends[0] is not None and ends[1] is not None else None,
        span="" if ends[0] is None else numbers.interval(*ends),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None


def _outcomes(comparison: Comparison, system: SystemScores) -> tuple[OutcomeCount, ...]:
    counts = Counter(outcome_of(score, comparison) for score in system.scores)
    kinds: dict[str, Counter[str]] = {}
    for score in system.scores:
        if isinstance(score.outcome, SystemFailed | JudgeFailed):
            kinds.setdefault(score.status, Counter())[score.outcome.kind] += 1
    return tuple(
        OutcomeCount(key, label, counts[key], _kinds(kinds.get(key, {})))
        for key, label in OUTCOMES.items()
        if counts[key]
    )


def _kinds(counts: Mapping[str, int]) -> str:
    return visible(", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())))


def _heat(
    comparison: Comparison, cases: Mapping[str, Case], of: Callable[[Case], Sequence[str]]
) -> tuple[HeatRow, ...]:
    members: dict[str, set[str]] = {}
    for label in comparison.cases:
        for name in of(cases[label.id]) if label.id in cases else ():
            members.setdefault(name, set()).add(label.id)
    return tuple(
        HeatRow(
            visible(name),
            len(ids),
            tuple(_heat_cell(comparison, system, ids) for system in comparison.systems),
        )
        for name, ids in sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))
    )


def _heat_cell(comparison: Comparison, system: SystemScores, ids: set[str]) -> HeatCell:
    scores = [score for score in system.scores if score.case_id in ids]
    cell = summarise(scores, threshold=comparison.threshold, has_pass=comparison.has_pass)
    return HeatCell(
        numbers.reward(cell.mean), heat_step(cell.mean), numbers.count(cell) if cell.asked else ""
    )
