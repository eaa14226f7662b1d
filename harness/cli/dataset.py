"""`recallbench dataset …`."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import click

from harness.cli import console, dataset_import, dataset_tools, options
from harness.errors import ExitCode, InputError


@click.group("dataset")
def command() -> None:
    """Check, count, write, import, export and split data sets."""


@command.command("validate")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH…]")
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
def validate_command(
    ctx: click.Context, paths: tuple[Path, ...], suite: Path | None, gold: Path | None, profile: str
) -> None:
    """Report every problem of a suite or of other data sets, with file, line and mend.

    Without a PATH the suite is looked at (--suite, else the bundled one). A PATH is a suite, or a
    retrieval or effectiveness data set: a JSON file, a folder in TREC's form, or a directory of those.

    Exits with 2 when there is a problem.
    """
    from harness.cli import datasets

    if paths:
        if suite is not None:
            raise InputError("name data sets, or a suite with --suite (one of the two).")
        reports = [datasets.look_at(path, cast(datasets.Profile, profile), gold) for path in paths]
    else:
        values = options.settings(suite=suite, gold=gold)
        chosen = values["suite"].value
        reports = [datasets.look_at_suite(chosen, cast(datasets.Profile, profile), values["gold"].value)]
    for report in reports:
        for problem in report.problems:
            click.echo(str(problem), err=True)
        count = len(report.problems)
        told = f"{count} {'problem' if count == 1 else 'problems'}" if count else "no problems"
        click.echo(f"{report.name}: {told} {report.counted}", err=bool(count))
    if any(report.problems for report in reports):
        ctx.exit(ExitCode.BAD_INPUT)


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


for _name in dataset_tools.__all__:
    command.add_command(getattr(dataset_tools, _name))
for _tool in (
    dataset_import.import_command,
    dataset_import.import_answers_command,
    dataset_import.rescore_command,
):
    command.add_command(_tool)
