"""`recallbench view`."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli import options, running
from harness.cli.serve_local import _AskedToStop, _stopped_by_signals
from harness.errors import ExitCode

if TYPE_CHECKING:
    from harness.runs.folder import RunFolder


@click.command("view")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("runs"), metavar="[DIR]")
@options.suite_option
@options.gold_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 is any free one (0).")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line when ready, nothing else.")
def command(folder: Path, port: int, no_open: bool, as_json: bool, **flags: Any) -> int:
    """Browse and compare the runs in a folder, in a browser on this machine.

    DIR is a folder of runs (runs/ when none is named), or one run. The server is for this machine
    alone, changes nothing, and reads nothing outside the folder but the suite; it serves until Ctrl-C
    (exit 130) or SIGTERM (exit 0).
    """
    from harness.viewing import RunServer, Store

    store = Store(folder)
    try:
        with _stopped_by_signals(), RunServer(store, lambda runs: _report(runs, flags), port) as server:
            if as_json:
                click.echo(json.dumps({"url": server.url, "runs": len(store.names())}))
            else:
                click.echo(f"Serving {folder} at {server.url} until Ctrl-C.")
            if not no_open:
                threading.Thread(target=_open, args=(server.url,), daemon=True).start()
            server.serve_forever()
    except KeyboardInterrupt:
        _say_stopped(as_json)
        return ExitCode.INTERRUPTED
    except _AskedToStop:
        _say_stopped(as_json)
    return ExitCode.DONE


def _report(runs: Sequence[RunFolder], flags: Mapping[str, Any]) -> str:
    """Return the page of a comparison: the HTML report, or the table as text where there is none.

    Whatever scorer the settings name, it is an offline one: to look at a page must not call a model.
    """
    from harness.runs.comparing import default_scorer

    values = options.settings(scorer=default_scorer(runs[0]), **flags)
    suite = running.suite_of(runs, values)
    (result,) = running.compared(runs, suite, values, {})
    try:
        from harness.report.html.render import render_report
    except ImportError:
        from harness.report import render
        from harness.viewing import pages

        return pages.plain("Comparison", render(result, "table", per_case=True))
    return render_report(result, suite, runs)


def _open(url: str) -> None:
    """Open a browser; where there is none, the address is on the screen."""
    import contextlib
    import webbrowser

    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(url)


def _say_stopped(quiet: bool) -> None:
    if not quiet:
        click.echo("stopped", err=True)
