"""`recallbench batch`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import comparing, options
from harness.errors import ResponsesError

if TYPE_CHECKING:
    from harness.scoring import Responses
    from harness.suite import Suite


@click.command("batch", cls=options.JudgedCommand)
@click.argument("responses", type=click.Path(path_type=Path), metavar="RESPONSES.json")
@click.option("--system", metavar="NAME", help="Which system, where the file holds several.")
@options.comparison_options
@options.judge_options
def command(responses: Path, system: str | None, **flags: Any) -> None:
    """Score one system's answers case by case, with evidence.

    RESPONSES.json holds {test_id: answer}; an answer is a string or
    {answer, memory, latency_s, tokens}. With --partial only the cases that the file
    answers are asked.
    """

    def answers(suite: Suite) -> Responses:
        from harness.scoring import load_responses

        return _one_system(load_responses(responses, suite.ids), system)

    comparing.run(answers, responses, evidence=True, **flags)


def _one_system(given: Responses, wanted: str | None) -> Responses:
    """Return the answers of one system.

    Raises:
        ResponsesError: when there are several and none is named, or the named one is missing.
    """
    from harness.scoring import BATCH_SYSTEM, Responses

    names = ", ".join(given.systems)
    if wanted is None:
        if len(given.systems) > 1:
            raise ResponsesError(f"{given.source}: holds several systems ({names}). Name one with --system.")
        return given
    if wanted not in given.systems:
        held = "one unnamed system" if names == BATCH_SYSTEM else names
        raise ResponsesError(f"{given.source}: has no system {wanted!r}; it holds {held}.")
    return Responses({wanted: given.systems[wanted]}, given.source, given.note, given.models)
