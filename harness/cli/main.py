"""The `recallbench` command: a group that loads a command's module when it is called.

Nothing heavy is imported here, so that `--help` and completion answer at once; the short
helps stand in a table instead of in the modules (a test holds them to the docstrings).
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from harness.cli.streams import columns, is_terminal
from harness.errors import ExitCode, HarnessError

PROGRAM = "recallbench"
DEBUG_VARIABLE = "RECALLBENCH_DEBUG"
COMPLETION_VARIABLE = "_RECALLBENCH_COMPLETE"

# click would load shutil and its codecs to find out.
_HELP_WIDTH = max(40, min(columns(80), 100))

# name: (module, short help)
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "Run memory systems over sample cases, offline, and show what they recalled."),
    "run": ("run", "Run memory systems over the cases and compare what they recalled."),
    "compare": ("compare", "Compare systems layer by layer, from runs or from their answers."),
    "batch": ("batch", "Score one system's answers case by case, with evidence."),
    "score": ("score", "Score runs again, by a judge say, without running anything."),
    "runs": ("runs", "List the runs in a folder (runs/ when none is named), or export their answers."),
    "report": ("report", "Write a report of runs: HTML, Markdown, JSON, CSV or JUnit XML."),
    "verify": ("verify", "Recompute every number of a JSON report from the journals of its runs."),
    "view": ("view", "Browse and compare the runs in a folder, in a browser on this machine."),
    "systems": ("systems", "List the memory systems that --system takes, or the options of one."),
    "init": ("init", "Write the beginnings of an adapter of your own."),
    "list": ("list_cases", "List the cases of a suite."),
    "show": ("show", "Show one case, or what a run made of it."),
    "interactive": ("interactive", "Browse cases, answer by hand, score and compare in a menu."),
    "judge": ("judge", "Check a judge's endpoint, and measure its error rates."),
    "cassette": ("cassette", "Look into a cassette, and export it as JSON lines."),
    "serve-local": ("serve_local", "Serve a local model as an OpenAI-compatible endpoint on loopback."),
    "retrieval": ("retrieval", "Measure what memory systems retrieve, and gate changes of it."),
    "effectiveness": ("effectiveness", "Measure what memory systems store, update, keep apart and delete."),
    "performance": ("performance", "Measure latency, load, freshness and contention of memory systems."),
    "dataset": ("dataset", "Check, count, write, import, export and split data sets."),
    "scorers": ("scorers", "List the scorers that --scorer takes."),
    "config": ("config", "Show every setting and where it comes from."),
    "completion": ("completion", "Print the shell completion script."),
}


class LazyGroup(click.Group):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module and return its command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"harness.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command; an unknown name gets the nearest one as a hint."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]}?" if near and near[0] not in error.message else ""
            raise click.UsageError(error.message + hint, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help) for name, (_, help) in COMMANDS.items()])


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"{PROGRAM} {version(PROGRAM)}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "terminal_width": _HELP_WIDTH},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Benchmark conversational memory systems, offline and without a key.

    Without a command: the menu on a terminal, this help otherwise.
    """
    if ctx.invoked_subcommand is not None:
        return
    if is_terminal(sys.stdin) and is_terminal(sys.stdout):
        from harness.cli import interactive

        ctx.invoke(interactive.command)
    else:
        click.echo(ctx.get_help())


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit with one of `ExitCode`."""
    # A start makes many objects that stay; collecting among them costs a tenth of a short command.
    gc.set_threshold(100_000, 20, 20)
    sys.exit(run(argv))


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status; no traceback reaches the user."""
    for stream in (sys.stdout, sys.stderr):
        # An output that cannot write a character shows a mark for it.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        result: Any = cli.main(
            args=list(argv) if argv is not None else None, prog_name=PROGRAM, standalone_mode=False
        )
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.UsageError as error:
        error.show()
        return ExitCode.BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED
    except HarnessError as error:
        click.echo(f"{PROGRAM}: {error}", err=True)
        return error.exit_code
    except BrokenPipeError:
        return _reader_left()
    except SystemExit:
        if COMPLETION_VARIABLE in os.environ:
            raise
        # Outside completion, click exits by itself for one reason: a closed pipe. Its status, 1,
        # would say here that a gate failed.
        return _reader_left()
    except click.ClickException as error:
        error.show()
        return ExitCode.BAD_INPUT
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        click.echo(f"{PROGRAM}: {name}{error.strerror or error}", err=True)
        return ExitCode.BAD_INPUT
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        click.echo(
            f"{PROGRAM}: internal error, please report it: {type(error).__name__}: {error} "
            f"(set {DEBUG_VARIABLE}=1 for the traceback)",
            err=True,
        )
        return ExitCode.BAD_INPUT
    return int(result) if isinstance(result, int) else ExitCode.DONE


def _reader_left() -> int:
    """Take it well that the reader (`| head`) has what it wanted."""
    # Python flushes standard output once more at the end; that must not go into the closed pipe.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return ExitCode.DONE
