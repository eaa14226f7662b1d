"""`recallbench compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import comparing, options
from harness.errors import InputError

if TYPE_CHECKING:
    from harness.scoring import Responses
    from harness.suite import Suite


@click.command("compare", cls=options.JudgedCommand)
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path), metavar="[RESPONSES.json | RUN…]")
@options.comparison_options
@options.judge_options
@click.option("--per-case", is_flag=True, help="Add the case-by-system matrix.")
def command(sources: tuple[Path, ...], per_case: bool, **flags: Any) -> None:
    """Compare systems layer by layer, from runs or from their answers.

    RUN is the folder of a run, or a folder of runs. RESPONSES.json holds {system: {test_id:
    answer}}; an answer is a string or {answer, memory, latency_s, tokens}. Without either, the
    bundled example answers are compared.
    """
    folders = [path for path in sources if path.is_dir()]
    if folders and len(folders) == len(sources):
        comparing.run_on_runs(sources, per_case=per_case, keep=False, **flags)
        return
    if len(sources) > 1:
        for path in sources:
            if not path.exists():
                raise InputError(f"{path}: no such file or folder. Name runs, or one responses file.")
        raise click.UsageError("Name one responses file, or runs.")
    responses = sources[0] if sources else None
    if responses is not None and not responses.suffix and not responses.exists():
        raise InputError(
            f"{responses}: no such file or folder. Name a run, a folder of runs, or a responses JSON."
        )

    def answers(suite: Suite) -> Responses:
        from harness.resources import example_responses
        from harness.scoring import load_responses

        return load_responses(responses or example_responses(), suite.ids)

    comparing.run(answers, responses, per_case=per_case, **flags)
