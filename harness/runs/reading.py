"""What a result was read with; results that were read otherwise are not comparable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from harness.runs.manifest import ReaderPart

OWN = "own"


class Reading(NamedTuple):
    """The reader of a result and what it was given.

    Attributes:
        reader: `extractive`, `own`, or the model that reads.
        prompt: hash of its prompt, None where there is none.
        budget: words of memory that are read, None where they are not cut.
        limit: memories that are asked for.
    """

    reader: str
    prompt: str | None
    budget: int | None
    limit: int | None


def reading_of(part: ReaderPart) -> Reading:
    """Return what a run was read with."""
    return Reading(part.model or part.kind, part.prompt, part.budget, part.limit)


def differences(now: Reading, before: Reading, *, same: bool) -> Iterator[str]:
    """Yield what two results differ in, each with the value before and now.

    A result that is not cut to a budget (a control) is held to no budget and no limit, and one that
    a system answered by itself to none either; such a one may stand beside what a reader read, as long
    as it is another system.

    Args:
        now: of the one.
        before: of the other.
        same: whether both are of one system.
    """
    by_itself = OWN in (now.reader, before.reader)
    if now.reader != before.reader:
        if same or not by_itself:
            yield f"its reader was {before.reader}, here it is {now.reader}"
    elif now.prompt != before.prompt:
        yield f"its reader's prompt was {_short(before.prompt)}, here it is {_short(now.prompt)}"
    if by_itself or now.budget is None or before.budget is None:
        return
    if now.budget != before.budget:
        yield f"its budget was {before.budget:,} words, here it is {now.budget:,} (--budget)"
    if now.limit != before.limit:
        yield f"it was asked for {before.limit} memories, here for {now.limit} (--recall-limit)"


def _short(prompt: str | None) -> str:
    return prompt[:8] if prompt else "none"
