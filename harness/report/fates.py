"""Where a missed required fact was lost: on the way in, in the store, in recall, in the budget, or in the answer.

A fact is followed through what the run's journal shows. What the journal cannot show is said so
(`store_unseen`, `unseen`) and never guessed:

- what was recalled is in the journal, except for systems that write their own answers and do not say
- the store is seen where a system hands back all of it (strategies, controls), keeps every message word
  for word (the harness's own retrieval), or tells it in its report as `stored`, a list of texts
- a value that follows from others by arithmetic need not stand in any memory
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from harness.facts import AnswerText, FactType, GoldFact, match_fact
from harness.runs.manifest import SystemPart
from harness.runs.record import Record
from harness.scoring import Answer, CaseScore, FactVerdict, Scored
from harness.suite import Case

EVIDENCE_RECALL = "evidence-recall"


class Fate(StrEnum):
    """Where a required fact was lost, in the order in which it could have been."""

    NOT_DELIVERED = "not_delivered"
    NEVER_STORED = "never_stored"
    NOT_RECALLED = "not_recalled"
    STORE_UNSEEN = "store_unseen"
    CUT = "cut"
    NOT_USED = "not_used"
    JUDGED_WRONG = "judged_wrong"
    NOT_DECLINED = "not_declined"
    UNSEEN = "unseen"


TITLES: Mapping[Fate, str] = {
    Fate.NOT_DELIVERED: "not delivered",
    Fate.NEVER_STORED: "never stored",
    Fate.NOT_RECALLED: "stored, not recalled",
    Fate.STORE_UNSEEN: "not recalled, store unseen",
    Fate.CUT: "recalled, cut by the budget",
    Fate.NOT_USED: "recalled, not used",
    Fate.JUDGED_WRONG: "used, judged wrong",
    Fate.NOT_DECLINED: "answered what was never said",
    Fate.UNSEEN: "recall unseen",
}


class Trail(NamedTuple):
    """What is known of one question's way; None is not seen.

    Attributes:
        answer: the answer in words.
        kept: the texts that were read for it.
        recalled: the texts that came back, before any cut.
        stored: the texts in the store; `EVERYTHING` where all that was delivered is kept word for word.
        delivered: ids of the conversations that were handed over.
    """

    answer: str | None = None
    kept: tuple[str, ...] | None = None
    recalled: tuple[str, ...] | None = None
    stored: tuple[str, ...] | None = None
    delivered: frozenset[str] | None = None


EVERYTHING: tuple[str, ...] = ("*",)
"""Stands for a store that keeps every message; told apart by identity."""


class Miss(NamedTuple):
    """One required fact that did not count, and where it was lost."""

    case_id: str
    category: str
    fact: GoldFact
    fate: Fate
    why: str = ""


# ---- what was seen --------------------------------------------------------------------


def trail_of(record: Record, system: SystemPart) -> Trail:
    """Return what a run's journal shows of one question."""
    recalled = None if record.memories is None else tuple(memory.text for memory in record.memories)
    return Trail(
        record.answer,
        record.kept,
        recalled,
        _stored(record, system, recalled),
        frozenset(one.id for one in record.delivered),
    )


def trail_of_answer(answer: Answer) -> Trail:
    """Return what an answer that was collected elsewhere shows."""
    return Trail(answer.text, answer.memory)


def _stored(record: Record, system: SystemPart, recalled: tuple[str, ...] | None) -> tuple[str, ...] | None:
    told = record.report.get("stored")
    if isinstance(told, list | tuple) and all(isinstance(text, str) for text in told):
        return tuple(told)
    if system.kind == "retrieval":
        return EVERYTHING
    whole = system.kind in ("strategy", "control") and not record.report.get("over_limit")
    return recalled if whole else None


# ---- one case -------------------------------------------------------------------------


