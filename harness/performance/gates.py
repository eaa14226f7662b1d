"""Gates: bounds that the user sets, and never worse than an earlier result, by ratios within one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import InputError
from harness.evaluation import Evaluation, Metric, MetricDefinition

REFERENCE = "bm25"
TOLERANCE = 1.5
_GATED = ("_p50_ms", "_kept", "_seen", "_succeeded")
_SLACK = 1e-9
_AS_IS = ("share", "writes")
"""Units that no machine changes, whose figures are compared as they are."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A figure that a metric has to keep to."""

    metric: str
    figure: float
    at_most: bool


def parse_bound(text: str, *, at_most: bool) -> Bound:
    """Read `search_p99_ms@1000=50`.

    Raises:
        InputError: for anything else.
    """
    flag = "--at-most" if at_most else "--at-least"
    name, _, figure = text.partition("=")
    try:
        return Bound(name.strip(), _finite(figure), at_most)
    except ValueError:
        raise InputError(f"{flag} {text}: write METRIC=X, such as search_p99_ms@1000=50.") from None


def check_names(names: Sequence[str], flag: str, known: Sequence[MetricDefinition]) -> None:
    """Refuse a metric that will not be measured, before anything is.

    Raises:
        InputError: naming those that will.
    """
    measured = [one.name for one in known]
    for name in names:
        if name not in measured:
            raise InputError(f"{flag} {name}: is not measured. Measured: {', '.join(measured)}.")


def check_ratios(names: Sequence[str], known: Sequence[MetricDefinition]) -> None:
    """Refuse a metric that has no ratio to a reference: an exponent may be 0 or below.

    Raises:
        InputError: naming what to use instead.
    """
    for one in known:
        if one.name in names and one.unit == "exponent":
            raise InputError(f"--gate-on {one.name}: an exponent has no ratio. Bound it with --at-most.")


def beyond(evaluation: Evaluation, bound: Bound) -> str:
    """Say how a bound is broken, or nothing; a metric without a value keeps to no bound."""
    metric = evaluation.metric(bound.metric)
    word = "above" if bound.at_most else "below"
    if metric is None or metric.value is None:
        why = metric.reason if metric else "not measured"
        return f"{evaluation.system}: {bound.metric} has no value ({why})"
    kept = metric.value <= bound.figure if bound.at_most else metric.value >= bound.figure
    return (
        "" if kept else f"{evaluation.system}: {bound.metric} is {metric.value:.4g}, {word} {bound.figure:g}"
    )


