"""Isolation: whether a user is handed what another one said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.effectiveness.dataset import Entry, ExpectedFact
from harness.effectiveness.matching import read
from harness.effectiveness.observed import Observed, evaluation, not_applicable, row
from harness.evaluation import Evaluation, Item, MetricDefinition, mean_metric

NAME = "isolation"


class _Owned(NamedTuple):
    user: str
    fact: ExpectedFact
    entry: Entry


@dataclass(frozen=True)
class Isolation:
    """Each entry's question is asked by its own user and by another one.

    A recall leaks when it states a fact that only another user stated; a fact that the asking
    user stated too is no leak. Where nothing leaks, and there is one user only or the own user is
    not known to be recalled the facts either, there is no value: what nobody is handed proves nothing.
    """

    name: str = field(default=NAME, init=False)

    def metrics(self) -> tuple[MetricDefinition, ...]:
        """Return what is measured."""
        return (
            MetricDefinition(
                "isolation.isolated",
                "questions no recall of which states another user's fact ÷ those with a value",
            ),
            MetricDefinition(
                "isolation.own_recalled", "questions whose own user is recalled their facts ÷ all"
            ),
            MetricDefinition(
                "isolation.leaks",
                "facts of another user in the recalls, a question, over those with a value",
                False,
                "facts",
            ),
        )

    def evaluate(self, dataset: Observed) -> Evaluation:
        """Measure what each user was handed."""
        observed = dataset
        if self.name in observed.lacking:
            return not_applicable(observed, self.name, self.metrics(), observed.lacking[self.name])
        entries = observed.data.for_isolation()
        owned = [_Owned(str(entry.user), fact, entry) for entry in entries for fact in entry.facts or ()]
        said = {
            user: "\n".join(entry.text for entry in entries if entry.user == user)
            for user in {str(entry.user) for entry in entries}
        }
        items = [self._item(observed, entry, owned, said) for entry in entries]
        good = [item for item in items if not item.failure]
        failed = len(items) - len(good)
        nothing = _why_nothing(len(said), good)
        metrics = [
            mean_metric(
                "isolation.isolated",
                [i.values["isolated"] for i in good],
                failed=failed,
                undefined=nothing,
            ),
            mean_metric(
                "isolation.own_recalled",
                [i.values["own_recalled"] for i in good],
                failed=failed,
                undefined="what own users were handed is not known",
            ),
            mean_metric(
                "isolation.leaks",
                [i.values["leaks"] for i in good],
                failed=failed,
                worst=float(max(1, len(owned))),
                best=0.0,
                undefined=nothing,
            ),
        ]
        return evaluation(
            observed,
            self.name,
            metrics,
            items,
            warnings=list(_warnings(entries, good)),
            sections={"leaks": _leaks(items)},
            options={"users": str(len(said))},
        )

    def _item(self, observed: Observed, entry: Entry, owned: Sequence[_Owned], said: dict[str, str]) -> Item:
        failure = observed.failure(self.name, entry)
        known = observed.prediction(entry)
        if not failure and known.recalled is None and known.recalled_by_others is None:
            failure = "no prediction of recalled or recalled_by_others"
        if failure:
            return row(entry, {}, failure=failure)
        leaked: list[tuple[str, str, str]] = []
        own_words = read(said[str(entry.user)])
        for text in known.recalled or ():
            leaked += [
                (one.user, one.fact.shown, text)
                for one in owned
                if one.user != entry.user
                and one.fact.stated_in(read(text))
                and not one.fact.stated_in(own_words)
            ]
        others = [words for user, words in said.items() if user != entry.user]
        for text in known.recalled_by_others or ():
            leaked += [
                (str(entry.user), fact.shown, text)
                for fact in entry.facts or ()
                if fact.stated_in(read(text)) and not any(fact.stated_in(read(other)) for other in others)
            ]
        own = None
        if known.recalled is not None:
            texts = [read(text) for text in known.recalled]
            own = float(all(any(fact.stated_in(text) for text in texts) for fact in entry.facts or ()))
        could_leak = len(said) > 1 and own == 1.0
        isolated = float(not leaked) if leaked or could_leak else None
        facts = sorted({(user, fact) for user, fact, _ in leaked})
        return row(
            entry,
            {
                "isolated": isolated,
                "own_recalled": own,
                "leaks": None if isolated is None else float(len(facts)),
            },
            passed=None if isolated is None else not leaked,
            leaked=[list(one) for one in leaked],
            missed=[f"{user}: {fact}" for user, fact in facts],
        )


def _why_nothing(users: int, good: Sequence[Item]) -> str:
    """Say why no question has a value."""
    if users < 2:
        return "there is only one user, so that nothing could leak"
    if good and all(item.values["own_recalled"] is None for item in good):
        return "what own users were recalled is not known: that nothing leaked proves nothing"
    return "no user was recalled their own facts, so that nothing could leak"


def _warnings(entries: Sequence[Entry], good: Sequence[Item]) -> list[str]:
    if len({entry.user for entry in entries}) < 2:
        return ["There is only one user: nothing could leak."]
    if unseen := sum(item.values["isolated"] is None for item in good):
        return [
            f"{unseen} questions are not known to recall anything to their own user and count in no mean."
        ]
    return []


def _leaks(items: Sequence[Item]) -> tuple[tuple[str, ...], ...]:
    rows = [
        (item.id, str(user), str(fact), str(text))
        for item in items
        if not item.failure
        for user, fact, text in item.detail["leaked"]
    ]
    return (("Item", "Whose", "Fact", "Recalled"), *rows)