def misses(case: Case, score: CaseScore, trail: Trail | None) -> tuple[Miss, ...]:
    """Return the required facts of a scored case that do not count, each with where it was lost.

    Args:
        case: the case.
        score: its score, by keyword recall, evidence recall or a judge; without a reward, nothing
            is missed here: what became of the case is in its outcome.
        trail: what is known of the question's way, None where nothing is.
    """
    if not isinstance(score.outcome, Scored):
        return ()
    known = trail or Trail()
    if score.scorer == EVIDENCE_RECALL:
        lost = [verdict.fact for verdict in score.of_role("required") if not verdict.counts]
        return tuple(_miss(case, fact, *_followed(case, fact, known)) for fact in lost)
    found: list[Miss] = []
    verdicts = score.of_role("required") or _read_again(case, known)
    for verdict in verdicts:
        wrong = _judged_wrong(case, score, verdict)
        if wrong is None:
            continue
        if wrong and verdict.match.mentioned:
            found.append(_miss(case, verdict.fact, Fate.JUDGED_WRONG, wrong))
        elif verdict.fact.type is FactType.ABSTAIN:
            found.append(_miss(case, verdict.fact, Fate.NOT_DECLINED))
        else:
            found.append(_miss(case, verdict.fact, *_followed(case, verdict.fact, known)))
    return tuple(found)


def _miss(case: Case, fact: GoldFact, fate: Fate, why: str = "") -> Miss:
    return Miss(case.id, case.category, fact, fate, why)


def _read_again(case: Case, trail: Trail) -> tuple[FactVerdict, ...]:
    """Match the facts against the answer, for a scorer that keeps no verdicts on them."""
    text = AnswerText(trail.answer or "", case.locale)
    made = []
    for fact in case.gold.required:
        others = [other for other in (*case.gold.required, *case.gold.optional) if other is not fact]
        match = match_fact(text, fact, siblings=others)
        made.append(FactVerdict(fact, "required", match, match.asserted))
    return tuple(made)


def _judged_wrong(case: Case, score: CaseScore, verdict: FactVerdict) -> str | None:
    """Say why a fact does not count; None where it does."""
    judgement = score.judged.judgement if score.judged else None
    if judgement is not None and verdict.fact.id:
        about = {one.id for one in case.criteria if verdict.fact.id in one.facts}
        rulings = [ruling for ruling in judgement.rulings if ruling.id in about]
        against = [ruling for ruling in rulings if ruling.verdict != "met"]
        if against:
            return f"criterion {against[0].id} {against[0].verdict.replace('_', ' ')}"
        if rulings:
            return None
    if verdict.voided_by:
        return f"voided by {verdict.voided_by}"
    if "dump" in score.flags:
        return "the answer is a dump"
    if verdict.counts:
        return None
    return ", ".join(verdict.match.flags) or "not stated as true"


def _followed(case: Case, fact: GoldFact, trail: Trail) -> tuple[Fate, str]:
    """Follow a fact that the answer (or what was read) lacks back to where it was last seen."""
    if not _delivered(fact, trail.delivered):
        return Fate.NOT_DELIVERED, "a conversation that says it was not handed over"
    if trail.kept is not None and _said(fact, trail.kept, case):
        return Fate.NOT_USED, ""
    if trail.recalled is not None and _said(fact, trail.recalled, case):
        return Fate.CUT, ""
    if fact.derived_from:
        return Fate.UNSEEN, "it follows from others by arithmetic; no memory says it"
    if trail.stored is not None and trail.stored is not EVERYTHING and not _said(fact, trail.stored, case):
        return Fate.NEVER_STORED, ""
    if trail.kept is None and trail.recalled is None:
        return Fate.UNSEEN, "the journal does not hold what was recalled"
    return (Fate.STORE_UNSEEN, "") if trail.stored is None else (Fate.NOT_RECALLED, "")


def _delivered(fact: GoldFact, delivered: frozenset[str] | None) -> bool:
    """Say whether a conversation that states the fact was handed over: one for a value, all for a sum."""
    if delivered is None:
        return True
    if fact.derived_from:
        return {_conversation(place) for place in fact.derived_from} <= delivered
    return not fact.evidence or any(_conversation(place) in delivered for place in fact.evidence)


def _conversation(place: str) -> str:
    return place.rpartition("#")[0] or place


def _said(fact: GoldFact, texts: Iterable[str], case: Case) -> bool:
    return any(match_fact(text, fact, locale=case.locale).mentioned for text in texts)
