"""What is kept of a judged answer, and what a table says about the judge that ruled."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.llm.usage import Spent
from harness.scoring.judge.verdicts import Judgement
from harness.scoring.outcome import JudgeFailed
from harness.scoring.score import CaseScore

if TYPE_CHECKING:
    from harness.scoring.judge.disagreement import Disagreement

DIMENSIONS = ("information_retrieval", "completeness", "accuracy", "context", "proactivity")
"""The five reported dimensions, in the order they are shown."""


class Count(NamedTuple):
    """So many of so many."""

    k: int
    n: int

    @property
    def share(self) -> float | None:
        """The share k / n, None where nothing was counted."""
        return self.k / self.n if self.n else None


class Met(NamedTuple):
    """How much of a dimension an answer met, in weights of criteria."""

    dimension: str
    met: float
    weight: float
    criteria: int


class Repeat(NamedTuple):
    """The reward of one repeat, and whether something vetoes a pass."""

    reward: float
    vetoed: bool


class Trace(NamedTuple):
    """One judge's part in one answer's score.

    Attributes:
        judge: its label, `provider/model`.
        model: the model as the server named it.
        sent: the parameters that the server accepted, as canonical JSON.
        spent: tokens and cost of all its replies, stored ones included.
        asked: replies that went over the wire in this run.
        flips: criteria on which its repeats differ, of those that had repeats.
        error: the kind of its error, where it gave no judgement.
        repeats: what each of its repeats by itself would have given, where there were several.
    """

    judge: str
    model: str | None
    sent: str
    spent: Spent
    asked: int
    flips: Count = Count(0, 0)
    error: str | None = None
    repeats: tuple[Repeat, ...] = ()


class Judged(NamedTuple):
    """What judges made of one answer.

    Attributes:
        judgement: the verdicts, None where the outcome is a judge error.
        traces: one a judge.
        dimensions: what was met of each dimension that the case's criteria name.
        agreement: criteria on which all judges of a panel agree, of those they all ruled on.
    """

    judgement: Judgement | None
    traces: tuple[Trace, ...]
    dimensions: tuple[Met, ...] = ()
    agreement: Count = Count(0, 0)


class JudgeUse(NamedTuple):
    """One judge over a whole table.

    Attributes:
        label: `provider/model`.
        models: the models as the server named them.
        sent: the parameters really accepted, one text each form that occurred.
        spent: tokens and cost.
        substitution: why it is not the judge that was asked for, or None.
        family: the model's family, such as `gpt`, None when unknown.
        asked: answers that it was asked about.
        errors: those that it gave no ruling on, by kind.
    """

    label: str
    models: tuple[str, ...]
    sent: tuple[str, ...]
    spent: Spent
    substitution: str | None
    family: str | None
    asked: int
    errors: Mapping[str, int]


class JudgeSummary(NamedTuple):
    """What has to stand beside a judged table.

    Attributes:
        judges: who ruled.
        prompt_hash: hash of the templates, 64 hexadecimal digits.
        with_transcript: whether claims were held against the conversations.
        per_criterion: whether each criterion was asked about in a call of its own.
        repeats: how often each judge was asked.
        errors: judge errors by kind.
        flips: criteria on which repeats differ, of those repeated.
        agreement: criteria on which the whole panel agrees.
        calibration: error rates on labelled answers, as `Calibration.as_data` has them, or None.
        disagreements: where judge and keyword recall differ, None when they were not compared.
        stopped: why the run ended before every answer was judged, or None.
        kept_in: the cassette, None where none was kept; no report shows it.
    """

    judges: tuple[JudgeUse, ...]
    prompt_hash: str
    with_transcript: bool
    per_criterion: bool
    repeats: int
    errors: Mapping[str, int]
    flips: Count
    agreement: Count
    calibration: Mapping[str, Any] | None
    disagreements: tuple[Disagreement, ...] | None = None
    stopped: str | None = None
    kept_in: str | None = None


def dimensions_of(scores: Iterable[CaseScore]) -> tuple[Met, ...]:
    """Sum up the dimensions over scored answers, in the order of `DIMENSIONS`."""
    totals: dict[str, Met] = {}
    for score in scores:
        for met in score.judged.dimensions if score.judged else ():
            held = totals.get(met.dimension, Met(met.dimension, 0.0, 0.0, 0))
            totals[met.dimension] = Met(
                met.dimension, held.met + met.met, held.weight + met.weight, held.criteria + met.criteria
            )
    return tuple(totals[name] for name in DIMENSIONS if name in totals)


def use_of(label: str, scores: Sequence[CaseScore], substitution: str | None, family: str | None) -> JudgeUse:
    """Sum up one judge's traces."""
    traces = [
        trace for score in scores if score.judged for trace in score.judged.traces if trace.judge == label
    ]
    spent = Spent()
    for trace in traces:
        spent = spent.plus(trace.spent)
    models = tuple(sorted({trace.model for trace in traces if trace.model}))
    sent = tuple(sorted({_parameters(trace.sent) for trace in traces if trace.sent != "{}"}))
    errors = Counter(trace.error for trace in traces if trace.error)
    return JudgeUse(
        label, models, sent, spent, substitution, family, len(traces), dict(sorted(errors.items()))
    )


def errors_of(scores: Iterable[CaseScore]) -> dict[str, int]:
    """Count judge errors by kind, the most frequent first."""
    kinds = Counter(score.outcome.kind for score in scores if isinstance(score.outcome, JudgeFailed))
    return dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0])))


def total(counts: Iterable[Count]) -> Count:
    """Add counts."""
    k = n = 0
    for count in counts:
        k, n = k + count.k, n + count.n
    return Count(k, n)


def _parameters(sent: str) -> str:
    read = json.loads(sent)
    return ", ".join(f"{name} {value}" for name, value in sorted(read.items()))
