"""What one gold fact claims about itself and about others, in a header as in a gold file."""

from __future__ import annotations

from collections.abc import Iterator

from harness.errors import Problem
from harness.facts.model import FactType, GoldFact
from harness.suite.models import nearest
from harness.suite.yaml_reader import Document, FieldPath


def claim_problems(
    document: Document, at: FieldPath, fact: GoldFact, group: str, required: tuple[str, ...]
) -> Iterator[Problem]:
    """Yield what is wrong with the claims of a fact.

    Args:
        document: where the fact is written.
        at: its path there.
        fact: the fact.
        group: `required`, `optional` or `forbidden`.
        required: the ids of the required facts, which a forbidden one may replace.
    """
    if fact.evidence and fact.derived_from:
        message = f"the fact {fact.id!r} is both cited and derived."
        mend = "Keep `evidence` for what was said and `derived_from` for what follows from it."
        yield document.problem(at, message, mend, "evidence-and-derived")
    if fact.type is FactType.ABSTAIN and group != "required":
        message = f"the fact {fact.id!r} abstains, and only a required fact can."
        yield document.problem(at, message, "Move it to `required`, or delete it.", "abstain")
    if fact.replaces is None:
        return
    if group != "forbidden":
        message = f"the fact {fact.id!r} is {group}, and only a forbidden one replaces another."
        yield document.problem((*at, "replaces"), message, "Delete the key.", "bad-replaces")
    elif fact.replaces not in required:
        message = f"no required fact is called {fact.replaces!r}."
        mend = f"Name the fact that it is a wrong state of; {nearest(fact.replaces, required)}."
        yield document.problem((*at, "replaces"), message, mend, "bad-replaces")
