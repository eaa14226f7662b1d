"""Update: what becomes of a fact once a newer one supersedes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness.effectiveness.dataset import EffectivenessSet, Entry, ExpectedFact
from harness.effectiveness.matching import read
from harness.effectiveness.observed import Observed, evaluation, not_applicable, row
from harness.evaluation import Evaluation, Item, MetricDefinition, mean_metric

NAME = "update"
State = Literal["updated", "kept_both", "kept_old", "lost"]
STATES: tuple[State, ...] = ("updated", "kept_both", "kept_old", "lost")


def state_of(texts: Sequence[str], new: Sequence[ExpectedFact], old: Sequence[ExpectedFact]) -> State:
    """Return what a store made of a superseded fact.

    - `updated`: the new facts all stand, and no old one is stated as true still ("moved from A to
      B" is no such statement).
    - `kept_both`: both stand as if both held.
    - `kept_old`: only the old one does.
    - `lost`: neither does.
    """
    read_texts = [read(text) for text in texts]
    has_new = all(any(fact.stated_in(text) for text in read_texts) for fact in new)
    has_old = any(fact.current_in(text) for fact in old for text in read_texts)
    if has_new:
        return "kept_both" if has_old else "updated"
    return "kept_old" if has_old else "lost"


def outdated(data: EffectivenessSet, entry: Entry) -> list[ExpectedFact]:
    """Return the facts that an entry supersedes, directly or not, but those that it states anew (A, B, A again)."""
    said = read(entry.text)
    earlier = [fact for one in data.before(entry) for fact in one.facts or ()]
    return [fact for fact in earlier if not fact.current_in(said)]


@dataclass(frozen=True)
class Update:
    """Looks into the store after the newer fact, and into what is recalled for a question about it."""

    name: str = field(default=NAME, init=False)

    def metrics(self) -> tuple[MetricDefinition, ...]:
        """Return what is measured."""
        return (
            MetricDefinition("update.updated", "superseded facts of which only the new one is stored ÷ all"),
            MetricDefinition("update.kept_both", "both are stored as if both held ÷ all", False),
            MetricDefinition("update.kept_old", "only the old one is stored ÷ all", False),
            MetricDefinition("update.lost", "neither is stored ÷ all", False),
            MetricDefinition("update.recalled", "questions whose recall states the new fact ÷ questions"),
            MetricDefinition(
                "update.stale", "questions whose recall states an old fact as true ÷ questions", False
            ),
            MetricDefinition(
                "update.stale_first", "questions whose recall states an old fact first ÷ questions", False
            ),
        )

    def evaluate(self, dataset: Observed) -> Evaluation:
        """Measure the states and the recalls."""
        observed = dataset
        if self.name in observed.lacking:
            return not_applicable(observed, self.name, self.metrics(), observed.lacking[self.name])
        items = [self._item(observed, entry) for entry in observed.data.for_update()]
        good = [item for item in items if not item.failure]
        failed = len(items) - len(good)
        worse = {one.name: not one.higher_is_better for one in self.metrics()}
        undefined = {
            "recalled": "what was recalled is not known",
            "stale": "what was recalled is not known",
            "stale_first": "no recall states either fact",
        }
        metrics = [
            mean_metric(
                definition.name,
                [item.values[definition.name.partition(".")[2]] for item in good],
                failed=failed,
                worst=float(worse[definition.name]),
                best=float(not worse[definition.name]),
                undefined=undefined.get(
                    definition.name.partition(".")[2], "there is no list of what is stored"
                ),
            )
            for definition in self.metrics()
        ]
        states = Counter(str(item.detail["state"]) for item in good if item.detail["state"])
        return evaluation(
            observed,
            self.name,
            metrics,
            items,
            sections={
                "states": (("State", "Facts"), *((state, str(states[state])) for state in STATES)),
                "stale": _stale(items),
            },
        )

    def _item(self, observed: Observed, entry: Entry) -> Item:
        failure = observed.failure(self.name, entry)
        known = observed.prediction(entry)
        if not failure and known.stored_after_update is None and known.recalled_after_update is None:
            failure = "no prediction of stored_after_update or recalled_after_update"
        if failure:
            return row(entry, {}, failure=failure)
        new = entry.facts or ()
        old = outdated(observed.data, entry)
        state = None if known.stored_after_update is None else state_of(known.stored_after_update, new, old)
        values: dict[str, float | None] = {
            name: None if state is None else float(state == name) for name in STATES
        }
        values |= dict.fromkeys(("recalled", "stale", "stale_first"))
        exposed: list[str] = []
        if known.recalled_after_update is not None:
            texts = [read(text) for text in known.recalled_after_update]
            olds = [any(fact.current_in(text) for fact in old) for text in texts]
            news = [any(fact.stated_in(text) for fact in new) for text in texts]
            exposed = [text.raw for text, is_old in zip(texts, olds, strict=True) if is_old]
            values["recalled"] = float(all(any(fact.stated_in(text) for text in texts) for fact in new))
            values["stale"] = float(any(olds))
            if any(olds) or any(news):
                first_old = olds.index(True) if any(olds) else len(olds)
                first_new = news.index(True) if any(news) else len(news)
                values["stale_first"] = float(first_old < first_new)
        passed = state in (None, "updated") and values["stale"] in (None, 0.0) and values["recalled"] != 0.0
        return row(
            entry,
            values,
            passed=passed,
            state=state,
            exposed=exposed,
            missed=[] if passed else [state or "stale recall", *exposed[:1]],
        )


def _stale(items: Sequence[Item]) -> tuple[tuple[str, ...], ...]:
    rows = [
        (item.id, str(item.detail["state"] or "–"), text)
        for item in items
        if not item.failure
        for text in item.detail["exposed"][:1]
    ]
    return (("Item", "State", "Recalled, and out of date"), *rows)
