"""What `compare` and `batch` have in common: from the flags to a comparison, shown and gated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import console, judging, options, running
from harness.errors import InputError

if TYPE_CHECKING:
    from harness.runs.folder import RunFolder
    from harness.scoring import Responses
    from harness.settings import Resolved
    from harness.suite import Suite


def run(
    answers: Callable[[Suite], Responses],
    source: Path | None,
    *,
    per_case: bool = False,
    evidence: bool = False,
    **flags: Any,
) -> None:
    """Score answers with the flags of `options.comparison_options`; print, write and gate the result.

    Args:
        answers: reads the answers against the whole suite.
        source: the file they are read from, where the user named one.
        per_case: add the case-by-system matrix.
        evidence: show each case with the facts found and missing.
        flags: what the command line gave for the shared options.
    """
    from harness.comparison import compare
    from harness.scoring import find_scorer

    values = _checked(flags, source)
    whole, asked = options.chosen_suite(values, flags["layer"], flags["cases"])
    used = judging.scorer(values, flags)
    given = answers(whole)
    if values["scorer"].source == "default" and _only_recalled(given):
        used = find_scorer("evidence-recall")  # an export of runs without answers
    with judging.watched(used):
        result = compare(
            asked, given, scorer=used, partial=flags["partial"], threshold=values["pass_threshold"].value
        )
    if evidence and result.judge is not None:
        from dataclasses import replace

        from harness.scoring.judge.disagreement import disagreements

        found = disagreements(asked, result.systems, given.systems)
        result = replace(result, judge=result.judge._replace(disagreements=found))
    console.show_comparison(result, values["format"].value, per_case=per_case, evidence=evidence)
    console.write_outputs(result, flags["output"], per_case=per_case, evidence=evidence)
    judging.gate(result, flags["max_errors"])
    console.gate(result, flags["fail_under"])


def _only_recalled(given: Responses) -> bool:
    """Say whether there is not one answer in words, and something that was recalled."""
    every = [answer for answers in given.systems.values() for answer in answers.values()]
    return all(answer.text is None for answer in every) and any(answer.memory is not None for answer in every)


def run_on_runs(paths: Sequence[Path], *, per_case: bool, keep: bool, **flags: Any) -> None:
    """Compare runs with the flags of `options.comparison_options`; print, write and gate the result.

    Args:
        paths: runs, or folders of runs.
        per_case: add the case-by-system matrix.
        keep: write each run's scores into its folder.
        flags: what the command line gave for the shared options.
    """
    from harness.runs.folder import find_runs, newest

    runs: list[RunFolder] = []
    older: list[RunFolder] = []
    for path in paths:  # a run that is named itself is taken, whatever lies beside it
        kept, earlier = newest(find_runs(path))
        runs += kept
        older += earlier
    if older:
        shown = ", ".join(run.path.name for run in older[:5]) + (" …" if len(older) > 5 else "")
        click.echo(
            f"left out, since a later run of the same system is there: {shown}. Name their folders to compare them.",
            err=True,
        )
    values = _checked(flags, *(run.path / "manifest.json" for run in runs))
    suite = running.suite_of(runs, values)
    if flags["layer"] or flags["cases"]:
        suite = options.part_of(suite, flags["layer"], flags["cases"])
    if flags["partial"]:
        raise InputError("--partial is for responses files; runs are compared over the cases all were asked.")
    results = running.compared(runs, suite, values, flags, keep=keep)
    running.show(results, values["format"].value, flags, per_case=per_case)
    for result in results:
        judging.gate(result, flags["max_errors"])
        console.gate(result, flags["fail_under"])


def _checked(flags: Mapping[str, Any], *inputs: Path | None) -> Mapping[str, Resolved]:
    """Refuse what cannot be done before any work is; return the settings.

    Raises:
        InputError: for outputs that would overwrite an input, or a gate over part of the answers.
    """
    console.check_outputs(flags["output"], (*inputs, flags["gold"]))
    if flags["partial"] and flags["fail_under"] is not None:
        raise InputError(
            "--fail-under does not go with --partial: a gate must not be passed by not answering. "
            "Leave out --partial; what is missing then counts as 0."
        )
    names = ("suite", "gold", "scorer", "pass_threshold", "format", *judging.SETTINGS)
    return options.settings(**{name: flags[name] for name in names})
