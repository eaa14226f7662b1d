"""Corrections of a data set's gold, kept in a file of their own and keyed by question id.

`{id: {answer, accept, answerable, exclude, reason}}`, or a list of such with `id`. The suite
stays as it was published; scores are told with and without the corrections.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.errors import FactError, InputError
from harness.facts.model import ABSTAIN, FactType, GoldFact
from harness.suite.importers.answers import IDS, source_id
from harness.suite.importers.gold import type_of
from harness.suite.importers.made import Imported, SourceFile
from harness.suite.importers.reading import close_to, plain, read_json
from harness.suite.models import Case, GoldFacts, Suite, nearest

_KEYS = frozenset(("answer", "accept", "answerable", "exclude", "reason", *IDS))
DECLINES = "That was never mentioned, so I don't know."


@dataclass(frozen=True, slots=True)
class Correction:
    """What is right about one question.

    Attributes:
        answer: the right answer; empty where the question has none.
        accept: further right answers.
        answerable: False where it asks for what was never said.
        excluded: whether no answer can be right or wrong, so that the question counts nowhere.
        reason: why, in the words of the file.
    """

    answer: str = ""
    accept: tuple[str, ...] = ()
    answerable: bool = True
    excluded: bool = False
    reason: str = ""

    @property
    def perfect(self) -> str:
        """What a system that makes no mistake says."""
        return self.answer or DECLINES

    def apply(self, case: Case) -> Case:
        """Return a case with its gold corrected."""
        if not self.answerable:
            gold = GoldFacts((GoldFact(ABSTAIN, FactType.ABSTAIN, id="abstain"),))
            text = "Says that this was never said or isn't known, instead of answering."
        else:
            type = type_of(self.answer)
            fact = GoldFact(self.answer, type, self.accept, id="answer")
            gold = GoldFacts((fact,))
            text = f"Gives this answer, in whatever words: {' / '.join((self.answer, *self.accept))}"
        criteria = tuple(replace(one, text=text, facts=()) for one in case.criteria[:1])
        return replace(
            case, gold=gold, criteria=criteria, expected_behavior=self.perfect, answerable=self.answerable
        )


@dataclass(frozen=True, slots=True)
class Overlay:
    """The corrections of a file, by test id."""

    corrections: Mapping[str, Correction]
    file: SourceFile

    def corrected(self, case: Case) -> Case | None:
        """Return a case as it should be, None where it counts nowhere."""
        one = self.corrections.get(case.id)
        if one is None:
            return case
        return None if one.excluded else one.apply(case)

    def told(self) -> str:
        """Say how many of which kind there are."""
        excluded = sum(one.excluded for one in self.corrections.values())
        declining = sum(not one.answerable and not one.excluded for one in self.corrections.values())
        return (
            f"{len(self.corrections)} corrections: {len(self.corrections) - excluded - declining} other answers, "
            f"{declining} without an answer, {excluded} questions excluded"
        )


def read_overlay(path: Path, asked: Suite | Imported) -> Overlay:
    """Read a file of corrections.

    Args:
        path: the file.
        asked: the questions that may be corrected, of a suite or of what becomes one.

    Raises:
        InputError: for a question that the suite doesn't have, or a correction that says nothing.
    """
    data, file = read_json(path)
    names = _names(asked)
    found: dict[str, Correction] = {}
    for name, entry in _entries(path, data):
        if name not in names:
            raise InputError(f"{path}: {name}: the suite has no such question; {close_to(name, names)}.")
        if names[name] in found:
            raise InputError(f"{path}: {name}: is corrected twice. Leave one of them in.")
        found[names[name]] = _correction(path, name, entry)
    if not found:
        raise InputError(f"{path}: holds no correction.")
    return Overlay(found, file)


def _names(asked: Suite | Imported) -> dict[str, str]:
    """Return the case's id by the data set's ids of questions and by the cases' own."""
    pairs = _asked(asked)
    return dict(pairs) | {id: id for _, id in pairs}


def _asked(asked: Suite | Imported) -> list[tuple[str, str]]:
    if isinstance(asked, Imported):
        return [(question.id, question.case_id) for question in asked.questions]
    return [(source_id(case), case.id) for case in asked]


def _entries(path: Path, data: Any) -> list[tuple[str, Any]]:
    if isinstance(data, Mapping) and not any(key in data for key in IDS):
        return [(str(name), entry) for name, entry in data.items() if not str(name).startswith("_")]
    entries = []
    for number, entry in enumerate(data if isinstance(data, list) else [data], start=1):
        name = next((entry[key] for key in IDS if key in entry), None) if isinstance(entry, Mapping) else None
        if name is None:
            raise InputError(f"{path}: correction {number} names no question. Give it an `id`.")
        entries.append((plain(name), entry))
    return entries


def _correction(path: Path, name: str, entry: Any) -> Correction:
    if not isinstance(entry, Mapping):
        entry = {"answer": entry}
    where = f"{path}: {name}"
    if unknown := sorted(entry.keys() - _KEYS):
        raise InputError(f"{where}: unknown key {unknown[0]!r}; {nearest(unknown[0], tuple(sorted(_KEYS)))}.")
    for key in ("answerable", "exclude"):
        if not isinstance(entry.get(key, False), bool):
            raise InputError(f"{where}: {key} is {entry[key]!r}. Write true or false.")
    accept = entry.get("accept") or []
    if not isinstance(accept, list):
        raise InputError(f"{where}: accept is no list.")
    answer = "" if entry.get("answer") is None else plain(entry["answer"])
    answerable = bool(entry.get("answerable", True))
    excluded = bool(entry.get("exclude", False))
    if answerable and not excluded and not answer:
        raise InputError(
            f"{where}: corrects nothing. Give it an answer, `answerable: false` or `exclude: true`."
        )
    one = Correction(
        answer, tuple(map(plain, accept)), answerable, excluded, plain(entry.get("reason") or "")
    )
    if answerable and not excluded:
        try:
            GoldFact(one.answer, type_of(one.answer), one.accept)
        except FactError as error:
            raise InputError(f"{where}: {error}") from None
    return one
