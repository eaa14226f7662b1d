"""The panels beside the figures: pairs of systems, lost facts, the judge, what was compared on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from harness.comparison import Comparison
from harness.errors import InputError
from harness.report import numbers
from harness.report.card import Card, Part, Row
from harness.report.html.marks import visible
from harness.report.layout import Grid
from harness.statistics import Rate
from harness.suite import Suite
from harness.suite.answer import Answer

if TYPE_CHECKING:
    from harness.runs.folder import RunFolder

Answers = Mapping[str, Mapping[str, Answer]]


class Fact(NamedTuple):
    """A name and what it is."""

    name: str
    value: str


class RateRow(NamedTuple):
    """A share with its interval, in percent for drawing and as text."""

    label: str
    shown: str
    span: str
    at: float | None
    low: float
    high: float


class CalibrationPanel(NamedTuple):
    """How the judge did on labelled answers; without rows, `line` says why there are none."""

    line: str
    rows: tuple[RateRow, ...]
    facts: tuple[Fact, ...]


class Lost(NamedTuple):
    """Where missed facts were lost: a row a system, and in words by (system, case), then by fact."""

    table: Grid | None
    words: Mapping[tuple[str, str], Mapping[str, str]]


class PairRow(NamedTuple):
    """Two systems held against each other; `verdict` names the better one, or says that none is.

    `only` counts the cases that only the one and only the other passed, with the p-value of that in
    `pass_p`; both are empty for scorers without a pass.
    """

    first: str
    second: str
    cases: str
    difference: str
    span: str
    p: str
    only: str
    pass_p: str
    verdict: str


def calibration_panel(comparison: Comparison) -> CalibrationPanel | None:
    """Return the calibration of the judge of a table, None for offline scorers."""
    if comparison.judge is None:
        return None
    from harness.report import judged  # only a judged table needs it

    line = visible(judged.calibration_line(comparison))
    held = comparison.judge.calibration
    if held is None:
        return CalibrationPanel(line, (), ())
    from harness.scoring.calibration import Calibration

    try:
        made = Calibration.from_data(held)
    except InputError:
        return CalibrationPanel(line, (), ())
    if made.threshold != comparison.threshold:
        return CalibrationPanel(line, (), ())
    rows = [
        _rate("All that should not pass", made.false_accepts),
        *(_rate(f"{row.kind} (should not pass)", row.wrong) for row in made.kinds if row.label == "reject"),
        _rate("All that should pass", made.false_rejects),
        *(_rate(f"{row.kind} (should pass)", row.wrong) for row in made.kinds if row.label == "accept"),
    ]
    facts = [
        Fact("Judge", visible(made.of)),
        Fact("Ruled as labelled", str(made.accuracy)),
        Fact("Cohen's κ", made.kappa_undefined or f"{made.kappa:.2f} over {made.kappa_n}"),
        Fact("Probes", f"{made.n} of {made.cases} cases, {made.errors} without a ruling"),
    ]
    if made.flip is not None:
        facts.append(Fact("Changed sides between repeats", str(made.flip)))
    return CalibrationPanel(line, tuple(rows), tuple(facts))


def pair_rows(comparison: Comparison) -> tuple[PairRow, ...]:
    """Return every pair of systems that share a scored case, those told apart first."""
    pairs = sorted(comparison.statistics.pairs, key=lambda pair: pair.p_holm)
    return tuple(
        PairRow(
            visible(pair.first),
            visible(pair.second),
            f"{pair.n}, differing on {pair.differing}",
            f"{pair.difference:+.2f}",
            f"{pair.low95:+.2f} to {pair.high95:+.2f}",
            numbers.p_value(pair.p_holm),
            "" if pair.only_first is None else f"{pair.only_first} : {pair.only_second}",
            "" if pair.pass_p_holm is None else numbers.p_value(pair.pass_p_holm),
            f"{visible(pair.above)} is better" if pair.above is not None else "not distinguishable",
        )
        for pair in pairs
    )


def disclosed(comparison: Comparison, runs: Sequence[RunFolder]) -> Card:
    """Return the disclosure card, what all systems share told once."""
    from harness.report.disclosure import card  # it reads the runs

    made = card(comparison, runs).shared()
    return Card(
        tuple(map(_row, made.rows)),
        tuple(Part(visible(part.system), tuple(map(_row, part.rows))) for part in made.systems),
    )


def lost(comparison: Comparison, suite: Suite, runs: Sequence[RunFolder], answers: Answers) -> Lost:
    """Return where missed facts were lost, as a table and by system, case and fact.

    A suite that lacks a case of the comparison has nothing to follow facts through.
    """
    if not {case.id for case in comparison.cases} <= set(suite.ids):
        return Lost(None, {})
    from harness.report.attribution import TITLES, attribute, grid

    found = attribute(comparison, suite, runs, answers)
    words: dict[tuple[str, str], dict[str, str]] = {}
    for one in found:
        for miss in one.misses:
            words.setdefault((one.system, miss.case_id), {})[miss.fact.id or miss.fact.fact] = TITLES[
                miss.fate
            ]
    return Lost(shown_grid(grid(found)), words)


def shown_grid(grid: Grid | None) -> Grid | None:
    """Return a table with nothing hidden in it."""
    if grid is None:
        return None
    return Grid(tuple(map(visible, grid.header)), tuple(tuple(map(visible, row)) for row in grid.rows))


def _row(row: Row) -> Row:
    return Row(row.key, visible(row.label), visible(row.text))


def _rate(label: str, rate: Rate) -> RateRow:
    interval = rate.interval
    if interval is None:
        return RateRow(visible(label), "none ruled on", "", None, 0, 0)
    return RateRow(
        visible(label),
        f"{rate.k}/{rate.n} ({rate.percent})",
        rate.span,
        100 * (rate.share or 0),
        100 * interval.low,
        100 * interval.high,
    )
