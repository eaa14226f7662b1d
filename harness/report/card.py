"""A card of labelled rows: about a comparison as a whole, and about each of its systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

_INDENT = 2


class Row(NamedTuple):
    """One line of a card.

    Attributes:
        key: its name in data.
        label: its name for people.
        text: what it says, `not recorded` where that is not known.
        value: the same as plain data, None where it is not known.
    """

    key: str
    label: str
    text: str
    value: Any = None


class Part(NamedTuple):
    """The rows of one system."""

    system: str
    rows: tuple[Row, ...]


class Card(NamedTuple):
    """The rows about the comparison, and those about each system."""

    rows: tuple[Row, ...]
    systems: tuple[Part, ...]

    def shared(self) -> Card:
        """Return the card for people: what is the same for every system stands once, at the top."""
        if len(self.systems) < 2:
            return self
        first, *others = ({row.key: row for row in part.rows} for part in self.systems)
        same = {
            key for key, row in first.items() if all(key in other and other[key] == row for other in others)
        }
        common = tuple(row for row in self.systems[0].rows if row.key in same)
        parts = tuple(
            Part(part.system, tuple(row for row in part.rows if row.key not in same)) for part in self.systems
        )
        return Card((*self.rows, *common), parts)


def as_text(shown: Card, width: int = 100) -> str:
    """Return the card for a terminal, each row wrapped within `width` columns."""
    from harness.report import boxes

    whole = shown.shared()
    sections = [("Disclosure", whole.rows), *whole.systems]
    size = max((len(row.label) for _, rows in sections for row in rows), default=0) + 2
    made = []
    for title, rows in sections:
        if not rows:
            continue
        made.append(boxes.visible(title))
        for row in rows:
            room = max(width - _INDENT - size, 20)
            first, *others = list(boxes.wrap(row.text, room)) or [""]
            made.append(f"{' ' * _INDENT}{row.label:<{size}}{first}")
            made += [f"{' ' * (_INDENT + size)}{line}" for line in others]
    return "\n".join(made) + "\n"


def as_markdown(shown: Card) -> str:
    """Return the card as Markdown, folded away under its title."""
    from harness.report.markdown import escape

    whole = shown.shared()
    parts = ["<details>\n<summary>Disclosure</summary>", _table(whole.rows)]
    parts += [f"**{escape(part.system)}**\n\n{_table(part.rows)}" for part in whole.systems if part.rows]
    return "\n\n".join([*parts, "</details>"]) + "\n"


def _table(rows: Iterable[Row]) -> str:
    from harness.report.markdown import escape

    return "\n".join(
        ["| | |", "| --- | --- |", *(f"| {escape(row.label)} | {escape(row.text)} |" for row in rows)]
    )


def as_data(shown: Card) -> dict[str, Any]:
    """Return the card as plain data, every row with its text and its value."""
    return {
        "rows": [row._asdict() for row in shown.rows],
        "systems": [
            {"system": part.system, "rows": [row._asdict() for row in part.rows]} for part in shown.systems
        ],
    }


def from_data(data: Mapping[str, Any]) -> Card:
    """Read what `as_data` made.

    Raises:
        KeyError, TypeError: when it is something else.
    """
    parts = tuple(Part(one["system"], tuple(Row(**row) for row in one["rows"])) for one in data["systems"])
    return Card(tuple(Row(**row) for row in data["rows"]), parts)
