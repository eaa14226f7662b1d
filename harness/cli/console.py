"""Printing: to the terminal at its width, to files by their ending."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from harness.cli.streams import columns, is_terminal
from harness.errors import InputError

PIPE_WIDTH = 100

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from harness.comparison import Comparison
    from harness.gates import Breach
    from harness.report import ComparisonFormat


def width() -> int:
    """Return the columns to fill; a pipe has 100."""
    return columns(PIPE_WIDTH)


def say(text: str) -> None:
    """Print lines of text, wrapped between words."""
    from harness.report import boxes

    for line in text.split("\n"):
        click.echo("\n".join(boxes.wrap(line, width())))


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
    """Show something long through the pager, styled where that can be used."""
    import io

    from rich.console import Console

    out = io.StringIO()
    plain = bool(os.environ.get("NO_COLOR"))
    paper = Console(file=out, width=width(), force_terminal=not plain, highlight=False, legacy_windows=False)
    for part in parts:
        if isinstance(part, str):
            out.write(part)
        else:
            paper.print(part)
    # less shows escape sequences as such unless it is told to obey colours.
    os.environ.setdefault("LESS", "-R")
    click.echo_via_pager(out.getvalue(), color=not plain)


def styled() -> bool:
    """Say whether bold type can be used: on a terminal, unless NO_COLOR asks for none."""
    return is_terminal(sys.stdout) and not os.environ.get("NO_COLOR")


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
    result: Comparison, format: str, *, per_case: bool = False, evidence: bool = False, **beside: Any
) -> None:
    """Print a comparison in a format; `beside` is what `report.render` takes beside it."""
    if format == "table":
        for part in comparison_parts(result, per_case=per_case, evidence=evidence):
            show(part)
        return
    from harness import report

    shown = report.render(
        result, cast("ComparisonFormat", format), per_case=per_case, evidence=evidence, **beside
    )
    click.echo(shown, nl=False)


def show_annotations(results: Sequence[Comparison], breaches: Sequence[Breach]) -> None:
    """Print annotations for GitHub, and add to the step's summary where it takes one."""
    from harness.report import github

    click.echo(github.workflow_commands(results, breaches), nl=False)
    named = os.environ.get("GITHUB_STEP_SUMMARY")
    if not named:
        return
    try:
        with Path(named).open("a", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(github.summary(results, breaches, github.SUMMARY_LIMIT - file.tell()))
    except OSError as error:
        click.echo(f"GITHUB_STEP_SUMMARY: {named}: cannot be written: {error.strerror}.", err=True)


def write_all(
    results: Sequence[Comparison],
    paths: Sequence[Path],
    *,
    per_case: bool = False,
    evidence: bool = False,
    **beside: Any,
) -> None:
    """Write comparisons to files, one below the other; each file is written whole or not at all.

    Args:
        results: the comparisons.
        paths: the files.
        per_case: add the case-by-system matrix.
        evidence: show each case with the facts found and missing.
        beside: what `report.render` takes beside them.

    Raises:
        InputError: for an unknown ending or a file that cannot be written.
    """
    from harness import report

    wanted = [(path, report.comparison_format_of(path)) for path in paths]
    for path, format in wanted:
        texts = [
            report.render(result, format, per_case=per_case, evidence=evidence, **beside)
            for result in results
        ]
        write_file(path, "\n".join(texts))
        print(f"wrote {path}", file=sys.stderr)


def write_file(path: Path, text: str) -> None:
    """Write a file through a neighbour, so that a failure leaves an old one as it was.

    A link stays a link; what it leads to is written.

    Raises:
        InputError: when the folder is missing or cannot be written to.
    """
    import tempfile

    target = path.resolve()
    draft: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            errors="replace",
            newline="\n",
            dir=target.parent,
            prefix=".recallbench-",
            delete=False,
        ) as file:
            draft = Path(file.name)
            file.write(text)
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        draft.chmod(mode)
        draft.replace(target)
    except OSError as error:
        if draft is not None:
            draft.unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written: {error.strerror}.") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def check_outputs(
    paths: Sequence[Path], inputs: Sequence[Path | None] = (), *, comparison: bool = False
) -> None:
    """Refuse, before any work is done, what could not be written or would overwrite an input.

    Args:
        paths: the files to write.
        inputs: the files that are read.
        comparison: whether a comparison is written, which has more formats than other tables.

    Raises:
        InputError: for an unknown ending, a missing folder, an input file, or a path named twice.
    """
    from harness import report

    kept = {path.resolve() for path in inputs if path is not None}
    seen: set[Path] = set()
    for path in paths:
        if comparison:
            report.comparison_format_of(path)
        else:
            report.format_of(path)
        target = path.resolve()
        if target in kept:
            raise InputError(f"{path}: would overwrite what is read. Name another file for --output.")
        if target in seen:
            raise InputError(f"{path}: named twice with --output.")
        seen.add(target)
        if target.is_dir() or not target.parent.is_dir():
            what = "is a directory" if target.is_dir() else f"there is no folder {target.parent}"
            raise InputError(f"{path}: cannot be written: {what}.")
