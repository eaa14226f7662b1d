"""All rules over a whole suite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from harness.errors import Problem, SuiteError
from harness.suite import Case, read_suite
from harness.suite.gold import GoldFile, read_gold
from harness.suite.source import Transcript, read_source
from harness.validation import (
    across,
    answers,
    calendar,
    chronology,
    evidence,
    giveaways,
    sources,
    structure,
)
from harness.validation.report import Profile, ValidationReport
from harness.validation.subject import Subject

CaseRule: TypeAlias = Callable[[Subject], Iterator[Problem]]
SuiteRule: TypeAlias = Callable[[Sequence[Subject]], Iterator[Problem]]

_BASIC: tuple[CaseRule, ...] = (
    structure.layer_conversations,
    structure.alternation,
    chronology.chronology,
    calendar.weekdays,
    evidence.facts_in_evidence,
    evidence.facts_not_in_question,
    evidence.forbidden_apart,
)
_BUNDLED: tuple[CaseRule, ...] = (
    structure.rounds,
    structure.length,
    structure.terse_messages,
    chronology.timestamps,
    evidence.annotated,
    evidence.facts_cited,
    giveaways.labels,
    sources.several_sources,
    sources.no_spare_conversation,
    answers.reference_answer,
    answers.hollow_answers,
)
_BUNDLED_SUITE: tuple[SuiteRule, ...] = (across.shared_entities, across.shared_wording)


def validate(
    suite_root: Path | str | None = None, *, profile: Profile = "basic", gold: Path | str | None = None
) -> ValidationReport:
    """Hold a suite against the rules of a profile.

    Files that can't be loaded are reported with those that can; the rules look at the latter.

    Args:
        suite_root: a directory of case files, or one such file; the bundled suite by default.
        profile: `basic` for any suite, `bundled` for what our own must fulfil besides.
        gold: a gold file, whose facts override those of the cases it names.

    Raises:
        InputError: when there is nothing to load.
    """
    suite, problems = read_suite(suite_root, gold=gold)
    gold_file = None if gold is None else _gold_file(Path(gold))
    rules = _BASIC + (_BUNDLED if profile == "bundled" else ())
    examined: list[Subject] = []
    for case in suite:
        subject = _subject(case, gold_file)
        problems += subject.source.problems
        for rule in rules:
            problems += rule(subject)
        examined.append(replace(subject))  # a copy, without the texts that were read for matching
    if profile == "bundled":
        for suite_rule in _BUNDLED_SUITE:
            problems += suite_rule(examined)
    conversations = [it.conversation for it in _distinct(examined)]
    return ValidationReport(
        root=suite.root,
        profile=profile,
        problems=tuple(sorted(set(problems))),
        cases=len(suite),
        conversations=len(conversations),
        rounds=sum(conversation.rounds for conversation in conversations),
        words=sum(conversation.words for conversation in conversations),
    )


def _distinct(examined: Iterable[Subject]) -> Iterable[Transcript]:
    """Return every conversation once, however many cases share it."""
    return {(it.document.path, it.line()): it for subject in examined for it in subject.transcripts}.values()


def _subject(case: Case, gold: GoldFile | None) -> Subject:
    return Subject(case, read_source(case), gold)


def _gold_file(path: Path) -> GoldFile | None:
    """Read the gold file again for the lines in it; its problems are known from loading."""
    try:
        return read_gold(path)[0]
    except SuiteError:
        return None
