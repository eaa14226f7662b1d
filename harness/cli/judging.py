"""From flags and settings to a scorer; the progress of a judge; the gates on its errors and cost."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.streams import is_terminal
from harness.errors import GateError, InputError

if TYPE_CHECKING:
    from harness.comparison import Comparison
    from harness.llm.usage import Spent
    from harness.scoring import Scorer
    from harness.scoring.judge import LLMJudge, Tally
    from harness.settings import Resolved

SETTINGS = (
    "provider",
    "model",
    "base_url",
    "api_key_env",
    "prompts",
    "concurrency",
    "cassette",
    "cassette_mode",
)
"""The settings that only a judge reads."""
FLAGS: Mapping[str, Any] = {
    "judge": (),
    "per_criterion": False,
    "with_transcript": False,
    "repeats": 1,
    "timeout": None,
    "max_errors": None,
    "max_cost": None,
    "prices": None,
    "retry_errors": False,
}
"""The flags that a judge reads, and what each is when it is not given."""
GATES = frozenset({"max_errors"})
"""Those of them that hold for every scorer."""


def scorer(values: Mapping[str, Resolved], flags: Mapping[str, Any]) -> Scorer:
    """Return the scorer that the settings name, a judge with everything that was said of it.

    Args:
        values: the settings.
        flags: what the command line gave for `options.judge_options`.

    Raises:
        InputError: when a flag for judges is given to a scorer that is none.
    """
    from harness.scoring.scorer import JUDGE, find_scorer, scorer_name

    spec = values["scorer"].value
    if scorer_name(spec) != JUDGE:
        refuse_judge_flags(values, flags)
        return find_scorer(spec)
    from harness.settings import variables

    options = {
        **{name: values[name].value for name in SETTINGS},
        **{name: flags[name] for name in FLAGS if name not in ("judge", "timeout") and name in flags},
        "judges": flags.get("judge", ()),
        "variables": variables(),
    }
    if flags.get("timeout") is not None:
        options["timeout_s"] = flags["timeout"]
    single = [name for name in SETTINGS[:4] if options[name] is not None]
    if options["judges"] and single:
        source = values[single[0]].source
        raise InputError(
            f"--judge names the judge as a whole; {single[0]} ({source}) does not go with it. "
            "Write --judge PROVIDER:MODEL@URL."
        )
    return find_scorer(spec, **options)


def check(used: Scorer) -> None:
    """Refuse a judge that cannot be had, before any work is done for it.

    Raises:
        InputError, SettingsError: see `LLMJudge.check`.
    """
    from harness.scoring.scorer import JUDGE

    if used.name == JUDGE and hasattr(used, "check"):
        used.check()


def refuse_judge_flags(values: Mapping[str, Resolved], flags: Mapping[str, Any]) -> None:
    """Refuse flags that only judges read where the scorer is none.

    Args:
        values: the settings.
        flags: what the command line gave for `options.judge_options`; empty for a command whose
            model flags name another model.
    """
    from harness.scoring.scorer import JUDGE

    if not flags:
        return
    given = [name for name, unset in FLAGS.items() if name not in GATES and flags.get(name, unset) != unset]
    given += [name for name in SETTINGS if name in values and values[name].source.startswith("flag")]
    if given:
        raise InputError(
            f"--{given[0].replace('_', '-')} is for --scorer {JUDGE}; the scorer is {values['scorer'].value}. "
            f"Add --scorer {JUDGE}, or leave it out."
        )


@contextmanager
def watched(used: Scorer) -> Iterator[None]:
    """Show how far a judge is while it works; say in the end what was asked and where it is kept."""
    from harness.scoring.scorer import JUDGE

    if used.name != JUDGE or not hasattr(used, "progress"):
        yield
        return
    judge: LLMJudge = used  # type: ignore[assignment]
    last: list[Tally] = []
    with _bar() if is_terminal(sys.stderr) else _silence() as show:

        def note(tally: Tally) -> None:
            last[:] = [tally]
            show(tally)

        judge.progress = note
        try:
            yield
        except KeyboardInterrupt:
            click.echo(_interrupted(judge), err=True)
            raise
        finally:
            judge.progress = None
    if last and last[0].fresh.calls:
        kept = f"; replies kept in {place}" if (place := _kept_in(judge)) else ""
        done = _counted(last[0].done, "answer")
        click.echo(f"judged {done}: {_spent(last[0].fresh)} asked for now{kept}", err=True)


def _interrupted(judge: LLMJudge) -> str:
    place = _kept_in(judge)
    if place is None:
        return "Nothing of this run is kept: the cassette is off."
    return f"Finished verdicts are kept in {place}; the same command goes on from there."


def _kept_in(judge: LLMJudge) -> Path | None:
    """Return the file that replies are written to, None where they are not kept."""
    from harness.llm.cassette import FILE_NAME

    if judge.cassette is None or judge.cassette_mode != "auto":
        return None
    place = Path(judge.cassette)
    return place / FILE_NAME if place.is_dir() else place


@contextmanager
def _silence() -> Iterator[Any]:
    yield lambda tally: None


@contextmanager
def _bar() -> Iterator[Any]:
    """Draw a bar on the terminal's error stream: done, rate, errors, cost, time left."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("judging"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[errors]}"),
        TextColumn("{task.fields[cost]}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("judging", total=None, rate="", errors="", cost="")

        def show(tally: Tally) -> None:
            speed = progress.tasks[0].speed
            progress.update(
                task,
                total=tally.of,
                completed=tally.done,
                rate=f"{speed:.1f}/s" if speed else "",
                errors=_counted(tally.errors, "error"),
                cost=_cost(tally.fresh),
            )

        yield show


def _spent(spent: Spent) -> str:
    replies = "1 reply" if spent.calls == 1 else f"{spent.calls:,} replies"
    return f"{replies}, {_cost(spent)},"


def _cost(spent: Spent) -> str:
    return "cost unknown" if spent.cost is None else f"${spent.cost:.4f}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def gate(result: Comparison, max_errors: float | None) -> None:
    """Hold a judged run to its limits.

    Raises:
        GateError: when it stopped early, or more of its answers are judge errors than allowed.
    """
    if result.judge is not None:
        asked = sum(len(system.scores) for system in result.systems)
        kept = result.judge.kept_in is not None
        hold(result.judge.stopped, sum(result.judge.errors.values()), asked, max_errors, kept=kept)


def hold(stopped: str | None, errors: int, asked: int, max_errors: float | None, *, kept: bool) -> None:
    """Hold so many judge errors to a limit; see `gate`."""
    from harness.scoring.judge.running import too_many

    if stopped:
        raise GateError(f"stopped early: {stopped}.{' What is finished is kept.' if kept else ''}")
    if asked and errors == asked:
        raise GateError(f"no answer could be judged: {errors} judge errors in {asked} answers")
    if too_many(errors, asked, max_errors):
        raise GateError(f"--max-errors {max_errors:g} not met: {errors} judge errors in {asked} answers")
