"""`recallbench config`."""

from __future__ import annotations

import click


@click.command("config")
def command() -> None:
    """Show every setting and where it comes from.

    A flag wins over a RECALLBENCH_* variable, that over .env, that over
    recallbench.yaml (both in the working directory), that over the default.
    """
    from harness.cli import options

    values = options.settings()
    rows = [("setting", "value", "from", "what it is")]
    rows += [
        (name, "–" if found.value is None else str(found.value), found.source, found.setting.help)
        for name, found in values.items()
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    for row in rows:
        click.echo(
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)) + f"  {row[3]}"
        )
