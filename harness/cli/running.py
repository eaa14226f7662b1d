"""What `run`, `score` and `compare` share: runs scored, shown as one table or two, and gated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import console, judging
from harness.errors import InputError

if TYPE_CHECKING:
    from harness.cli.pairing import Seat
    from harness.comparison import Comparison
    from harness.gates import Breach
    from harness.runs.comparing import Common
    from harness.runs.folder import RunFolder
    from harness.runs.manifest import Manifest
    from harness.scoring import Scorer
    from harness.settings import Resolved
    from harness.suite import Case, Suite


def suite_of(runs: Sequence[RunFolder], values: Mapping[str, Resolved]) -> Suite:
    """Return the suite that runs are scored against: the one named, else their own, else the bundled one."""
    from harness.suite import load_suite

    own = {run.manifest.suite for run in runs}
    path = values["suite"].value
    if path is None and len(own) == 1 and Path(found := next(iter(own))).exists():
        path = Path(found)
    return load_suite(path, gold=values["gold"].value)


def check_scorer(values: Mapping[str, Resolved]) -> None:
    """Refuse a scorer that cannot be had, a judge without a key too, before any work is done for it."""
    if values["scorer"].source != "default":
        judging.check(judging.scorer(values, {}))


def check_runs(
    manifests: Sequence[Manifest], values: Mapping[str, Resolved], outputs: Sequence[Path]
) -> None:
    """Refuse what cannot be made of runs, before any work is done for it.

    Raises:
        InputError: for a scorer of answers where there are none, or two tables in a format for one.
    """
    from harness.runs.comparing import check_answers, scorer_for

    if values["scorer"].source != "default":
        check_answers(manifests, str(values["scorer"].value).partition("(")[0])
    else:
        _check_tables(len({scorer_for(one) for one in manifests}), values["format"].value, outputs)


def seats(
    manifests: Sequence[Manifest], values: Mapping[str, Resolved], flags: Mapping[str, Any]
) -> list[Seat]:
    """Return the systems of the tables that `compared` will make of runs.

    Args:
        manifests: of the runs, under the labels that they have in the tables.
        values: the settings.
        flags: what the command line gave for a judge.
    """
    from harness.cli.pairing import Seat
    from harness.report.disclosure import typed
    from harness.runs.comparing import scorer_for
    from harness.runs.reading import reading_of
    from harness.scoring import find_scorer
    from harness.scoring.scorer import options_of

    named = judging.scorer(values, flags) if values["scorer"].source != "default" else None
    found = []
    for one in manifests:
        used = named or find_scorer(scorer_for(one))
        found.append(
            Seat(one.system.label, used.name, typed(used.name, options_of(used)), reading_of(one.reader))
        )
    return found


def _check_tables(count: int, format: str | None, outputs: Sequence[Path]) -> None:
    """Refuse a format that holds one comparison where there are two."""
    from harness.report import SINGLE, comparison_format_of

    single = [str(path) for path in outputs if comparison_format_of(path) in SINGLE]
    if count > 1 and (format in SINGLE or single):
        raise InputError(
            f"{', '.join(single) or format}: holds one comparison, and here are two, since some systems "
            "recall and others answer. Name one with --scorer evidence-recall or --scorer keyword-recall."
        )


def compared(
    runs: Sequence[RunFolder],
    suite: Suite,
    values: Mapping[str, Resolved],
    flags: Mapping[str, Any],
    *,
    keep: bool = False,
) -> list[Comparison]:
    """Return a comparison of runs, or two where some recall and some answer and no scorer is named.

    Args:
        runs: what to compare.
        suite: the cases that they were asked, or a part of them.
        values: the settings.
        flags: what the command line gave for a judge.
        keep: write each run's scores into its folder.
    """
    from harness.runs.comparing import check_memories, common_cases, default_scorer, standing
    from harness.scoring import find_scorer
    from harness.suite.hashing import case_hashes

    runs = told_apart(runs)
    hashes = case_hashes(suite)
    common = common_cases(suite, runs, hashes)
    kept = {run.path: standing(suite, run, hashes) if keep else common.suite.cases for run in runs}
    if values["scorer"].source != "default":
        used = judging.scorer(values, flags)
        check_memories(runs, used.name)
        with judging.watched(used):
            return [_comparison(runs, kept, common, used, values, keep)]
    judging.refuse_judge_flags(values, flags)
    groups: dict[str, list[RunFolder]] = {}
    for run in runs:
        groups.setdefault(default_scorer(run), []).append(run)
    return [
        _comparison(groups[name], kept, common, find_scorer(name), values, keep) for name in sorted(groups)
    ]


def told_apart(runs: Sequence[RunFolder]) -> list[RunFolder]:
    """Return runs under labels of their own: where two share one, each is called by its folder.

    Raises:
        InputError: for a run that is named twice.
    """
    from collections import Counter
    from dataclasses import replace

    for path, times in Counter(run.path.resolve() for run in runs).items():
        if times > 1:
            raise InputError(f"{path.name}: this run is named twice.")
    shared = Counter(run.manifest.system.label for run in runs)
    folders = Counter(run.path.name for run in runs)

    def called(run: RunFolder) -> RunFolder:
        system = run.manifest.system
        if shared[system.label] == 1:
            return run
        name = run.path.name if folders[run.path.name] == 1 else str(run.path)
        return type(run)(run.path, replace(run.manifest, system=replace(system, label=name)))

    return [called(run) for run in runs]


def _comparison(
    runs: Sequence[RunFolder],
    cases: Mapping[Path, Sequence[Case]],
    common: Common,
    scorer: Scorer,
    values: Mapping[str, Resolved],
    keep: bool,
) -> Comparison:
    """Compare runs over the cases common to all; what is kept of a run covers all cases of its own."""
    from harness.comparison import compare_scores
    from harness.runs.comparing import notes_on
    from harness.runs.folder import models_of
    from harness.runs.scoring import narrowed, rows, score_run

    threshold = values["pass_threshold"].value
    scored = []
    for run in runs:
        one = score_run(run, cases[run.path], scorer)
        if keep:
            judge = {"judge": who} if (who := getattr(scorer, "described", None)) else {}
            kept = ({**row, **judge} for row in rows(one, scorer, threshold))
            one.folder.write_scores(scorer.name, kept)
        scored.append(narrowed(one, common.suite))
    return compare_scores(
        common.suite,
        [one.scores for one in scored],
        scorer,
        threshold=threshold,
        source=", ".join(str(run.path) for run in runs),
        notes=[*common.notes, *notes_on(scored, common.suite.cases, scorer, threshold)],
        models=models_of(runs),
    )


def show(
    results: Sequence[Comparison],
    format: str | None,
    outputs: Sequence[Path],
    breaches: Sequence[Breach] = (),
    *,
    per_case: bool = False,
    evidence: bool = False,
    **beside: Any,
) -> None:
    """Print comparisons and write them to files.

    Args:
        results: one comparison, or two.
        format: what is printed, None for nothing.
        outputs: files to write.
        breaches: gates that are broken or could not be held.
        per_case: add the case-by-system matrix.
        evidence: show each case with the facts found and missing.
        beside: the suite, the runs and the answers, which the HTML report shows.

    Raises:
        InputError: for two comparisons in a format that holds one.
    """
    from harness.cli.gating import reader_may_leave

    _check_tables(len(results), format, outputs)
    with reader_may_leave():
        if format == "github":
            console.show_annotations(results, breaches)
        elif format is not None:
            for at, result in enumerate(results):
                if at:
                    click.echo()
                console.show_comparison(
                    result, format, per_case=per_case, evidence=evidence, breaches=breaches, **beside
                )
    console.write_all(results, outputs, per_case=per_case, evidence=evidence, breaches=breaches, **beside)


@contextmanager
def progress(of: str) -> Iterator[Any]:
    """Draw a bar on the terminal's error stream; elsewhere nothing is drawn."""
    import sys

    from harness.cli.streams import is_terminal

    if not is_terminal(sys.stderr):
        yield lambda tick: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(of),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}"),
        TextColumn("{task.fields[last]}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(of, total=None, failed="", last="")

        def tick(now: Any) -> None:
            last = f"{now.system} · {now.record.case}" if now.record else ""
            failed = f"{now.failed} failed" if now.failed else ""
            bar.update(task, total=now.of, completed=now.done, failed=failed, last=last)

        yield tick
