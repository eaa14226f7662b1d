"""`recallbench report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from harness.cli import comparing, gating, options, running
from harness.cli.streams import is_terminal
from harness.errors import InputError

FORMAT_NAMES = ("html", "md", "json", "csv", "junit")
DEFAULT = Path("report.html")
_OURS = b'content="recallbench"'


@click.command("report", cls=options.JudgedCommand)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN…")
@click.option(
    "--format",
    "format",
    type=click.Choice(FORMAT_NAMES),
    help=f"html (default) writes {DEFAULT}; the others are printed.",
)
@options.comparison_output_option
@click.option("--open", "opens", is_flag=True, help="Open the HTML report in the browser, from a terminal.")
@options.layer_option
@options.case_option
@options.scorer_option
@options.gold_option
@options.suite_option
@options.threshold_option
@options.judge_options
@click.option("--per-case", is_flag=True, help="Add the case-by-system matrix.")
def command(
    runs: tuple[Path, ...],
    format: str | None,
    output: tuple[Path, ...],
    opens: bool,
    per_case: bool,
    **flags: Any,
) -> None:
    """Write a report of runs: HTML, Markdown, JSON, CSV or JUnit XML.

    RUN is the folder of a run, or a folder of runs. Without --format and -o it writes report.html,
    one file that works from disk; each -o FILE is written in the format of its ending.
    """
    outputs = list(output)
    if format == "html" or not (format or outputs):
        outputs += [] if any(map(_is_page, outputs)) else [_default()]
    pages = [path for path in outputs if _is_page(path)]
    if opens and not pages:
        raise InputError("--open shows the HTML report. Name it too, with -o FILE.html.")
    printed = None if format == "html" else format
    gates = gating.Gates(max_errors=flags["max_errors"])
    ran = comparing.compared(runs, {**flags, "format": printed, "output": outputs}, gates)
    held = gates.hold(ran.results, gating.Measuring(ran.whole, ran.asked, ran.values, flags))
    running.show(ran.results, printed, outputs, held.shown, per_case=per_case, suite=ran.whole, runs=ran.runs)
    if opens:
        _open(pages[0])
    held.close()


def _is_page(path: Path) -> bool:
    return path.suffix.lower() == ".html"


def _default() -> Path:
    """Return the file that is written when none is named; one of another origin stays as it is.

    Raises:
        InputError: when another file has its name.
    """
    if DEFAULT.is_file() and _OURS not in DEFAULT.read_bytes()[:4096]:
        raise InputError(f"{DEFAULT}: is there, and is no report of ours. Name a file with -o FILE.html.")
    return DEFAULT


def _open(path: Path) -> None:
    if not is_terminal(sys.stdout):
        click.echo(f"not opened, since this is no terminal: {path}", err=True)
        return
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        click.echo(f"no browser was found to open {path}", err=True)
