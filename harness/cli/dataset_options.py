"""Options that the tools of `recallbench dataset` share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli import options


def into(command: Any) -> Any:
    """Add the option that names the folder to write to."""
    return click.option(
        "--into",
        type=click.Path(path_type=Path, file_okay=False),
        required=True,
        metavar="DIR",
        help="Folder to write to.",
    )(command)


def seed(command: Any) -> Any:
    """Add the option by which a result can be had again."""
    return click.option(
        "--seed", type=int, default=0, show_default=True, help="Another one gives another result."
    )(command)


def locale(command: Any) -> Any:
    """Add the option that says how dates and numbers are written."""
    return click.option(
        "--locale",
        default="en-US",
        show_default=True,
        callback=_locale,
        help="Language, and how dates and numbers are written.",
    )(command)


def model(command: Any) -> Any:
    """Add the options that name the model and where its replies are kept."""
    for name, metavar, help in reversed(
        (
            ("--provider", "NAME", "Provider of the model; see docs/providers.md."),
            ("--model", "NAME", "Model that writes."),
            ("--base-url", "URL", "OpenAI-compatible endpoint of the model."),
            ("--api-key-env", "VARIABLE", "Variable that holds its key."),
            ("--cassette", "PATH", "Where replies are kept (.recallbench/cassette.sqlite)."),
            ("--cassette-mode", "|".join(options.CASSETTE_MODES), "auto, replay (never calls) or off."),
        )
    ):
        kind = click.Choice(options.CASSETTE_MODES) if name == "--cassette-mode" else None
        command = click.option(name, type=kind, metavar=metavar, help=help)(command)
    return command


def counted(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _locale(ctx: click.Context, parameter: click.Parameter, value: str) -> str:
    import re

    from harness.suite.schema import LOCALE

    if not re.fullmatch(LOCALE.strip("^$"), value):
        raise click.BadParameter(f"{value!r} is no locale. Write one such as en-US or de-AT.", ctx, parameter)
    return value
