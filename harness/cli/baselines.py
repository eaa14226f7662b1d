"""What `--not-below` names: another system of the table, a JSON report, or a run; and whether it fits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.cli.pairing import Named, Paired, Seat, Side, beside, paired
from harness.errors import InputError

if TYPE_CHECKING:
    from harness.cli.gating import Measuring
    from harness.comparison import Comparison
    from harness.gates import Against
    from harness.runs.folder import RunFolder
    from harness.scoring import SystemScores
    from harness.suite import Suite

_FEW = 5

Rewards = dict[str, dict[str, float]]
"""By system and case; what has no reward is left out."""


class Found(NamedTuple):
    """Who is held against what, and what has to be said of the others."""

    pairs: list[Against]
    lines: list[str]


def named(text: str, systems: Sequence[str]) -> Named:
    """Return what `[SYSTEM=]BASELINE` names; a label may hold `=` itself.

    Raises:
        InputError: when it names nothing, or a system and a file.
    """
    splits = [at for at, char in enumerate(text) if char == "="]
    parts = [(None, text), *((text[:at], text[at + 1 :]) for at in splits if text[:at] in systems)]
    found = []
    for gated, base in parts:
        if base in systems and base != gated:
            found.append(Named(text, gated, base, None))
        if base and Path(base).exists():
            found.append(Named(text, gated, base, Path(base)))
    if len(found) > 1:
        raise InputError(f"--not-below {text}: is a system and a file. Write ./ before the file's name.")
    if not found:
        raise InputError(
            f"--not-below {text}: is no JSON report, no run and no other system of the table "
            f"({', '.join(systems)})."
        )
    return found[0]


def check(base: Named, whole: Suite) -> None:
    """Refuse a baseline that was asked other cases than the suite has.

    Raises:
        InputError: naming some of the cases.
    """
    if base.path is None:
        return
    if base.path.is_dir():
        _same_cases(base, _runs(base), whole)
    else:
        _same_suite(base, _report(base), whole)


def check_pairs(text: str, seats: Sequence[Seat], asked: Collection[str]) -> None:
    """Refuse, before any work is done, a baseline that the tables to come could not be held against.

    Args:
        text: the baseline as it was written.
        seats: the systems that the tables will have.
        asked: the cases in them.

    Raises:
        InputError: for another scorer, another reader or budget, other systems, or no case in common.
    """
    base = named(text, [seat.label for seat in seats])
    if base.path is None:
        beside(base, seats)
        return
    for pair in _paired(base, seats)[0].pairs:
        if pair.side.cases.isdisjoint(asked):
            raise InputError(
                f"{base.gate}: {pair.seat.label} and {pair.name(base)} have no scored case in common."
            )


def against(text: str, results: Sequence[Comparison], by: Measuring) -> Found:
    """Return who is held against what, and what the baseline says nothing of.

    Raises:
        InputError: for a baseline of other cases, another scorer, another reader or budget, or other systems.
    """
    from harness.gates import Against

    seats = _seats(results, by.runs)
    base = named(text, [seat.label for seat in seats])
    check(base, by.whole)
    tables = {result.scorer: result for result in results}
    if base.path is None:
        made, rewards = beside(base, seats), _rewards_of(base.base, results)
    else:
        made, source = _paired(base, seats)
        if isinstance(source, dict):
            _check_judge(base, source, tables[source["scorer"]])
            rewards = _reported(base, source)
        else:
            rewards = {}
            for side in dict.fromkeys(pair.side for pair in made.pairs):
                run = next(run for run in source if run.manifest.system.label == side.label)
                scored = _scored(run, tables[side.scorer], by)
                rewards[side.label] = _rewards(scored.systems[0])
    pairs = [
        Against(
            tables[pair.seat.scorer],
            pair.seat.label,
            rewards[pair.side.label],
            base.gate,
            pair.name(base),
        )
        for pair in made.pairs
    ]
    return Found(pairs, made.lines)


def _seats(results: Sequence[Comparison], runs: Sequence[RunFolder]) -> list[Seat]:
    """Return the systems of tables."""
    from harness.report.disclosure import scorer_spec
    from harness.runs.reading import reading_of

    here = {run.manifest.system.label: reading_of(run.manifest.reader) for run in runs}
    return [
        Seat(system.system, result.scorer, scorer_spec(result), here.get(system.system))
        for result in results
        for system in result.systems
    ]


def _paired(base: Named, seats: Sequence[Seat]) -> tuple[Paired, dict[str, Any] | list[RunFolder]]:
    """Pair the systems of the tables with those of a report or of runs; return the report or the runs too."""
    assert base.path is not None
    if base.path.is_dir():
        runs = _runs(base)
        return paired(base, seats, [_side_of_run(base, run, seats) for run in runs]), runs
    report = _report(base)
    return paired(base, seats, _sides_of_report(base, report, seats)), report


def _rewards_of(label: str, results: Sequence[Comparison]) -> Rewards:
    every = (system for result in results for system in result.systems)
    return {label: _rewards(next(system for system in every if system.system == label))}


def _rewards(system: SystemScores) -> dict[str, float]:
    return {score.case_id: score.reward for score in system.scores if score.reward is not None}


# ---- a JSON report --------------------------------------------------------------------


def _report(base: Named) -> dict[str, Any]:
    from harness.report.fitting import load_report

    assert base.path is not None
    return load_report(base.path)


def _same_suite(base: Named, report: Mapping[str, Any], whole: Suite) -> None:
    """Refuse a report whose cases do not stand in the suite as they were asked."""
    from harness.report.fitting import asked
    from harness.suite import Suite

    ids = set(asked(report))
    part = Suite(whole.root, tuple(case for case in whole if case.id in ids))
    gone = sorted(ids - set(part.ids))
    if gone or part.hash != report["suite"]["hash"]:
        why = f"{_few(gone)} not in {whole.root}" if gone else f"their wording in {whole.root} is another"
        raise InputError(
            f"--not-below {base.text}: was measured on other cases: {why}. Make the baseline anew."
        )


def _sides_of_report(base: Named, report: Mapping[str, Any], seats: Sequence[Seat]) -> list[Side]:
    """Return what a report holds.

    Raises:
        InputError: for another scorer, or other options of it.
    """
    from harness.report.fitting import readings, scorer_of

    specs = {seat.scorer: seat.spec for seat in seats}
    scorer = report["scorer"]
    if scorer not in specs:
        raise InputError(f"--not-below {base.text}: was scored by {scorer}, this by {' and '.join(specs)}.")
    used, now = scorer_of(report), specs[scorer]
    if used is not None and "(" in now and used != now:
        raise InputError(f"--not-below {base.text}: was scored by {used}, this by {now}.")
    read = readings(report)
    return [
        Side(label, scorer, read.get(label), frozenset(rewards))
        for label, rewards in _reported(base, report).items()
    ]


def _check_judge(base: Named, report: Mapping[str, Any], result: Comparison) -> None:
    """Refuse a report of another judge."""
    if _judge(report) != _judge(_judge_data(result)):
        raise InputError(f"--not-below {base.text}: was judged by another judge, or with other prompts.")


def _judge_data(result: Comparison) -> dict[str, Any]:
    if result.judge is None:
        return {}
    from harness.report.judged import as_data

    return {"judge": as_data(result.judge)}


def _judge(data: Mapping[str, Any]) -> tuple[Any, ...] | None:
    judge = data.get("judge")
    if not isinstance(judge, Mapping):
        return None
    names = sorted(str(one.get("judge")) for one in judge.get("judges", ()) if isinstance(one, Mapping))
    return (names, *(judge.get(name) for name in ("prompt_hash", "per_criterion", "with_transcript")))


def _reported(base: Named, report: Mapping[str, Any]) -> Rewards:
    """Return the rewards of a report.

    Raises:
        InputError: for what is no reward, and for a system or a case that stands in it twice.
    """
    found: Rewards = {}
    for system in report["systems"]:
        if system["system"] in found:
            raise InputError(f"--not-below {base.text}: holds the system {system['system']} twice.")
        rewards = found[system["system"]] = {}
        seen: set[str] = set()
        for case in system["cases"]:
            if case["test_id"] in seen:
                raise InputError(
                    f"--not-below {base.text}: holds {case['test_id']} of {system['system']} twice."
                )
            seen.add(case["test_id"])
            reward = case.get("reward")
            if reward is None:
                continue
            if isinstance(reward, bool) or not isinstance(reward, int | float) or not 0 <= reward <= 1:
                raise InputError(f"--not-below {base.text}: the reward of {case['test_id']} is {reward!r}.")
            rewards[case["test_id"]] = float(reward)
    return found


# ---- a run, or a folder of runs -------------------------------------------------------


def _runs(base: Named) -> list[RunFolder]:
    from harness.runs.folder import find_runs, newest

    assert base.path is not None
    return newest(find_runs(base.path))[0]


def _same_cases(base: Named, runs: Sequence[RunFolder], whole: Suite) -> None:
    """Refuse runs that were asked cases otherwise than they stand in the suite."""
    from harness.suite.hashing import case_hashes

    hashes = case_hashes(whole)
    for run in runs:
        other = sorted(name for name, held in run.manifest.cases.items() if hashes.get(name) != held)
        if other:
            raise InputError(
                f"--not-below {base.text}: was asked other cases than {whole.root} has: {_few(other)}. "
                "Run it again, or name its --suite and --gold."
            )


def _side_of_run(base: Named, run: RunFolder, seats: Sequence[Seat]) -> Side:
    """Return a run as what is held against the table with its label, else against that of its scorer."""
    from harness.runs.comparing import default_scorer
    from harness.runs.reading import reading_of

    label = run.manifest.system.label
    tables = {seat.label: seat.scorer for seat in seats}
    scorer = tables.get(base.gated or label) or default_scorer(run)
    if scorer not in tables.values():
        scorer = next(iter(tables.values()))
    return Side(label, scorer, reading_of(run.manifest.reader), frozenset(run.manifest.cases))


def _scored(run: RunFolder, result: Comparison, by: Measuring) -> Comparison:
    """Score a run as a table was scored."""
    from harness.cli import running

    scorer = by.values["scorer"]
    if scorer.source == "default":
        scorer = scorer._replace(value=result.scorer, source="the table")
    (made,) = running.compared([run], by.asked, {**by.values, "scorer": scorer}, by.flags)
    return made


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + more
