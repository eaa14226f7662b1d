"""Ask a person: with arrow keys on a terminal, by numbered lines over a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import click

from harness.cli.streams import is_terminal

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Leave(Exception):
    """The input ended (Ctrl-D, or the end of a pipe)."""


@dataclass(frozen=True, slots=True)
class Option(Generic[T_co]):
    """One line of a menu and what choosing it means."""

    label: str
    value: T_co


class Prompter(Protocol):
    """The two questions that a menu asks."""

    paged: bool

    def choose(self, title: str, options: Sequence[Option[T]]) -> T:
        """Return the value of the option chosen; raises Leave when the input ended."""
        ...

    def ask(self, title: str, default: str = "") -> str:
        """Return a line typed, or the default for an empty one; raises Leave likewise."""
        ...


class LinePrompter:
    """Numbered options, answered by number or by the beginning of the label."""

    paged = False

    def choose(self, title: str, options: Sequence[Option[T]]) -> T:
        """Print the options and read lines until one names an option."""
        click.echo(f"\n{title}")
        for number, option in enumerate(options, start=1):
            click.echo(f"  {number}) {option.label}")
        while True:
            said = self._line("> ")
            picked = _picked(said, options)
            if picked is not None:
                return picked.value
            click.echo(f"{said!r} is none of these; type a number from 1 to {len(options)}.")

    def ask(self, title: str, default: str = "") -> str:
        """Read one line."""
        hint = f" [{default}]" if default else ""
        return self._line(f"{title}{hint}: ") or default

    def _line(self, prompt: str) -> str:
        click.echo(prompt, nl=False)
        line = sys.stdin.readline() if sys.stdin is not None else ""
        if not line:
            raise Leave
        if not sys.stdin.isatty():
            click.echo()  # a pipe echoes nothing, so the line break is ours
        return line.strip()


def _picked(said: str, options: Sequence[Option[T]]) -> Option[T] | None:
    if said.isdecimal():
        return options[int(said) - 1] if 1 <= int(said) <= len(options) else None
    fitting = [option for option in options if said and option.label.casefold().startswith(said.casefold())]
    return fitting[0] if len(fitting) == 1 else None


class ArrowPrompter:
    """Menus driven with the arrow keys."""

    paged = True

    def choose(self, title: str, options: Sequence[Option[T]]) -> T:
        """Show the options and return the one chosen with Enter."""
        import questionary

        choices = [questionary.Choice(option.label, value=at) for at, option in enumerate(options)]
        question = questionary.select(
            title, choices=choices, use_jk_keys=False, use_search_filter=len(options) > 9
        )
        chosen: int = _answered(question)
        return options[chosen].value

    def ask(self, title: str, default: str = "") -> str:
        """Let a line be edited."""
        import questionary

        answer: str = _answered(questionary.text(f"{title}:", default=default))
        return answer.strip() or default


def _answered(question: Any) -> Any:
    """Run a question; Ctrl-D leaves like the end of a pipe, Ctrl-C is an interrupt."""
    from prompt_toolkit.key_binding import KeyBindings, merge_key_bindings

    keys = KeyBindings()

    @keys.add("c-d", eager=True)
    def _leave(event: Any) -> None:
        event.app.exit(exception=EOFError)

    own = question.application.key_bindings
    question.application.key_bindings = merge_key_bindings([own, keys]) if own else keys
    try:
        return question.unsafe_ask()
    except EOFError:
        raise Leave from None


def prompter() -> Prompter:
    """Return the prompter that the terminal can serve."""
    has_terminal = is_terminal(sys.stdin) and is_terminal(sys.stdout)
    return ArrowPrompter() if has_terminal and os.environ.get("TERM", "dumb") != "dumb" else LinePrompter()
