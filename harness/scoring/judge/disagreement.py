"""Where a judge and keyword recall see the same facts differently: what to read by hand first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from harness.scoring.batch import SystemScores
from harness.scoring.judge.verdicts import Judgement, Verdict
from harness.scoring.keyword_recall import KeywordRecall
from harness.suite import Case
from harness.suite.answer import Answer


class Disagreement(NamedTuple):
    """One criterion, or one forbidden value, on which the two differ.

    Attributes:
        system: whose answer it is.
        case_id: the case.
        id: the criterion or the forbidden fact.
        judge: what the judge ruled.
        keyword: what keyword recall found.
        quote: the judge's quote, empty where it has none.
    """

    system: str
    case_id: str
    id: str
    judge: str
    keyword: str
    quote: str


def disagreements(
    cases: Iterable[Case],
    systems: Iterable[SystemScores],
    answers: Mapping[str, Mapping[str, Answer]],
) -> tuple[Disagreement, ...]:
    """Return where judge and keyword recall differ, by system and case.

    A criterion is compared where it is linked to gold facts: `met` against all of them stated
    as true. A forbidden value is compared everywhere.
    """
    by_id = {case.id: case for case in cases}
    found: list[Disagreement] = []
    for system in systems:
        for score in system.scores:
            judgement = score.judged.judgement if score.judged else None
            if judgement is not None:
                answer = answers[system.system][score.case_id]
                found.extend(_of(system.system, by_id[score.case_id], judgement, answer))
    return tuple(found)


def _of(system: str, case: Case, judgement: Judgement, answer: Answer) -> Iterator[Disagreement]:
    found = {verdict.fact.id: verdict for verdict in KeywordRecall().score(case, answer).verdicts}
    for criterion, ruling in zip(case.criteria, judgement.rulings, strict=True):
        linked = [
            found[name] for name in criterion.facts if name in found and found[name].role != "forbidden"
        ]
        if not linked:
            continue
        missing = [verdict.fact.id for verdict in linked if not verdict.counts]
        if (ruling.verdict == "met") != (not missing):
            keyword = f"{', '.join(missing)} not stated" if missing else "stated"
            yield Disagreement(system, case.id, criterion.id, _words(ruling.verdict), keyword, ruling.quote)
    for value in judgement.wrong_values:
        stated = value.id in found and found[value.id].counts
        if value.stated != stated:
            ruled = "wrong value stated" if value.stated else "wrong value not stated"
            yield Disagreement(
                system, case.id, value.id, ruled, "stated" if stated else "not stated", value.quote
            )


def _words(verdict: Verdict) -> str:
    return verdict.replace("_", " ")
