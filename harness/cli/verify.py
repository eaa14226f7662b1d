"""`recallbench verify`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import console, options, running
from harness.errors import ExitCode, InputError

if TYPE_CHECKING:
    from harness.report.verifying import Verification
    from harness.runs.folder import RunFolder
    from harness.settings import Resolved

_SHOWN = 40
_LONGEST = 160


@click.command("verify")
@click.argument("report", type=click.Path(path_type=Path), metavar="REPORT.json")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN…")
@options.suite_option
@options.gold_option
@click.option("--scorer", metavar="NAME", help="The report's scorer, with the options that it had.")
@click.option("--cassette", type=click.Path(path_type=Path), metavar="PATH",
              help="Where a judge's replies are kept (.recallbench/cassette.sqlite).")  # fmt: skip
@click.option(
    "--prompts",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Judge prompts, where they were replaced.",
)
@click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Prices, where the report had them from a file.",
)
@click.option(
    "--allow-unverifiable",
    is_flag=True,
    help="Exit with 0 also when some figures cannot be recomputed, or are not in the report.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    report: Path,
    runs: tuple[Path, ...],
    prices: Path | None,
    allow_unverifiable: bool,
    as_json: bool,
    **flags: Any,
) -> int:
    """Recompute every number of a JSON report from the journals of its runs.

    REPORT.json is what compare, run or score wrote as JSON, RUN the folder of a run, or a folder of
    runs. Judged scores are recomputed from the cassette; no model is called. Exit status: 0 when all
    agrees, 1 when something differs, cannot be recomputed or was left out of the report, 2 when suite,
    runs or scorer are not the report's.
    """
    from harness.report import fitting, json_report, verifying

    claimed = fitting.load_report(report)
    values = options.settings(**{name: flags[name] for name in ("suite", "gold", "cassette", "prompts")})
    chosen = fitting.chosen_runs(claimed, runs)
    suite = fitting.cases_of(claimed, running.suite_of(chosen, values), chosen)
    spec, unjudged = _scorer(claimed, flags["scorer"], values, prices)
    given = {
        "scorer": spec,
        "pass_threshold": claimed["pass_threshold"],
        "gold": flags["gold"],
        "suite": flags["suite"],
    }
    (result,) = running.compared(chosen, suite, options.settings(**given), {})
    found = verifying.verify(
        claimed,
        _completed(json_report.as_data(result), chosen, result, suite),
        unjudged=unjudged,
        unasked={run.manifest.system.label: run.unasked() for run in running.told_apart(chosen)},
    )
    if as_json:
        click.echo(json.dumps(found.as_data(), ensure_ascii=False, indent=2))
    else:
        _show(found, report)
    passed = not found.differences if allow_unverifiable else found.agrees
    return ExitCode.DONE if passed else ExitCode.GATE_FAILED


def _scorer(
    claimed: Mapping[str, Any], given: str | None, values: Mapping[str, Resolved], prices: Path | None
) -> tuple[str, str | None]:
    """Return the scorer to score anew with, and why it cannot judge where it cannot.

    Raises:
        InputError: for a scorer that is not the report's.
    """
    from harness.report.replaying import judge_spec
    from harness.scoring.scorer import JUDGE, find_scorer

    name = claimed["scorer"]
    if name == JUDGE and given is None:
        return judge_spec(claimed, values["cassette"].value, prompts=values["prompts"].value, prices=prices)
    if given is None and (":" in name or "(" in name):  # a report must not choose what code runs here
        raise InputError(
            f"the report's scorer {name} is code to import. Name it with --scorer if you trust it."
        )
    try:
        used = find_scorer(given or name)
    except InputError as error:
        if given:
            raise
        raise InputError(f"the report's scorer {name} is not here: {error} Name it with --scorer.") from None
    if used.name != name:
        raise InputError(f"--scorer {given}: is {used.name}; the report was scored by {name}.")
    return given or name, None


def _completed(data: dict[str, Any], runs: list[RunFolder], result: Any, suite: Any) -> dict[str, Any]:
    """Add what a report of runs holds beside a comparison; one that lacks it has left it out."""
    from harness.report import attribution, disclosure

    data["disclosure"] = disclosure.as_data(disclosure.card(result, runs))
    data["attribution"] = attribution.as_data(attribution.attribute(result, suite, runs))
    return json.loads(json.dumps(data))  # type: ignore[no-any-return]


def _show(found: Verification, report: Path) -> None:
    """Print what differs and what could not be recomputed, and one line that says how much agrees."""
    from harness.report.boxes import visible

    # Not wrapped: a path is to be searched for.
    for one in found.differences[:_SHOWN]:
        values = f"reported {_short(one.reported)}, recomputed {_short(one.recomputed)}"
        click.echo(visible(f"differs: {one.path}: {values}"))
    if len(found.differences) > _SHOWN:
        click.echo(f"and {len(found.differences) - _SHOWN} more (--json lists all)")
    for left in found.unverifiable:
        click.echo(visible(f"not verifiable: {left.path} ({_counted(left.fields, 'field')}): {left.why}"))
    if found.unclaimed:
        click.echo(visible(f"not in the report, though this version writes it: {', '.join(found.unclaimed)}"))
    if found.answers_unseen:
        click.echo("without the hashes of its disclosure card, an answer that changes no figure is not seen")
    for system, case in found.places:
        click.echo(visible(f"answer that differs: {system} {case}"))
    agreeing = f"{_counted(found.numbers, 'number')} and {_counted(found.others, 'other field')} agree"
    if found.differences:
        verb = "differs" if len(found.differences) == 1 else "differ"
        console.say(f"{report}: {_counted(len(found.differences), 'field')} {verb}, {agreeing}.")
    elif found.unclaimed:
        console.say(f"{report}: nothing differs, but the report leaves out what it should hold; {agreeing}.")
    elif found.unverifiable:
        console.say(f"{report}: nothing differs, but not everything can be recomputed; {agreeing}.")
    else:
        console.say(f"{report}: {agreeing}, nothing differs.")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return f"{text[: _LONGEST - 1]}…" if len(text) > _LONGEST else text


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
