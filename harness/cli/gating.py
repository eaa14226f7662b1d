"""From the gate options to what broke: floors, baselines and errors, held before and after the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from harness.errors import GateError, InputError

if TYPE_CHECKING:
    from harness.cli.pairing import Seat
    from harness.comparison import Comparison
    from harness.gates import Against, Breach, Floor
    from harness.runs.folder import RunFolder
    from harness.settings import Resolved
    from harness.suite import Suite

_SHOWN = 40


class Measuring(NamedTuple):
    """What a table was made with, so that the run of a baseline can be scored in the same way.

    Attributes:
        whole: the suite.
        asked: its cases in the table.
        values: the settings.
        flags: what the command line gave for a judge.
        runs: those in the table, under the labels that they have in it; none for answers from a file.
    """

    whole: Suite
    asked: Suite
    values: Mapping[str, Resolved]
    flags: Mapping[str, Any]
    runs: Sequence[RunFolder] = ()


@dataclass(slots=True)
class Held:
    """What came of the gates.

    Attributes:
        breaches: those that are broken.
        lines: what else has to be said.
        refused: those that could not be held, each with the reason.
    """

    breaches: list[Breach] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    refused: list[Breach] = field(default_factory=list)

    @property
    def shown(self) -> list[Breach]:
        """What annotations and JUnit have to show."""
        return [*self.breaches, *self.refused]

    def close(self) -> None:
        """Say what is to be said on standard error.

        Raises:
            GateError: naming every breach and the cases that it is down to.
            InputError: for a gate that could not be held.
        """
        if not (self.lines or self.breaches or self.refused):
            return
        from harness.report.boxes import visible

        for line in self.lines:
            click.echo(visible(line), err=True)
        told = []
        for breach in self.breaches:
            told += [breach.message, *(f"  {case}" for case in breach.cases[:_SHOWN])]
            if more := len(breach.cases[_SHOWN:]):
                told.append(f"  and {more} more")
        if self.refused:
            told += [refusal.message for refusal in self.refused]
            raise InputError(visible("\n".join(told)))
        if told:
            raise GateError(visible("\n".join(told)))


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates that a command line asks for.

    Attributes:
        floors: of `--fail-under`.
        baselines: of `--not-below`, as they were written.
        margin: of `--margin`.
        max_errors: of `--max-errors`; None where there is none, or another part of the program holds it.
    """

    floors: tuple[Floor, ...] = ()
    baselines: tuple[str, ...] = ()
    margin: float = 0.0
    max_errors: float | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The reports that are read."""
        written = (part for text in self.baselines for part in (text, text.rpartition("=")[2]))
        return tuple(path for path in map(Path, written) if path.is_file())

    def check(self, systems: Sequence[str], asked: Suite, whole: Suite) -> None:
        """Refuse, before any work is done, gates that could not be held.

        Args:
            systems: labels that the table will have.
            asked: its cases.
            whole: the suite that they are of.

        Raises:
            InputError: for a name that stands for nothing, or a baseline that does not fit.
        """
        from harness.cli import baselines

        if self.floors:
            from harness.gates import place_of

            layers = sorted({case.category for case in asked})
            for floor in self.floors:
                place_of(floor, systems, layers)
        for text in self.baselines:
            baselines.check(baselines.named(text, systems), whole)

    def check_pairs(self, seats: Sequence[Seat], asked: Suite) -> None:
        """Refuse, before any work is done, baselines that the tables to come could not be held against.

        Args:
            seats: the systems that the tables will have.
            asked: their cases.

        Raises:
            InputError: for another scorer, another reader or budget, or other systems.
        """
        if not self.baselines:
            return
        from harness.cli import baselines

        for text in self.baselines:
            baselines.check_pairs(text, seats, frozenset(asked.ids))

    def hold(self, results: Sequence[Comparison], by: Measuring, stopped: str | None = None) -> Held:
        """Hold tables to the gates; nothing is raised before `Held.close`, so that the tables are shown first.

        Args:
            results: the tables.
            by: what they were made with.
            stopped: why a run ended before it was finished.
        """
        from harness.gates import Breach, below_floors, nothing_scored, too_many_errors

        held = Held()
        if stopped:
            held.breaches.append(Breach("run", stopped))
        judged = _judged(results)
        held.breaches += judged
        if self.max_errors is not None and not judged:
            held.breaches += too_many_errors(results, self.max_errors)
        if not held.breaches:
            held.breaches += nothing_scored(results)
        with _refusals(held, "--fail-under"):
            held.breaches += below_floors(results, self.floors)
        with _refusals(held, "--not-below"):
            self._hold_baselines(results, by, held)
        return held

    def _hold_baselines(self, results: Sequence[Comparison], by: Measuring, held: Held) -> None:
        if not self.baselines:
            return
        from harness.cli import baselines
        from harness.gates import held_against

        pairs: list[Against] = []
        for text in self.baselines:
            with _refusals(held, f"--not-below {text}"):
                found = baselines.against(text, results, by)
                pairs += found.pairs
                held.lines += found.lines
        if held.refused:  # Holm's correction is over all of them
            return
        for verdict in held_against(pairs, margin=self.margin):
            if verdict.breach is not None:
                held.breaches.append(verdict.breach)
            else:
                held.lines.append(f"{verdict.against.gate} met: {verdict}")


def gates_of(flags: Mapping[str, Any], max_errors: float | None = None) -> Gates:
    """Return the gates of a command line.

    Args:
        flags: what it gave for `gate_options.ALL`.
        max_errors: the share of errors to hold the table to.

    Raises:
        InputError: for gates over part of the answers, or a margin of nothing.
    """
    floors, baselines = flags["fail_under"], flags["not_below"]
    if flags.get("partial") and (floors or baselines):
        name = "--fail-under" if floors else "--not-below"
        raise InputError(
            f"{name} does not go with --partial: a gate must not be passed by not answering. "
            "Leave out --partial; what is missing then counts as 0."
        )
    if flags["margin"] is not None and not baselines:
        raise InputError("--margin is for --not-below. Name a baseline, or leave it out.")
    # One that is named twice would be two tests for Holm's correction, and break later for it.
    return Gates(floors, tuple(dict.fromkeys(baselines)), flags["margin"] or 0.0, max_errors)


@contextmanager
def _refusals(held: Held, gate: str) -> Iterator[None]:
    """Take down why a gate could not be held, so that it is shown with the tables."""
    from harness.gates import Breach

    try:
        yield
    except InputError as error:
        held.refused.append(Breach(gate, str(error), refused=True))


@contextmanager
def annotated(format: str | None) -> Iterator[None]:
    """Show GitHub too what is refused inside, where there is no table yet to show it with."""
    try:
        yield
    except InputError as error:
        if format == "github":
            from harness.cli import console
            from harness.gates import Breach

            console.show_annotations((), [Breach("gates", str(error), refused=True)])
        raise


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Print inside, so that gates are held and files written although the reader (`| head`) has left."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich exits by itself there
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _judged(results: Sequence[Comparison]) -> list[Breach]:
    """Return a breach where a judge stopped early, or could judge nothing."""
    from harness.cli import judging
    from harness.gates import Breach

    found = []
    for result in results:
        try:
            judging.gate(result, None)
        except GateError as error:
            found.append(Breach("judge", str(error)))
    return found
