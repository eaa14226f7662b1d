"""`recallbench interactive`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from harness.cli import options

if TYPE_CHECKING:
    from harness.cli.menu import Menu


@click.command("interactive", cls=options.JudgedCommand)
@options.suite_option
@options.gold_option
@options.scorer_option
@options.threshold_option
@options.judge_options
def command(**flags: Any) -> None:
    """Browse cases, answer by hand, score and compare in a menu.

    Arrow keys on a terminal, numbered lines over a pipe. Ctrl-D or Ctrl-C leaves.
    """
    from harness.cli.prompter import Leave

    menu = _menu(flags)
    try:
        menu.run()
    except Leave:
        click.echo()
    click.echo("Goodbye.")


def _menu(flags: dict[str, Any]) -> Menu:
    from harness.cli import judging
    from harness.cli.menu import Menu
    from harness.cli.prompter import prompter

    names = ("suite", "gold", "scorer", "pass_threshold", *judging.SETTINGS)
    values = options.settings(**{name: flags.get(name) for name in names})
    whole, _ = options.chosen_suite(values)
    return Menu(whole, judging.scorer(values, flags), values["pass_threshold"].value, prompter())
