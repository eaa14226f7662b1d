"""`recallbench show`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import console, options
from harness.cli.streams import is_terminal
from harness.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.suite import Case


def _complete_ids(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    from harness.suite import load_suite

    return [test_id for test_id in load_suite(ctx.params.get("suite")).ids if test_id.startswith(incomplete)]


@click.command("show")
@click.argument("case_id", metavar="CASE", shell_complete=_complete_ids)
@options.suite_option
@options.gold_option
@click.option("--conversation", "only", metavar="ID", help="Only this conversation.")
@click.option("--brief", is_flag=True, help="Leave the conversations out.")
@click.option("--pager/--no-pager", default=None, help="Page the output (on a terminal by default).")
def command(
    case_id: str, suite: Path | None, gold: Path | None, only: str | None, brief: bool, pager: bool | None
) -> None:
    """Show one case: question, criteria, gold facts, conversations.

    Messages are numbered as evidence cites them; a cited one names the facts it states.
    """
    values = options.settings(suite=suite, gold=gold)
    whole, _ = options.chosen_suite(values)
    case = whole.get(case_id)
    parts = _parts(case, only, brief)
    if pager is False or (pager is None and not is_terminal(sys.stdout)):
        for part in parts:
            console.show(part)
        return
    console.page(parts)


def _parts(case: Case, only: str | None, brief: bool) -> list[RenderableType]:
    from harness.report import case_view

    parts: list[RenderableType] = [] if only else [case_view.overview(case)]
    if brief and not only:
        return parts
    cited = case_view.citations(case)
    talks = case.conversations()
    if only and only not in {talk.id for talk in talks}:
        known = ", ".join(talk.id for talk in talks)
        raise InputError(f"{case.id} has no conversation {only!r}; it has {known}.")
    parts += [case_view.conversation(talk, cited.get(talk.id)) for talk in talks if only in (None, talk.id)]
    return parts
