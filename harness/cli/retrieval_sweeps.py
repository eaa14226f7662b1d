"""`--sweep` of `recallbench retrieval evaluate`: values of an option tried, and each held against the first."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.errors import InputError
from harness.naming import Spec, parse_spec

if TYPE_CHECKING:
    from harness.evaluation import Evaluation

_VALUE = re.compile(r"""(?:\[[^\]]*\]|\([^)]*\)|'[^']*'|"[^"]*"|[^,])+""")
"""A value of a sweep: no comma ends it inside brackets or quotes."""


def swept(systems: Sequence[str], sweep: str) -> list[list[Spec]]:
    """Return for each system its specs with the values of `NAME=V1,V2`, in the order given.

    Raises:
        InputError: for a sweep that says no value, or a system that cannot be read.
    """
    name, _, listed = sweep.partition("=")
    tried = [value.strip() for value in _VALUE.findall(listed) if value.strip()]
    if not name.isidentifier() or not tried:
        raise InputError(f"--sweep {sweep}: write NAME=V1,V2, such as k=10,60 or weights=[1,1],[2,1].")
    return [[_with(text, name, value) for value in tried] for text in systems]


def against_the_first(evaluations: Sequence[Evaluation], values: int) -> list[Evaluation]:
    """Return the evaluations of a sweep, each with its differences from the first of its system.

    They are sections of it, as `retrieval compare` shows them: each metric with its p, and the queries
    that rose and fell. What there is to know of them is among the warnings.

    Args:
        evaluations: of one data set, the values of a system one after another.
        values: how many of them each system has.
    """
    firsts = [evaluations[at - at % values] for at in range(len(evaluations))]
    return [
        one if one is first else _against(first, one) for first, one in zip(firsts, evaluations, strict=True)
    ]


def sections_of(evaluations: Sequence[Evaluation]) -> list[str]:
    """Return the names of the sections that tell of differences."""
    names = [name for one in evaluations for name in one.sections if name.startswith(_AGAINST)]
    return list(dict.fromkeys(names))


_AGAINST = "against "


def _against(first: Evaluation, one: Evaluation) -> Evaluation:
    from harness.report import change_view
    from harness.retrieval.comparing import compare

    title = f"{_AGAINST}{first.system}"
    try:
        changes = compare(first, one)
    except InputError as error:
        return replace(one, warnings=(*one.warnings, f"{title}: not comparable: {error}"))
    by_metric, by_query = change_view.by_metric(changes), change_view.by_query(changes)
    sections = {title: (by_metric.header, *by_metric.rows)}
    if by_query.rows:
        sections[f"{title}, queries that rose and fell"] = (by_query.header, *by_query.rows)
    told = (f"{title}: {note}" for note in change_view.notes(changes))
    return replace(one, sections={**one.sections, **sections}, warnings=(*one.warnings, *told))


def _with(text: str, name: str, value: str) -> Spec:
    """Return a spec with one option set anew, and labelled by it."""
    spec = parse_spec(text, "--system", labelled=True)
    try:
        read = ast.literal_eval(value)
    except (SyntaxError, ValueError):
        read = value
    changed = {**spec.options, name: read}
    written = f"{spec.name}({', '.join(f'{key}={option!r}' for key, option in changed.items())})"
    label = f"{spec.label.partition('(')[0]} {name}={value}" if spec.label != spec.text else written
    return spec._replace(text=written, options=changed, label=label)
