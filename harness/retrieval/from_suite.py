"""A suite as retrieval data sets: the gold evidence is what is relevant, a haystack is a corpus.

At three levels: `message` (what the facts cite), `round` (a user message with its reply) and
`conversation`. A fact that follows from others makes those relevant that it follows from. A case
that cannot be answered and has no evidence (nothing was ever said) is a negative query; one that can be
answered and cites nothing is undefined.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

from harness.retrieval.dataset import Query, RetrievalSet, StoredMemory
from harness.suite import Case, Conversation, Message, Suite

Level = Literal["message", "round", "conversation"]
LEVELS: tuple[Level, ...] = get_args(Level)


def sets_of(suite: Suite, level: Level = "message") -> Iterator[RetrievalSet]:
    """Yield a data set for each haystack, read when it is asked for; most cases have one of their own."""
    together: dict[Hashable, list[Case]] = {}
    for case in suite:
        together.setdefault(case.haystack or case.id, []).append(case)
    for cases in together.values():
        yield set_of(cases[0], level, *cases[1:])


def set_of(case: Case, level: Level = "message", *others: Case) -> RetrievalSet:
    """Return a case as a corpus with its one question, or with those of others of the same haystack, too.

    Raises:
        SuiteError: when the conversations are broken.
    """
    talks = case.conversations()
    units = units_of(talks, level)
    name = case.id if case.haystack is None else case.haystack.stem
    return RetrievalSet(
        id=name,
        memories=tuple(_memories(talks, level)),
        queries=tuple(_query(one, units) for one in (case, *others)),
        name=case.title,
        description=f"{name}, relevance by {level}",
        metadata={"level": level},
    )


def _query(case: Case, units: Mapping[str, str]) -> Query:
    grades = {unit: 1.0 for ref in evidence_of(case) if (unit := units.get(ref)) is not None}
    negative = not grades and not case.answerable
    return Query(case.id, case.question, grades, negative=negative, tags=(case.category, *case.abilities))


def evidence_of(case: Case) -> tuple[str, ...]:
    """Return what the case and its required facts cite or follow from, as `conversation#message`, each once."""
    cited = (ref for fact in case.gold.required for ref in (*fact.evidence, *fact.derived_from))
    return tuple(dict.fromkeys((*case.evidence, *cited)))


def units_of(talks: Iterable[Conversation], level: Level) -> dict[str, str]:
    """Return the unit that each message `conversation#number` belongs to."""
    found: dict[str, str] = {}
    for talk in talks:
        for number, unit in enumerate(_units(talk, level), start=1):
            found[f"{talk.id}#{number}"] = unit
    return found


def ranking_of(refs: Iterable[Sequence[str]], units: dict[str, str]) -> list[str]:
    """Return the ranking of units that a ranking of memories amounts to.

    Args:
        refs: the messages that each memory comes from, best memory first.
        units: the unit of each message.

    Returns:
        each unit once, in the order in which memories bring it; a memory that names no message
        takes a place of its own, so that it costs rank.
    """
    ranked: dict[str, None] = {}
    for place, sources in enumerate(refs):
        brought = [units[ref] for ref in sources if ref in units]
        ranked.update(dict.fromkeys(brought or [f"?{place}"]))
    return list(ranked)


def _units(talk: Conversation, level: Level) -> Iterator[str]:
    rounds = 0
    for number, message in enumerate(talk.messages, start=1):
        rounds += message.role == "user" or rounds == 0
        if level == "message":
            yield f"{talk.id}#{number}"
        elif level == "round":
            yield f"{talk.id}/{rounds}"
        else:
            yield talk.id


def _memories(talks: Sequence[Conversation], level: Level) -> Iterator[StoredMemory]:
    for talk in talks:
        texts: dict[str, list[Message]] = {}
        for unit, message in zip(_units(talk, level), talk.messages, strict=True):
            texts.setdefault(unit, []).append(message)
        for unit, messages in texts.items():
            text = "\n".join(f"{message.role}: {message.text}" for message in messages)
            yield StoredMemory(unit, text, created_at=talk.timestamp)
