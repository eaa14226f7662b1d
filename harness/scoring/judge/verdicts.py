"""What a judge ruled, and the reward that follows from it: in code, never by the judge.

    reward = weight of the criteria met / weight of all criteria

A criterion that the answer contradicts, a wrong value that it states as true and, where the
transcript was shown, a claim about the user that nothing supports, each veto a pass: the
reward is then at most `VETOED_REWARD`, below the pass threshold, and the answer never passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from harness.facts.model import GoldFact
from harness.llm.replies import ReplyError
from harness.llm.schema import Choice, Flag, Items, ReplySchema, Text
from harness.scoring.judge.quotes import Said, occurs
from harness.scoring.outcome import VETOED_REWARD
from harness.suite import Case
from harness.suite.models import Criterion

Verdict = Literal["met", "not_met", "contradicted"]
VERDICTS: tuple[Verdict, ...] = ("contradicted", "not_met", "met")
"""The menu, from worst to best; a median is taken in this order."""


class Ruling(NamedTuple):
    """The verdict on one criterion.

    Attributes:
        id: the criterion.
        verdict: met, not_met or contradicted.
        quote: words of the answer that decided, empty where none did.
        votes: the verdicts that it is made of: one a repeat and judge.
    """

    id: str
    verdict: Verdict
    quote: str
    votes: tuple[Verdict, ...] = ()


class WrongValue(NamedTuple):
    """Whether the answer states a forbidden value as true."""

    id: str
    stated: bool
    quote: str


class Claim(NamedTuple):
    """A claim about the user that no conversation supports."""

    claim: str
    quote: str


class Judgement(NamedTuple):
    """Everything a judge, or several, ruled on one answer.

    Attributes:
        reasoning: what the judge wrote before it ruled.
        rulings: one a criterion, in the case's order.
        wrong_values: one a forbidden fact, in the case's order.
        unsupported: claims that the transcript does not support.
        flags: how the reply had to be read, such as `fence`.
    """

    reasoning: str
    rulings: tuple[Ruling, ...]
    wrong_values: tuple[WrongValue, ...] = ()
    unsupported: tuple[Claim, ...] = ()
    flags: tuple[str, ...] = ()


def schema_of(case: Case, *, with_transcript: bool = False) -> ReplySchema:
    """Return the form of a verdict on an answer to a case."""
    fields: list[Any] = [
        Text("reasoning"),
        Items(
            "criteria",
            fields=(Text("quote"), Choice("verdict", ("met", "not_met", "contradicted"))),
            ids=tuple(criterion.id for criterion in case.criteria),
        ),
    ]
    if case.gold.forbidden:
        ids = tuple(fact.id for fact in case.gold.forbidden)
        fields.append(Items("wrong_values", fields=(Text("quote"), Flag("stated")), ids=ids))
    if with_transcript:
        fields.append(Items("unsupported", fields=(Text("claim"), Text("quote")), ids=None))
    return ReplySchema("verdict", tuple(fields))


RULING = ReplySchema("ruling", (Text("quote"), Choice("verdict", ("met", "not_met", "contradicted"))))
"""The form of a ruling on one criterion."""


def check_ruling(value: Mapping[str, Any], criterion: Criterion, said: Said) -> Mapping[str, Any]:
    """Return a ruling whose quote stands where it has to.

    Raises:
        ReplyError: of the kind `unsupported_quote`.
    """
    if _needs_quote(value["verdict"], criterion) and not occurs(value["quote"], said):
        raise _unsupported([criterion.id])
    return value


def check_stated(value: Mapping[str, Any], fact: GoldFact, said: Said) -> Mapping[str, Any]:
    """Return a ruling on "gives the forbidden value as right", as an item of `wrong_values`.

    Raises:
        ReplyError: of the kind `unsupported_quote`.
    """
    stated = value["verdict"] == "met"
    if stated and not occurs(value["quote"], said):
        raise _unsupported([fact.id])
    return {"quote": value["quote"], "stated": stated}


def _needs_quote(verdict: Verdict, criterion: Criterion) -> bool:
    """What an answer does (asks, leaves out) need not stand in any one place of it."""
    return verdict == "contradicted" or (verdict == "met" and criterion.kind == "fact")


def _unsupported(names: Sequence[str]) -> ReplyError:
    said = f"the quotes for {', '.join(names)} do not stand in the answer; copy its words exactly."
    return ReplyError("unsupported_quote", said, retry=True)


def read_judgement(value: Mapping[str, Any], case: Case, said: Said) -> Judgement:
    """Return the judgement in a reply that fits the schema, every quote held against the answer.

    Args:
        value: the reply's value.
        case: the case.
        said: the words of the answer.

    Raises:
        ReplyError: of the kind `unsupported_quote`, when what a verdict rests on does not
            stand in the answer.
    """
    rulings, bad = [], []
    for criterion in case.criteria:
        item = value["criteria"][criterion.id]
        verdict, quote = item["verdict"], item["quote"].strip()
        stands = occurs(quote, said)
        if _needs_quote(verdict, criterion) and not stands:
            bad.append(criterion.id)
        rulings.append(Ruling(criterion.id, verdict, quote if stands else "", (verdict,)))
    wrong_values = []
    for fact in case.gold.forbidden:
        item = value["wrong_values"][fact.id]
        stands = occurs(item["quote"], said)
        if item["stated"] and not stands:
            bad.append(fact.id)
        wrong_values.append(WrongValue(fact.id, item["stated"], item["quote"].strip() if stands else ""))
    claims = [Claim(item["claim"], item["quote"]) for item in value.get("unsupported", ())]
    # By number: what a claim says may come from the answer, and this goes back to the judge.
    bad += [f"unsupported claim {at}" for at, claim in enumerate(claims, 1) if not occurs(claim.quote, said)]
    if bad:
        raise _unsupported(bad)
    return Judgement(str(value.get("reasoning", "")), tuple(rulings), tuple(wrong_values), tuple(claims))


def reward_of(judgement: Judgement, case: Case) -> tuple[float, tuple[str, ...]]:
    """Return the reward in [0, 1] and the vetoes, among `contradicted`, `forbidden_stated`, `hallucination`."""
    weights = [float(criterion.weight) for criterion in case.criteria]
    share = _share(weights, [ruling.verdict == "met" for ruling in judgement.rulings])
    vetoes = []
    if any(ruling.verdict == "contradicted" for ruling in judgement.rulings):
        vetoes.append("contradicted")
    if any(value.stated for value in judgement.wrong_values):
        vetoes.append("forbidden_stated")
    if judgement.unsupported:
        vetoes.append("hallucination")
    return (min(share, VETOED_REWARD) if vetoes else share), tuple(vetoes)


def _share(weights: Sequence[float], met: Sequence[bool]) -> float:
    """Return the share met by weight, exact: 3 of 5 has to be 0.6 whatever the five weigh."""
    if len(set(weights)) == 1:
        return sum(met) / len(met)
    if all(weight.is_integer() for weight in weights):
        return sum(weight for weight, is_met in zip(weights, met, strict=True) if is_met) / sum(weights)
    exact = [Fraction(str(weight)) for weight in weights]
    return float(sum(weight for weight, is_met in zip(exact, met, strict=True) if is_met) / sum(exact))


def median(judgements: Sequence[Judgement]) -> Judgement:
    """Return the judgement of repeats: the median verdict of each criterion, the lower of two middle ones.

    So too with wrong values and unsupported claims: where half of the repeats see one, there is one.
    """
    return _combined(judgements, lambda votes: sorted(votes, key=VERDICTS.index)[(len(votes) - 1) // 2])


def majority(judgements: Sequence[Judgement], judges: int) -> Judgement:
    """Return the judgement of a panel: on each criterion what more than half of the panel ruled.

    Args:
        judgements: of the judges that gave one.
        judges: how many were asked.

    Raises:
        ReplyError: of the kind `no_majority`, naming the criteria that the panel is split on.
    """
    split: list[str] = []

    def most(votes: Sequence[Verdict]) -> Verdict | None:
        return next((verdict for verdict in VERDICTS if 2 * votes.count(verdict) > judges), None)

    for at, ruling in enumerate(judgements[0].rulings):
        if most([judgement.rulings[at].verdict for judgement in judgements]) is None:
            split.append(ruling.id)
    for at, value in enumerate(judgements[0].wrong_values):
        stated = sum(judgement.wrong_values[at].stated for judgement in judgements)
        if 2 * stated <= judges and 2 * (len(judgements) - stated) <= judges:
            split.append(value.id)
    claiming = sum(bool(judgement.unsupported) for judgement in judgements)
    if 2 * claiming <= judges and 2 * (len(judgements) - claiming) <= judges:
        split.append("whether every claim is supported")
    if split:
        raise ReplyError("no_majority", f"the panel is split on {', '.join(split)}.", retry=False)
    return _combined(judgements, lambda votes: most(votes) or "not_met")


def _combined(judgements: Sequence[Judgement], rule: Any) -> Judgement:
    if len(judgements) == 1:
        return judgements[0]
    rulings = []
    for at, first in enumerate(judgements[0].rulings):
        given = [judgement.rulings[at] for judgement in judgements]
        verdict = rule([ruling.verdict for ruling in given])
        quote = next((r.quote for r in given if r.verdict == verdict and r.quote), "")
        votes = tuple(vote for ruling in given for vote in ruling.votes)
        rulings.append(Ruling(first.id, verdict, quote, votes))
    wrong = []
    for at, value in enumerate(judgements[0].wrong_values):
        said = [judgement.wrong_values[at] for judgement in judgements]
        stated = 2 * sum(item.stated for item in said) >= len(said)
        quote = next((item.quote for item in said if item.stated == stated and item.quote), "")
        wrong.append(WrongValue(value.id, stated, quote))
    with_claims = [judgement.unsupported for judgement in judgements if judgement.unsupported]
    claims = with_claims[0] if with_claims and 2 * len(with_claims) >= len(judgements) else ()
    flags = tuple(dict.fromkeys(flag for judgement in judgements for flag in judgement.flags))
    return Judgement(judgements[0].reasoning, tuple(rulings), tuple(wrong), claims, flags)


def unanimous(judgements: Iterable[Judgement]) -> tuple[int, int]:
    """Return on how many criteria all judgements agree, and how many criteria there are."""
    given = list(judgements)
    if len(given) < 2:
        return 0, 0
    same = sum(
        len({judgement.rulings[at].verdict for judgement in given}) == 1
        for at in range(len(given[0].rulings))
    )
    return same, len(given[0].rulings)
