"""How far scorers can be trusted, in every format: calibrations in, text out.

Several calibrations stand side by side: the figures over all probes, then those of each kind,
first of the answers to accept, then of those to reject.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from harness.errors import InputError
from harness.report import FORMATS, PLAIN_WIDTH, Format, numbers
from harness.report.layout import Grid
from harness.scoring.calibration import Calibration, KindRow, Listed
from harness.scoring.probes import Label
from harness.statistics import Rate

SCHEMA = "recallbench.calibrations/1"

_COLUMNS = (
    "scorer", "of", "kind", "label", "asked", "ruled", "wrong", "share", "low", "high", "flips", "repeated",
    "kappa", "pass_threshold", "repeats", "suite_hash", "probes_hash",
)  # fmt: skip
_MISTAKES = ("scorer", "test_id", "probe", "kind", "label", "status", "reward", "answer")
_ALL = "all"
_Named = tuple[str, Calibration]


def render(
    calibrations: Sequence[Calibration],
    format: Format = "table",
    width: int | None = None,
    *,
    mistakes: bool = False,
    styled: bool = False,
) -> str:
    """Return calibrations as text.

    Args:
        calibrations: one at least; over the same probes, if they are to be compared.
        format: `table`, `md`, `json` or `csv`.
        width: columns of a table; 100 when left out.
        mistakes: list the probes ruled wrongly or not at all too (in CSV: instead; JSON has
            them always).
        styled: write headers bold, for a terminal.
    """
    if format not in FORMATS:
        raise InputError(f"no such format: {format!r}. The formats are {', '.join(FORMATS)}.")
    match format:
        case "json":
            return json.dumps(as_data(calibrations), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        case "csv":
            from harness.report import csv_report

            rows = _mistake_lines(calibrations) if mistakes else _lines(calibrations)
            return csv_report._write(_MISTAKES if mistakes else _COLUMNS, rows)
        case "md":
            return _markdown(calibrations, mistakes)
        case "table":
            return _table(calibrations, width or PLAIN_WIDTH, mistakes, styled)


def as_data(calibrations: Sequence[Calibration]) -> dict[str, Any]:
    """Return the report as plain data."""
    return {
        "schema": SCHEMA,
        "calibrations": [{**made.as_data(), "summary": made.summary()} for made in calibrations],
        "notes": list(notes(calibrations)),
    }


def notes(calibrations: Sequence[Calibration]) -> Iterator[str]:
    """Yield the lines under the tables: what was measured, and on what."""
    yield (
        "A false accept passes an answer that is labelled reject, a false reject fails one that is labelled "
        f"accept; {_shared('an answer passes at a reward ≥ {}', [f'{made.threshold:g}' for made in calibrations])}."
    )
    yield (
        "Cells: wrongly ruled/ruled on, share, 95% Wilson interval. The interval takes probes as "
        "independent; those of one case share its question, so that it is wider in truth."
    )
    sets = [
        f"{_counted(made.n, 'probe')} of {_counted(made.cases, 'case')} "
        f"(probe set {made.probes_hash[:12]}, suite {made.suite_hash[:12]})"
        for made in calibrations
    ]
    same = len({(made.probes_hash, made.suite_hash) for made in calibrations}) == 1
    yield f"{_shared('{}', sets)}." + ("" if same else " Not the same probes: not to be compared.")
    for name, made in _named(calibrations):
        yield from (f"{name}: {line}" for line in _own_notes(made))


def _own_notes(made: Calibration) -> Iterator[str]:
    if made.of != made.scorer:
        yield f"{made.of}."
    if made.repeats > 1:
        yield (
            f"each probe was scored {made.repeats} times; a flip is a probe that passed at one time and not "
            "at another."
        )
    if made.errors or made.failures:
        kinds = ", ".join(f"{kind} {count}" for kind, count in made.failures)
        failed = f"; calls that failed: {kinds}" if kinds else ""
        yield f"{made.errors} of {made.n} probes without a ruling, in no rate{failed}."
    if made.not_annotated:
        yield f"{_counted(made.not_annotated, 'probe')} of cases it has nothing to compare with, in no rate."
    if made.kappa is None:
        yield f"κ is undefined, as {made.kappa_undefined}."


def names(calibrations: Sequence[Calibration]) -> list[str]:
    """Return what heads each column: the scorer, numbered where it stands more than once."""
    scorers = [made.scorer for made in calibrations]
    return [
        name if scorers.count(name) == 1 else f"{name} {scorers[: at + 1].count(name)}"
        for at, name in enumerate(scorers)
    ]


def figures(named: Sequence[_Named]) -> Grid:
    """Return the figures over all probes: rows are figures, columns calibrations."""
    calibrations = [made for _, made in named]
    rows = [
        ("False accepts", *(str(made.false_accepts) for made in calibrations)),
        ("False rejects", *(str(made.false_rejects) for made in calibrations)),
        ("Ruled as labelled", *(str(made.accuracy) for made in calibrations)),
        ("Cohen's κ", *(_kappa(made) for made in calibrations)),
    ]
    if any(made.flip is not None for made in calibrations):
        rows.append(("Flips between repeats", *(_rate(made.flip) for made in calibrations)))
    rows.append(("Probes ruled on", *(f"{made.accuracy.n}/{made.n}" for made in calibrations)))
    return Grid(("All probes", *(name for name, _ in named)), tuple(rows))


def to_accept(named: Sequence[_Named]) -> Grid:
    """Return the false rejects: rows are kinds."""
    return _by_kind(named, "accept")


def to_reject(named: Sequence[_Named]) -> Grid:
    """Return the false accepts: rows are kinds."""
    return _by_kind(named, "reject")


def _by_kind(named: Sequence[_Named], label: Label) -> Grid:
    """Return the wrong rulings by kind; `ruled` and `flips` belong to the column before them."""
    kinds = dict.fromkeys(row.kind for _, made in named for row in made.kinds if row.label == label)
    columns = [column for name, made in named for column in _columns(name, made, label)]
    rows = ((kind, *(cells.get(kind, numbers.NOTHING) for _, cells in columns)) for kind in kinds)
    return Grid((f"Labelled {label}", *(head for head, _ in columns)), tuple(rows))


def _columns(name: str, made: Calibration, label: Label) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the columns of one calibration: a head, and a cell by kind."""

    def column(head: str, cell: Callable[[KindRow], str]) -> tuple[str, dict[str, str]]:
        return head, {row.kind: cell(row) for row in made.kinds if row.label == label}

    yield column(name, lambda row: str(row.wrong))
    if any(row.wrong.n < row.asked for row in made.kinds):
        yield column("ruled", lambda row: f"{row.wrong.n}/{row.asked}")
    if made.flip is not None:
        yield column("flips", lambda row: f"{row.flip.k}/{row.flip.n}" if row.flip else numbers.NOTHING)