def check_earlier(
    then: Sequence[Evaluation], systems: Sequence[str], workload: str, *, reference: str, label: str
) -> None:
    """Refuse an earlier result that this run cannot be compared with, before anything is measured.

    Args:
        then: the systems of the earlier result.
        systems: labels of those of this run.
        workload: digest of what this run asks of them.
        reference: label of the reference system.
        label: what the earlier result is called.

    Raises:
        InputError: when it has no reference or no such system, or asked other things.
    """
    theirs = _by_label(then)
    if reference not in theirs:
        raise InputError(
            f"--not-below {label}: {reference} was not measured beside the others there, and times of two runs do "
            f"not compare. Measure it again with --reference {reference}."
        )
    for system in systems:
        if system not in theirs:
            raise InputError(f"--not-below {label}: holds no {system}. It holds: {', '.join(theirs)}.")
        if theirs[system].provenance.get("workload") != workload:
            raise InputError(
                f"--not-below {label}: was measured with other texts or other load: not comparable. "
                "Measure both with the same options."
            )


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside an earlier one.

    Attributes:
        worse: what is worse, each in a line.
        notes: what to know of it.
        compared: how many figures were.
    """

    worse: tuple[str, ...]
    notes: tuple[str, ...]
    compared: int


def against(
    now: Sequence[Evaluation],
    then: Sequence[Evaluation],
    known: Sequence[MetricDefinition],
    *,
    reference: str,
    gated: Sequence[str] = (),
    tolerance: float = TOLERANCE,
    label: str,
) -> Comparison:
    """Compare each system's figures with an earlier result.

    A time or a rate counts as a ratio to that of the reference system in the same run; a share or a
    number of writes, which no machine changes, counts as it is. Times themselves are never compared between two runs.

    Args:
        now: the systems of this run, the reference among them.
        then: those of the earlier one.
        known: what this run measures.
        reference: label of the reference system.
        gated: metrics to compare; median times and shares where none is named.
        tolerance: how many times worse a ratio may become.
        label: what the earlier result is called.

    Raises:
        InputError: as `check_earlier` has it, or when the two have no figure in common.
    """
    ours, theirs = _by_label(now), _by_label(then)
    workload = ours[reference].provenance["workload"]
    check_earlier(then, [*ours], workload, reference=reference, label=label)
    notes = []
    first, second = (one[reference].provenance.get("machine", "") for one in (ours, theirs))
    if first != second:
        notes.append(
            f"{label} was measured on another machine ({second}): only ratios to {reference} are compared."
        )
    versions = [one[reference].provenance.get("system_version", "") for one in (ours, theirs)]
    if versions[0] != versions[1]:
        notes.append(f"{reference} itself was {versions[1]} in {label} and is {versions[0]} now.")
    worse: list[str] = []
    compared = 0
    for system, one in ours.items():
        if system == reference:
            continue
        before = theirs[system]
        for definition in known:
            name = definition.name
            if name not in gated if gated else not any(part in name for part in _GATED):
                continue
            was, base_was = _value(before, name), _value(theirs[reference], name)
            if was is None or (definition.unit not in _AS_IS and not base_was):
                if name in gated:
                    whose = system if was is None else reference
                    notes.append(f"{system}: {name} of {whose} has no value in {label}; not compared.")
                continue
            compared += 1
            said = _worse(
                definition,
                one.metric(name),
                _value(ours[reference], name),
                was,
                base_was,
                reference,
                tolerance,
            )
            if said:
                worse.append(f"{system}: {said}")
    if not compared:
        raise InputError(
            f"--not-below {label}: has none of the figures that are compared. Measure the same sizes."
        )
    return Comparison(tuple(worse), tuple(notes), compared)


def ratios(evaluations: Sequence[Evaluation], reference: str) -> tuple[tuple[str, ...], ...]:
    """Return how many times the reference's each median time is, as rows with a header; empty without it."""
    base = next((one for one in evaluations if one.system == reference), None)
    others = [one for one in evaluations if one.system != reference]
    if base is None or not others:
        return ()
    rows = []
    for metric in base.metrics:
        if "_p50_ms" not in metric.name or not metric.value:
            continue
        cells = []
        for one in others:
            value = _value(one, metric.name)
            cells.append("–" if value is None else f"{value / metric.value:.3g}")
        rows.append((metric.name, *cells))
    return ((f"÷ {reference}", *(one.system for one in others)), *rows) if rows else ()


def _worse(
    definition: MetricDefinition,
    now: Metric | None,
    base_now: float | None,
    was: float,
    base_was: float | None,
    reference: str,
    tolerance: float,
) -> str:
    name = definition.name
    if now is None or now.value is None:
        return f"{name} has no value any more ({now.reason if now else 'not measured'}); it was {was:.4g}"
    if definition.unit in _AS_IS:
        fell = was - now.value if definition.higher_is_better else now.value - was
        return f"{name} is {now.value:.4g}, it was {was:.4g}" if fell > _SLACK else ""
    if not base_now or not base_was:
        return f"{name} cannot be compared: {reference} has no such figure in this run"
    ratio, before = now.value / base_now, was / base_was
    lost = before / ratio if definition.higher_is_better and ratio else ratio / before if before else 1.0
    if lost <= tolerance:
        return ""
    return f"{name} is {ratio:.3g} × that of {reference}, it was {before:.3g} × (more than {tolerance:g} times worse)"


def _by_label(evaluations: Sequence[Evaluation]) -> dict[str, Evaluation]:
    return {one.system: one for one in evaluations}


def _value(evaluation: Evaluation, name: str) -> float | None:
    metric = evaluation.metric(name)
    return metric.value if metric is not None else None


def _finite(text: str) -> float:
    value = float(text)
    if not -1e300 < value < 1e300:
        raise ValueError(text)
    return value
