"""`recallbench judge`: check an endpoint, calibrate a judge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import console, judging, options
from harness.errors import InputError

if TYPE_CHECKING:
    from harness.scoring.calibration import Calibration
    from harness.scoring.probes import Probe
    from harness.suite import Suite


@click.group("judge")
def command() -> None:
    """Check a judge's endpoint, and measure its error rates."""


@command.command("check")
@options.judge_options
def check(**flags: Any) -> None:
    """Resolve the judge, ask it one tiny thing, say what works.

    Prints provider, base URL, model, the variable the key comes from (never the key), the
    response format that the endpoint takes, and how long a reply took.
    """
    from harness.scoring.judge.checking import check as ask

    values = options.settings(**{name: flags[name] for name in judging.SETTINGS}, scorer="llm-judge")
    judge: Any = judging.scorer(values, flags)
    for found in ask(judge):
        for name, value in found:
            click.echo(f"{name:<16} {value}")


@command.command("calibrate", cls=options.JudgedCommand)
@options.layer_option
@options.case_option
@options.suite_option
@options.gold_option
@options.scorer_option
@options.threshold_option
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Your own labelled answers (YAML, JSON or CSV) instead of the bundled probes.",
)
@click.option("--mistakes", is_flag=True, help="List every probe that was ruled wrongly.")
@options.judge_options
@options.format_option
@options.output_option
def calibrate(
    layer: tuple[str, ...],
    labels: Path | None,
    cases: tuple[str, ...],
    mistakes: bool,
    output: tuple[Path, ...],
    **flags: Any,
) -> None:
    """Measure a scorer's false accepts and false rejects on labelled answers.

    Offline for keyword recall. A judge is shown beside keyword recall on the same probes, and
    its figures are kept in its cassette, so that its tables carry them.
    """
    from harness.cli.console import check_outputs, write_file
    from harness.report import calibration as report
    from harness.report import format_of
    from harness.scoring import find_scorer
    from harness.scoring.scorer import DEFAULT_SCORER, JUDGE

    check_outputs(output, (labels, flags["gold"]))
    names = ("suite", "gold", "scorer", "pass_threshold", "format", *judging.SETTINGS)
    values = options.settings(**{name: flags[name] for name in names})
    whole, part = options.chosen_suite(values, layer, cases)
    probes = _probes(whole, part, labels, own_suite=values["suite"].value is not None)
    threshold = values["pass_threshold"].value
    used = judging.scorer(values, flags)
    made: list[Calibration] = []
    if used.name != DEFAULT_SCORER:
        made.append(_measure(probes, whole, find_scorer(DEFAULT_SCORER), threshold))
    with judging.watched(used):
        found = _measure(probes, whole, used, threshold)
    judge: Any = used if used.name == JUDGE else None
    if judge is not None:
        found = replace(found, of=judge.described)
        if judge.stopped is None and not judge.keep_calibration(found.as_data()):
            click.echo("not kept: the cassette has a calibration of this judge on more answers", err=True)
    made.append(found)
    shown = values["format"].value
    click.echo(report.render(made, shown, console.width(), mistakes=mistakes), nl=False)
    for path in output:
        write_file(path, report.render(made, format_of(path), mistakes=mistakes))
        click.echo(f"wrote {path}", err=True)
    if judge is not None:
        judging.hold(judge.stopped, found.errors, found.n, flags["max_errors"], kept=judge.kept)


def _probes(whole: Suite, part: Suite, labels: Path | None, *, own_suite: bool) -> tuple[Probe, ...]:
    """Return the labelled answers to the cases asked for."""
    from harness.scoring.probes import load_labels, load_probes

    if labels is None and own_suite:
        raise InputError("the bundled probes belong to the bundled suite. Give --labels FILE with --suite.")
    found = load_probes(None, whole) if labels is None else load_labels(labels, whole)
    kept = tuple(probe for probe in found if probe.case_id in part.ids)
    if not kept:
        raise InputError("no labelled answer is left to measure on. Check --layer and --case.")
    return kept


def _measure(probes: tuple[Probe, ...], whole: Suite, used: Any, threshold: float) -> Calibration:
    from harness.scoring.calibration import calibrate as measure

    return measure(probes, whole, used, threshold=threshold)
