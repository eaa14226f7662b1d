"""`recallbench runs`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import console

if TYPE_CHECKING:
    from harness.runs.folder import RunFolder


@click.command("runs")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[DIR…]")
@click.option("--json", "as_json", is_flag=True, help="Print the manifests as JSON lines.")
@click.option(
    "--export",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.json",
    help="Write the runs' answers as a responses file, which compare and batch take.",
)
@click.option("--note", default="", metavar="TEXT", help="What has to stand under tables of that file.")
def command(folders: tuple[Path, ...], as_json: bool, export: Path | None, note: str) -> None:
    """List the runs in a folder (runs/ when none is named), or export their answers."""
    from rich.table import Table
    from rich.text import Text

    from harness.report.boxes import visible
    from harness.runs.folder import find_runs, newest

    listed = [find_runs(folder) for folder in folders or (Path("runs"),)]
    found = [run for group in listed for run in group]
    if export is not None:
        from harness.runs.exporting import responses

        chosen = [run for group in listed for run in newest(group)[0]]
        if left := [run.path.name for run in found if run not in chosen]:
            told = ", ".join(left[:5]) + (" …" if len(left) > 5 else "")
            click.echo(f"left out, as compare does: {told}. Name their folders to export them.", err=True)
        data = responses(chosen, note)
        console.write_file(export, json.dumps(data, ensure_ascii=False, indent=2) + "\n")
        click.echo(f"wrote {export}", err=True)
        return
    if as_json:
        for run in found:
            click.echo(json.dumps({**run.manifest.as_data(), **_state(run)}, ensure_ascii=False))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in ("Run", "System", "Reader"):
        table.add_column(name, overflow="fold")
    for name in ("Answers", "Failed"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Begun", no_wrap=True)
    for run in found:
        state = _state(run)
        table.add_row(
            Text(run.path.name),
            Text(visible(run.manifest.system.spec)),
            Text(visible(_reader(run))),
            f"{state['answered']}/{run.manifest.asked}",
            str(state["failed"]),
            run.manifest.created[:10],
        )
    console.show(table)


def _state(run: RunFolder) -> dict[str, int]:
    finished = run.finished()
    return {"answered": sum(finished.values()), "failed": len(finished) - sum(finished.values())}


def _reader(run: RunFolder) -> str:
    part = run.manifest.reader
    budget = "" if part.budget is None or part.kind == "own" else f" {part.budget}"
    return f"{part.model or part.kind}{budget}"
