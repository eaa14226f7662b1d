"""The gold file: facts kept apart from the cases, which then override the header's.

`{test_id: {required_facts: [...]}}` or `{test_id: [...]}`, in JSON or YAML; keys that begin
with `_` are comments. A fact is a text, a list of texts any of which will do, or a mapping
as in a header. Texts are of the type text: nothing is guessed from how they look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import Problem, SuiteError
from harness.facts.model import FactType, GoldFact
from harness.suite.checking import look
from harness.suite.chunks import read_header
from harness.suite.claims import claim_problems
from harness.suite.models import Case, GoldFacts, nearest
from harness.suite.schema import FACT
from harness.suite.yaml_reader import Document, FieldPath, Plain, parse

_SURROGATES = re.compile(r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GoldFile:
    """The facts of a gold file.

    Attributes:
        document: the parsed file, to ask for lines.
        facts: the required facts of each case named.
        places: the path of each of those facts in the document.
    """

    document: Document
    facts: Mapping[str, tuple[GoldFact, ...]]
    places: Mapping[str, tuple[FieldPath, ...]]

    def override(self, case: Case) -> Case:
        """Return the case with this file's facts, or as it is where the file doesn't name it.

        Links from criteria to facts that are gone go too.
        """
        if case.id not in self.facts:
            return case
        required = self.facts[case.id]
        known = {fact.id for fact in required}
        criteria = (
            replace(criterion, facts=tuple(name for name in criterion.facts if name in known))
            for criterion in case.criteria
        )
        return replace(
            case,
            gold=GoldFacts(required=required),
            criteria=tuple(criteria),
            answerable=all(fact.type is not FactType.ABSTAIN for fact in required),
            gold_path=self.document.path,
        )

    def unknown_ids(self, known: Iterable[str]) -> Iterator[Problem]:
        """Yield a problem for every case that the suite doesn't have."""
        ids = tuple(known)
        for name in self.facts:
            if name not in ids:
                mend = f"Correct or delete it; {nearest(name, ids)}."
                yield self.document.problem((name,), f"the suite has no case {name!r}.", mend, "unknown-case")


def read_gold(path: Path) -> tuple[GoldFile, list[Problem]]:
    """Read a gold file; return the facts that are sound and a problem for each that isn't.

    Raises:
        SuiteError: when the file can't be read or parsed.
    """
    chunk = read_header(path)
    if path.suffix.lower() == ".json":
        chunk = chunk._replace(text=_as_yaml(chunk.text))
    document = parse(chunk)
    problems: list[Problem] = []
    if not chunk.last:
        problems.append(document.problem((), "a further document follows.", "Delete it.", "extra-document"))
    if not isinstance(document.value, dict):
        mend = "Write `test_id: {required_facts: [...]}` for each case."
        raise SuiteError([document.problem((), "is no gold file.", mend, "bad-gold")])
    facts: dict[str, tuple[GoldFact, ...]] = {}
    places: dict[str, tuple[FieldPath, ...]] = {}
    for name, entry in document.value.items():
        if name.startswith("_"):
            continue
        at, listed, more = _listed(document, name, entry)
        problems += more
        read = [_fact(document, item, (*at, index), index + 1) for index, item in enumerate(listed)]
        facts[name] = tuple(fact for fact, _ in read if fact)
        places[name] = tuple((*at, index) for index, (fact, _) in enumerate(read) if fact)
        problems += (problem for _, found in read for problem in found)
        problems += _repeated(document, facts[name], places[name])
        for fact, place in zip(facts[name], places[name], strict=True):
            problems += claim_problems(document, place, fact, "required", ())
    return GoldFile(document, facts, places), problems


def _listed(document: Document, name: str, entry: Plain) -> tuple[FieldPath, list[Plain], list[Problem]]:
    """Return the list of facts of one case, its path, and what is wrong around it."""
    if isinstance(entry, list):
        return (name,), entry, []
    mend = "Write a list of facts, or `required_facts: [...]`."
    if not isinstance(entry, dict):
        return (name,), [], [document.problem((name,), "has no list of facts.", mend, "bad-gold")]
    problems = [
        document.problem((name, key), f"unknown key {key!r}.", mend, "unknown-key")
        for key in entry
        if key != "required_facts" and not key.startswith("_")
    ]
    at: FieldPath = (name, "required_facts")
    listed = entry.get("required_facts")
    if not isinstance(listed, list):
        return at, [], [*problems, document.problem(at, "has no list of facts.", mend, "bad-gold")]
    return at, listed, problems


def _fact(
    document: Document, item: Plain, at: FieldPath, number: int
) -> tuple[GoldFact | None, list[Problem]]:
    """Read one fact in any of its three spellings."""
    spelled: Plain = item
    if isinstance(item, list):
        spelled = {"fact": item[0], "accept": item[1:]} if item else {"fact": None}
    elif not isinstance(item, dict):
        spelled = {"fact": item}
    fields, problems = look(FACT, document, spelled, at)
    if fields is None:
        return None, problems
    return GoldFact(**{"id": f"fact_{number}", **fields}), problems


def _repeated(
    document: Document, facts: tuple[GoldFact, ...], places: tuple[FieldPath, ...]
) -> Iterator[Problem]:
    seen: set[str] = set()
    for fact, at in zip(facts, places, strict=True):
        if fact.id in seen:
            message = f"a second fact is called {fact.id!r}."
            yield document.problem(at, message, "Give each fact a name of its own.", "duplicate-id")
        seen.add(fact.id)


def _as_yaml(text: str) -> str:
    """Return JSON text as YAML that libyaml reads: no tabs, and no surrogate pairs in escapes."""
    joined = _SURROGATES.sub(lambda pair: bytes.fromhex(pair[1] + pair[2]).decode("utf-16-be"), text)
    return joined.expandtabs()
