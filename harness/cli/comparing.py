"""What `compare` and `batch` have in common: from the flags to a comparison, shown and gated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from harness.cli import console, gating, judging, options, running
from harness.errors import InputError

if TYPE_CHECKING:
    from harness.comparison import Comparison
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

    gates = gating.gates_of(flags, flags["max_errors"])
    values = _checked(flags, source, *gates.files)
    whole, asked = options.chosen_suite(values, flags["layer"], flags["cases"])
    used = judging.scorer(values, flags)
    given = answers(whole)
    gates.check(list(given.systems), asked, whole)
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
    held = gates.hold([result], gating.Measuring(whole, asked, values, flags))
    running.show(
        [result], values["format"].value, flags["output"], held.breaches,
        per_case=per_case, evidence=evidence, suite=whole, answers=given.systems,
    )  # fmt: skip
    held.close()


def _only_recalled(given: Responses) -> bool:
    """Say whether there is not one answer in words, and something that was recalled."""
    every = [answer for answers in given.systems.values() for answer in answers.values()]
    return all(answer.text is None for answer in every) and any(answer.memory is not None for answer in every)


class Ran(NamedTuple):
    """Runs that were compared: the runs, the suite, its cases that were asked for, the settings, the tables."""

    runs: list[RunFolder]
    whole: Suite
    asked: Suite
    values: Mapping[str, Resolved]
    results: list[Comparison]


def run_on_runs(paths: Sequence[Path], *, per_case: bool, keep: bool, **flags: Any) -> None:
    """Compare runs with the flags of `options.comparison_options`; print, write and gate the result.

    Args:
        paths: runs, or folders of runs.
        per_case: add the case-by-system matrix.
        keep: write each run's scores into its folder.
        flags: what the command line gave for the shared options.
    """
    if flags["partial"]:
        raise InputError("--partial is for responses files; runs are compared over the cases all were asked.")
    gates = gating.gates_of(flags, flags["max_errors"])
    ran = compared(paths, flags, gates, keep=keep)
    held = gates.hold(ran.results, gating.Measuring(ran.whole, ran.asked, ran.values, flags))
    running.show(
        ran.results, ran.values["format"].value, flags["output"], held.breaches,
        per_case=per_case, suite=ran.whole, runs=ran.runs,
    )  # fmt: skip
    held.close()


def compared(
    paths: Sequence[Path], flags: Mapping[str, Any], gates: gating.Gates, *, keep: bool = False
) -> Ran:
    """Compare runs; see `run_on_runs`."""
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
            f"left out, since a later run of the same system over as many cases or more is there: {shown}. "
            "Name their folders to compare them.",
            err=True,
        )
    values = _checked(flags, *gates.files, *(run.path / "manifest.json" for run in runs))
    whole = asked = running.suite_of(runs, values)
    if flags["layer"] or flags["cases"]:
        asked = options.part_of(whole, flags["layer"], flags["cases"])
    gates.check([run.manifest.system.label for run in running.told_apart(runs)], asked, whole)
    return Ran(runs, whole, asked, values, running.compared(runs, asked, values, flags, keep=keep))


def _checked(flags: Mapping[str, Any], *inputs: Path | None) -> Mapping[str, Resolved]:
    """Refuse what cannot be done before any work is; return the settings.

    Raises:
        InputError: for outputs that would overwrite an input.
    """
    console.check_outputs(flags["output"], (*inputs, flags["gold"]), comparison=True)
    names = ("suite", "gold", "scorer", "pass_threshold", "format", *judging.SETTINGS)
    return options.settings(**{name: flags[name] for name in names})
