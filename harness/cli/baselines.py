"""What `--not-below` names: another system of the table, a JSON report, or a run; and whether it fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.errors import InputError

if TYPE_CHECKING:
    from harness.cli.gating import Measuring
    from harness.comparison import Comparison
    from harness.gates import Against
    from harness.runs.folder import RunFolder
    from harness.runs.reading import Reading
    from harness.scoring import SystemScores
    from harness.suite import Suite

_FEW = 5


class Named(NamedTuple):
    """A baseline by name.

    Attributes:
        text: as it was written.
        gated: the one system that is held against it; None for every one.
        base: the other system, or the path.
        path: None for a system.
    """

    text: str
    gated: str | None
    base: str
    path: Path | None


Rewards = dict[str, dict[str, float]]
"""By system and case; what has no reward is left out."""


class Side(NamedTuple):
    """What a baseline holds against one table.

    Attributes:
        result: the table.
        rewards: by system and case.
        readings: by system, what it was read with, as far as that is known.
    """

    result: Comparison
    rewards: Rewards
    readings: dict[str, Reading]


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
        _runs(base, whole)
    else:
        _report(base, whole)


def against(text: str, results: Sequence[Comparison], by: Measuring) -> Found:
    """Return who is held against what, and what the baseline says nothing of.

    Raises:
        InputError: for a baseline of other cases, another scorer, another reader or budget, or other systems.
    """
    base = named(text, [system.system for result in results for system in result.systems])
    here = _readings(by.runs)
    if base.path is None:
        return Found(_other_system(base, results, here), [])
    sides: list[Side] = []
    if base.path.is_dir():
        for run in _runs(base, by.whole):
            result = _fitting(base, run, results)
            label = run.manifest.system.label
            made = _scored(run, result, by)
            _add(sides, Side(result, {label: _rewards(made.systems[0])}, _readings([run])))
    else:
        from harness.report.fitting import readings

        report = _report(base, by.whole)
        result = _of_scorer(base, report, results)
        _add(sides, Side(result, _reported(base, report), readings(report)))
    pairs: list[Against] = []
    left: list[str] = []
    unknown: list[str] = []
    for side in sides:
        found = _matched(base, side)
        pairs += found.values()
        systems = [one.system for one in side.result.systems]
        left += [name for name in systems if name not in {label for label, _ in found}]
        for label, other in found:
            if not _same_reading(base, (label, here.get(label)), (other, side.readings.get(other))):
                unknown.append(label)
    lines = []
    if left and base.gated is None:
        lines.append(f"holds nothing of, and does not gate: {', '.join(left)}")
    if unknown:
        lines.append(f"is not known to have the same reader and budget: {', '.join(unknown)}")
    return Found(pairs, [f"--not-below {base.text}: {line}" for line in lines])


def _readings(runs: Sequence[RunFolder]) -> dict[str, Reading]:
    from harness.runs.reading import reading_of

    return {run.manifest.system.label: reading_of(run.manifest.reader) for run in runs}


def _same_reading(base: Named, now: tuple[str, Reading | None], before: tuple[str, Reading | None]) -> bool:
    """Say whether both were read alike, as far as can be known: False where only one of them says.

    Raises:
        InputError: when they were not.
    """
    from harness.runs.reading import differences

    (label, held), (other, held_before) = now, before
    if held is None or held_before is None:
        return held is held_before
    found = list(differences(held, held_before, same=label == other))
    if found:
        anew = "Run them alike." if base.path is None else "Make the baseline anew, or run as it was run."
        raise InputError(
            f"--not-below {base.text}: {other} is not comparable with {label}: {'; '.join(found)}. {anew}"
        )
    return True


def _other_system(base: Named, results: Sequence[Comparison], here: Mapping[str, Reading]) -> list[Against]:
    from harness.gates import Against

    result = next(one for one in results if any(system.system == base.base for system in one.systems))
    rewards = _rewards(next(system for system in result.systems if system.system == base.base))
    labels = [system.system for system in result.systems if system.system != base.base]
    if base.gated is not None and base.gated not in labels:
        raise InputError(
            f"--not-below {base.text}: the two stand in tables of different scorers. Name one with --scorer."
        )
    if not labels:
        raise InputError(f"--not-below {base.text}: there is no other system to hold against it.")
    gate = f"--not-below {base.text}"
    held = [label for label in labels if base.gated in (None, label)]
    for label in held:
        _same_reading(base, (label, here.get(label)), (base.base, here.get(base.base)))
    return [Against(result, label, rewards, gate, base.base) for label in held]


def _matched(base: Named, side: Side) -> dict[tuple[str, str], Against]:
    """Pair the systems of a table with those of a baseline by label; a baseline of one is for all of them."""
    from harness.gates import Against

    result, rewards, _ = side
    labels = [system.system for system in result.systems if base.gated in (None, system.system)]
    pairs = [(label, label) for label in labels if label in rewards]
    if not pairs and len(rewards) == 1:
        pairs = [(label, next(iter(rewards))) for label in labels]
    if not pairs:
        raise InputError(
            f"--not-below {base.text}: holds {', '.join(rewards)}, and nothing of {', '.join(labels)}. "
            "Name a baseline of the same systems, or of one."
        )
    gate = f"--not-below {base.text}"
    return {
        (label, other): Against(
            result,
            label,
            rewards[other],
            gate,
            base.base if label == other else f"{other} in {base.base}",
        )
        for label, other in pairs
    }


def _add(sides: list[Side], side: Side) -> None:
    for held in sides:
        if held.result is side.result:
            held.rewards.update(side.rewards)
            held.readings.update(side.readings)
            return
    sides.append(side)


def _rewards(system: SystemScores) -> dict[str, float]:
    return {score.case_id: score.reward for score in system.scores if score.reward is not None}


# ---- a JSON report --------------------------------------------------------------------


def _report(base: Named, whole: Suite) -> dict[str, Any]:
    """Read a report whose cases stand in the suite as they were asked."""
    from harness.report.fitting import asked, load_report
    from harness.suite import Suite

    assert base.path is not None
    report = load_report(base.path)
    ids = set(asked(report))
    part = Suite(whole.root, tuple(case for case in whole if case.id in ids))
    gone = sorted(ids - set(part.ids))
    if gone or part.hash != report["suite"]["hash"]:
        why = f"{_few(gone)} not in {whole.root}" if gone else f"their wording in {whole.root} is another"
        raise InputError(
            f"--not-below {base.text}: was measured on other cases: {why}. Make the baseline anew."
        )
    return report


def _of_scorer(base: Named, report: Mapping[str, Any], results: Sequence[Comparison]) -> Comparison:
    """Return the table that a report can be held against.

    Raises:
        InputError: for another scorer, other options of it, or another judge.
    """
    scorers = [result.scorer for result in results]
    if report["scorer"] not in scorers:
        raise InputError(
            f"--not-below {base.text}: was scored by {report['scorer']}, this by {' and '.join(scorers)}."
        )
    result = results[scorers.index(report["scorer"])]
    from harness.report.disclosure import scorer_spec
    from harness.report.fitting import scorer_of

    used, now = scorer_of(report), scorer_spec(result)
    if used is not None and "(" in now and used != now:
        raise InputError(f"--not-below {base.text}: was scored by {used}, this by {now}.")
    if _judge(report) != _judge(_judge_data(result)):
        raise InputError(f"--not-below {base.text}: was judged by another judge, or with other prompts.")
    return result


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


def _runs(base: Named, whole: Suite) -> list[RunFolder]:
    """Return the runs, which were asked cases as they stand in the suite."""
    from harness.runs.folder import find_runs, newest
    from harness.suite.hashing import case_hashes

    assert base.path is not None
    runs, _ = newest(find_runs(base.path))
    hashes = case_hashes(whole)
    for run in runs:
        other = sorted(name for name, held in run.manifest.cases.items() if hashes.get(name) != held)
        if other:
            raise InputError(
                f"--not-below {base.text}: was asked other cases than {whole.root} has: {_few(other)}. "
                "Run it again, or name its --suite and --gold."
            )
    return runs


def _fitting(base: Named, run: RunFolder, results: Sequence[Comparison]) -> Comparison:
    """Return the table that a run can be held against: the one with its label, else the one of its scorer."""
    from harness.runs.comparing import default_scorer

    label = base.gated or run.manifest.system.label
    for result in results:
        if len(results) == 1 or any(system.system == label for system in result.systems):
            return result
    scorer = default_scorer(run)
    return next((result for result in results if result.scorer == scorer), results[0])


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
