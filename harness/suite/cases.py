"""A header made into a case, with the checks that look at more than one field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from harness.errors import Problem, SuiteError
from harness.facts.model import FactType, GoldFact
from harness.suite.checking import look
from harness.suite.chunks import read_header
from harness.suite.claims import claim_problems
from harness.suite.discovery import HAYSTACKS
from harness.suite.legacy import conversation_problems, header_part, is_legacy
from harness.suite.models import LAYERS, Case, Criterion, GoldFacts, nearest
from harness.suite.schema import HEADER, SHARED_HEADER
from harness.suite.yaml_reader import Document, FieldPath, Plain, parse

_GROUPS = ("required", "optional", "forbidden")


def read_case(path: Path) -> tuple[Case | None, list[Problem]]:
    """Read the header of a case file.

    Returns:
        the case, or None where too little of it is sound, and every problem found.
    """
    try:
        chunk = read_header(path)
        document = parse(chunk)
    except SuiteError as error:
        return None, list(error.problems)
    header, criteria, problems = header_part(document)
    if is_legacy(document):
        problems += conversation_problems(document)
        if not chunk.last:
            message, mend = "a further document follows.", "Delete it: this form is one document."
            problems.append(document.problem((), message, mend, "extra-document"))
    elif _shares(header) and not chunk.last:
        message, mend = "a further document follows.", "Move it to the haystack, or delete `haystack`."
        problems.append(document.problem((), message, mend, "extra-document"))
    case, more = _build(document, header, criteria)
    return case, problems + more


def _shares(header: Plain) -> bool:
    """Tell whether the conversations of a case stand in a file that it shares with others."""
    return isinstance(header, dict) and "haystack" in header


def _build(
    document: Document, header: Plain, criteria: tuple[Criterion, ...]
) -> tuple[Case | None, list[Problem]]:
    fields, problems = look(SHARED_HEADER if _shares(header) else HEADER, document, header)
    if fields is None:
        return None, problems
    case = Case(
        id=fields["test_id"],
        category=fields["category"],
        title=fields["title"],
        description=fields.get("description") or "",
        domain=fields.get("domain") or "",
        abilities=fields.get("abilities") or (),
        locale=fields.get("locale", "en-US"),
        cluster=fields.get("cluster"),
        entities=fields.get("entities") or (),
        question_time=fields.get("question_time"),
        question=fields["user_question"],
        criteria=criteria or tuple(Criterion(**item) for item in fields.get("evaluation_criteria") or ()),
        expected_behavior=fields.get("expected_behavior") or "",
        gold=_gold(fields.get("gold_facts") or {}),
        answerable=fields.get("answerable", True),
        path=document.path,
        form="legacy" if is_legacy(document) else "documents",
        haystack=_haystack(document.path, fields.get("haystack")),
        evidence=fields.get("evidence") or (),
    )
    problems += _placement(case, document)
    problems += _names(case, document)
    problems += _facts(case, document)
    return case, problems


def _haystack(path: Path, name: str | None) -> Path | None:
    """Return the file of a haystack: it stands beside the folders of the cases."""
    return None if name is None else path.parent.parent / HAYSTACKS / f"{name}.yaml"


def _gold(groups: dict[str, Any]) -> GoldFacts:
    return GoldFacts(**{group: tuple(_named_facts(group, groups.get(group) or ())) for group in _GROUPS})


def _named_facts(group: str, facts: Iterable[dict[str, Any]]) -> Iterator[GoldFact]:
    """Build the facts of a group; one without an id is called after its place."""
    for number, fact in enumerate(facts, start=1):
        fact.setdefault("id", f"{group}_{number}")
        yield GoldFact(**fact)


def _placement(case: Case, document: Document) -> Iterator[Problem]:
    """Hold the case against the directory and the file it stands in."""
    folder = case.path.parent.name
    if case.haystack is not None and not case.haystack.is_file():
        message = f"there is no haystack {case.haystack}."
        mend = "Correct the name, or write the conversations there, a document each."
        yield document.problem(("haystack",), message, mend, "no-haystack")
    if folder != case.category and (folder in LAYERS or case.haystack is not None):
        message = f"the file is in {folder}/ and the case says {case.category}."
        mend = f"Move the file to {case.category}/, or correct the category and the test_id."
        yield document.problem(("category",), message, mend, "wrong-directory")
    elif case.form == "documents" and case.id != (expected := f"{case.category}_{case.path.stem}"):
        message = f"the case is called {case.id!r} and the file {case.path.name}."
        mend = f"Call the case {expected}, or rename the file."
        yield document.problem(("test_id",), message, mend, "id-not-file-name")


def _names(case: Case, document: Document) -> Iterator[Problem]:
    """Look for criteria and facts of one name, and for names that nothing has."""
    places: list[tuple[FieldPath, str]] = [
        (("gold_facts", group, index), fact.id)
        for group in _GROUPS
        for index, fact in enumerate(getattr(case.gold, group))
    ]
    seen: set[str] = set()
    for place, name in places:
        if name in seen:
            message = f"a second fact is called {name!r}."
            yield document.problem(
                (*place, "id"), message, "Give each fact a name of its own.", "duplicate-id"
            )
        seen.add(name)
    named: set[str] = set()
    for index, criterion in enumerate(case.criteria):
        at: FieldPath = ("evaluation_criteria", index)
        if criterion.id in named:
            message = f"a second criterion is called {criterion.id!r}."
            mend = "Give each criterion a name of its own."
            yield document.problem((*at, "id"), message, mend, "duplicate-id")
        named.add(criterion.id)
        for name in criterion.facts:
            if name not in seen:
                mend = f"Correct it; {nearest(name, tuple(seen))}."
                yield document.problem((*at, "facts"), f"no fact is called {name!r}.", mend, "unknown-fact")


def _facts(case: Case, document: Document) -> Iterator[Problem]:
    """Look at what each fact claims about itself and about other facts."""
    required = tuple(fact.id for fact in case.gold.required)
    for group in _GROUPS:
        for index, fact in enumerate(getattr(case.gold, group)):
            yield from claim_problems(document, ("gold_facts", group, index), fact, group, required)
    abstaining = sum(fact.type is FactType.ABSTAIN for fact in case.gold.required)
    if case.gold.annotated and abstaining != (0 if case.answerable else 1):
        said = "answerable" if case.answerable else "not answerable"
        message = f"the case is {said} and has {abstaining} required facts of the type abstain."
        mend = "Give exactly one to a case with `answerable: false`, and none to any other."
        yield document.problem(("answerable",), message, mend, "abstain")
