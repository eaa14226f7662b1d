"""`recallbench performance`: how fast, how steadily and how safely memory systems work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import console, options
from harness.cli.gating import reader_may_leave
from harness.errors import GateError, InputError

if TYPE_CHECKING:
    from harness.evaluation import Evaluation
    from harness.naming import Spec
    from harness.performance.found import Measured
    from harness.performance.plan import Plan

PARTS = ("insert", "search", "load", "freshness", "contention")
_LINE_EVERY_S = 10.0
_DRAWN_EVERY_S = 0.1
_ABOVE_0 = click.FloatRange(0, min_open=True)
_COUNT = click.IntRange(1)


# fmt: off
_OPTIONS = (
    click.option(
        "--system", "-s", "systems", multiple=True, metavar="[LABEL=]NAME[(OPTION=…)]",
        help="System to measure; `recallbench systems` lists them; repeatable.",
    ),
    click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), help="Only this part; repeatable."),
    click.option("--size", "sizes", multiple=True, type=_COUNT, metavar="N", help="Search among N memories (1000, 5000, 10000, 50000); repeatable."),
    click.option("--length", "lengths", multiple=True, type=_COUNT, metavar="N", help="Insert texts of N characters (100, 500, 1000, 5000); repeatable."),
    click.option("--requests", type=_COUNT, metavar="N", help="Searches at each size and inserts of each length (200)."),
    click.option("--warm-up", type=click.IntRange(0), metavar="N", help="Requests before them that do not count (20)."),
    click.option("--rate", "rates", multiple=True, type=_ABOVE_0, metavar="R", help="Load of R requests a second (5, 20); repeatable."),
    click.option("--duration", type=_ABOVE_0, metavar="S", help="Seconds of load at each rate (10)."),
    click.option("--arrivals", type=click.Choice(("poisson", "constant")), help="Gaps between requests (poisson)."),
    click.option("--search-share", type=click.FloatRange(0, 1), metavar="X", help="Searches among the requests; the rest insert (0.8)."),
    click.option("--users", type=_COUNT, metavar="N", help="Users that share the load, each with a memory of its own (2)."),
    click.option("--load-memories", type=click.IntRange(0), metavar="N", help="Memories of each user before the load (200)."),
    click.option("--find-limit", is_flag=True, help="Also search for the rate at which p99 bends."),
    click.option("--bend", type=click.FloatRange(1, min_open=True), metavar="N", help="It bends where p99 is N times that at the lowest rate, or under 95% succeed (3)."),
    click.option("--highest-rate", type=_ABOVE_0, metavar="R", help="Where that search ends (1000)."),
    click.option("--samples", type=_COUNT, metavar="N", help="Writes whose freshness is measured (30)."),
    click.option("--seen-within", type=_ABOVE_0, metavar="S", help="Seconds until a write counts as not seen, or lost (5)."),
    click.option("--writers", type=_COUNT, metavar="N", help="Writers at once (8)."),
    click.option("--writes", type=_COUNT, metavar="N", help="Writes of each of them (25)."),
    click.option("--timeout", type=_ABOVE_0, metavar="S", help="Seconds that one request may take (30)."),
    click.option("--max-seconds", type=_ABOVE_0, metavar="S", help="Seconds that each part of each system may take (300)."),
    click.option("--seed", type=int, metavar="N", help="Of texts and arrivals (1)."),
    click.option("--at-most", multiple=True, metavar="METRIC=X", help="Exit with 1 when a system's metric is above X; repeatable."),
    click.option("--at-least", multiple=True, metavar="METRIC=X", help="Exit with 1 when a system's metric is below X; repeatable."),
    click.option("--reference", metavar="SYSTEM", help="System that is measured beside the others, for ratios (bm25 with --not-below)."),
    click.option("--not-below", type=click.Path(path_type=Path), metavar="FILE", help="Exit with 1 when a system, as a ratio to the reference, is worse than in an earlier result (JSON)."),
    click.option("--gate-on", "gated", multiple=True, metavar="METRIC", help="Metrics of --not-below (median times and shares)."),
    click.option("--tolerance", type=click.FloatRange(1), metavar="X", help="How many times worse a ratio of --not-below may be (1.5)."),
)
# fmt: on


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("performance")
@_with_options
@options.format_option
@options.output_option
def command(
    systems: tuple[str, ...],
    at_most: tuple[str, ...],
    at_least: tuple[str, ...],
    reference: str | None,
    not_below: Path | None,
    gated: tuple[str, ...],
    tolerance: float | None,
    format: str | None,
    output: tuple[Path, ...],
    **flags: Any,
) -> None:
    """Measure latency, load, freshness and contention of memory systems.

    The memories are synthetic, the same for the same seed. Times of two runs or two machines never compare; --not-below compares ratios to a reference that
    was measured in the same run. Ctrl-C shows what was measured until then.
    """
    from harness.performance.evaluator import PerformanceEvaluator
    from harness.performance.gates import (
        REFERENCE,
        TOLERANCE,
        against,
        beyond,
        check_earlier,
        check_names,
        check_ratios,
        parse_bound,
    )
    from harness.report.evaluation_view import read_json

    values = options.settings(format=format)
    console.check_outputs(output, [not_below])
    if not_below is None and (gated or tolerance is not None):
        raise InputError("--gate-on and --tolerance are for --not-below.")
    if tolerance is not None and not tolerance < float("inf"):
        raise InputError(f"--tolerance {tolerance:g}: expected a number from 1 on.")
    base = reference or (REFERENCE if not_below else None)
    specs, base = _specs(systems, base)
    evaluator = PerformanceEvaluator(_plan(flags))
    bounds = [parse_bound(text, at_most=True) for text in at_most]
    bounds += [parse_bound(text, at_most=False) for text in at_least]
    check_names([bound.metric for bound in bounds], "--at-most or --at-least", evaluator.metrics())
    check_names(gated, "--gate-on", evaluator.metrics())
    check_ratios(gated, evaluator.metrics())
    earlier = read_json(not_below) if not_below else ()
    if not_below is not None and base is not None:
        labels = [spec.label for spec in specs]
        check_earlier(earlier, labels, evaluator.workload, reference=base, label=str(not_below))
    found, interrupted = _measured(specs, evaluator.plan)
    evaluations = [evaluator.evaluate(one) for one in found]
    if evaluations:
        _print(evaluations, base, values["format"].value, output)
    if interrupted:
        raise click.Abort
    gates = (beyond(one, bound) for one in evaluations if one.system != base for bound in bounds)
    breaches = [said for said in gates if said]
    if not_below is not None and base is not None:
        compared = against(
            evaluations, earlier, evaluator.metrics(), reference=base, gated=gated,
            tolerance=tolerance or TOLERANCE, label=str(not_below),
        )  # fmt: skip
        breaches += compared.worse
        for note in compared.notes:
            click.echo(note, err=True)
        click.echo(f"{not_below}: {compared.compared} figures compared.", err=True)
    if breaches:
        raise GateError("\n".join(breaches))


def _plan(flags: dict[str, Any]) -> Plan:
    from harness.performance.plan import EVERY, Plan

    parts = {*(flags.pop("parts") or PARTS)}
    if flags.pop("find_limit"):
        parts.add("limit")
    chosen = {name: value for name, value in flags.items() if value not in (None, ())}
    return Plan(parts=tuple(part for part in EVERY if part in parts), **chosen)


def _specs(systems: Sequence[str], reference: str | None) -> tuple[list[Spec], str | None]:
    """Return the systems, the reference first, and its label."""
    from harness.adapters.registry import find_adapter
    from harness.naming import parse_spec

    if not systems:
        raise InputError("name at least one --system, such as --system bm25.")
    specs = [parse_spec(text, "--system", labelled=True) for text in systems]
    labels = [spec.label for spec in specs]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice:
        raise InputError(f"two systems are called {twice}. Give one of them another label: --system OTHER=….")
    if reference is not None and reference not in labels:
        beside = parse_spec(reference, "--reference", labelled=True)
        specs.insert(0, beside)
        reference = beside.label
    for spec in specs:
        find_adapter(spec)
    return specs, reference


def _measured(specs: Sequence[Spec], plan: Plan) -> tuple[list[Measured], bool]:
    """Measure one system after the other; return what was found, and whether the user ended it."""
    from harness.performance.found import Measured
    from harness.performance.measuring import measure

    found: list[Measured] = []

    async def work(tell: Callable[[str], None]) -> None:
        models = options.models(options.settings())
        try:
            for spec in specs:
                one = Measured(spec.label)
                found.append(one)
                await measure(spec, models, plan, one, lambda said: tell(f"{one.system}: {said}"))  # noqa: B023
        finally:
            await models.close()

    with _progress() as tell:
        try:
            asyncio.run(work(tell))
        except KeyboardInterrupt:
            if found:  # it may end before the first is begun
                found[-1].interrupted = True
            return [one for one in found if one.begun], True
    return found, False


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Show what is being done on the error stream: one line on a terminal, now and then a line elsewhere."""
    import sys

    from harness.cli.streams import is_terminal

    terminal = is_terminal(sys.stderr)
    every = _DRAWN_EVERY_S if terminal else _LINE_EVERY_S
    last = 0.0 if terminal else time.monotonic()

    def due() -> bool:
        nonlocal last
        now = time.monotonic()
        if now - last < every:
            return False
        last = now
        return True

    if not terminal:
        yield lambda said: click.echo(said, err=True) if due() else None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("starting") as status:
        yield lambda said: status.update(escape(said)) if due() else None


