"""Printing: to the terminal at its width, to files by their ending."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from harness.errors import GateError, InputError

PIPE_WIDTH = 100

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from harness.comparison import Comparison
    from harness.report import Format


def width() -> int:
    """Return the columns to fill: COLUMNS where set, else the terminal's, 100 into a pipe."""
    try:
        return int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size(1).columns or PIPE_WIDTH
    except (OSError, ValueError):
        return PIPE_WIDTH


def console() -> Console:
    """Return a rich console on standard output."""
    from rich.console import Console

    return Console(width=width(), highlight=False, soft_wrap=False)


def show(shown: RenderableType) -> None:
    """Print a text as it is, or a renderable; without colour it leaves no trailing spaces."""
    if isinstance(shown, str):
        click.echo(shown, nl=False)
        return
    out = console()
    if out.is_terminal:
        out.print(shown)
    else:
        from harness.report import terminal

        click.echo(terminal.as_text(shown, width()), nl=False)


def page(parts: Sequence[RenderableType]) -> None:
    """Show something long through the pager, in colour."""
    import io

    from rich.console import Console

    out = io.StringIO()
    paper = Console(file=out, width=width(), force_terminal=True, highlight=False, legacy_windows=False)
    for part in parts:
        if isinstance(part, str):
            out.write(part)
        else:
            paper.print(part)
    click.echo_via_pager(out.getvalue(), color=True)


def styled() -> bool:
    """Say whether bold type can be used: on a terminal, unless NO_COLOR asks for none."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def comparison_parts(
    result: Comparison, *, per_case: bool = False, evidence: bool = False
) -> list[RenderableType]:
    """Return what the terminal shows of a comparison, the evidence of each case first if asked for."""
    from harness.report import summary

    parts: list[RenderableType] = [summary.comparison(result, width(), per_case=per_case, styled=styled())]
    if evidence:
        from harness.report import terminal

        parts.insert(0, terminal.cases(result))
    return parts


def show_comparison(
    result: Comparison, format: str, *, per_case: bool = False, evidence: bool = False
) -> None:
    """Print a comparison in a format."""
    if format == "table":
        for part in comparison_parts(result, per_case=per_case, evidence=evidence):
            show(part)
        return
    from harness import report

    shown = report.render(result, cast("Format", format), per_case=per_case, evidence=evidence)
    click.echo(shown, nl=False)


def write_outputs(
    result: Comparison, paths: Sequence[Path], *, per_case: bool = False, evidence: bool = False
) -> None:
    """Write a comparison to files; each is written whole or not at all.

    Raises:
        InputError: for an unknown ending or a file that cannot be written.
    """
    from harness import report

    wanted = [(path, report.format_of(path)) for path in paths]
    for path, format in wanted:
        text = report.render(result, format, per_case=per_case, evidence=evidence)
        write_file(path, text)
        print(f"wrote {path}", file=sys.stderr)


def write_file(path: Path, text: str) -> None:
    """Write a file through a neighbour, so that a failure leaves an old one as it was.

    Raises:
        InputError: when the folder is missing or cannot be written to.
    """
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True) if draft.parent.is_dir() else None
        raise InputError(f"{path}: cannot be written: {error.strerror}.") from None


def check_outputs(paths: Sequence[Path]) -> None:
    """Refuse an unknown ending before any work is done."""
    from harness import report

    for path in paths:
        report.format_of(path)


def gate(result: Comparison, fail_under: float | None) -> None:
    """Hold every system's overall mean to a floor.

    Raises:
        GateError: naming each system below it, with its mean and coverage.
    """
    if fail_under is None:
        return
    from harness.comparison import OVERALL
    from harness.report import numbers

    below = []
    for system in result.systems:
        cell = result.cell(OVERALL, system)
        if cell.low is None or cell.low < fail_under:
            below.append(f"{system.system} {numbers.reward(cell.low)} ({cell.scored}/{cell.asked} scored)")
    if below:
        raise GateError(
            f"--fail-under {fail_under:g} not met (missing answers and errors count as 0): {', '.join(below)}"
        )
