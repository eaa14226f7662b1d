"""`recallbench demo`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from harness.cli import console

if TYPE_CHECKING:
    from harness.comparison import Comparison
    from harness.scoring import Responses, Scorer
    from harness.suite import Case, Suite

_WORKED_CASE = "layer2_01_two_cars_service"
SCORERS = ("keyword-recall", "llm-judge")


@click.command("demo")
@click.option(
    "--scorer",
    type=click.Choice(SCORERS),
    default=SCORERS[0],
    show_default=True,
    help="llm-judge replays verdicts that a small local model gave; no key, no network.",
)
def command(scorer: str) -> None:
    """Show what a comparison looks like, on bundled answers.

    It prints the layer-by-system table of the bundled answers, and explains one case.
    """
    from harness.comparison import compare
    from harness.resources import example_responses
    from harness.scoring import find_scorer, load_responses
    from harness.suite import load_suite

    suite = load_suite()
    given = load_responses(example_responses(), suite.ids)
    used: Scorer = find_scorer(scorer)
    note = ""
    if scorer == SCORERS[1]:
        suite, used, note = _recorded(suite)
    result = compare(suite, given, scorer=used, notes=(note,))
    console.show_comparison(result, "table")
    _explain(result, suite.get(_WORKED_CASE), given)
    click.echo("Next: recallbench show " + _WORKED_CASE)
    click.echo("      recallbench batch YOUR_ANSWERS.json   (format: README, Your own answers)")


def _recorded(suite: Suite) -> tuple[Suite, Scorer, str]:
    """Return the cases that the bundled cassette covers, its judge, and what to say of it."""
    from harness.llm.cassette import Cassette
    from harness.resources import judge_cassette
    from harness.scoring.judge import LLMJudge
    from harness.suite import Suite

    path = judge_cassette()
    with Cassette(path, "replay") as cassette:
        about = cassette.note("about", "demo")
    part = Suite(suite.root, tuple(suite.get(name) for name in about["cases"]))
    judge = LLMJudge(cassette=path, cassette_mode="replay", **about["judge"])
    return part, judge, about["note"]


def _explain(result: Comparison, case: Case, given: Responses) -> None:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    from harness.report import terminal

    at = [label.id for label in result.cases].index(case.id)
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
