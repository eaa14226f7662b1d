"""Which cases several runs can be compared over, and what a reader of the table has to know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from harness.errors import InputError
from harness.runs.folder import LOG, RunFolder
from harness.runs.manifest import Manifest
from harness.runs.reader import DEFAULT_BUDGET
from harness.runs.scoring import ScoredRun
from harness.scoring import PASS_THRESHOLD, Scored, Scorer
from harness.scoring.score import CaseScore
from harness.suite import Case, Suite
from harness.suite.hashing import case_hashes

EVIDENCE_RECALL = "evidence-recall"
KEYWORD_RECALL = "keyword-recall"
OF_ANSWERS = frozenset({KEYWORD_RECALL, "llm-judge", "exact-match", "token-f1"})
_NAMED = 5


class Common(NamedTuple):
    """The cases that all runs were asked, as they stand in the suite now, and notes on the others."""

    suite: Suite
    notes: tuple[str, ...]


def standing(suite: Suite, run: RunFolder, hashes: Mapping[str, str]) -> tuple[Case, ...]:
    """Return the cases of a suite that a run was asked in the wording that they have now.

    Args:
        suite: the cases.
        run: which was asked them, or others.
        hashes: of the cases as they are now.
    """
    return tuple(case for case in suite if run.manifest.cases.get(case.id) == hashes[case.id])


def by_suite(runs: Sequence[RunFolder]) -> list[list[RunFolder]]:
    """Return runs by the suite that they were asked, the order kept.

    Two runs are of one suite when its folder is the same, or when they share a case: a suite may
    have been moved, and a run may be over a part of it.
    """
    groups: list[tuple[set[str], set[str], list[RunFolder]]] = []
    for run in runs:
        own = ({run.manifest.suite}, set(run.manifest.cases), [run])
        near = [group for group in groups if group[0] & own[0] or group[1] & own[1]]
        for group in near:
            own = (group[0] | own[0], group[1] | own[1], group[2] + own[2])
        groups = [group for group in groups if group not in near] + [own]
    at = {id(run): place for place, run in enumerate(runs)}
    kept = [sorted(group[2], key=lambda run: at[id(run)]) for group in groups]
    return sorted(kept, key=lambda group: at[id(group[0])])


def common_cases(suite: Suite, runs: Sequence[RunFolder], hashes: Mapping[str, str] | None = None) -> Common:
    """Return the cases of a suite that every run was asked in the same wording.

    Args:
        suite: the cases.
        runs: which were asked them, or others.
        hashes: of the cases as they are now, where they are known already.

    Raises:
        InputError: when there is none.
    """
    hashes = case_hashes(suite) if hashes is None else hashes
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
            f"{len(shared)} of the {len(every)} cases asked were asked of all; "
            f"the others are left out: {_few(every - shared)}."
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
    return scorer_for(run.manifest)


def scorer_for(manifest: Manifest) -> str:
    """Return the scorer that fits what a run is; see `default_scorer`."""
    return EVIDENCE_RECALL if manifest.reader.kind == "extractive" else KEYWORD_RECALL


def check_answers(manifests: Sequence[Manifest], scorer: str) -> None:
    """Refuse a scorer of answers where nobody writes any.

    Raises:
        InputError: when every answer would be missing.
    """
    if scorer in OF_ANSWERS and all(scorer_for(manifest) == EVIDENCE_RECALL for manifest in manifests):
        raise InputError(
            f"--scorer {scorer}: these runs hold memories and no answers. "
            f"Use --scorer {EVIDENCE_RECALL}, or have a model answer: run --reader llm."
        )


def without_answers(runs: Sequence[RunFolder], scorer: str) -> list[RunFolder]:
    """Return the runs that a scorer of answers has nothing to score of, since they only recalled."""
    return [run for run in runs if default_scorer(run) == EVIDENCE_RECALL] if scorer in OF_ANSWERS else []


def check_memories(runs: Sequence[RunFolder], scorer: str) -> None:
    """Refuse evidence recall where nobody says what was recalled.

    Raises:
        InputError: when there are answers, and not one has a memory.
    """
    if scorer != EVIDENCE_RECALL:
        return
    answered = False
    for run in runs:
        for record in run.records():
            answer = record.as_answer()
            if answer.memory is not None:
                return
            answered = answered or answer.text is not None
    if answered:
        raise InputError(
            f"--scorer {scorer}: these runs hold answers and no memories. Use --scorer {KEYWORD_RECALL}, or "
            "run with --reader extractive, where the systems can recall."
        )


def notes_on(
    runs: Sequence[ScoredRun], cases: Sequence[Case], scorer: Scorer, threshold: float = PASS_THRESHOLD
) -> list[str]:
    """Return the notes for under a table of runs."""
    return [
        *_reader_notes([run.folder for run in runs]),
        *_uncut(runs),
        *_dateless(runs),
        *_failures(runs),
        *_cut(runs),
        *_over_limit(runs),
        *_repeats(runs),
        *_below_nothing(runs),
        *_cheaters(runs, cases, scorer, threshold),
    ]


def _reader_notes(runs: Sequence[RunFolder]) -> list[str]:
    """Say who read what; differing readers, models, prompts or budgets make rows not comparable."""
    read = [run for run in runs if run.manifest.reader.kind != "own"]
    cut = [run for run in read if run.manifest.reader.budget is not None]
    own = [run.manifest.system.label for run in runs if run.manifest.reader.kind == "own"]
    readers = {run.manifest.system.label: _reader(run) for run in read}
    budgets = {run.manifest.system.label: f"{run.manifest.reader.budget} words" for run in cut}
    limits = {run.manifest.system.label: f"{run.manifest.reader.limit} memories" for run in cut}
    notes = [
        f"Not comparable, since the {what} differs: {', '.join(f'{name} {value}' for name, value in each.items())}."
        for what, each in (("reader", readers), ("budget", budgets), ("recall limit", limits))
        if len(set(each.values())) > 1
    ]
    if len(set(readers.values())) == 1 and any(run.manifest.reader.model for run in read):
        notes.append(
            f"Reader: {next(iter(readers.values()))}, the same prompt for every system that it reads for."
        )
    if len(set(budgets.values())) == 1:
        notes.append(
            f"Each system's memories are cut to {next(iter(budgets.values()))}, most relevant first."
        )
    if own and read:
        notes.append(f"Answered by themselves, without the reader: {', '.join(own)}.")
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
    if not each:
        return []
    told = [
        f"{run.scores.system}, {run.first_failure}"
        + (f" (tracebacks: {LOG} of {run.folder.path.name})" if (run.folder.path / LOG).exists() else "")
        for run in runs
        if run.first_failure
    ]
    return [f"System errors by kind (never a score): {'; '.join(each)}.", f"The first one: {told[0]}"]


def _cut(runs: Sequence[ScoredRun]) -> list[str]:
    each = [f"{run.scores.system} {run.cut}" for run in runs if run.cut]
    return (
        [f"Answers that ran into the reader's limit, scored as far as they go: {', '.join(each)}."]
        if each
        else []
    )


def _over_limit(runs: Sequence[ScoredRun]) -> list[str]:
    each = [f"{run.scores.system} {run.over_limit}" for run in runs if run.over_limit]
    return (
        [f"Answers with more memories than asked for, of which the first were taken: {', '.join(each)}."]
        if each
        else []
    )


def _repeats(runs: Sequence[ScoredRun]) -> list[str]:
    counts = {run.scores.system: run.folder.manifest.repeats for run in runs}
    if max(counts.values(), default=1) == 1:
        return []
    spreads = [f"{run.scores.system} {told}" for run in runs if (told := _spread(run))]
    if len(set(counts.values())) == 1:
        told = f"Each case was asked {next(iter(counts.values()))} times; its reward is the mean over them."
    else:
        each = ", ".join(f"{name} {count}" for name, count in counts.items())
        told = f"Times that each case was asked; its reward is the mean over them: {each}."
    return [told, f"From run to run: {'; '.join(spreads)}."] if spreads else [told]


def _spread(run: ScoredRun) -> str:
    """Say how far apart the means of a run's repeats are, and how many cases differ."""
    if len(run.repeats) < 2 or not run.repeats[0]:
        return ""
    from harness.statistics.repeats import run_spread  # only runs with repeats need it

    spread = run_spread(run.repeats)
    return (
        f"means {spread.lowest:.2f}–{spread.highest:.2f}, sd {spread.sd:.3f}, "
        f"{spread.changed} of {spread.cases} cases differ"
    )


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


def _cheaters(
    runs: Sequence[ScoredRun], cases: Sequence[Case], scorer: Scorer, threshold: float
) -> list[str]:
    """Warn where a system that knows nothing passes; declining is right where nothing was said."""
    if not scorer.has_pass:
        return []
    answerable = {case.id for case in cases if case.answerable}
    passing = []
    for run in runs:
        if run.folder.manifest.system.kind != "cheater":
            continue
        count = sum(
            bool(score.passed(threshold)) for score in run.scores.scores if score.case_id in answerable
        )
        if count:
            passing.append(f"{run.scores.system} {count}/{len(answerable)}")
    return [f"WARNING: a cheater passes answerable cases: {', '.join(passing)}."] if passing else []


def _mean(scores: Sequence[CaseScore]) -> float | None:
    rewards = [score.outcome.reward for score in scores if isinstance(score.outcome, Scored)]
    return sum(rewards) / len(rewards) if rewards else None


def _few(names: Iterable[str]) -> str:
    """Return the first few names of a set, and how many more there are."""
    listed = sorted(names)
    more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
    return ", ".join(listed[:_NAMED]) + more


def _names(runs: Sequence[RunFolder]) -> str:
    return ", ".join(run.manifest.system.label for run in runs)
