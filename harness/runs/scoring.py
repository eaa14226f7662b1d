"""Score what is in a run's journal, one answer at a time, so that memory stays flat over long runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from harness.runs.folder import RunFolder
from harness.runs.record import Record
from harness.scoring import PASS_THRESHOLD, Answer, CaseScore, Scored, Scorer, SystemScores, score_pairs
from harness.scoring.scorer import options_of
from harness.suite import Case, Suite

_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run's scores, and what was seen on the way.

    Attributes:
        folder: the run.
        scores: one a case asked, repeats averaged.
        dateless: answers whose memories carry no date although the conversations had them.
        dated: answers whose memories do.
        failures: how many answers failed, by kind.
        cut: answers that ran into the reader's limit.
        over_limit: answers for which more memories came than were asked for.
        first_failure: case and cause of the first system error, empty where there is none.
        repeats: for each repeat its rewards, over the cases that have one in every repeat.
    """

    folder: RunFolder
    scores: SystemScores
    dateless: int
    dated: int
    failures: dict[str, int]
    cut: int
    over_limit: int = 0
    first_failure: str = ""
    repeats: tuple[tuple[float, ...], ...] = ()


def score_run(folder: RunFolder, cases: Sequence[Case], scorer: Scorer) -> ScoredRun:
    """Score a run over cases that it was asked; one without an answer is `missing`."""
    wanted = {case.id: case for case in cases}
    repeats = range(folder.manifest.repeats)
    found: dict[str, dict[int, CaseScore]] = defaultdict(dict)
    dates: list[bool] = []
    failures: dict[str, int] = defaultdict(int)
    cut = over = 0
    first = ""
    seen: set[tuple[str, int]] = set()
    records = (record for record in folder.records() if record.case in wanted and record.repeat in repeats)
    for part in _parts(records):
        for record in part:
            seen.add(record.key)
            if record.dated is not None:
                dates.append(record.dated)
            if record.failure is not None:
                failures[record.failure.kind] += 1
                first = first or f"{record.case}: {record.failure}"
            cut += bool(record.report.get("answer_cut"))
            over += bool(record.report.get("over_limit"))
        pairs = [(wanted[record.case], record.as_answer()) for record in part]
        for record, score in zip(part, score_pairs(pairs, scorer), strict=True):
            found[record.case][record.repeat] = score
    lacking = [(case, repeat) for case in cases for repeat in repeats if (case.id, repeat) not in seen]
    if lacking:  # a judge that is asked for nothing would forget why it stopped
        missing = score_pairs([(case, Answer(None)) for case, _ in lacking], scorer)
        for (case, repeat), score in zip(lacking, missing, strict=True):
            found[case.id][repeat] = score
    # By repeat, since answers stand in the journal in the order in which they happened to finish.
    merged = tuple(averaged([found[case.id][repeat] for repeat in repeats]) for case in cases)
    return ScoredRun(
        folder,
        SystemScores(
            folder.manifest.system.label,
            merged,
            tuple(tuple(found[case.id][repeat].outcome for repeat in repeats) for case in cases)
            if len(repeats) > 1
            else (),
        ),
        dates.count(False),
        dates.count(True),
        dict(failures),
        cut,
        over,
        first,
        _by_repeat([found[case.id] for case in cases], repeats),
    )


def _by_repeat(found: Sequence[Mapping[int, CaseScore]], repeats: range) -> tuple[tuple[float, ...], ...]:
    """Return the rewards of each repeat, over the cases that have a score in every one."""
    whole = [each for each in found if all(each[repeat].reward is not None for repeat in repeats)]
    return tuple(tuple(each[repeat].reward or 0.0 for each in whole) for repeat in repeats)


def narrowed(run: ScoredRun, suite: Suite) -> ScoredRun:
    """Return the scores of the cases of a suite, in its order; each has to be among those scored."""
    system, scores, repeats = run.scores
    at = {score.case_id: place for place, score in enumerate(scores)}
    places = [at[case.id] for case in suite]
    kept = tuple(repeats[place] for place in places) if repeats else ()
    return replace(run, scores=SystemScores(system, tuple(scores[place] for place in places), kept))


def averaged(scores: Sequence[CaseScore]) -> CaseScore:
    """Return one score for the repeats of a case: their mean where every one has a score.

    Where one has none, the case has none: its outcome is the first such one's, so that a failure
    shows in the coverage and the bounds. Verdicts are those of the first repeat; a flag is kept
    when half of the repeats have it.
    """
    scored = [score for score in scores if score.reward is not None]
    if len(scored) < len(scores):
        return next(score for score in scores if score.reward is None)
    if len(scores) == 1:
        return scores[0]
    rewards = [score.reward for score in scored if score.reward is not None]
    mentions = [score.mention for score in scored if score.mention is not None]
    flags = sorted({flag for score in scored for flag in score.flags})
    common = tuple(flag for flag in flags if 2 * sum(flag in score.flags for score in scored) >= len(scored))
    return replace(
        scored[0],
        outcome=Scored(fmean(rewards)),
        mention=fmean(mentions) if mentions else None,
        flags=common,
    )


def rows(run: ScoredRun, scorer: Scorer, threshold: float = PASS_THRESHOLD) -> Iterator[dict[str, Any]]:
    """Yield what `scores.<scorer>.jsonl` holds: one object a case."""
    for score in run.scores.scores:
        yield {
            "case": score.case_id,
            "scorer": scorer.name,
            "options": options_of(scorer),
            "threshold": threshold if scorer.has_pass else None,
            "outcome": score.status,
            "kind": getattr(score.outcome, "kind", None),
            "reason": getattr(score.outcome, "message", None) or None,
            "reward": score.reward,
            "mention": score.mention,
            "passed": score.passed(threshold) if scorer.has_pass else None,
            "flags": list(score.flags),
            "facts": {
                verdict.fact.id or verdict.fact.fact: verdict.counts for verdict in score.of_role("required")
            },
            "memory_words": score.memory_words,
        }


def _parts(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Cut a stream of records into lists that a scorer takes at once."""
    part: list[Record] = []
    for record in records:
        part.append(record)
        if len(part) == _AT_ONCE:
            yield part
            part = []
    if part:
        yield part
