"""Which system is held against what of a baseline: told before any work is done, and after it in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import InputError
from harness.runs.reading import Reading, differences


class Named(NamedTuple):
    """A baseline by name.

    Attributes:
        text: as it was written.
        gated: the one system that is held against it; None for every one.
        base: the other system, or the path.
        path: None for a system.
    """

    text: str
    gated: str | None
    base: str
    path: Path | None

    @property
    def gate(self) -> str:
        """The gate as it was written."""
        return f"--not-below {self.text}"


class Seat(NamedTuple):
    """A system in a table, or in one that is yet to be made.

    Attributes:
        label: what the table calls it.
        scorer: of the table; there is one table of each.
        spec: the scorer with its options, as far as they are known.
        reading: what it was read with, None where that is not known.
    """

    label: str
    scorer: str
    spec: str
    reading: Reading | None


class Side(NamedTuple):
    """A system that a baseline holds.

    Attributes:
        label: what the baseline calls it.
        scorer: of the table that it can be held against.
        reading: what it was read with, None where that is not known.
        cases: those that it has something for.
    """

    label: str
    scorer: str
    reading: Reading | None
    cases: frozenset[str]


class Pair(NamedTuple):
    """A system, and what it is held against."""

    seat: Seat
    side: Side

    def name(self, base: Named) -> str:
        """Return what the other side is called."""
        if base.path is None or self.seat.label == self.side.label:
            return base.base
        return f"{self.side.label} in {base.base}"


class Paired(NamedTuple):
    """Who is held against what, and what has to be said of the others."""

    pairs: list[Pair]
    lines: list[str]


def paired(base: Named, seats: Sequence[Seat], sides: Sequence[Side]) -> Paired:
    """Pair the systems of the tables with those of a baseline by label; a baseline of one is for all of its table.

    Args:
        base: the baseline.
        seats: every system of every table.
        sides: what the baseline holds.

    Raises:
        InputError: for other systems, another scorer, another reader or budget.
    """
    _check_tables(base, seats, sides)
    pairs: list[Pair] = []
    for scorer in dict.fromkeys(side.scorer for side in sides):
        pairs += _matched(
            base,
            [seat for seat in seats if seat.scorer == scorer and base.gated in (None, seat.label)],
            [side for side in sides if side.scorer == scorer],
        )
    unknown = [pair.seat.label for pair in pairs if not _read_alike(base, pair)]
    held = {pair.seat.label for pair in pairs}
    left = [seat.label for seat in seats if seat.label not in held] if base.gated is None else []
    lines = []
    if left:
        lines.append(f"{base.gate}: holds nothing of, and does not gate: {', '.join(left)}")
    if unknown:
        lines.append(f"{base.gate}: is not known to have the same reader and budget: {', '.join(unknown)}")
    return Paired(pairs, lines)


def beside(base: Named, seats: Sequence[Seat]) -> Paired:
    """Pair the systems of a table with one that stands in it.

    Raises:
        InputError: when there is none, when it stands in another table, or was read otherwise.
    """
    best = next(seat for seat in seats if seat.label == base.base)
    others = [seat for seat in seats if seat.label != base.base and base.gated in (None, seat.label)]
    held = [seat for seat in others if seat.scorer == best.scorer]
    left = [f"{seat.label} ({seat.scorer})" for seat in others if seat.scorer != best.scorer]
    if not others:
        raise InputError(f"{base.gate}: there is no other system to hold against it.")
    if not held:
        raise InputError(
            f"{base.gate}: {best.label} stands in the {best.scorer} table, and in other tables what it is to be "
            f"held against: {', '.join(left)}. Name one scorer for all with --scorer."
        )
    side = Side(best.label, best.scorer, best.reading, frozenset())
    pairs = [Pair(seat, side) for seat in held]
    for pair in pairs:
        _read_alike(base, pair)
    told = f"stands in the {best.scorer} table, and does not gate what stands in another: {', '.join(left)}"
    return Paired(pairs, [f"{base.gate}: {told}"] if left else [])


def _check_tables(base: Named, seats: Sequence[Seat], sides: Sequence[Side]) -> None:
    """Refuse a system that the baseline holds, or that is named, where it stands in another table.

    It would go ungated.
    """
    by_label = {seat.label: seat for seat in seats}
    for side in sides:
        seat = by_label.get(base.gated or side.label)
        if seat is not None and seat.scorer != side.scorer:
            raise InputError(
                f"{base.gate}: {seat.label} stands in the {seat.scorer} table, the baseline was scored by "
                f"{side.scorer}. Run it as the baseline was run, or name one scorer for all with --scorer."
            )


def _matched(base: Named, seats: Sequence[Seat], sides: Sequence[Side]) -> list[Pair]:
    """Pair the systems of one table."""
    by_label = {side.label: side for side in sides}
    pairs = [Pair(seat, by_label[seat.label]) for seat in seats if seat.label in by_label]
    if not pairs and len(by_label) == 1:
        pairs = [Pair(seat, side) for seat in seats for side in by_label.values()]
    if not pairs:
        raise InputError(
            f"{base.gate}: holds {', '.join(by_label)}, and nothing of "
            f"{', '.join(seat.label for seat in seats)}. Name a baseline of the same systems, or of one."
        )
    return pairs


def _read_alike(base: Named, pair: Pair) -> bool:
    """Say whether both were read alike, as far as can be known: False where only one of them says.

    Raises:
        InputError: when they were not.
    """
    seat, side = pair
    if seat.reading is None or side.reading is None:
        return seat.reading is side.reading
    found = list(differences(seat.reading, side.reading, same=seat.label == side.label))
    if found:
        anew = "Run them alike." if base.path is None else "Make the baseline anew, or run as it was run."
        raise InputError(
            f"{base.gate}: {side.label} is not comparable with {seat.label}: {'; '.join(found)}. {anew}"
        )
    return True
