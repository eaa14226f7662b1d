"""What changed between two suites: cases that came and went, and which fields and messages differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from harness.authoring.case_text import criterion_data, fact_data, header_data, spelled, talk_data
from harness.suite import Case, Conversation, Suite
from harness.suite.hashing import case_hashes

_GROUPS = ("required", "optional", "forbidden")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    Attributes:
        place: a field such as `title` or `gold_facts.required.fee`, a conversation such as `conv_001`, or
            a message such as `conv_001#12`, numbered as in the older suite unless only the newer has it.
        before: what stands in the older suite, None where it has nothing.
        after: what stands in the newer one, None where it has nothing.
    """

    place: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class CaseDiff:
    """A case that both suites have, and what differs in it."""

    id: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class SuiteDiff:
    """What changed from one suite to another.

    Attributes:
        added: ids of cases that only the newer has.
        removed: ids of cases that only the older has.
        renamed: old and new id of cases whose content is the same; they are in neither of the above.
        changed: cases of one id whose content differs.
        same: how many cases are the same; a file written in another way may be the same case.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    changed: tuple[CaseDiff, ...]
    same: int

    @property
    def empty(self) -> bool:
        """Whether both suites have the same content."""
        return not (self.added or self.removed or self.renamed or self.changed)

    def as_data(self) -> dict[str, Any]:
        """Return the difference as plain data."""
        return asdict(self)


def diff_suites(older: Suite, newer: Suite) -> SuiteDiff:
    """Compare two suites by the ids of their cases.

    Raises:
        SuiteError: when conversations are broken.
    """
    before, after = ({case.id: case for case in suite} for suite in (older, newer))
    removed = [case for name, case in before.items() if name not in after]
    added = [case for name, case in after.items() if name not in before]
    renamed = tuple(_renamed(removed, added))
    gone, came = ({pair[side] for pair in renamed} for side in (0, 1))
    hashes = case_hashes(older.cases), case_hashes(newer.cases)
    changed: list[CaseDiff] = []
    both = [name for name in before if name in after]
    for name in both:
        if hashes[0][name] == hashes[1][name]:
            continue
        if changes := tuple(diff_cases(before[name], after[name])):
            changed.append(CaseDiff(name, changes))
    return SuiteDiff(
        added=tuple(case.id for case in added if case.id not in came),
        removed=tuple(case.id for case in removed if case.id not in gone),
        renamed=renamed,
        changed=tuple(changed),
        same=len(both) - len(changed),
    )


def diff_cases(older: Case, newer: Case) -> Iterator[Change]:
    """Yield the differences between two cases, header first."""
    yield from _by_name("", _header(older), _header(newer))
    criteria = [[criterion.id for criterion in case.criteria] for case in (older, newer)]
    if criteria[0] != criteria[1] and sorted(criteria[0]) == sorted(criteria[1]):
        yield Change("evaluation_criteria (order)", ", ".join(criteria[0]), ", ".join(criteria[1]))
    talks = [{talk.id: talk for talk in case.conversations()} for case in (older, newer)]
    orders = [[name for name in one if name in other] for one, other in (talks, talks[::-1])]
    if orders[0] != orders[1]:
        yield Change("conversations (order)", ", ".join(orders[0]), ", ".join(orders[1]))
    for name in dict.fromkeys((*talks[0], *talks[1])):
        yield from _talks(name, talks[0].get(name), talks[1].get(name))


def _header(case: Case) -> dict[str, str]:
    """Return the fields of a header as texts by their places, facts and criteria by their ids."""
    data = header_data(case)
    del data["test_id"]
    facts = data.pop("gold_facts", {})
    data.pop("evaluation_criteria", None)
    flat = {key: _told(value) for key, value in data.items()}
    for criterion in case.criteria:
        flat[f"evaluation_criteria.{criterion.id}"] = _told(criterion_data(criterion), leave="id")
    for group in facts:
        for fact in getattr(case.gold, group):
            flat[f"gold_facts.{group}.{fact.id}"] = _told(fact_data(fact), leave="id")
    return flat


def _told(value: Any, leave: str = "") -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_told(item)}" for key, item in value.items() if key != leave)
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


def _by_name(prefix: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            yield Change(f"{prefix}{key}", before.get(key), after.get(key))


def _talks(name: str, older: Conversation | None, newer: Conversation | None) -> Iterator[Change]:
    if older is None or newer is None:
        told = [None if talk is None else f"{len(talk.messages)} messages" for talk in (older, newer)]
        yield Change(name, told[0], told[1])
        return
    labels = [
        {key: _told(value) for key, value in talk_data(talk).items() if key in ("timestamp", "metadata")}
        for talk in (older, newer)
    ]
    yield from _by_name(f"{name}.", labels[0], labels[1])
    said = [_said(talk) for talk in (older, newer)]
    steps = SequenceMatcher(a=said[0], b=said[1], autojunk=False).get_opcodes()
    for step, from_a, to_a, from_b, to_b in steps:
        if step != "equal":
            yield from _messages(name, said, range(from_a, to_a), range(from_b, to_b))


def _messages(name: str, said: Sequence[Sequence[str]], before: range, after: range) -> Iterator[Change]:
    for at, to in zip_longest(before, after):
        number = (at if at is not None else to) + 1
        yield Change(
            f"{name}#{number}",
            None if at is None else said[0][at],
            None if to is None else said[1][to],
        )


def _said(talk: Conversation) -> list[str]:
    return [
        f"{message.role}{f' ({spelled(message.timestamp)})' if message.timestamp else ''}: {message.text}"
        for message in talk.messages
    ]


def _renamed(removed: Sequence[Case], added: Sequence[Case]) -> Iterator[tuple[str, str]]:
    if not removed or not added:
        return
    left = {_content(case): case.id for case in added}
    for case in removed:
        if (found := left.pop(_content(case), None)) is not None:
            yield case.id, found


def _content(case: Case) -> str:
    """Return everything that a case holds but its name, as one text."""
    return repr((sorted(_header(case).items()), case.conversations()))
