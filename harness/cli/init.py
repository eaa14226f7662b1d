"""`recallbench init`."""

from __future__ import annotations

from pathlib import Path

import click


@click.group("init")
def command() -> None:
    """Write the beginnings of an adapter of your own."""


@command.command("adapter")
@click.argument("name")
@click.option("--async", "use_async", is_flag=True, help="With async methods.")
@click.option("--full", is_flag=True, help="With an Adapter class: options, version, discard.")
def adapter(name: str, use_async: bool, full: bool) -> None:
    """Write NAME.py, a memory system that works, and test_NAME.py, its conformance test."""
    from harness.adapters import skeleton

    if use_async and full:
        raise click.UsageError("--async and --full exclude each other.")
    variant: skeleton.Variant = "async" if use_async else "full" if full else "plain"
    for path in skeleton.write(name, Path.cwd(), variant):
        click.echo(f"wrote {path.name}")
    system = f"{name}:{skeleton.class_name(name)}"
    click.echo("\nNext:")
    click.echo(f"  recallbench systems --check {system}")
    click.echo(f"  recallbench run --system {system}")
    click.echo(f"  python -m pytest test_{name}.py     (where pytest is installed)")
