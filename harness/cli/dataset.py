"""`recallbench dataset …`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import click

from harness.cli import options
from harness.errors import ExitCode


@click.group("dataset")
def command() -> None:
    """Check suites."""


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
