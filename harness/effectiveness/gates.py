"""Gates: floors under figures of which more is better, ceilings over the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.effectiveness.evaluators import definitions, measured_by
from harness.errors import InputError
from harness.evaluation import Evaluation, Item

TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound of a figure.

    Attributes:
        metric: its name.
        bound: what it must reach, or must not exceed.
        is_floor: which of the two.
    """

    metric: str
    bound: float
    is_floor: bool


def parse_gates(floors: Sequence[str], ceilings: Sequence[str]) -> list[Gate]:
    """Read `extraction.f1=0.7` for floors, `importance.mae=1.5` for ceilings.

    Raises:
        InputError: for anything else, an unknown metric, or one that the other option is for.
    """
    known = {one.name: one for one in definitions()}
    found = []
    for flag, texts, is_floor in (("--fail-under", floors, True), ("--fail-over", ceilings, False)):
        for text in texts:
            name, _, figure = (part.strip() for part in text.partition("="))
            try:
                bound = float(figure)
            except ValueError:
                bound = math.nan
            if not math.isfinite(bound):
                raise InputError(f"{flag} {text}: write METRIC=NUMBER, such as extraction.f1=0.7.")
            if name not in known:
                raise InputError(f"{flag} {name}: no such metric. Known: {', '.join(known)}.")
            if known[name].higher_is_better is not is_floor:
                other = "--fail-over" if is_floor else "--fail-under"
                raise InputError(
                    f"{flag} {name}: {'less' if is_floor else 'more'} of it is better. Use {other}."
                )
            found.append(Gate(name, bound, is_floor))
    return found


def check_measured(gates: Sequence[Gate], names: Sequence[str]) -> None:
    """Refuse, before any system is asked, a gate on what these evaluators do not measure.

    Args:
        gates: the gates.
        names: of the evaluators; the overall score is made of several.

    Raises:
        InputError: with the metrics that will be measured.
    """
    known = measured_by(names)
    for gate in gates:
        if gate.metric not in known:
            flag = "--fail-under" if gate.is_floor else "--fail-over"
            raise InputError(f"{flag} {gate.metric}: is not measured. Measured: {', '.join(known)}.")


def breaches(evaluations: Sequence[Evaluation], gates: Sequence[Gate]) -> list[str]:
    """Return a line for each gate that a system does not keep, and one for each item it is down to.

    What failed counts as the worst value: what could not be measured never opens a gate.

    Raises:
        InputError: for a metric that was not measured.
    """
    lines = []
    for gate in gates:
        concerned = [one for one in evaluations if one.metric(gate.metric) is not None]
        if not concerned:
            known = ", ".join(dict.fromkeys(metric.name for one in evaluations for metric in one.metrics))
            raise InputError(f"{gate.metric}: was not measured. Measured: {known}.")
        for one in concerned:
            lines += _breach(one, gate)
    return lines


def _breach(one: Evaluation, gate: Gate) -> list[str]:
    metric = one.metric(gate.metric)
    assert metric is not None
    value = metric.low
    if value is not None and _keeps(value, gate):
        return []
    told = "has no value" if value is None else f"is {value:.4f}"
    if value is not None and metric.n < metric.of:
        told += f" ({metric.of - metric.n} of {metric.of} failed and count as the worst)"
    where = f"below {gate.bound:g}" if gate.is_floor else f"above {gate.bound:g}"
    line = f"{one.system}: {gate.metric} {told}, {where}"
    if metric.value is None:
        return [f"{line}: {metric.reason}"]
    bad = [item for item in one.items if _is_to_blame(item, gate)]
    return [line, *(f"  {_told(item, gate)}" for item in bad)]


def _keeps(value: float, gate: Gate) -> bool:
    return value >= gate.bound - TOLERANCE if gate.is_floor else value <= gate.bound + TOLERANCE


def _is_to_blame(item: Item, gate: Gate) -> bool:
    value = item.values.get(gate.metric)
    return bool(item.failure) or (value is not None and not _keeps(value, gate))


def _told(item: Item, gate: Gate) -> str:
    if item.failure:
        return f"{item.id}: {item.failure}"
    why = "; ".join(map(str, item.detail.get("missed", ())))
    return f"{item.id}: {item.values[gate.metric]:.3f}  {item.label}{f' ({why})' if why else ''}"
