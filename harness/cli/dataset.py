"""`recallbench dataset …`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import click

from harness.cli import console, options
from harness.errors import ExitCode


@click.group("dataset")
def command() -> None:
    """Check and count suites."""


@command.command("validate")
@options.suite_option
@options.gold_option
@click.option(
    "--profile",
    type=click.Choice(["basic", "bundled"]),
    default="basic",
    show_default=True,
    help="basic: what any suite has to keep; bundled: what ours has to keep besides.",
)
@click.pass_context
def validate_command(ctx: click.Context, suite: Path | None, gold: Path | None, profile: str) -> None:
    """Report every problem of a suite, with file, line and mend.

    Exits with 2 when there is one.
    """
    from harness.resources import bundled
    from harness.validation import validate

    values = options.settings(suite=suite, gold=gold)
    chosen = values["suite"].value
    root, name = chosen or bundled("test_cases"), chosen or "bundled suite"
    report = validate(root, profile=cast(Literal["basic", "bundled"], profile), gold=values["gold"].value)
    for problem in report.problems:
        click.echo(str(problem), err=True)
    counted = ", ".join(
        f"{count} {unit if count != 1 else unit[:-1]}"
        for unit in ("cases", "conversations", "rounds", "words")
        for count in [getattr(report, unit)]
    )
    if report.problems:
        count = len(report.problems)
        noun = "problem" if count == 1 else "problems"
        click.echo(f"{name}: {count} {noun} under the {profile} profile ({counted})", err=True)
        ctx.exit(ExitCode.BAD_INPUT)
    click.echo(f"{name}: no problems under the {profile} profile ({counted})")


@command.command("stats")
@options.suite_option
@options.gold_option
@click.option("--cases", "per_case", is_flag=True, help="Also list every case with its size.")
@click.option("--check", is_flag=True, help="Exit with 1 unless every limit is kept.")
@options.format_option
@click.pass_context
def stats_command(
    ctx: click.Context, suite: Path | None, gold: Path | None, per_case: bool, check: bool, format: str | None
) -> None:
    """Count what a suite is made of, and hold it against the limits of a good one.

    Rounds, words, corrections, values that could be mistaken for the gold, abilities, domains,
    wording and names that two cases share. `validate` looks at each case by itself.
    """
    from harness.report import census_view
    from harness.resources import bundled
    from harness.validation import take_census

    values = options.settings(suite=suite, gold=gold, format=format)
    census = take_census(values["suite"].value or bundled("test_cases"), gold=values["gold"].value)
    match values["format"].value:
        case "json":
            click.echo(census_view.as_json(census), nl=False)
        case "csv":
            click.echo(census_view.as_csv(census), nl=False)
        case "md":
            click.echo(census_view.as_markdown(census, per_case=per_case), nl=False)
        case _:
            console.show(census_view.tables(census, per_case=per_case))
            console.say("\n".join(census_view.notes(census)))
    for problem in census.problems:
        click.echo(str(problem), err=True)
    if check and not census.held:
        ctx.exit(ExitCode.GATE_FAILED)
