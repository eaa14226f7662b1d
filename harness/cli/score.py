"""`recallbench score`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli import comparing, options


@click.command("score", cls=options.JudgedCommand)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN…")
@options.comparison_options
@options.judge_options
@click.option("--per-case", is_flag=True, help="Add the case-by-system matrix.")
def command(runs: tuple[Path, ...], per_case: bool, **flags: Any) -> None:
    """Score runs again, by a judge say, without running anything.

    RUN is the folder of a run, or a folder of runs. The scores are written into each run's
    folder, as scores.SCORER.jsonl, and compared.
    """
    comparing.run_on_runs(runs, per_case=per_case, keep=True, **flags)
