"""`recallbench cassette`: what a cassette holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import console

if TYPE_CHECKING:
    from harness.llm.cassette import Cassette


@click.group("cassette")
def command() -> None:
    """Look into a cassette, and export it as JSON lines."""


@command.command("show")
@click.argument("path", type=click.Path(path_type=Path))
def show(path: Path) -> None:
    """Say how many replies a cassette holds, of which models, and what is noted beside them."""
    import json
    from collections import Counter

    with _opened(path) as cassette:
        entries = [json.loads(line) for line in cassette.lines()]
    replies = [entry for entry in entries if "request" in entry]
    models = Counter((entry["provider"], entry["request"]["model"]) for entry in replies)
    click.echo(f"{path}: {len(replies)} replies")
    for (provider, model), count in sorted(models.items()):
        click.echo(f"  {provider}/{model}: {count}")
    for entry in entries:
        if "note" in entry:
            click.echo(f"  note: {entry['note']} {entry['name']}")


@command.command("export")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path), metavar="TARGET.jsonl")
def export(path: Path, target: Path) -> None:
    """Write a cassette as JSON lines, which can be read, put under version control and replayed."""
    from harness.errors import InputError

    if target.suffix != ".jsonl":
        raise InputError(f"{target}: an export ends in .jsonl, by which it is known when it is replayed.")
    with _opened(path) as cassette:
        lines = list(cassette.lines())
    console.write_file(target, "\n".join(lines) + "\n")
    click.echo(f"wrote {target}: {len(lines)} lines", err=True)


def _opened(path: Path) -> Cassette:
    from harness.llm.cassette import Cassette

    return Cassette(path, "replay")
