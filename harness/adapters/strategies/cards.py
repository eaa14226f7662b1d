"""Memories of cards: one value at its place, or several values with where they come from and whose they are."""

from __future__ import annotations

from harness.adapters.strategies.store import Entry, Form
from harness.adapters.strategies.writer import Strategy

_PLACE = ("category", "subcategory", "key")


def _card(entry: Entry) -> str:
    place = " > ".join(entry.fields[name] for name in _PLACE)
    return f"{place}: {entry.fields['value']}"


def _advanced_card(entry: Entry) -> str:
    said = entry.fields
    person = f"{said['person']} ({said['relationship']})" if said["relationship"] else said["person"]
    values = "; ".join(f"{name}: {value}" for name, value in entry.values.items())
    lines = [f"{said['category']} > {said['key']}, of {person}: {values}"]
    if said["backstory"]:
        lines.append(f"backstory: {said['backstory']}")
    if entry.created.timestamp:
        lines.append(f"date_created: {entry.created.timestamp.date().isoformat()}")
    return "\n".join(lines)


class JsonCards(Strategy):
    """A model keeps category → subcategory → key → value."""

    @classmethod
    def form(cls) -> Form:
        """Return a card of one value; no place holds two."""
        fields = (*_PLACE, "value")
        return Form("json_cards", "card", fields, needed=fields, identity=_PLACE, render=_card)


class AdvancedJsonCards(Strategy):
    """A model keeps cards with values, backstory, person and relationship; the harness dates them."""

    @classmethod
    def form(cls) -> Form:
        """Return a card of several values; cards of different people never coincide."""
        identity = ("person", "category", "key")
        return Form(
            "advanced_json_cards",
            "card",
            ("person", "relationship", "category", "key", "backstory"),
            needed=identity,
            identity=identity,
            render=_advanced_card,
            has_values=True,
        )
