"""Gates: floors under metrics, and never below an earlier result or another system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import InputError
from harness.evaluation import Evaluation, Item
from harness.retrieval.comparing import check_alike

TOLERANCE = 1e-6
PASSED = "passed"
"""Stands for the share of queries that passed, among them those that must keep something out."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A figure that a metric must reach."""

    metric: str
    least: float


@dataclass(frozen=True, slots=True)
class Breach:
    """A gate that is not kept.

    Attributes:
        message: which, and by how much.
        queries: what it is down to: id, text, and the figures.
    """

    message: str
    queries: tuple[str, ...]


def parse_floor(text: str) -> Floor:
    """Read `recall@5=0.7`.

    Raises:
        InputError: for anything else.
    """
    name, _, figure = text.partition("=")
    try:
        least = float(figure)
    except ValueError:
        least = -1.0
    if not name.strip() or not 0 <= least <= 1:
        raise InputError(f"--fail-under {text}: write METRIC=SHARE, such as recall@5=0.7.")
    return Floor(name.strip(), least)


def below_floor(evaluation: Evaluation, floor: Floor) -> Breach | None:
    """Return the breach of a floor, None where it is kept.

    A failed query counts as 0: what could not be measured never opens a gate.

    Raises:
        InputError: for a metric that was not measured.
    """
    if floor.metric == PASSED:
        return _too_few_passed(evaluation, floor)
    metric = evaluation.metric(floor.metric)
    if metric is None:
        known = ", ".join((*(one.name for one in evaluation.metrics), PASSED))
        raise InputError(f"--fail-under {floor.metric}: is not measured. Measured: {known}.")
    value = metric.low
    if value is not None and value >= floor.least - TOLERANCE:
        return None
    told = "has no value" if value is None else f"is {value:.4f}"
    if metric.n < metric.of and value is not None:
        told += f" ({metric.of - metric.n} of {metric.of} failed and count as 0)"
    message = f"{evaluation.system}: {floor.metric} {told}, below {floor.least:g}"
    if metric.value is None:
        message += f": {metric.reason}"
    low = [item for item in evaluation.items if _counts(item) and _value(item, floor.metric) < floor.least]
    return Breach(message, tuple(_told(item, floor.metric) for item in low))


def _too_few_passed(evaluation: Evaluation, floor: Floor) -> Breach | None:
    """Hold the share of queries that passed: those that must find something and those that must not."""
    asked = [item for item in evaluation.items if _counts(item) or item.detail.get("negative")]
    if not asked:
        return Breach(
            f"{evaluation.system}: passed has no value, below {floor.least:g}: no query can pass", ()
        )
    passed = sum(item.passed is True for item in asked)
    share = passed / len(asked)
    if share >= floor.least - TOLERANCE:
        return None
    told = f"{evaluation.system}: passed is {share:.4f} ({passed}/{len(asked)}), below {floor.least:g}"
    lost = [item for item in asked if not item.passed]
    return Breach(told, tuple(_why_not(item) for item in lost))


def _why_not(item: Item) -> str:
    if item.failure:
        return f"{item.id}: {item.failure}  {item.label}"
    unwanted = ", ".join(item.detail.get("intruders", ()))
    missed = ", ".join(item.detail.get("missed", ()) or item.detail.get("relevant", ()))
    why = f"unwanted: {unwanted}" if unwanted else f"missed: {missed}"
    return f"{item.id}: not passed  {item.label} ({why})"


def below_other(
    evaluation: Evaluation, other: Evaluation, names: Sequence[str], label: str
) -> tuple[Breach, ...]:
    """Return a breach for each metric whose mean is below the other's, over the queries of both.

    A query that failed here counts as 0; one that failed in the baseline is left out, so that no baseline
    is lower for its failures.

    Args:
        evaluation: what is gated.
        other: the baseline, of the same data set.
        names: metrics to compare.
        label: what the other one is called.

    Raises:
        InputError: when the two were not measured alike, or there is nothing to compare.
    """
    check_alike(other, evaluation, f"{label} and {evaluation.system} were")
    check_shared(evaluation, other, names, label)
    base = {item.id: item for item in other.items if not item.failure}
    judged = [item for item in evaluation.items if _counts(item)]
    pairs = [(item, base[item.id]) for item in judged if item.id in base]
    if judged and not pairs:
        raise InputError(f"--not-below {label}: holds no query that was measured: nothing to compare with.")
    breaches = []
    for name in names if pairs else ():
        mine = sum(_value(item, name) for item, _ in pairs) / len(pairs)
        least = sum(_value(item, name) for _, item in pairs) / len(pairs)
        if mine >= least - TOLERANCE:
            continue
        fell = [(a, b) for a, b in pairs if _value(a, name) < _value(b, name) - TOLERANCE]
        message = f"{evaluation.system}: {name} is {mine:.4f}, below {least:.4f} of {label}"
        queries = (
            f"{a.id}: {_value(b, name):.3f} → {_value(a, name):.3f}  {a.label}{_why(a, b, name)}"
            for a, b in fell
        )
        breaches.append(Breach(message, tuple(queries)))
    return tuple(breaches)


def check_shared(evaluation: Evaluation, other: Evaluation, names: Sequence[str], label: str) -> None:
    """Refuse metrics of which one of the two has nothing.

    Raises:
        InputError: with those that both have.
    """
    shared = [metric.name for metric in evaluation.metrics if other.metric(metric.name) is not None]
    if unknown := [name for name in names if name not in shared]:
        raise InputError(
            f"--not-below {label}: {', '.join(unknown)} was not measured in both. "
            f"Measured: {', '.join(shared) or 'nothing'}."
        )


def _counts(item: Item) -> bool:
    return bool(item.detail.get("relevant"))


def _value(item: Item, name: str) -> float:
    value = item.values.get(name)
    return 0.0 if item.failure or value is None else value


def _told(item: Item, name: str) -> str:
    if item.failure:
        return f"{item.id}: {item.failure}  {item.label}"
    ranks = _ranks(item, name)
    missed = ", ".join(id for id, rank in ranks.items() if rank is None)
    # A metric of ranks can be low though everything was found.
    places = ", ".join(map(str, sorted(rank for rank in ranks.values() if rank is not None)))
    why = f"missed: {missed}" if missed else f"found at {places}"
    return f"{item.id}: {_value(item, name):.3f}  {item.label} ({why})"


def _why(now: Item, then: Item, name: str) -> str:
    if now.failure:
        return f" ({now.failure})"
    here, before = _ranks(now, name), _ranks(then, name)
    lost = [id for id, rank in here.items() if rank is None and before.get(id) is not None]
    if lost:
        return f" (lost: {', '.join(lost)})"
    sunk = [
        f"{id} from {old} to {rank}"
        for id, rank in here.items()
        if rank is not None and (old := before.get(id)) is not None and old < rank
    ]
    return f" (sank: {', '.join(sunk)})" if sunk else ""


def _ranks(item: Item, name: str) -> dict[str, int | None]:
    """Return the rank of each relevant id among the results that a metric looks at, None where it is not there.

    Those are the first k of `recall@k`, or the query's own cutoff; the first R of rprec; else all.
    """
    relevant, results = item.detail.get("relevant", ()), list(item.detail.get("results", ()))
    base, _, k = name.partition("@")
    if base == "rprec":
        results = results[: len(relevant)]
    elif k:
        results = results[: item.detail.get("k") or int(k)]
    places = {id: rank for rank, id in enumerate(results, start=1)}
    return {id: places.get(id) for id in relevant}
