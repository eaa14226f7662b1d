"""How figures are written; every renderer writes them the same way.

- a mean reward has two decimals and never rounds up to a full score or down to none:
  0.996 is `0.99`, 0.004 is `0.01`; exactly 1 and 0 are `1.00` and `0.00`
- beside it stands how many answers were scored: `n=20`, or `18/20` when some were not
- bounds follow where they differ from the mean: `[0.81–0.91]`
- the 95% interval of a mean is `0.42–0.81`
- the ranks that a system holds are `1`, `1–3`, or `1, 3` where the one between is not among them
- a p-value has three decimals, is never `0.000` but `p < 0.001`, and never rounds up to 0.050
- nothing to show is `–`, never 0 and never nan
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.comparison import Cell

NOTHING = "–"


def reward(value: float | None) -> str:
    """Write a reward or a mean of rewards."""
    if value is None:
        return NOTHING
    shown = f"{value:.2f}"
    if shown == "1.00" and value < 1:
        return "0.99"
    if shown == "0.00" and value > 0:
        return "0.01"
    return shown


def exact(value: float | None) -> str:
    """Write a figure that stands beside a limit: with four decimals, so that 0.6667 is not 0.67."""
    return NOTHING if value is None else f"{value:.4f}".rstrip("0").rstrip(".")


def count(cell: Cell) -> str:
    """Write how many answers a mean is over."""
    return f"n={cell.scored}" if cell.complete else f"{cell.scored}/{cell.asked}"


def bounds(cell: Cell) -> str:
    """Write the bounds of a mean, or nothing when every answer was scored."""
    if cell.complete or cell.low is None or cell.high is None:
        return ""
    return f"[{reward(cell.low)}–{reward(cell.high)}]"


def cell(cell: Cell) -> str:
    """Write a cell: mean, how many, and bounds where some are missing."""
    if cell.asked == 0:
        return NOTHING
    return " ".join(filter(None, (reward(cell.mean), count(cell), bounds(cell))))


def interval(low: float | None, high: float | None) -> str:
    """Write an interval of a mean."""
    return NOTHING if low is None or high is None else f"{reward(low)}–{reward(high)}"


def ranks(held: Sequence[int]) -> str:
    """Write the ranks that a system holds, neighbours as a range."""
    runs: list[list[int]] = []
    for rank in sorted(held):
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    shown = (f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
    return ", ".join(shown) or NOTHING


def p_value(value: float) -> str:
    """Write a p-value, such as `p 0.031`, or `p < 0.001`."""
    if value < 0.001:
        return "p < 0.001"
    shown = f"{value:.3f}"
    return "p 0.049" if shown == "0.050" and value < 0.05 else f"p {shown}"
