"""Which cases several runs can be compared over, and what a reader of the table has to know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.errors import InputError
from harness.runs.folder import RunFolder
from harness.runs.reader import DEFAULT_BUDGET
from harness.runs.scoring import ScoredRun
from harness.scoring import Scored, Scorer
from harness.scoring.score import CaseScore
from harness.suite import Case, Suite

EVIDENCE_RECALL = "evidence-recall"
KEYWORD_RECALL = "keyword-recall"


class Common(NamedTuple):
    """The cases that all runs were asked, as they stand in the suite now, and notes on the others."""

    suite: Suite
    notes: tuple[str, ...]


def common_cases(suite: Suite, runs: Sequence[RunFolder]) -> Common:
    """Return the cases of a suite that every run was asked in the same wording.

    Raises:
        InputError: when there is none.
    """
    hashes = {case.id: Suite(suite.root, (case,)).hash for case in suite}
    every = {name for run in runs for name in run.manifest.cases}
    shared = {name for name in every if all(name in run.manifest.cases for run in runs)}
    same = {name for name in shared if all(run.manifest.cases[name] == hashes.get(name) for run in runs)}
    cases = tuple(case for case in suite if case.id in same)
    if not cases:
        raise InputError(
            f"{suite.root}: no case that {_names(runs)} were all asked stands there as it was asked. "
            "Name the suite of the runs with --suite, and the gold file, where they had one, with --gold."
        )
    notes = []
    if len(shared) < len(every):
        notes.append(
            f"{len(shared)} of the {len(every)} cases asked were asked of all; the others are left out."
        )
    gone = sorted(name for name in shared if name not in hashes)
    if gone:
        notes.append(f"Left out, since they are not among the cases looked at: {', '.join(gone)}.")
    changed = sorted(name for name in shared - same if name in hashes)
    if changed:
        notes.append(
            f"Not comparable and left out, since the case has changed since a run: {', '.join(changed)}."
        )
    return Common(Suite(suite.root, cases), tuple(notes))


def default_scorer(run: RunFolder) -> str:
    """Return the scorer that fits a run: evidence recall where nothing but memories came back."""
    return EVIDENCE_RECALL if run.manifest.reader.kind == "extractive" else KEYWORD_RECALL


def notes_on(runs: Sequence[ScoredRun], cases: Sequence[Case], scorer: Scorer) -> list[str]:
    """Return the notes for under a table of runs."""
    return [
        *_reader_notes([run.folder for run in runs]),
        *_uncut(runs),
        *_dateless(runs),
        *_failures(runs),
        *_cut(runs),
        *_repeats(runs),
        *_below_nothing(runs),
        *_cheaters(runs, cases, scorer),
    ]


def _reader_notes(runs: Sequence[RunFolder]) -> list[str]:
    """Say who read what; differing readers, models, prompts or budgets make rows not comparable."""
    read = [run for run in runs if run.manifest.reader.kind != "own"]
    cut = [run for run in read if run.manifest.reader.budget is not None]
    notes = []
    for what, values in (
        ("reader", {run.manifest.system.label: _reader(run) for run in read}),
        ("budget", {run.manifest.system.label: f"{run.manifest.reader.budget} words" for run in cut}),
    ):
        kinds = set(values.values())
        if len(kinds) > 1:
            each = ", ".join(f"{name} {value}" for name, value in values.items())
            notes.append(f"Not comparable, since the {what} differs: {each}.")
        elif kinds and what == "budget":
            notes.append(f"Each system's memories are cut to {kinds.pop()}, most relevant first.")
        elif kinds and any(run.manifest.reader.model for run in read):
            notes.append(f"Reader: {kinds.pop()}, the same prompt for every system.")
    return notes


def _reader(run: RunFolder) -> str:
    part = run.manifest.reader
    return part.kind if part.model is None else f"{part.model} (prompt {(part.prompt or '')[:8]})"


def _uncut(runs: Sequence[ScoredRun]) -> list[str]:
    budgets = [run.folder.manifest.reader.budget for run in runs]
    least = min((budget for budget in budgets if budget is not None), default=DEFAULT_BUDGET)
    names = [
        run.scores.system
        for run in runs
        if run.folder.manifest.system.kind == "control"
        and any((score.memory_words or 0) > least for score in run.scores.scores)
    ]
    return [f"Controls, not cut to the budget: {', '.join(names)}."] if names else []


def _dateless(runs: Sequence[ScoredRun]) -> list[str]:
    names = [run.scores.system for run in runs if run.dateless and not run.dated]
    if not names:
        return []
    return [
        f"Timestamps lost (no recalled memory carries a date, though each conversation had one): {', '.join(names)}."
    ]


def _failures(runs: Sequence[ScoredRun]) -> list[str]:
    each = [
        f"{run.scores.system} {', '.join(f'{count} {kind}' for kind, count in sorted(run.failures.items()))}"
        for run in runs
        if run.failures
    ]
    return [f"System errors by kind (never a score): {'; '.join(each)}."] if each else []


def _cut(runs: Sequence[ScoredRun]) -> list[str]:
    each = [f"{run.scores.system} {run.cut}" for run in runs if run.cut]
    return (
        [f"Answers that ran into the reader's limit, scored as far as they go: {', '.join(each)}."]
        if each
        else []
    )


def _repeats(runs: Sequence[ScoredRun]) -> list[str]:
    most = max((run.folder.manifest.repeats for run in runs), default=1)
    return [f"Each case was asked {most} times; its reward is the mean over them."] if most > 1 else []


def _below_nothing(runs: Sequence[ScoredRun]) -> list[str]:
    """Warn where remembering nothing would have been better."""
    means = {run.scores.system: _mean(run.scores.scores) for run in runs}
    floor = next(
        (means[run.scores.system] for run in runs if run.folder.manifest.system.name == "no_memory"), None
    )
    if floor is None:
        return []
    below = [
        run.scores.system
        for run in runs
        if run.folder.manifest.system.kind not in ("control", "cheater")
        and (mean := means[run.scores.system]) is not None
        and mean < floor
    ]
    return [f"WARNING: below no_memory ({floor:.2f}): {', '.join(below)}."] if below else []


def _cheaters(runs: Sequence[ScoredRun], cases: Sequence[Case], scorer: Scorer) -> list[str]:
    """Warn where a system that knows nothing passes; declining is right where nothing was said."""
    if not scorer.has_pass:
        return []
    answerable = {case.id for case in cases if case.answerable}
    passing = []
    for run in runs:
        if run.folder.manifest.system.kind != "cheater":
            continue
        count = sum(bool(score.passed()) for score in run.scores.scores if score.case_id in answerable)
        if count:
            passing.append(f"{run.scores.system} {count}/{len(answerable)}")
    return [f"WARNING: a cheater passes answerable cases: {', '.join(passing)}."] if passing else []


def _mean(scores: Sequence[CaseScore]) -> float | None:
    rewards = [score.outcome.reward for score in scores if isinstance(score.outcome, Scored)]
    return sum(rewards) / len(rewards) if rewards else None


def _names(runs: Sequence[RunFolder]) -> str:
    return ", ".join(run.manifest.system.label for run in runs)
