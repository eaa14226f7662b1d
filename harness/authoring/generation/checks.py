"""What is wrong with a draft: the lint's bundled profile, and some limits of the census.

Rounds and words are held to what was asked for; at 50 rounds these are the bundled limits. Figures that
only long talks reach (corrections, rival values) are asked for from 50 rounds on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from harness.authoring.generation.draft import Draft
from harness.errors import Problem, SuiteError
from harness.suite import Conversation, load_suite
from harness.suite.source import read_source
from harness.validation import across, take_census, validate
from harness.validation.structure import MAX_WORDS, MIN_ROUNDS, MIN_WORDS
from harness.validation.subject import Subject

_ADJUSTED = frozenset(("too-few-rounds", "conversation-length"))
_OF_LONG_TALKS = frozenset(("few-corrections", "few-rivals"))
_IN_THE_TALK = frozenset(("one-source", "superseded-state", "shared-entity"))


def problems_of(draft: Draft, test_id: str) -> list[Problem]:
    """Return everything that is wrong with a draft by itself."""
    layer, _, stem = test_id.partition("_")
    with tempfile.TemporaryDirectory(prefix="recallbench-draft-") as folder:
        path = Path(folder) / layer / f"{stem}.yaml"
        path.parent.mkdir()
        path.write_text(draft.text(test_id), encoding="utf-8", newline="\n")
        found = [problem for problem in validate(path, profile="bundled").problems if _counts(problem)]
        try:
            census = take_census(path)
        except SuiteError:
            pass  # the lint has told of it
        else:
            found += [problem for problem in census.problems if problem.rule not in _not_asked(draft)]
    unsaid = list(_unsaid(draft))
    names = {problem.field for problem in unsaid}
    found = [one for one in found if one.rule != "uncited-fact" or not names]
    found += [*_size(draft), *unsaid]
    return sorted({problem._replace(path=Path(path.name)) for problem in found})


def _not_asked(draft: Draft) -> frozenset[str]:
    """Return the rules of the census that do not apply: words of correcting are known in English only."""
    if draft.wish.rounds < MIN_ROUNDS:
        return _OF_LONG_TALKS
    return frozenset() if draft.wish.locale.startswith("en") else frozenset(("few-corrections",))


def _counts(problem: Problem) -> bool:
    return problem.rule not in _ADJUSTED


def _size(draft: Draft) -> Iterator[Problem]:
    rounds = draft.wish.rounds
    low, high = (limit * rounds // MIN_ROUNDS for limit in (MIN_WORDS, MAX_WORDS))
    for talk in draft.conversations():
        if talk.rounds < rounds:
            told = f"the conversation has {talk.rounds} rounds, and {rounds} are needed."
            yield _of_talk(talk, told, "Insert what else is talked about.", "too-few-rounds")
        elif not low <= talk.words <= high:
            told = f"the conversation has {talk.words} words; {low} to {high} are asked for."
            mend = "Let people say more." if talk.words < low else "Shorten the longest messages."
            yield _of_talk(talk, told, mend, "conversation-length")


def _unsaid(draft: Draft) -> Iterator[Problem]:
    for fact in draft.unsaid():
        told = f"{draft.gold(fact).fact!r} ({fact.id}) is said nowhere in it."
        mend = "Let somebody say it once, in passing, not near the end."
        yield Problem(Path(), 0, fact.talk, told, mend, "value-not-said")


def _of_talk(talk: Conversation, told: str, mend: str, rule: str) -> Problem:
    return Problem(Path(), 0, talk.id, told, mend, rule)


def in_the_talk(problem: Problem, draft: Draft) -> bool:
    """Tell whether a problem is mended in what is said, rather than in question and criteria."""
    ids = {talk.id for talk in draft.plan.talks}
    return problem.rule in _IN_THE_TALK or problem.field.partition("#")[0] in ids


class Neighbors:
    """The cases that a suite has already, which a new one may share neither names nor wording with."""

    def __init__(self, subjects: Sequence[Subject] = ()) -> None:
        self._subjects = {subject.case.id: subject for subject in subjects}

    @classmethod
    def of_folder(cls, folder: Path) -> Neighbors:
        """Read the cases of a folder; there may be none, and no folder.

        Raises:
            SuiteError: when one is broken.
        """
        if not any(folder.glob("layer*/*.y*ml")) and not any(folder.glob("*.y*ml")):
            return cls()
        return cls([_subject(path.path) for path in load_suite(folder)])

    def problems_with(self, draft: Draft, test_id: str) -> list[Problem]:
        """Return the names and wording that a draft shares with a case."""
        with tempfile.TemporaryDirectory(prefix="recallbench-draft-") as folder:
            path = Path(folder) / f"{test_id.partition('_')[2]}.yaml"
            path.write_text(draft.text(test_id), encoding="utf-8", newline="\n")
            subject = _subject(path)
        others = [one for name, one in self._subjects.items() if name != test_id]
        found = [
            problem
            for rule in (across.shared_entities, across.shared_wording, across.shared_ends)
            for problem in rule([*others, subject])
            if problem.path == path
        ]
        return sorted({problem._replace(path=Path(path.name)) for problem in found})

    def add(self, path: Path) -> None:
        """Count in a case that was accepted."""
        subject = _subject(path)
        self._subjects[subject.case.id] = subject


def _subject(path: Path) -> Subject:
    (case,) = load_suite(path)
    return replace(Subject(case, read_source(case)))
