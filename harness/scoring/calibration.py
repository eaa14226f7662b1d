"""How far a scorer can be trusted: its rulings held against the labels of the probes.

A false accept is a probe labelled `reject` that passed; a false reject one labelled `accept`
that did not. Rates are over the probes that were ruled on: an error of a judge, or a case
that the scorer has nothing to compare with, is neither, and is counted apart.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.scoring.batch import score_pairs
from harness.scoring.outcome import PASS_THRESHOLD, JudgeFailed, SystemFailed
from harness.scoring.probes import Label, Probe
from harness.scoring.score import CaseScore
from harness.scoring.scorer import Scorer
from harness.statistics import Rate, cohen_kappa
from harness.suite import Case, Suite
from harness.suite.answer import Answer

SCHEMA = "recallbench.calibration/1"

ScoreMany = Callable[[Sequence[tuple[Case, Answer]]], Sequence[CaseScore]]


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a scorer made of a probe.

    Attributes:
        probe: the probe.
        outcomes: its scores, one a repeat.
        threshold: the reward from which on an answer passes.
    """

    probe: Probe
    outcomes: tuple[CaseScore, ...]
    threshold: float = PASS_THRESHOLD

    @property
    def decisions(self) -> tuple[bool, ...]:
        """Passed or not, of each repeat that was scored."""
        passed = (score.passed(self.threshold) for score in self.outcomes)
        return tuple(decision for decision in passed if decision is not None)

    @property
    def passed(self) -> bool | None:
        """Whether more than half of the scored repeats passed; None when none was scored."""
        decisions = self.decisions
        return sum(decisions) * 2 > len(decisions) if decisions else None

    @property
    def right(self) -> bool | None:
        """Whether that is what the label says; None when nothing was scored."""
        return None if self.passed is None else self.passed == (self.probe.label == "accept")

    @property
    def reward(self) -> float | None:
        """The median reward, the lower of two in the middle, as a tie is no pass; None without any."""
        rewards = sorted(score.reward for score in self.outcomes if score.reward is not None)
        return rewards[(len(rewards) - 1) // 2] if rewards else None

    @property
    def votes(self) -> tuple[bool, ...]:
        """Passed or not, of each repeat: the outcomes, or the repeats inside one judged outcome."""
        if len(self.outcomes) > 1:
            return self.decisions
        return max(self._votes, key=len, default=())

    @property
    def _votes(self) -> tuple[tuple[bool, ...], ...]:
        """Return the votes of each judge, inside one judged outcome."""
        judged = self.outcomes[0].judged if self.outcomes else None
        return tuple(
            tuple(repeat.reward >= self.threshold and not repeat.vetoed for repeat in trace.repeats)
            for trace in (judged.traces if judged else ())
        )

    @property
    def repeats(self) -> int:
        """How often the probe was scored."""
        return max(len(self.outcomes), len(self.votes))

    @property
    def flipped(self) -> bool:
        """Whether some repeats passed and others did not, with any judge of a panel."""
        if len(self.outcomes) > 1:
            return len(set(self.decisions)) > 1
        return any(len(set(votes)) > 1 for votes in self._votes)

    @property
    def status(self) -> str:
        """`right`, `false_accept` or `false_reject`, or the outcome's name where nothing was scored."""
        if self.right is None:
            return next((score.status for score in self.outcomes), "missing")
        return "right" if self.right else "false_accept" if self.passed else "false_reject"


class KindRow(NamedTuple):
    """The probes of one kind that have one label.

    Attributes:
        kind: their kind.
        label: what they should have been ruled.
        wrong: how many were ruled otherwise, of those ruled on.
        asked: how many there are.
        flip: how many changed sides between repeats, of those scored at least twice; None
            where nothing was repeated.
    """

    kind: str
    label: Label
    wrong: Rate
    asked: int
    flip: Rate | None = None


class Listed(NamedTuple):
    """A probe that was ruled wrongly, or not at all, with its median reward and why it is here."""

    probe: Probe
    reward: float | None
    status: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """The figures of one scorer over one set of probes.

    Attributes:
        scorer: name of the scorer.
        of: what judged, for a reader: model, provider, prompt hash; the name alone offline.
        threshold: the reward from which on an answer passed.
        repeats: how often each probe was scored; more than half of the repeats decide.
        n: probes asked.
        cases: cases that they are of.
        suite_hash: content hash of the suite.
        probes_hash: content hash of the probes.
        kinds: a row a kind and label: those to accept first, each in the probes' order.
        false_accepts: passed of those labelled `reject`.
        false_rejects: not passed of those labelled `accept`.
        accuracy: ruled as labelled, of all ruled on.
        kappa: Cohen's kappa of decisions and labels, None where it is undefined.
        flip: probes that changed sides between repeats, of those scored at least twice; None
            where nothing was repeated.
        errors: probes without a ruling because every repeat failed.
        not_annotated: probes of cases that the scorer has nothing to compare with.
        failures: how many single calls failed, by kind; a probe of several repeats can be
            ruled on all the same.
        wrong: the probes ruled wrongly.
        unruled: the probes without a ruling.
    """

    scorer: str
    of: str
    threshold: float
    repeats: int
    n: int
    cases: int
    suite_hash: str
    probes_hash: str
    kinds: tuple[KindRow, ...]
    false_accepts: Rate
    false_rejects: Rate
    accuracy: Rate
    kappa: float | None
    flip: Rate | None
    errors: int
    not_annotated: int
    failures: tuple[tuple[str, int], ...] = ()
    wrong: tuple[Listed, ...] = ()
    unruled: tuple[Listed, ...] = ()

    @property
    def kappa_n(self) -> int:
        """How many probes κ is over: those ruled on."""
        return self.accuracy.n

    @property
    def kappa_undefined(self) -> str:
        """Why there is no κ, or nothing."""
        if self.kappa is not None:
            return ""
        return "no probe was ruled on" if not self.kappa_n else "labels and rulings are all the same one"

    def summary(self) -> str:
        """Return the figures in one line, to stand beside a table that this scorer made."""
        parts = [
            f"false accepts {_told(self.false_accepts, '95% ')}",
            f"false rejects {_told(self.false_rejects)}",
            "κ undefined" if self.kappa is None else f"κ {self.kappa:.2f}",
        ]
        if self.flip is not None:
            parts.append(f"flips {self.flip.k}/{self.flip.n}")
        parts.append(f"{_counted(self.n, 'probe')} of {_counted(self.cases, 'case')}")
        if self.not_annotated:
            parts.append(f"{self.not_annotated} not annotated")
        parts.append(_counted(self.errors, "error"))
        return ", ".join(parts)

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON; `from_data` makes the same calibration of it."""
        return {
            "schema": SCHEMA,
            **{key: getattr(self, key) for key in _PLAIN},
            **{key: _rate_data(getattr(self, key)) for key in _RATES},
            "kinds": [
                {**row._asdict(), "wrong": _rate_data(row.wrong), "flip": _rate_data(row.flip)}
                for row in self.kinds
            ],
            "failures": dict(self.failures),
            **{key: [_listed_data(item) for item in getattr(self, key)] for key in _LISTS},
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Calibration:
        """Return the calibration that `as_data` wrote.

        Raises:
            InputError: when the data is no calibration, or one of another version.
        """
        if (schema := data.get("schema")) != SCHEMA:
            raise InputError(f"no calibration of this version: its schema is {schema!r}, not {SCHEMA!r}")
        try:
            fields: dict[str, Any] = {key: data[key] for key in _PLAIN}
            fields |= {key: _rate(data[key]) for key in _RATES}
            fields |= {key: tuple(map(_listed, data[key])) for key in _LISTS}
            fields["kinds"] = tuple(map(_kind_row, data["kinds"]))
            fields["failures"] = tuple(data["failures"].items())
        except (KeyError, TypeError, AttributeError) as error:
            message = f"a stored calibration is damaged ({type(error).__name__}: {error}); calibrate again."
            raise InputError(message) from None
        return cls(**fields)


_PLAIN = (
    *("scorer", "of", "threshold", "repeats", "n", "cases", "suite_hash", "probes_hash"),
    *("kappa", "errors", "not_annotated"),
)
_RATES = ("false_accepts", "false_rejects", "accuracy", "flip")
_LISTS = ("wrong", "unruled")


def calibrate(
    probes: Iterable[Probe],
    suite: Suite,
    scorer: Scorer,
    *,
    repeats: int = 1,
    threshold: float = PASS_THRESHOLD,
    score_many: ScoreMany | None = None,
    of: str = "",
) -> Calibration:
    """Score the probes and return how the scorer did.

    Args:
        probes: at least one, each of a case of the suite.
        suite: the cases.
        scorer: a scorer whose rewards can pass.
        repeats: how often to score each probe.
        threshold: the reward from which on an answer passes.
        score_many: scores all pairs at once, in their order, in place of the scorer. It gets the whole set of probes once for every repeat, one after the
            other: of n probes, pair number i is probe i % n in repeat i // n.
        of: what judges, for a reader; the scorer's name when empty.

    Raises:
        InputError: for no probes, an unknown case, or a scorer without a pass.
    """
    chosen = tuple(probes)
    if not chosen:
        raise InputError("there are no probes to calibrate on.")
    if not scorer.has_pass:
        raise InputError(f"{scorer.name} has no pass, so that nothing it rules is right or wrong.")
    if repeats < 1:
        raise InputError(f"repeats is {repeats}; score each probe once at least.")
    pairs = [(suite.get(probe.case_id), Answer(probe.answer)) for probe in chosen] * repeats
    scores = score_pairs(pairs, scorer) if score_many is None else score_many(pairs)
    if len(scores) != len(pairs):
        raise ValueError(f"score_many returned {len(scores)} scores for {len(pairs)} answers")
    rulings = [Ruling(probe, tuple(scores[at :: len(chosen)]), threshold) for at, probe in enumerate(chosen)]
    return measure(rulings, suite_hash=suite.hash, scorer=scorer.name, of=of)


def measure(rulings: Sequence[Ruling], *, scorer: str, suite_hash: str, of: str = "") -> Calibration:
    """Sum up rulings; see `Calibration` for what each figure is.

    Raises:
        ValueError: when there are none.
    """
    if not rulings:
        raise ValueError("there is nothing to sum up")
    ruled = [ruling for ruling in rulings if ruling.right is not None]
    unruled = [ruling for ruling in rulings if ruling.right is None]
    not_annotated = sum(ruling.status == "not_annotated" for ruling in unruled)
    failed = (
        score.outcome.kind
        for ruling in rulings
        for score in ruling.outcomes
        if isinstance(score.outcome, JudgeFailed | SystemFailed)
    )
    return Calibration(
        scorer=scorer,
        of=of or scorer,
        threshold=rulings[0].threshold,
        repeats=max(ruling.repeats for ruling in rulings),
        n=len(rulings),
        cases=len({ruling.probe.case_id for ruling in rulings}),
        suite_hash=suite_hash,
        probes_hash=hash_probes(ruling.probe for ruling in rulings),
        kinds=_kinds(rulings),
        false_accepts=_wrong(ruling for ruling in rulings if ruling.probe.label == "reject"),
        false_rejects=_wrong(ruling for ruling in rulings if ruling.probe.label == "accept"),
        accuracy=Rate(sum(ruling.right is True for ruling in ruled), len(ruled)),
        kappa=cohen_kappa(
            [ruling.probe.label == "accept" for ruling in ruled], [ruling.passed for ruling in ruled]
        ),
        flip=_flips(rulings),
        errors=len(unruled) - not_annotated,
        not_annotated=not_annotated,
        failures=tuple(sorted(Counter(failed).items())),
        wrong=tuple(_as_listed(ruling) for ruling in ruled if not ruling.right),
        unruled=tuple(map(_as_listed, unruled)),
    )


def hash_probes(probes: Iterable[Probe]) -> str:
    """Return the content hash of probes, 64 hexadecimal digits; order and notes are not in it."""
    parts = sorted([probe.case_id, probe.id, probe.kind, probe.label, probe.answer] for probe in probes)
    return sha256(json.dumps(parts).encode()).hexdigest()


def _kinds(rulings: Sequence[Ruling]) -> tuple[KindRow, ...]:
    groups: dict[tuple[Label, str], list[Ruling]] = {}
    for ruling in rulings:
        groups.setdefault((ruling.probe.label, ruling.probe.kind), []).append(ruling)
    return tuple(
        KindRow(kind, label, _wrong(group), len(group), _flips(group))
        for (label, kind), group in sorted(groups.items(), key=lambda item: item[0][0])
    )


def _wrong(rulings: Iterable[Ruling]) -> Rate:
    right = [ruling.right for ruling in rulings if ruling.right is not None]
    return Rate(right.count(False), len(right))


def _flips(rulings: Iterable[Ruling]) -> Rate | None:
    repeated = [ruling for ruling in rulings if ruling.repeats > 1]
    if not repeated:
        return None
    twice = [ruling.flipped for ruling in repeated if len(ruling.votes) > 1]
    return Rate(sum(twice), len(twice))


def _as_listed(ruling: Ruling) -> Listed:
    return Listed(ruling.probe, ruling.reward, ruling.status)


def _told(rate: Rate, of: str = "") -> str:
    return f"{rate.k}/{rate.n} ({rate.percent}, {of}{rate.span})" if rate.n else "none ruled on"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _rate_data(rate: Rate | None) -> dict[str, Any] | None:
    """Write the share and its interval too: a reader of JSON should not have to know Wilson."""
    if rate is None:
        return None
    low, high = rate.interval or (None, None)
    return {"k": rate.k, "n": rate.n, "share": rate.share, "low": low, "high": high}


def _rate(data: Mapping[str, Any] | None) -> Rate | None:
    return None if data is None else Rate(data["k"], data["n"])


def _kind_row(data: Mapping[str, Any]) -> KindRow:
    return KindRow(**{**data, "wrong": _rate(data["wrong"]), "flip": _rate(data["flip"])})


def _listed_data(item: Listed) -> dict[str, Any]:
    probe = {key: getattr(item.probe, key) for key in Probe.__slots__}
    return {"probe": probe, "reward": item.reward, "status": item.status}


def _listed(data: Mapping[str, Any]) -> Listed:
    return Listed(Probe(**data["probe"]), data["reward"], data["status"])
