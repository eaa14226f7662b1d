"""`recallbench scorers`."""

from __future__ import annotations

import click


@click.command("scorers")
def command() -> None:
    """List the scorers that --scorer takes."""
    from harness.scoring import available_scorers

    known = available_scorers()
    widest = max(len(info.name) for info in known)
    for info in known:
        click.echo(f"{info.name:<{widest}}  {info.summary}  [{info.source}]")
    click.echo(
        "\nA scorer of your own: --scorer your_module:YourScorer, or an entry point recallbench.scorers."
    )
