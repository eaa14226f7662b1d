"""`recallbench list`."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import console, options
from harness.errors import InputError

if TYPE_CHECKING:
    from harness.suite import Case


@click.command("list")
@options.suite_option
@options.layer_option
@click.option("--domain", metavar="NAME", help="Only cases of this domain.")
@click.option("--ability", metavar="NAME", help="Only cases that test this ability.")
@options.format_option
def command(
    suite: Path | None, layer: tuple[str, ...], domain: str | None, ability: str | None, format: str | None
) -> None:
    """List the cases of a suite."""
    values = options.settings(suite=suite, format=format)
    _, asked = options.chosen_suite(values, layer)
    cases = tuple(asked.select(domain=domain, ability=ability))
    if not cases:
        domains = ", ".join(sorted({case.domain for case in asked if case.domain}))
        abilities = ", ".join(sorted({each for case in asked for each in case.abilities}))
        raise InputError(f"no case fits. Domains: {domains}. Abilities: {abilities}.")
    shown = values["format"].value
    if shown != "table":
        click.echo(_as_text(cases, shown), nl=False)
        return
    from harness.report import case_view

    console.show(case_view.case_table(cases))
    console.say(_counts(cases))


def _as_text(cases: Sequence[Case], format: str) -> str:
    from harness.report import case_view, markdown

    data = [case_view.case_data(case) for case in cases]
    if format == "json":
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    rows = [
        [", ".join(value) if isinstance(value, list) else value for value in row.values()] for row in data
    ]
    header = list(data[0]) if data else ["test_id"]
    if format == "md":
        return markdown.table(header, [[str(value) for value in row] for row in rows]) + "\n"
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def _counts(cases: Sequence[Case]) -> str:
    layers = Counter(case.category for case in cases)
    abilities = Counter(ability for case in cases for ability in case.abilities)
    noun = "case" if len(cases) == 1 else "cases"
    lines = [f"{len(cases)} {noun}" + "".join(f", {name} {count}" for name, count in sorted(layers.items()))]
    if abilities:
        lines.append(
            "Abilities: " + ", ".join(f"{name} {count}" for name, count in sorted(abilities.items()))
        )
    return "\n".join(lines)
