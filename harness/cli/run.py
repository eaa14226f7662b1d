"""`recallbench run`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import console, gate_options, gating, options, running
from harness.errors import InputError

if TYPE_CHECKING:
    from harness.adapters.hosts import Timeouts
    from harness.adapters.registry import AdapterInfo
    from harness.llm.models import Models
    from harness.runs.execute import Done
    from harness.runs.manifest import Manifest
    from harness.runs.plan import Planned
    from harness.runs.preparing import Entrant, Settings
    from harness.settings import Resolved
    from harness.suite import Suite

CONTROLS = ("no_memory", "last_conversation", "full_context", "oracle")
CHEATERS = ("echo", "abstain", "bluffer", "dump")
MODEL_SETTINGS = ("provider", "model", "base_url", "api_key_env", "cassette", "cassette_mode", "concurrency")
PHASES = ("load", "open", "ingest", "wait", "recall", "close")
READERS = ("extractive", "llm", "own")


@click.command("run")
@click.option(
    "--system",
    "-s",
    "systems",
    multiple=True,
    metavar="[LABEL=]NAME[(OPTION=…)]",
    help="System to run; `recallbench systems` lists them; repeatable.",
)
@click.option("--controls", is_flag=True, help="Also run the bounds of every table.")
@click.option("--cheaters", is_flag=True, help="Also run systems that know nothing; none of them may pass.")
@options.suite_option
@options.gold_option
@options.layer_option
@options.case_option
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N cases of each layer.")
@click.option("--repeats", type=click.IntRange(1), default=1, metavar="K", help="Ask each case K times (1).")
@click.option(
    "--reader",
    type=click.Choice(READERS),
    default=READERS[0],
    show_default=True,
    help="extractive scores the memories themselves; llm has a model answer from them; own lets systems "
    "that can write answers write them.",
)
@click.option(
    "--budget", type=click.IntRange(1), metavar="WORDS", help="Words of memory that are read (1000)."
)
@click.option(
    "--recall-limit", type=click.IntRange(1), metavar="N", help="Memories that a system is asked for (100)."
)
@options.model_options
@click.option(
    "--reply-timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="Seconds to wait for one reply of the model (120).",
)
@click.option("--concurrency", type=click.IntRange(1), metavar="N", help="Cases in flight (4).")
@click.option(
    "--timeout",
    "timeouts",
    multiple=True,
    metavar="[PHASE=]S",
    help=f"Seconds for each phase, or for one of {', '.join(PHASES)}; repeatable.",
)
@click.option(
    "--max-errors",
    callback=gate_options.share,
    type=float,
    metavar="X",
    help="Stop and exit with 1 when the share of system errors exceeds X.",
)
@click.option("--retry-errors", is_flag=True, help="Do again what failed in an earlier run.")
@click.option(
    "--executor",
    default="local",
    metavar="local|dask://HOST:PORT",
    help="Where cases are run (local).",
)
@click.option(
    "--runs",
    "root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    metavar="DIR",
    help="Folder of runs.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@options.scorer_option
@options.threshold_option
@options.comparison_format_option
@options.comparison_output_option
@gate_options.fail_under_option
@gate_options.not_below_option
@gate_options.margin_option
@click.option("--per-case", is_flag=True, help="Add the case-by-system matrix.")
def command(systems: tuple[str, ...], dry_run: bool, per_case: bool, **flags: Any) -> None:
    """Run memory systems over the cases and compare what they recalled.

    Each system gets a run of its own under --runs, journalled answer by answer: the same command
    goes on where a run was stopped, and does nothing twice.
    """
    gates = gating.gates_of(flags)
    console.check_outputs(flags["output"], (flags["gold"], *gates.files), comparison=True)
    if flags["executor"] != "local" and not flags["executor"].startswith("dask://"):
        raise InputError(f"--executor {flags['executor']}: expected local or dask://HOST:PORT.")
    values = options.settings(
        **{
            name: flags[name]
            for name in ("suite", "gold", "scorer", "pass_threshold", "format", *MODEL_SETTINGS[:-1])
        }
    )
    entrants = _entrants(systems, controls=flags["controls"], cheaters=flags["cheaters"])
    whole, suite = options.chosen_suite(values, flags["layer"], flags["cases"])
    suite = _limited(suite, flags["limit"])
    with gating.annotated(values["format"].value):
        gates.check([one.spec.label for one in entrants], suite, whole)
    settings = _settings(flags)
    running.check_scorer(values)

    def check(manifests: Sequence[Manifest]) -> None:
        running.check_runs(manifests, values, flags["output"])
        if gates.baselines:
            with gating.annotated(values["format"].value):
                gates.check_pairs(running.seats(manifests, values, {}), suite)

    if dry_run:
        _show_plan(_planned(suite, entrants, settings, values, flags, check))
        return
    done = _carry_out(suite, entrants, settings, values, flags, check)
    stopped = f"stopped early: {done.stopped}. What is finished is kept." if done.stopped else None
    try:
        results = running.compared(done.folders, suite, values, {}, keep=True)
        held = gates.hold(results, gating.Measuring(whole, suite, values, {}, done.folders), stopped)
        running.show(
            results, values["format"].value, flags["output"], held.shown,
            per_case=per_case, suite=whole, runs=done.folders,
        )  # fmt: skip
    finally:  # what was run is kept, whatever comes of scoring and showing it
        click.echo(_told(done, flags["root"]), err=True)
    held.close()


def _entrants(systems: tuple[str, ...], *, controls: bool, cheaters: bool) -> list[Entrant]:
    from harness.adapters.registry import FLAG, find_adapter
    from harness.naming import parse_spec
    from harness.runs.preparing import Entrant

    specs = [parse_spec(text, FLAG, labelled=True) for text in systems]
    named = {spec.name for spec in specs}
    extra = (*(CONTROLS if controls else ()), *(CHEATERS if cheaters else ()))
    specs += [parse_spec(name, FLAG) for name in extra if name not in named]
    if not specs:
        raise InputError("no system to run. Name one with --system; `recallbench systems` lists them.")
    labels: set[str] = set()
    for spec in specs:
        if spec.label in labels:
            raise InputError(
                f"--system: two systems are called {spec.label}. "
                f"Give one of them another label: --system OTHER={spec.text}."
            )
        labels.add(spec.label)
    return [Entrant(spec, find_adapter(spec)) for spec in specs]


def _limited(suite: Suite, limit: int | None) -> Suite:
    from harness.suite import Suite

    if limit is None:
        return suite
    cases = (case for layer in suite.groups for case in suite.select(layer=layer).cases[:limit])
    return Suite(suite.root, tuple(cases))


def _settings(flags: Mapping[str, Any]) -> Settings:
    from harness.runs.preparing import Settings
    from harness.runs.reader import DEFAULT_BUDGET, DEFAULT_LIMIT

    return Settings(
        reader=flags["reader"],
        budget=flags["budget"] or DEFAULT_BUDGET,
        limit=flags["recall_limit"] or DEFAULT_LIMIT,
        repeats=flags["repeats"],
        concurrency=flags["concurrency"] or Settings().concurrency,
        timeouts=_timeouts(flags["timeouts"]),
        max_errors=flags["max_errors"],
        retry_errors=flags["retry_errors"],
        executor=flags["executor"],
    )


def _timeouts(given: tuple[str, ...]) -> Timeouts:
    import math

    from harness.adapters.hosts import Timeouts

    found: dict[str, float] = {}
    overall: dict[str, float] = {}
    for text in given:
        phase, sign, seconds = text.rpartition("=")
        try:
            value = float(seconds)
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf or (sign and phase not in PHASES):
            raise InputError(
                f"--timeout {text}: expected seconds above 0, or PHASE=seconds with one of {', '.join(PHASES)}."
            )
        if sign:
            found[phase] = value
        else:
            overall = dict.fromkeys(PHASES, value)
    return Timeouts(**{**overall, **found})


def _models(values: Mapping[str, Resolved], flags: Mapping[str, Any]) -> Models:
    more = {} if flags["reply_timeout"] is None else {"timeout_s": flags["reply_timeout"]}
    names = (name for name in MODEL_SETTINGS if not name.startswith("cassette"))
    return options.models(values, *names, retry_errors=flags["retry_errors"], **more)


def _carry_out(
    suite: Suite,
    entrants: list[Entrant],
    settings: Settings,
    values: Mapping[str, Resolved],
    flags: Mapping[str, Any],
    check: Callable[[Sequence[Manifest]], None],
) -> Done:
    from harness.runs.execute import execute

    async def work(tick: Any) -> Done:
        models = _models(values, flags)
        try:
            return await execute(suite, entrants, settings, models, flags["root"], tick, check)
        finally:
            await models.close()

    with running.progress("running") as tick:
        try:
            return asyncio.run(work(tick))
        except KeyboardInterrupt:
            click.echo("Finished answers are kept; the same command goes on from there.", err=True)
            raise


def _told(done: Done, root: Path) -> str:
    asked = sum(folder.manifest.asked for folder in done.folders)
    before = asked - done.fresh if not done.stopped else 0
    earlier = f", {before} before" if before else ""
    failed = f"; {done.failed} failed (--retry-errors asks them again)" if done.failed else ""
    told = (
        f"questions asked: {done.fresh} now{earlier}{failed}; kept in {root}/ (recallbench compare {root}/)"
    )
    if done.sorted:
        told += (
            f"\nhanded over in order of time, which is not that of the file: conversations of {done.sorted}"
        )
        told += " cases or haystacks"
    return told


def _planned(
    suite: Suite,
    entrants: list[Entrant],
    settings: Settings,
    values: Mapping[str, Resolved],
    flags: Mapping[str, Any],
    check: Callable[[Sequence[Manifest]], None],
) -> list[Planned]:
    """Load the adapters and reach the executor as a run does, so that what a run would refuse is refused; return the work of each."""
    from contextlib import AsyncExitStack

    from harness.runs.plan import plan
    from harness.runs.preparing import LOCAL, load

    mode = values["cassette_mode"]
    if mode.value == "auto":  # a cassette that is not there yet would be made
        values = {**values, "cassette_mode": mode._replace(value="off")}

    async def work() -> list[tuple[AdapterInfo, Manifest]]:
        models = _models(values, flags)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(models.close)
            loaded = await load(suite, entrants, settings, models, stack)
            if settings.executor != LOCAL:
                from harness.runs.dask_cluster import Cluster

                await stack.enter_async_context(Cluster(settings.executor))
            return [(one.entrant.info, one.manifest) for one in loaded]

    found = asyncio.run(work())
    check([manifest for _, manifest in found])
    return plan(suite, found)


def _show_plan(planned: Sequence[Planned]) -> None:
    from harness.report import boxes
    from harness.report.layout import Grid

    rows = tuple(
        (
            one.system,
            str(one.cases),
            str(one.answers),
            f"{one.conversations:,}",
            f"{one.messages:,}",
            f"{one.words:,}",
            f"{one.calls[0]:,}" if one.calls[0] == one.calls[1] else f"{one.calls[0]:,} to {one.calls[1]:,}",
        )
        for one in planned
    )
    header = ("System", "Cases", "Questions", "Conversations", "Messages", "Words in", "Model calls")
    grid, width = Grid(header, rows), console.width()
    if boxes.natural_width(grid) > width:
        narrow = (
            "System",
            "Cases",
            "Ques-\ntions",
            "Conver-\nsations",
            "Messages",
            "Words\nin",
            "Model\ncalls",
        )
        grid = Grid(narrow, rows)
    click.echo(boxes.draw(grid, width))
    console.say(
        "Nothing was done; what an earlier run has finished is not taken off. Model calls are the harness's own "
        "(a strategy's steps, the reader); retries and what a system asks by itself come on top."
    )
