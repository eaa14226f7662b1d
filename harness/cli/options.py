"""Options that several commands share, and what they resolve to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from harness.settings import Resolved
    from harness.suite import Suite

Command = TypeVar("Command", bound=Callable[..., Any])
LAYER_NAMES = ("layer1", "layer2", "layer3")
FORMAT_NAMES = ("table", "md", "json", "csv")


def _share(ctx: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Accept a number in [0, 1]; nan is in no range."""
    if value is not None and not 0 <= value <= 1:
        raise click.BadParameter(f"{value} is not in the range from 0 to 1.", ctx, parameter)
    return value


suite_option = click.option(
    "--suite", type=click.Path(path_type=Path), metavar="DIR", help="Suite to use instead of the bundled one."
)
gold_option = click.option(
    "--gold",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Gold file that overrides the suite's gold facts.",
)
layer_option = click.option(
    "--layer", type=click.Choice(LAYER_NAMES), multiple=True, help="Only this layer; repeatable."
)
scorer_option = click.option(
    "--scorer",
    metavar="NAME",
    help="keyword-recall (default), evidence-recall, exact-match, token-f1, module:attribute.",
)
threshold_option = click.option(
    "--pass-threshold", type=float, metavar="X", help="Reward from which an answer passes (0.6)."
)
format_option = click.option(
    "--format", "format", type=click.Choice(FORMAT_NAMES), help="What is printed (table)."
)
output_option = click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="Also write to a file, its format by its ending: .txt .md .json .csv; repeatable.",
)
fail_under_option = click.option(
    "--fail-under",
    callback=_share,
    type=float,
    metavar="X",
    help="Exit with 1 when a system's overall mean is below X (missing answers and errors counted as 0).",
)
partial_option = click.option(
    "--partial", is_flag=True, help="Compare over the cases that every system answered, and say so."
)


def comparison_options(command: Command) -> Command:
    """Add the options that every command which scores answers has."""
    for option in reversed(
        (
            layer_option,
            scorer_option,
            gold_option,
            suite_option,
            threshold_option,
            partial_option,
            format_option,
            output_option,
            fail_under_option,
        )
    ):
        command = option(command)
    return command


def settings(**flags: Any) -> Mapping[str, Resolved]:
    """Resolve the settings behind the flags given; see `harness.settings`."""
    from harness.settings import resolve

    return resolve(flags)


def chosen_suite(values: Mapping[str, Resolved], layers: tuple[str, ...] = ()) -> tuple[Suite, Suite]:
    """Return the whole suite, and its part in the layers asked for."""
    from harness.errors import InputError
    from harness.suite import Suite, load_suite

    whole = load_suite(values["suite"].value, gold=values["gold"].value)
    if not layers:
        return whole, whole
    part = Suite(whole.root, tuple(case for case in whole if case.category in layers))
    if not len(part):
        raise InputError(f"{whole.root}: no case in {', '.join(layers)}.")
    return whole, part