def _print(
    evaluations: Sequence[Evaluation], reference: str | None, format: str, output: Sequence[Path]
) -> None:
    from harness.report import format_of

    for path in output:
        console.write_file(path, _written(evaluations, reference, format_of(path), console.PIPE_WIDTH))
    with reader_may_leave():
        click.echo(_written(evaluations, reference, format, console.width()), nl=False)


def _written(evaluations: Sequence[Evaluation], reference: str | None, format: str, width: int) -> str:
    from harness.performance.gates import ratios
    from harness.performance.rows import SECTIONS
    from harness.report import boxes, evaluation_view, markdown
    from harness.report.layout import Grid

    if format == "json":
        return evaluation_view.as_json(evaluations)
    if format == "csv":
        return evaluation_view.as_csv(evaluations)
    tables = []
    for name in SECTIONS:
        shown = [one.sections[name] for one in evaluations if name in one.sections]
        if shown:
            tables.append((name, Grid(shown[0][0], tuple(row for rows in shown for row in rows[1:]))))
    if reference is not None and (rows := ratios(evaluations, reference)):
        tables.append(("ratios of median times", Grid(rows[0], rows[1:])))
    notes = _notes(evaluations)
    if format == "md":
        parts = [f"### {markdown.escape(name)}\n\n{markdown.table(*grid)}" for name, grid in tables]
        parts.append("\n".join(f"- {markdown.escape(note)}" for note in notes))
        return "\n\n".join(parts) + "\n"
    lines = [f"{name}\n{boxes.draw(grid, width)}" for name, grid in tables]
    lines += [line for note in notes for line in boxes.wrap(note, width)]
    return "\n".join(lines) + "\n"


def _notes(evaluations: Sequence[Evaluation]) -> list[str]:
    lines = [f"{one.system}: found: {error}" for one in evaluations for error in one.errors]
    lines += [f"{one.system}: {warning}" for one in evaluations for warning in one.warnings]
    lines += [
        f"{one.system}: limit: {one.provenance['limit']}" for one in evaluations if one.provenance["limit"]
    ]
    versions = ", ".join(
        f"{one.system} is {one.provenance['system_version'] or 'unversioned'}" for one in evaluations
    )
    first = evaluations[0]
    lines.append(f"{first.dataset}, workload {first.provenance['workload']}; {versions}.")
    lines.append(
        f"Measured on {first.provenance['machine']}. Times of another run or machine do not compare."
    )
    return lines
