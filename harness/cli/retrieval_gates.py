"""The gates of `recallbench retrieval evaluate`: read and held against what will be measured before any search."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness.errors import InputError

if TYPE_CHECKING:
    from harness.cli.retrieving import Corpora
    from harness.evaluation import Evaluation
    from harness.retrieval.evaluator import RetrievalEvaluator
    from harness.retrieval.gates import Breach, Floor


class Gates(NamedTuple):
    """What has to be kept.

    Attributes:
        floors: of metrics.
        baselines: labels of systems and names of files, as the user wrote them.
        names: metrics that are held against the baselines.
        results: what the files among the baselines hold, by their name.
    """

    floors: Sequence[Floor]
    baselines: Sequence[str]
    names: Sequence[str]
    results: Mapping[str, tuple[Evaluation, ...]]


def read(
    floors: Sequence[str], baselines: Sequence[str], gated: Sequence[str], labels: Sequence[str], k: int
) -> Gates:
    """Read the gates, and the files of their baselines.

    Args:
        floors: `METRIC=X`, of --fail-under.
        baselines: files and labels, of --not-below.
        gated: metrics, of --gate-on.
        labels: what the systems will be called, a sweep's values among them.
        k: the first cutoff.

    Raises:
        InputError: for one that says nothing, or a baseline that is neither a label nor a result.
    """
    from harness.retrieval.gates import parse_floor

    if gated and not baselines:
        raise InputError("--gate-on is for --not-below.")
    wanted = [parse_floor(text) for text in floors]
    results = {}
    for base in baselines:
        if base in labels:
            if set(labels) == {base}:
                raise InputError(f"--not-below {base}: there is no other system to hold against it.")
        elif Path(base).is_file():
            results[base] = results_of(Path(base))
        else:
            raise InputError(f"--not-below {base}: is no file, and no --system ({', '.join(labels)}).")
    return Gates(wanted, baselines, gated or (f"recall@{k}", f"ndcg@{k}"), results)


def check(
    gates: Gates, corpora: Sequence[Corpora], labels: Sequence[str], evaluator: RetrievalEvaluator
) -> None:
    """Hold the gates against evaluations of which no query was asked yet; those have all but the figures.

    Raises:
        InputError: for a metric that will not be measured, and a baseline that cannot be compared with.
    """
    from harness.retrieval.evaluator import Searched
    from harness.retrieval.gates import below_floor, below_other, check_shared

    if not gates.floors and not gates.baselines:
        return
    for one in corpora:
        unasked = evaluator.measure([Searched(data, {}, "") for data in one.sets()], one.name)
        for floor in gates.floors:
            below_floor(unasked, floor)
        for label in labels:
            mine = replace(unasked, system=label)
            for base in gates.baselines:
                if base in gates.results:
                    below_other(mine, _other(base, mine, (), gates), gates.names, base)
                else:
                    check_shared(mine, mine, gates.names, base)


def broken(found: Sequence[Sequence[Evaluation]], gates: Gates) -> list[str]:
    """Return a line for each gate that is not kept, and one for each query that it is down to.

    Args:
        found: for each data set, the evaluations of the systems.
        gates: what has to be kept.

    Raises:
        InputError: as `check` does.
    """
    from harness.retrieval.gates import below_floor, below_other

    breaches: list[Breach] = []
    for evaluations in found:
        for one in evaluations:
            breaches += [it for floor in gates.floors if (it := below_floor(one, floor)) is not None]
            for base in gates.baselines:
                other = _other(base, one, evaluations, gates)
                if other is not one:
                    breaches += below_other(one, other, gates.names, base)
    return [line for breach in breaches for line in (breach.message, *(f"  {it}" for it in breach.queries))]


def _other(base: str, one: Evaluation, evaluations: Sequence[Evaluation], gates: Gates) -> Evaluation:
    """Return what a baseline stands for: a system of the same data set, or what the file holds of it."""
    if base not in gates.results:
        return next(it for it in evaluations if it.system == base)
    others = [it for it in gates.results[base] if it.dataset == one.dataset]
    same = [it for it in others if it.system == one.system]
    if not same and len(others) != 1:
        raise InputError(f"--not-below {base}: holds no result of {one.system} on {one.dataset}.")
    return (same or others)[0]


def results_of(path: Path) -> tuple[Evaluation, ...]:
    """Read what `retrieval evaluate -o FILE.json` wrote.

    Raises:
        InputError: for anything else, such as a data set.
    """
    from harness.report.evaluation_view import read_json

    with suppress(OSError, ValueError, RecursionError):  # `read_json` tells those
        value = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(value, dict) or "schema" not in value:
            a_set = isinstance(value, dict) and ("queries" in value or "test_cases" in value)
            what = "is a data set and no result" if a_set else "is no result"
            raise InputError(f"{path}: {what}. Name a file that `retrieval evaluate -o FILE.json` wrote.")
    return read_json(path)
