"""`recallbench effectiveness`: what memory systems store, update, keep apart and delete."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import console, options
from harness.errors import GateError, InputError

if TYPE_CHECKING:
    from harness.effectiveness.dataset import EffectivenessSet
    from harness.effectiveness.observed import Observed
    from harness.evaluation import Evaluation
    from harness.llm.models import Models
    from harness.naming import Spec
    from harness.settings import Resolved

SECTIONS = (
    "hallucinated",
    "missed",
    "classes",
    "confusion",
    "clusters",
    "lost",
    "states",
    "stale",
    "leaks",
    "exposed",
)
_MODEL = ("provider", "model", "base_url", "api_key_env")


@click.command("effectiveness")
@click.argument("datasets", nargs=-1, type=click.Path(path_type=Path), metavar="[DATASET…]")
@click.option(
    "--system", "-s", "systems", multiple=True, metavar="[LABEL=]NAME[(OPTION=…)]", help="System; repeatable."
)
@click.option(
    "--predictions",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Score predictions (JSON) instead of running a system; repeatable.",
)
@click.option("--only", multiple=True, metavar="EVALUATOR", help="Only this evaluator; repeatable.")
@click.option(
    "--judge",
    metavar="[PROVIDER:]MODEL[@URL]",
    help="Let a model rule on extraction, instead of typed matching.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Memories that a recall asks for (5).")
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 9),
    default=1.0,
    show_default=True,
    metavar="X",
    help="How far off an importance counts as right.",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="EVALUATOR=X",
    help="Weight in the overall score; repeatable.",
)
@click.option("--per-item", is_flag=True, help="Also show one row a test case.")
@click.option(
    "--show", "sections", multiple=True, type=click.Choice(SECTIONS), help="Further tables; repeatable."
)
@click.option(
    "--fail-under",
    "floors",
    multiple=True,
    metavar="METRIC=X",
    help="Exit with 1 when a system's figure is below X, failures counted as the worst; repeatable.",
)
@click.option(
    "--fail-over",
    "ceilings",
    multiple=True,
    metavar="METRIC=X",
    help="The same for figures of which less is better, such as importance.mae; repeatable.",
)
@options.format_option
@options.output_option
@options.model_options
def command(
    datasets: tuple[Path, ...],
    systems: tuple[str, ...],
    predictions: tuple[Path, ...],
    only: tuple[str, ...],
    judge: str | None,
    limit: int | None,
    tolerance: float,
    weights: tuple[str, ...],
    per_item: bool,
    sections: tuple[str, ...],
    floors: tuple[str, ...],
    ceilings: tuple[str, ...],
    output: tuple[Path, ...],
    **flags: Any,
) -> None:
    """Measure what memory systems store, update, keep apart and delete.

    DATASET is a JSON file or a folder of them; the bundled ones when none is named. Seven
    evaluators: extraction, classification, importance, deduplication, update, isolation, deletion.
    What a system does not offer is n/a and counts in no mean.
    """
    from harness.cli import effectiveness_tables as tables
    from harness.effectiveness import gates
    from harness.effectiveness.dataset import combined
    from harness.effectiveness.evaluators import served_by
    from harness.effectiveness.loading import load_effectiveness
    from harness.effectiveness.overall import Overall, parse_weights
    from harness.resources import bundled

    if tolerance != tolerance:
        raise InputError("--tolerance nan: expected a number from 0 to 9.")
    values = options.settings(**flags)
    console.check_outputs(output, [*datasets, *predictions])
    wanted = gates.parse_gates(floors, ceilings)
    overall = Overall(parse_weights(weights))
    roots = datasets or (bundled("fixtures") / "effectiveness",)
    data = combined([one for root in roots for one in load_effectiveness(root)])
    names = served_by(data, only)
    gates.check_measured(wanted, names)
    observed = _observed(data, _specs(systems, predictions), predictions, names, limit, values)
    found = _measured(observed, names, tolerance, judge, overall, values)
    tables.show(found, tables.Wanted(per_item, sections, values["format"].value), output)
    broken = gates.breaches([one for each in found for one in each], wanted)
    if broken:
        raise GateError("\n".join(broken))


def _specs(systems: Sequence[str], predictions: Sequence[Path]) -> list[Spec]:
    from harness.naming import parse_spec

    if not systems and not predictions:
        raise InputError("name at least one --system, such as --system bm25, or --predictions FILE.")
    return [parse_spec(text, "--system", labelled=True) for text in systems]


def _observed(
    data: EffectivenessSet,
    specs: Sequence[Spec],
    files: Sequence[Path],
    names: Sequence[str],
    limit: int | None,
    values: Mapping[str, Resolved],
) -> list[Observed]:
    import asyncio

    from harness.effectiveness.observing import LIMIT, observe
    from harness.effectiveness.predictions import load_predictions

    found = [one for path in files for one in load_predictions(path, data)]
    labels = [*(spec.label for spec in specs), *(one.system for one in found)]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice:
        raise InputError(f"two systems are called {twice}. Give one of them another label: --system OTHER=….")

    async def run(spec: Spec) -> Observed:
        models = options.models(values, *_MODEL)
        try:
            with _progress(spec.label) as tick:
                return await observe(data, spec, models, names, limit=limit or LIMIT, tick=tick)
        finally:
            await models.close()

    return [*(asyncio.run(run(spec)) for spec in specs), *found]


@contextmanager
def _progress(label: str) -> Iterator[Callable[[], None]]:
    """Count what a system was told on the terminal's error stream; elsewhere nothing is drawn."""
    import sys

    from harness.cli.streams import is_terminal

    if not is_terminal(sys.stderr):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}: {task.completed} told"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda: bar.advance(task)


def _measured(
    observed: Sequence[Observed],
    names: Sequence[str],
    tolerance: float,
    judge: str | None,
    overall: Any,
    values: Mapping[str, Resolved],
) -> list[list[Evaluation]]:
    """Return the evaluations of each system."""
    import asyncio

    from harness.effectiveness.evaluators import make_evaluators, measure

    found = []
    for one in observed:
        given: dict[str, Any] = {}
        if judge and "extraction" in names and "extraction" not in one.lacking:
            given = asyncio.run(_ruled(one, judge, options.models(values, *_MODEL)))
        found.append(measure(one, names, make_evaluators(tolerance=tolerance, **given), overall))
    return found


async def _ruled(observed: Observed, judge: str, models: Models) -> dict[str, Any]:
    from harness.effectiveness.judging import PROMPT_HASH, rule

    try:
        chat = models.chat(judge)
        label = f"{chat.endpoint.label}, prompt {PROMPT_HASH[:12]}"
        return {"rulings": await rule(observed, chat), "judge": label}
    finally:
        await models.close()
