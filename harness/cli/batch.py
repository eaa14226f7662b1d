"""`recallbench batch`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import console, options
from harness.errors import ResponsesError

if TYPE_CHECKING:
    from harness.scoring import Responses


@click.command("batch")
@click.argument("responses", type=click.Path(path_type=Path), metavar="RESPONSES.json")
@click.option("--system", metavar="NAME", help="Which system, where the file holds several.")
@options.layer_option
@options.scorer_option
@options.gold_option
@options.suite_option
@options.threshold_option
@options.partial_option
@options.format_option
@options.output_option
@options.fail_under_option
def command(
    responses: Path,
    system: str | None,
    layer: tuple[str, ...],
    scorer: str | None,
    gold: Path | None,
    suite: Path | None,
    pass_threshold: float | None,
    partial: bool,
    format: str | None,
    output: tuple[Path, ...],
    fail_under: float | None,
) -> None:
    """Score one system's answers case by case, with evidence.

    RESPONSES.json holds {test_id: answer}; an answer is a string or
    {answer, memory, latency_s, tokens}. With --partial only the cases that the file
    answers are asked.
    """
    from harness.comparison import compare
    from harness.scoring import find_scorer, load_responses

    console.check_outputs(output)
    values = options.settings(
        suite=suite, gold=gold, scorer=scorer, pass_threshold=pass_threshold, format=format
    )
    whole, asked = options.chosen_suite(values, layer)
    given = _one_system(load_responses(responses, whole.ids), system)
    result = compare(
        asked,
        given,
        scorer=find_scorer(values["scorer"].value),
        partial=partial,
        threshold=values["pass_threshold"].value,
    )
    console.show_comparison(result, values["format"].value, evidence=True)
    console.write_outputs(result, output, evidence=True)
    console.gate(result, fail_under)


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
    return Responses({wanted: given.systems[wanted]}, given.source, given.note)
