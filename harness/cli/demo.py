"""`recallbench demo`."""

from __future__ import annotations

import click

from harness.cli import console

_WORKED_CASE = "layer2_01_two_cars_service"


@click.command("demo")
def command() -> None:
    """Show what a comparison looks like, on bundled answers.

    It prints the layer-by-system table of the bundled answers, and explains one case.
    """
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from harness.comparison import compare
    from harness.report import terminal
    from harness.resources import example_responses
    from harness.scoring import load_responses
    from harness.suite import load_suite

    suite = load_suite()
    given = load_responses(example_responses(), suite.ids)
    result = compare(suite, given)
    console.show_comparison(result, "table")

    case = suite.get(_WORKED_CASE)
    at = suite.ids.index(case.id)
    click.echo(f"\nOne case explained: {case.id}, {case.title}")
    console.say(f"Question: {case.question}")
    for system in result.systems:
        click.echo()
        answer = given.systems[system.system].get(case.id)
        said = answer.text if answer and answer.text else "(no answer)"
        console.show(
            Group(Text(f"{system.system} answered:", style="bold"), Padding(Text(said), (0, 2, 0, 2)))
        )
        console.show(terminal.case_score(system.scores[at], threshold=result.threshold))
    click.echo("Next: recallbench show " + case.id)
    click.echo("      recallbench batch YOUR_ANSWERS.json   (format: README, Your own answers)")
