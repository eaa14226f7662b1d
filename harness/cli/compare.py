"""`recallbench compare`."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli import console, options


@click.command("compare")
@click.argument("responses", type=click.Path(path_type=Path), required=False, metavar="[RESPONSES.json]")
@options.layer_option
@options.scorer_option
@options.gold_option
@options.suite_option
@options.threshold_option
@options.partial_option
@click.option("--per-case", is_flag=True, help="Add the case-by-system matrix.")
@options.format_option
@options.output_option
@options.fail_under_option
def command(
    responses: Path | None,
    layer: tuple[str, ...],
    scorer: str | None,
    gold: Path | None,
    suite: Path | None,
    pass_threshold: float | None,
    partial: bool,
    per_case: bool,
    format: str | None,
    output: tuple[Path, ...],
    fail_under: float | None,
) -> None:
    """Compare systems layer by layer from their answers.

    RESPONSES.json holds {system: {test_id: answer}}; an answer is a string or
    {answer, memory, latency_s, tokens}. Without it, the bundled illustrative answers
    are compared.
    """
    from harness.comparison import compare
    from harness.resources import bundled
    from harness.scoring import find_scorer, load_responses

    console.check_outputs(output)
    values = options.settings(
        suite=suite, gold=gold, scorer=scorer, pass_threshold=pass_threshold, format=format
    )
    whole, asked = options.chosen_suite(values, layer)
    given = load_responses(responses or bundled("fixtures") / "system_responses.example.json", whole.ids)
    result = compare(
        asked,
        given,
        scorer=find_scorer(values["scorer"].value),
        partial=partial,
        threshold=values["pass_threshold"].value,
    )
    console.show_comparison(result, values["format"].value, per_case=per_case)
    console.write_outputs(result, output, per_case=per_case)
    console.gate(result, fail_under)
