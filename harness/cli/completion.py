"""`recallbench completion`."""

from __future__ import annotations

import click

from harness.cli.main import COMPLETION_VARIABLE, PROGRAM


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the shell completion script.

    Put it to work with: eval "$(recallbench completion bash)"
    """
    from click.shell_completion import get_completion_class

    from harness.cli.main import cli

    maker = get_completion_class(shell)
    if maker is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(maker(cli, {}, PROGRAM, COMPLETION_VARIABLE).source())
