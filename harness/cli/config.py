"""`recallbench config`."""

from __future__ import annotations

import click

_NARROWEST = 20
"""Columns that the last column needs to stand beside the others; with fewer it stands below."""
_BELOW = 4


@click.command("config")
def command() -> None:
    """Show every setting and where it comes from.

    A flag wins over a RECALLBENCH_* variable, that over .env, that over
    recallbench.yaml (both in the working directory), that over the default.
    """
    from harness.cli import console, options
    from harness.report import boxes

    values = options.settings()
    rows = [("setting", "value", "from", "what it is")]
    rows += [
        (name, "–" if found.value is None else str(found.value), found.source, found.setting.help)
        for name, found in values.items()
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    indent = sum(widths) + 2 * len(widths)
    beside = console.width() - indent >= _NARROWEST
    for row in rows:
        cells = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False))
        if beside:
            first, *others = boxes.wrap(row[3], console.width() - indent)
            click.echo(f"{cells}  {first}")
        else:
            click.echo(cells.rstrip())
            others = list(boxes.wrap(row[3], max(_NARROWEST, console.width() - _BELOW)))
        for line in others:
            click.echo(" " * (indent if beside else _BELOW) + line)
