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


_EVIDENCE_RECALL = "evidence-recall"


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
    with gating.annotated(values["format"].value):
        gates.check(list(given.systems), asked, whole)
    if values["scorer"].source == "default" and _only_recalled(given):
        used = find_scorer(_EVIDENCE_RECALL)  # an export of runs without answers
    _check_scorable(given, asked, used.name)
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
        [result], values["format"].value, flags["output"], held.shown,
        per_case=per_case, evidence=evidence, suite=whole, answers=given.systems,
    )  # fmt: skip
    held.close()


def _check_scorable(given: Responses, asked: Suite, scorer: str) -> None:
    """Refuse a scorer of memories where there are answers only, and the other way round.

    Raises:
        InputError: when every answer would be missing.
    """
    if _only_recalled(given):
        from harness.runs.comparing import OF_ANSWERS

        if scorer in OF_ANSWERS:
            raise InputError(
                f"--scorer {scorer}: there are memories and no answers. Use --scorer {_EVIDENCE_RECALL}, or add "
                "the answers."
            )
    ids = set(asked.ids)
    every = [one for answers in given.systems.values() for name, one in answers.items() if name in ids]
    if (
        scorer == _EVIDENCE_RECALL
        and any(one.text is not None for one in every)
        and all(one.memory is None for one in every)
    ):
        raise InputError(
            f"--scorer {scorer}: there are answers and no memories. Use --scorer keyword-recall, or write "
            "each answer as {answer, memory} with what was recalled for it."
        )


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
    held = gates.hold(
        ran.results, gating.Measuring(ran.whole, ran.asked, ran.values, flags, running.told_apart(ran.runs))
    )
    running.show(
        ran.results, ran.values["format"].value, flags["output"], held.shown,
        per_case=per_case, suite=ran.whole, runs=ran.runs,
    )  # fmt: skip
    held.close()


def compared(
    paths: Sequence[Path], flags: Mapping[str, Any], gates: gating.Gates, *, keep: bool = False
) -> Ran:
    """Compare runs; see `run_on_runs`."""
    from harness.runs.folder import find_runs, newest

    found = [find_runs(path) for path in paths]
    every = [run for group in found for run in group]
    values = _checked(flags, *gates.files, *(run.path / "manifest.json" for run in every))
    whole = asked = _one_suite(every, values)
    runs: list[RunFolder] = []
    older: list[RunFolder] = []
    foreign = [run for run in every if run.manifest.cases.keys().isdisjoint(whole.ids)]
    if len(foreign) == len(every):  # the error to come says it
        foreign = []
    for path, group in zip(paths, found, strict=True):
        # A run that is named itself is taken, whatever lies beside it.
        kept, earlier = newest([run for run in group if run.path == path or run not in foreign])
        runs += kept
        older += earlier
    foreign = [run for run in foreign if run not in runs]
    if foreign:
        _leave_out(foreign, f"since none of their cases is in {whole.root}", "Name their --suite")
    empty = [run for run in older if not run.has_answers]
    if empty:
        _leave_out(empty, "since nothing was answered yet", "Name their folders")
    if older := [run for run in older if run.has_answers]:
        reason = "since a later run of the same system over as many cases or more is there"
        _leave_out(older, reason, "Name their folders")
    runs = _with_answers(runs, values, gates)
    if flags["layer"] or flags["cases"]:
        asked = options.part_of(whole, flags["layer"], flags["cases"])
    running.check_runs([run.manifest for run in runs], values, flags["output"])
    with gating.annotated(values["format"].value):
        gates.check([run.manifest.system.label for run in running.told_apart(runs)], asked, whole)
    return Ran(runs, whole, asked, values, running.compared(runs, asked, values, flags, keep=keep))


def _one_suite(runs: Sequence[RunFolder], values: Mapping[str, Resolved]) -> Suite:
    """Return the suite of runs.

    Raises:
        InputError: when they were asked several suites and none is named.
    """
    from harness.runs.comparing import by_suite

    groups = by_suite(runs)
    if len(groups) > 1 and values["suite"].value is None:
        told = "; ".join(
            f"{group[0].manifest.suite} ({', '.join(run.path.name for run in group[:3])}"
            f"{' …' if len(group) > 3 else ''})"
            for group in groups
        )
        raise InputError(f"the runs are over {len(groups)} suites: {told}. Name one with --suite.")
    return running.suite_of(runs, values)


def _with_answers(
    runs: list[RunFolder], values: Mapping[str, Resolved], gates: gating.Gates
) -> list[RunFolder]:
    """Return the runs that the scorer has something to score of; the others are named.

    Raises:
        InputError: when some have nothing, and a gate would be passed by not answering.
    """
    from harness.runs.comparing import without_answers
    from harness.scoring.scorer import scorer_name

    if values["scorer"].source == "default":
        return runs
    scorer = scorer_name(values["scorer"].value)
    left = without_answers(runs, scorer)
    if not left or len(left) == len(runs):  # of all of them the error to come says it
        return runs
    if gates.floors or gates.baselines:
        raise InputError(
            f"--scorer {scorer}: {', '.join(run.path.name for run in left)} hold memories and no answers, and a "
            "gate must not be passed by not answering. Name the runs that hold answers."
        )
    _leave_out(left, f"since they hold memories and no answers for {scorer}", "Run them with --reader llm")
    return [run for run in runs if run not in left]


def _leave_out(runs: Sequence[RunFolder], reason: str, mend: str) -> None:
    shown = ", ".join(run.path.name for run in runs[:5]) + (" …" if len(runs) > 5 else "")
    click.echo(f"left out, {reason}: {shown}. {mend} to compare them.", err=True)


def _checked(flags: Mapping[str, Any], *inputs: Path | None) -> Mapping[str, Resolved]:
    """Refuse what cannot be done before any work is; return the settings.

    Raises:
        InputError: for outputs that would overwrite an input.
    """
    console.check_outputs(flags["output"], (*inputs, flags["gold"]), comparison=True)
    names = ("suite", "gold", "scorer", "pass_threshold", "format", *judging.SETTINGS)
    return options.settings(**{name: flags[name] for name in names})
