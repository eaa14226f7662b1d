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


def against(text: str, results: Sequence[Comparison], by: Measuring) -> tuple[list[Against], list[str]]:
    """Return who is held against what, and the systems that the baseline holds nothing of.

    Raises:
        InputError: for a baseline of other cases, another scorer or other systems.
    """
    base = named(text, [system.system for result in results for system in result.systems])
    if base.path is None:
        return _other_system(base, results), []
    sides: list[tuple[Comparison, Rewards]] = []
    if base.path.is_dir():
        for run in _runs(base, by.whole):
            result = _fitting(base, run, results)
            made = _scored(run, result, by)
            _add(sides, result, {run.manifest.system.label: _rewards(made.systems[0])})
    else:
        report = _report(base, by.whole)
        result = _of_scorer(base, report, results)
        _add(sides, result, _reported(base, report))
    pairs: list[Against] = []
    left: list[str] = []
    for result, rewards in sides:
        found = _matched(base, result, rewards)
        pairs += found
        left += [one.system for one in result.systems if one.system not in {pair.system for pair in found}]
    return pairs, left if base.gated is None else []


def _other_system(base: Named, results: Sequence[Comparison]) -> list[Against]:
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
    return [
        Against(result, label, rewards, gate, base.base) for label in labels if base.gated in (None, label)
    ]


def _matched(base: Named, result: Comparison, rewards: Rewards) -> list[Against]:
    """Pair the systems of a table with those of a baseline by label; a baseline of one is for all of them."""
    from harness.gates import Against

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
    return [
        Against(
            result, label, rewards[other], gate, base.base if label == other else f"{other} in {base.base}"
        )
        for label, other in pairs
    ]


def _add(sides: list[tuple[Comparison, Rewards]], result: Comparison, rewards: Rewards) -> None:
    for held, known in sides:
        if held is result:
            known.update(rewards)
            return
    sides.append((result, rewards))


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
        InputError: for another scorer or judge.
    """
    scorers = [result.scorer for result in results]
    if report["scorer"] not in scorers:
        raise InputError(
            f"--not-below {base.text}: was scored by {report['scorer']}, this by {' and '.join(scorers)}."
        )
    result = results[scorers.index(report["scorer"])]
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
    found: Rewards = {}
    for system in report["systems"]:
        rewards = found.setdefault(system["system"], {})
        for case in system["cases"]:
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
