"""`recallbench runs`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.runs.folder import RunFolder


@click.command("runs")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"), metavar="[DIR]")
@click.option("--json", "as_json", is_flag=True, help="Print the manifests as JSON lines.")
def command(folder: Path, as_json: bool) -> None:
    """List the runs in a folder (runs/ when none is named)."""
    from harness.report import boxes
    from harness.report.layout import Grid
    from harness.runs.folder import find_runs

    found = find_runs(folder)
    if as_json:
        for run in found:
            click.echo(json.dumps({**run.manifest.as_data(), **_state(run)}, ensure_ascii=False))
        return
    header = ("Run", "System", "Version", "Reader", "Answers", "Failed", "Begun")
    rows = tuple(
        (
            run.path.name,
            run.manifest.system.label,
            run.manifest.system.version or "–",
            _reader(run),
            f"{_state(run)['answered']}/{run.manifest.asked}",
            str(_state(run)["failed"]),
            run.manifest.created[:16].replace("T", " "),
        )
        for run in found
    )
    click.echo(boxes.draw(Grid(header, rows)))


def _state(run: RunFolder) -> dict[str, int]:
    finished = run.finished()
    return {"answered": sum(finished.values()), "failed": len(finished) - sum(finished.values())}


def _reader(run: RunFolder) -> str:
    part = run.manifest.reader
    budget = "" if part.budget is None or part.kind == "own" else f", {part.budget} words"
    return f"{part.model or part.kind}{budget}"
