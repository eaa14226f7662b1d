"""Memories of notes: single facts, or paragraphs that carry their context."""

from __future__ import annotations

from harness.adapters.strategies.store import Entry, Form
from harness.adapters.strategies.writer import Strategy


def _note(entry: Entry) -> str:
    tags = entry.fields["tags"]
    return f"{entry.fields['text']} [{tags}]" if tags else entry.fields["text"]


def _form(name: str) -> Form:
    return Form(name, "note", ("text", "tags"), needed=("text",), identity=("text",), render=_note)


class SimpleNotes(Strategy):
    """A model keeps atomic facts, one sentence each, with tags."""

    @classmethod
    def form(cls) -> Form:
        """Return a note of one sentence."""
        return _form("simple_notes")


class EnhancedNotes(Strategy):
    """A model keeps paragraphs that say who, when, why and what belongs to it, with tags."""

    @classmethod
    def form(cls) -> Form:
        """Return a note of one paragraph."""
        return _form("enhanced_notes")
