"""`recallbench show`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import console, options, running
from harness.cli.streams import is_terminal
from harness.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.settings import Resolved
    from harness.suite import Case


def _complete_ids(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    from harness.suite import load_suite

    return [test_id for test_id in load_suite(ctx.params.get("suite")).ids if test_id.startswith(incomplete)]


@click.command("show")
@click.argument("names", nargs=-1, required=True, metavar="[RUN…] CASE", shell_complete=_complete_ids)
@options.suite_option
@options.gold_option
@click.option("--conversation", "only", metavar="ID", help="Only this conversation.")
@click.option("--brief", is_flag=True, help="Leave the conversations out.")
@click.option("--full", is_flag=True, help="Memories of a run whole, not only their beginnings.")
@click.option("--pager/--no-pager", default=None, help="Page the output (on a terminal by default).")
def command(
    names: tuple[str, ...],
    suite: Path | None,
    gold: Path | None,
    only: str | None,
    brief: bool,
    full: bool,
    pager: bool | None,
) -> None:
    """Show one case, or what a run made of it.

    Of a case: question, criteria, gold facts and conversations; messages are numbered as evidence
    cites them, and a cited one names the facts it states. Of a run (a folder before the case):
    what the system was handed, what it recalled or answered, which facts are in it.
    """
    values = options.settings(suite=suite, gold=gold)
    *folders, case_id = names
    if folders:
        if only or brief:
            raise InputError(
                "--conversation and --brief are for a case by itself, not for what a run made of it."
            )
        parts = _of_runs([Path(folder) for folder in folders], case_id, values, full)
    else:
        whole, _ = options.chosen_suite(values)
        parts = _parts(whole.get(case_id), only, brief)
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


def _of_runs(
    folders: list[Path], case_id: str, values: Mapping[str, Resolved], full: bool
) -> list[RenderableType]:
    from harness.report import run_view, terminal
    from harness.runs.comparing import default_scorer
    from harness.runs.folder import find_runs
    from harness.scoring import find_scorer, score_case

    runs = [run for folder in folders for run in find_runs(folder)]
    case = running.suite_of(runs, values).get(case_id)
    parts: list[RenderableType] = []
    lacking: list[str] = []
    for run in runs:
        scorer = find_scorer(default_scorer(run))
        found = [record for record in run.records() if record.case == case_id]
        if not found:
            asked = "was not finished" if case_id in run.manifest.cases else "was not asked"
            lacking.append(f"{run.path}: {case_id} {asked} in this run.")
        for record in sorted(found, key=lambda one: one.repeat):
            score = score_case(case, record.as_answer(), scorer)
            parts.append(run_view.record_view(run.manifest, record, full=full, folder=run.path))
            parts.append(
                terminal.case_score(
                    score,
                    threshold=values["pass_threshold"].value,
                    title=scorer.name,
                    has_pass=scorer.has_pass,
                )
            )
    if not parts:
        raise InputError("\n".join(lacking))
    return [*parts, *(f"{line}\n" for line in lacking)]
