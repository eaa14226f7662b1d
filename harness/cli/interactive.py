"""`recallbench interactive`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import options

if TYPE_CHECKING:
    from harness.cli.menu import Menu


@click.command("interactive")
@options.suite_option
@options.gold_option
@options.scorer_option
@options.threshold_option
def command(
    suite: Path | None = None,
    gold: Path | None = None,
    scorer: str | None = None,
    pass_threshold: float | None = None,
) -> None:
    """Browse cases, answer by hand, score and compare in a menu.

    Arrow keys on a terminal, numbered lines over a pipe. Ctrl-D or Ctrl-C leaves.
    """
    from harness.cli.prompter import Leave

    menu = _menu(suite, gold, scorer, pass_threshold)
    try:
        menu.run()
    except Leave:
        click.echo()
    click.echo("Goodbye.")


def _menu(suite: Path | None, gold: Path | None, scorer: str | None, pass_threshold: float | None) -> Menu:
    from harness.cli.menu import Menu
    from harness.cli.prompter import prompter
    from harness.scoring import find_scorer

    values = options.settings(suite=suite, gold=gold, scorer=scorer, pass_threshold=pass_threshold)
    whole, _ = options.chosen_suite(values)
    return Menu(whole, find_scorer(values["scorer"].value), values["pass_threshold"].value, prompter())
