"""Say in words what was found, what is missing and what is wrong in one scored answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from harness.facts import FactType
from harness.scoring import (
    CaseScore,
    FactVerdict,
    JudgeFailed,
    Missing,
    NotAnnotated,
    Scored,
    SystemFailed,
)

if TYPE_CHECKING:
    from harness.scoring.judge.verdicts import Judgement

Mark = Literal["found", "missing", "wrong", "optional"]

_FLAG_WORDS = {
    "negated": "negated",
    "unsure": "the answer is unsure of it",
    "question": "asked, not stated",
    "alternatives": "one of several alternatives",
    "enumeration": "one of a list of candidates",
    "replaced": "called replaced or corrected",
    "past": "called past",
    "dismissed": "set aside",
    "bounded": "a bound, not the value itself",
    "stale": "a superseded value stands beside it",
    "hedged": "hedged",
    "diacritics": "without its accents",
}
_LONGEST_QUOTE = 160
_RULED: dict[str, Mark] = {"met": "found", "not_met": "missing", "contradicted": "wrong"}


class Line(NamedTuple):
    """One fact of one answer: its mark, name, gold value and what was found."""

    mark: Mark
    name: str
    value: str
    remark: str


def fact_lines(score: CaseScore) -> Iterator[Line]:
    """Yield a line a criterion that was judged and a line a fact, required ones first; unstated optional and forbidden facts are left out."""
    if score.judged is not None and score.judged.judgement is not None:
        yield from _judged_lines(score.judged.judgement)
    for verdict in score.verdicts:
        name = verdict.fact.id or verdict.fact.fact
        value = "says that it does not know" if verdict.fact.type is FactType.ABSTAIN else verdict.fact.fact
        if verdict.role == "forbidden":
            if verdict.counts:
                effect = f"voids {verdict.fact.replaces}" if verdict.fact.replaces else "one violation"
                why = f"; {verdict.fact.why}" if verdict.fact.why else ""
                yield Line("wrong", name, value, f"stated as true ({effect}{why}): {_quote(verdict)}")
        elif verdict.counts:
            mark: Mark = "found" if verdict.role == "required" else "optional"
            yield Line(mark, name, value, f"{_flags(verdict)}{_quote(verdict)}")
        elif verdict.role == "required":
            yield Line("missing", name, value, _why_missing(verdict))


def _judged_lines(judgement: Judgement) -> Iterator[Line]:
    for ruling in judgement.rulings:
        votes = f" ({', '.join(ruling.votes)})" if len(set(ruling.votes)) > 1 else ""
        quote = f"“{_short(ruling.quote)}”" if ruling.quote else ""
        yield Line(_RULED[ruling.verdict], ruling.id, ruling.verdict.replace("_", " ") + votes, quote)
    for value in judgement.wrong_values:
        if value.stated:
            yield Line("wrong", value.id, "wrong value stated as true", f"“{_short(value.quote)}”")
    for claim in judgement.unsupported:
        yield Line("wrong", "unsupported", claim.claim, f"“{_short(claim.quote)}”")


def outcome_words(score: CaseScore) -> str:
    """Say what became of the answer, when it has no reward."""
    match score.outcome:
        case Missing(what):
            return f"missing: no {what} was supplied"
        case SystemFailed(kind, message):
            return f"system error ({kind}): {message}" if message else f"system error ({kind})"
        case JudgeFailed(kind, message):
            return f"judge error ({kind}): {message}" if message else f"judge error ({kind})"
        case NotAnnotated(lacks):
            return f"not annotated: the case has no {lacks.removeprefix('a ')}"
        case Scored():
            return ""


def _why_missing(verdict: FactVerdict) -> str:
    if verdict.voided_by:
        return f"voided by {verdict.voided_by}, a wrong state of it that is stated as true"
    if verdict.match.mentioned:
        return f"mentioned, not stated as true{_flags(verdict, brackets=True)}: {_quote(verdict)}"
    return "not found"


def _flags(verdict: FactVerdict, *, brackets: bool = False) -> str:
    words = ", ".join(_FLAG_WORDS.get(flag, flag) for flag in verdict.match.flags)
    if not words:
        return ""
    return f" ({words})" if brackets else f"({words}) "


def _quote(verdict: FactVerdict) -> str:
    return f"“{_short(verdict.match.clause)}”"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[: _LONGEST_QUOTE - 1]}…" if len(line) > _LONGEST_QUOTE else line
