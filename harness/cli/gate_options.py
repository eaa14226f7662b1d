"""The options of gates that every command which makes a comparison has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.gates import Floor


def share(ctx: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Accept a number in [0, 1]; nan is in no range."""
    if value is not None and not 0 <= value <= 1:
        raise click.BadParameter(f"{value} is not in the range from 0 to 1.", ctx, parameter)
    return value


def _floors(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[Floor, ...]:
    """Read floors such as `0.6` and `layer2=0.6`."""
    if not value:
        return ()
    from harness.gates import parse_floor

    return tuple(map(parse_floor, value))


fail_under_option = click.option(
    "--fail-under",
    callback=_floors,
    multiple=True,
    metavar="[NAME=]X",
    help="Exit with 1 when a system's mean is below X (missing answers and errors counted as 0): the overall "
    "one, or with NAME that of a LAYER, a SYSTEM or SYSTEM:LAYER; repeatable.",
)
not_below_option = click.option(
    "--not-below",
    multiple=True,
    metavar="[SYSTEM=]BASELINE",
    help="Exit with 1 when a system is below BASELINE by more than chance (paired test, Holm over systems): a "
    "JSON report, a run, or another system of the table; repeatable.",
)
margin_option = click.option(
    "--margin",
    callback=share,
    type=float,
    metavar="X",
    help="Difference of means that --not-below lets pass (0).",
)
ALL = (fail_under_option, not_below_option, margin_option)