def wrongly_ruled(name: str, made: Calibration) -> Grid:
    """Return the probes that were ruled wrongly or not at all; the grid has no row without any."""
    rows = (
        (
            probe.case_id,
            probe.id,
            f"{'' if reward is None else numbers.reward(reward)} {_words(status)}".strip(),
        )
        for probe, reward, status in _listed(made)
    )
    return Grid(("Case", "Probe", f"Wrong by {name}"), tuple(rows))


def _table(calibrations: Sequence[Calibration], width: int, mistakes: bool, styled: bool) -> str:
    from harness.report import boxes

    grids = [
        build(panel)
        for build in (figures, to_accept, to_reject)
        for panel in _panels(build, _named(calibrations), width)
    ]
    grids += _mistake_grids(calibrations) if mistakes else []
    tables = [boxes.draw(grid, width, styled=styled) for grid in grids if grid.rows]
    lines = [line for note in notes(calibrations) for line in boxes.wrap(note, width)]
    return "\n".join([*tables, *lines]) + "\n"


def _panels(
    build: Callable[[Sequence[_Named]], Grid], named: Sequence[_Named], width: int
) -> list[list[_Named]]:
    """Split calibrations that do not fit side by side; one always stands, its table folding."""
    from harness.report import boxes

    panels: list[list[_Named]] = []
    for one in named:
        if panels and boxes.natural_width(build([*panels[-1], one])) <= width:
            panels[-1].append(one)
        else:
            panels.append([one])
    return panels


def _markdown(calibrations: Sequence[Calibration], mistakes: bool) -> str:
    from harness.report import markdown

    grids = [build(_named(calibrations)) for build in (figures, to_accept, to_reject)]
    grids += _mistake_grids(calibrations) if mistakes else []
    parts = [markdown.table(grid.header, grid.rows) for grid in grids if grid.rows]
    parts.append("\n".join(f"- {markdown.escape(line)}" for line in notes(calibrations)))
    return "\n\n".join(parts) + "\n"


def _named(calibrations: Sequence[Calibration]) -> list[_Named]:
    return list(zip(names(calibrations), calibrations, strict=True))


def _mistake_grids(calibrations: Sequence[Calibration]) -> list[Grid]:
    return [wrongly_ruled(name, made) for name, made in _named(calibrations)]


def _lines(calibrations: Sequence[Calibration]) -> Iterator[Sequence[object]]:
    for made in calibrations:
        for row in made.kinds:
            yield _line(made, row.kind, row.label, row.asked, row.wrong, row.flip)
        for label, wrong in (("accept", made.false_rejects), ("reject", made.false_accepts)):
            asked = sum(row.asked for row in made.kinds if row.label == label)
            yield _line(made, _ALL, label, asked, wrong)
        wrong = Rate(len(made.wrong), made.accuracy.n)
        yield _line(made, _ALL, _ALL, made.n, wrong, made.flip, made.kappa)


def _line(
    made: Calibration,
    kind: str,
    label: str,
    asked: int,
    wrong: Rate,
    flip: Rate | None = None,
    kappa: float | None = None,
) -> Sequence[object]:
    return (
        *(made.scorer, made.of, kind, label, asked, wrong.n, wrong.k, wrong.share),
        *(wrong.interval or (None, None)),
        *(flip or (None, None)),
        *(kappa, made.threshold, made.repeats, made.suite_hash, made.probes_hash),
    )


def _mistake_lines(calibrations: Sequence[Calibration]) -> Iterator[Sequence[object]]:
    for made in calibrations:
        for probe, reward, status in _listed(made):
            yield (
                *(made.scorer, probe.case_id, probe.id, probe.kind, probe.label, status),
                *(reward, probe.answer),
            )


def _listed(made: Calibration) -> tuple[Listed, ...]:
    return (*made.wrong, *made.unruled)


def _words(status: str) -> str:
    return status.replace("_", " ")


def _rate(rate: Rate | None) -> str:
    return numbers.NOTHING if rate is None else str(rate)


def _kappa(made: Calibration) -> str:
    return numbers.NOTHING if made.kappa is None else f"{made.kappa:.2f}"


def _shared(words: str, values: Sequence[str]) -> str:
    """Say once what holds for every calibration, and one after the other what differs."""
    return words.format(" and ".join(dict.fromkeys(values)))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
