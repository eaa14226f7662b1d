"""Gates over a comparison: floors under means, never below an earlier result or another system, few errors.

What could not be measured never opens a gate: an answer that is missing or an error counts as 0.
Nothing here reads a file or prints; `harness.cli.gating` does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.comparison import OVERALL, Comparison
from harness.errors import InputError
from harness.scoring import CaseScore, JudgeFailed, NotAnnotated, SystemFailed, outcome_name
from harness.statistics import holm, sign_flip

ALPHA = 0.05
"""The error rate of a `--not-below` gate, over all systems that it holds."""
_ROUNDING = 1e-9


class Breach(NamedTuple):
    """A gate that is not kept, or could not be held.

    Attributes:
        gate: as the user wrote it, such as `--fail-under layer2=0.6`.
        message: one line that names the gate, who breaks it, and by how much.
        cases: a line for each case that it is down to, the worst first; empty where that is not known.
        refused: whether it could not be held at all, such as against a baseline that does not fit.
    """

    gate: str
    message: str
    cases: tuple[str, ...] = ()
    refused: bool = False

    @property
    def title(self) -> str:
        """What came of the gate, in a few words."""
        return f"{self.gate} {'could not be held' if self.refused else 'not met'}"


@dataclass(frozen=True, slots=True)
class Floor:
    """The least that a mean may be; `name` is LAYER, SYSTEM or SYSTEM:LAYER, or None for every overall mean."""

    text: str
    least: float
    name: str | None = None


class Place(NamedTuple):
    """What a floor is under: one system or (None) every one, in one group of cases."""

    system: str | None
    group: str


def parse_floor(text: str) -> Floor:
    """Read `0.6`, `layer2=0.6`, `SYSTEM=0.7` or `SYSTEM:layer3=0.5`.

    Raises:
        InputError: for anything else.
    """
    name, sign, figure = text.rpartition("=")
    try:
        least = float(figure)
    except ValueError:
        least = None
    if least is None or (sign and not name.strip()):
        raise InputError(
            f"--fail-under {text}: write X, LAYER=X, SYSTEM=X or SYSTEM:LAYER=X, with X from 0 to 1."
        )
    if not 0 <= least <= 1:
        raise InputError(f"--fail-under {text}: {figure} is not in the range from 0 to 1.")
    return Floor(text, least, name.strip() if sign else None)


def place_of(floor: Floor, systems: Sequence[str], groups: Sequence[str]) -> Place:
    """Return what a floor is under.

    Args:
        floor: the floor.
        systems: labels in the table.
        groups: layers that have cases; `overall` is always there.

    Raises:
        InputError: for a name that stands for nothing in the table, or for two things.
    """
    if floor.name is None:
        return Place(None, OVERALL)
    known = dict.fromkeys((*groups, OVERALL))
    system, _, group = floor.name.rpartition(":")
    found = [Place(None, floor.name)] if floor.name in known else []
    found += [Place(floor.name, OVERALL)] if floor.name in systems else []
    found += [Place(system, group)] if system in systems and group in known else []
    if len(found) == 1:
        return found[0]
    what = "stands for several things" if found else "is no system, no layer and no SYSTEM:LAYER"
    raise InputError(
        f"--fail-under {floor.text}: {floor.name} {what} here. Systems: {', '.join(systems)}. "
        f"Layers: {', '.join(known)}."
    )


def below_floors(results: Sequence[Comparison], floors: Iterable[Floor]) -> list[Breach]:
    """Return a breach for each floor that a system is below.

    Args:
        results: tables of different systems over the same cases.
        floors: what their means have to reach.

    Raises:
        InputError: for a name that stands for nothing in the tables.
    """
    systems = [system.system for result in results for system in result.systems]
    groups = list(dict.fromkeys(group for result in results for group in result.groups))
    breaches = []
    for floor in floors:
        place = place_of(floor, systems, groups)
        below = [one for result in results for one in _below(result, floor.least, place)]
        if below:
            gate = f"--fail-under {floor.text}"
            told = f"{gate} not met (missing answers and errors count as 0): {', '.join(below)}"
            breaches.append(Breach(gate, told))
    return breaches


def _below(result: Comparison, least: float, place: Place) -> Iterator[str]:
    """Yield each system below a floor, with its mean and coverage."""
    for system in result.systems:
        if place.system not in (None, system.system) or place.group not in result.groups:
            continue
        cell = result.cell(place.group, system)
        if cell.low is None or cell.low < least - _ROUNDING:
            name = system.system if place.group == OVERALL else f"{system.system}:{place.group}"
            yield f"{name} {_exact(cell.low, least)} ({cell.scored}/{cell.asked} scored)"


def too_many_errors(results: Sequence[Comparison], limit: float) -> list[Breach]:
    """Return a breach where the share of system and judge errors in all answers exceeds a limit."""
    asked, errors, told = _errors(results)
    if errors <= limit * asked + _ROUNDING:
        return []
    gate = f"--max-errors {limit:g}"
    return [Breach(gate, f"{gate} not met: {_count(errors, 'error')} in {_count(asked, 'answer')}: {told}")]


def nothing_scored(results: Sequence[Comparison]) -> list[Breach]:
    """Return a breach where every case is an error: no gate is needed to see that nothing was measured."""
    cells = [result.cell(OVERALL, system) for result in results for system in result.systems]
    cases = sum(cell.asked for cell in cells)
    if not cases or sum(cell.errors for cell in cells) < cases:
        return []
    asked, errors, told = _errors(results)
    return [
        Breach(
            "scored",
            f"nothing could be scored: {_count(errors, 'error')} in {_count(asked, 'answer')}: {told}",
        )
    ]


def _errors(results: Sequence[Comparison]) -> tuple[int, int, str]:
    """Return how many answers there are, how many of them errors, and of which systems and kinds.

    Every repeat of a case is an answer, as it is while a run goes on.
    """
    asked = errors = 0
    told = []
    for result in results:
        for system in result.systems:
            answers = [one for one in system.outcomes if not isinstance(one, NotAnnotated)]
            failed = [one for one in answers if isinstance(one, SystemFailed | JudgeFailed)]
            asked += len(answers)
            errors += len(failed)
            if failed:
                told.append(f"{system.system} {_kinds(failed)}")
    return asked, errors, "; ".join(told)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _kinds(failed: Iterable[SystemFailed | JudgeFailed]) -> str:
    kinds = Counter(f"{one.kind} ({outcome_name(one).replace('_', ' ')})" for one in failed)
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


class Against(NamedTuple):
    """A system, and the rewards that it must not be below.

    Attributes:
        result: the table that it stands in.
        system: its label.
        rewards: by case; what had no reward is not among them.
        gate: as the user wrote it.
        name: what the other side is called.
    """

    result: Comparison
    system: str
    rewards: Mapping[str, float]
    gate: str
    name: str


class Fall(NamedTuple):
    """A case with less of a reward than before."""

    case: str
    before: float
    now: float
    why: str

    def __str__(self) -> str:
        why = f" ({self.why})" if self.why else ""
        return f"{self.case}: {_exact(self.before)} → {_exact(self.now)}{why}"


class Verdict(NamedTuple):
    """What came of it.

    Attributes:
        against: who was held against what.
        n: cases that both have.
        now: the mean over them.
        before: that of the baseline.
        p: after Holm.
        broken: whether the gate is.
        fell: the cases with less of a reward than before.
        margin: difference that is let pass.
    """

    against: Against
    n: int
    now: float
    before: float
    p: float
    broken: bool
    fell: tuple[Fall, ...]
    margin: float = 0.0

    def __str__(self) -> str:
        cases = "1 case" if self.n == 1 else f"{self.n} cases"
        p = "p < 0.001" if self.p < 0.001 else f"p {self.p:.3f}"
        below = self.now < self.before
        within = below and self.margin and self.now - self.before >= -self.margin - _ROUNDING
        return (
            f"{self.against.system} {_exact(self.now, self.before)}, {'below' if below else 'against'} "
            f"{_exact(self.before, self.now)} of {self.against.name} over {cases} ({p})"
            f"{f', within the margin {self.margin:g}' if within else ''}; {len(self.fell)} fell"
        )

    @property
    def breach(self) -> Breach | None:
        """The breach, None where the gate is kept."""
        if not self.broken:
            return None
        gate = self.against.gate
        return Breach(gate, f"{gate} not met: {self}", tuple(map(str, self.fell)))


def held_against(pairs: Sequence[Against], *, margin: float = 0.0, alpha: float = ALPHA) -> list[Verdict]:
    """Hold systems against baselines, over the cases that both have.

    A gate is broken only where the mean difference is below -margin and a paired sign-flip test,
    by cluster and after Holm over all pairs, says that it is no chance. Five cases that differ
    never break one, as the smallest p of five is 0.0625.

    Args:
        pairs: who is held against what.
        margin: difference that is let pass.
        alpha: p up to which a difference is no chance.

    Raises:
        InputError: when two have no case in common.
    """
    paired = [_paired(pair) for pair in pairs]
    ps = holm(
        [sign_flip(now, before, clusters=clusters, tests=len(paired)) for now, before, clusters, _ in paired]
    )
    verdicts = []
    for pair, (now, before, _, fell), p in zip(pairs, paired, ps, strict=True):
        mean, base = math.fsum(now) / len(now), math.fsum(before) / len(before)
        broken = mean - base < -margin - _ROUNDING and p <= alpha
        verdicts.append(Verdict(pair, len(now), mean, base, p, broken, fell, margin))
    return verdicts


_Paired = tuple[list[float], list[float], list[tuple[str, str]], tuple[Fall, ...]]


def _paired(pair: Against) -> _Paired:
    """Return the rewards now and before of the cases that both have, their clusters, and what fell."""
    system = next(one for one in pair.result.systems if one.system == pair.system)
    both = [
        (case, score, pair.rewards[case.id])
        for case, score in zip(pair.result.cases, system.scores, strict=True)
        if case.id in pair.rewards and not isinstance(score.outcome, NotAnnotated)
    ]
    if not both:
        raise InputError(f"{pair.gate}: {pair.system} and {pair.name} have no scored case in common.")
    falls = (
        Fall(case.id, before, score.reward or 0.0, _why(score))
        for case, score, before in both
        if (score.reward or 0.0) < before - _ROUNDING
    )
    return (
        [score.reward or 0.0 for _, score, _ in both],
        [before for _, _, before in both],
        [("cluster", case.cluster) if case.cluster else ("case", case.id) for case, _, _ in both],
        tuple(sorted(falls, key=lambda fall: (fall.now - fall.before, fall.case))),
    )


def shortcomings(score: CaseScore) -> str:
    """Say what a scored answer lacks, what it states wrongly and how it is flagged; empty where nothing is known."""
    lacking = [
        verdict.fact.id or verdict.fact.fact for verdict in score.of_role("required") if not verdict.counts
    ]
    wrong = [verdict.fact.id or verdict.fact.fact for verdict in score.of_role("forbidden") if verdict.counts]
    flags = [flag for flag in score.flags if not (wrong and flag == "forbidden_stated")]
    parts = (("missing", lacking), ("stated wrongly", wrong), ("flagged", flags))
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in parts if names)


def _why(score: CaseScore) -> str:
    return (
        shortcomings(score) if score.reward is not None else f"{score.status.replace('_', ' ')}, counts as 0"
    )


def _exact(value: float | None, beside: float | None = None) -> str:
    """Write a figure with four decimals, or with as many as tell it from the one beside it."""
    if value is None:
        return "–"
    told_apart = (n for n in range(4, 16) if value == beside or beside is None or round(value - beside, n))
    return f"{value:.{next(told_apart, 16)}f}".rstrip("0").rstrip(".")
