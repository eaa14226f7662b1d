"""Everything that is on the page, as plain frozen values: what `render` makes HTML of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from harness.comparison import Comparison
from harness.report import footers
from harness.report.card import Card
from harness.report.html.answer_page import AnswerView, Recalled, answer_view
from harness.report.html.case_page import CaseView, case_view, unknown_case
from harness.report.html.marks import visible
from harness.report.html.overview import HeatRow, SystemRow, abilities, domains, system_rows
from harness.report.html.panels import (
    Answers,
    CalibrationPanel,
    Fact,
    PairRow,
    calibration_panel,
    disclosed,
    lost,
    pair_rows,
    shown_grid,
)
from harness.report.html.plots import Frontier, frontiers
from harness.report.layout import Grid
from harness.suite import Suite

if TYPE_CHECKING:
    from harness.runs.folder import RunFolder
    from harness.runs.record import Record

# What a page may hold of texts that grow with the suite and the systems, in characters: at 60 cases
# and 8 systems both leave everything whole, and together they keep the page under 8 MB.
_CONVERSATIONS = 3_600_000
_MEMORIES = 2_400_000
_LEAST = 1_200


class Group(NamedTuple):
    """A column of the table: key, name, and how many cases."""

    key: str
    title: str
    size: int


@dataclass(frozen=True, slots=True)
class ReportData:
    """The page.

    Attributes:
        title: its title.
        scorer: name of the scorer.
        has_pass: whether rewards can pass.
        threshold: from which on they do, as written.
        facts: what was compared on what: suite, hash, source, dates.
        groups: the columns, overall last.
        systems: the rows, the best first.
        names: names of the systems in the comparison's order, as case pages use it.
        abilities: heat map of abilities.
        domains: heat map of domains.
        frontiers: plots of reward against a cost.
        calibration: how far the judge can be trusted, None for offline scorers.
        dimensions: table of a judge's dimensions.
        disagreements: table of what judge and keyword recall see differently.
        pairs: every two systems held against each other.
        lost: table of where missed facts were lost, None where none was.
        card: the disclosure card.
        notes: the lines under the table.
        cases: the cases, in the comparison's order.
    """

    title: str
    scorer: str
    has_pass: bool
    threshold: str
    facts: tuple[Fact, ...]
    groups: tuple[Group, ...]
    systems: tuple[SystemRow, ...]
    names: tuple[str, ...]
    abilities: tuple[HeatRow, ...]
    domains: tuple[HeatRow, ...]
    frontiers: tuple[Frontier, ...]
    calibration: CalibrationPanel | None
    dimensions: Grid | None
    disagreements: Grid | None
    pairs: tuple[PairRow, ...]
    lost: Grid | None
    card: Card
    notes: tuple[str, ...]
    cases: tuple[CaseView, ...]


def report_data(
    comparison: Comparison,
    suite: Suite,
    runs: Sequence[RunFolder] = (),
    *,
    answers: Answers | None = None,
    title: str | None = None,
) -> ReportData:
    """Gather what a report shows.

    Args:
        comparison: the scores.
        suite: the cases, those of the comparison among them.
        runs: where the answers come from runs: one a system, found by its label.
        answers: where they come from a file: `{system: {test id: answer}}`.
        title: of the page; made from the comparison when left out.

    Raises:
        InputError: when the journal of a run cannot be read.
    """
    compared = {label.id for label in comparison.cases}
    cases = {case.id: case for case in suite if case.id in compared}
    rows = system_rows(comparison)
    dimensions, disagreements = _judged(comparison)
    missed = lost(comparison, suite, runs, answers or {})
    return ReportData(
        title=visible(title or _title(comparison)),
        scorer=visible(comparison.scorer),
        has_pass=comparison.has_pass,
        threshold=f"{comparison.threshold:g}",
        facts=tuple(_facts(comparison, runs)),
        groups=tuple(
            Group(key, visible(comparison.title(key)), comparison.size(key)) for key in comparison.groups
        ),
        systems=rows,
        names=tuple(visible(system.system) for system in comparison.systems),
        abilities=abilities(comparison, cases),
        domains=domains(comparison, cases),
        frontiers=frontiers(rows),
        calibration=calibration_panel(comparison),
        dimensions=dimensions,
        disagreements=disagreements,
        pairs=pair_rows(comparison),
        lost=missed.table,
        card=disclosed(comparison, runs),
        notes=tuple(map(visible, footers.lines(comparison))),
        cases=tuple(_cases(comparison, suite, runs, answers or {}, missed.words)),
    )


def _title(comparison: Comparison) -> str:
    systems, cases = len(comparison.systems), len(comparison.cases)
    return f"{systems} memory system{'s' * (systems != 1)} on {cases} case{'s' * (cases != 1)}"


def _facts(comparison: Comparison, runs: Sequence[RunFolder]) -> Iterator[Fact]:
    yield Fact("Scorer", visible(comparison.scorer))
    if comparison.has_pass:
        yield Fact("Pass", f"reward ≥ {comparison.threshold:g}")
    yield Fact("Cases", str(len(comparison.cases)))
    yield Fact("Suite", visible(comparison.suite))
    yield Fact("Suite hash", comparison.suite_hash[:12])
    if comparison.source:
        yield Fact("Answers", visible(comparison.source))
    begun = sorted(run.manifest.created for run in runs if run.manifest.created)
    if begun:
        yield Fact("Begun", visible(begun[0] if begun[0] == begun[-1] else f"{begun[0]} to {begun[-1]}"))


def _judged(comparison: Comparison) -> tuple[Grid | None, Grid | None]:
    if comparison.judge is None:
        return None, None
    from harness.report import judged  # only a judged table needs it

    return shown_grid(judged.dimensions(comparison)), shown_grid(judged.disagreements(comparison))


def _cases(
    comparison: Comparison,
    suite: Suite,
    runs: Sequence[RunFolder],
    answers: Answers,
    fates: Mapping[tuple[str, str], Mapping[str, str]],
) -> Iterator[CaseView]:
    cases = {case.id: case for case in suite}
    count = max(len(comparison.cases), 1)
    recalled = max(_LEAST, _MEMORIES // (count * max(len(comparison.systems), 1)))
    talked = max(_LEAST, _CONVERSATIONS // count)
    records = _records(comparison, runs)
    for at, label in enumerate(comparison.cases):
        case = cases.get(label.id)
        marks = Recalled(case)
        views: tuple[AnswerView, ...] = tuple(
            answer_view(
                system.scores[at],
                comparison,
                marks,
                answer=answers.get(system.system, {}).get(label.id),
                record=records.get((system.system, label.id)),
                budget=recalled,
                lost=fates.get((system.system, label.id)),
            )
            for system in comparison.systems
        )
        if case is None:
            yield unknown_case(label.id, label.category, label.title, views)
        else:
            yield case_view(case, views, talked)


def _records(comparison: Comparison, runs: Sequence[RunFolder]) -> dict[tuple[str, str], Record]:
    """Return the records by system and case; of repeats the first, which the verdicts are about."""
    from harness.report.attribution import run_of  # it knows which run is behind which system

    wanted = {label.id for label in comparison.cases}
    found: dict[tuple[str, str], Record] = {}
    for system in comparison.systems:
        run = run_of(system.system, runs)
        for record in run.records() if run is not None else ():
            if record.repeat == 0 and record.case in wanted:
                found[system.system, record.case] = record
    return found
