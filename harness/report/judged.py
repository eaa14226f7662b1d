"""What stands beside a judged table: who ruled, how far that can be trusted, the five dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.comparison import Comparison
from harness.errors import InputError
from harness.llm.usage import Spent
from harness.report import numbers
from harness.report.layout import Grid
from harness.scoring.judge.disagreement import Disagreement
from harness.scoring.judge.record import Count, JudgeSummary, JudgeUse, Met, dimensions_of
from harness.scoring.score import CaseScore

_TITLES = {
    "information_retrieval": "Information retrieval",
    "completeness": "Completeness",
    "accuracy": "Accuracy",
    "context": "Context understanding",
    "proactivity": "Proactive assistance",
}
UNCALIBRATED = "Calibration: none for this judge and prompt. Measure it with `recallbench judge calibrate` and the same flags."


def lines(result: Comparison) -> list[str]:
    """Return the footer's lines about the judge; none for an offline scorer."""
    judge = result.judge
    if judge is None:
        return []
    made = [_judge(use, judge) for use in judge.judges]
    made.extend(use.substitution for use in judge.judges if use.substitution)
    made.append(calibration_line(result))
    if judge.repeats > 1:
        made.append(
            f"Flip rate: {_share(judge.flips)} criteria ruled differently over {judge.repeats} repeats."
        )
    if len(judge.judges) > 1:
        made.extend(_unruled(use) for use in judge.judges if use.errors)
        if judge.agreement.n:
            made.append(
                f"Panel agreement: {_share(judge.agreement)} criteria ruled alike, over the answers that every "
                "judge ruled on."
            )
    if judge.disagreements is not None:
        made.append(_disagreeing(judge.disagreements))
    made.extend(_kinship(result, judge))
    made.append(_vetoes(result))
    if judge.errors:
        kinds = ", ".join(f"{kind} {count}" for kind, count in judge.errors.items())
        made.append(f"Judge errors (never a score): {kinds}.")
    if judge.stopped:
        made.append(f"Stopped early: {judge.stopped}.")
    return [line for line in made if line]


def calibration_line(result: Comparison) -> str:
    """Return the judge's error rates in one line, or that there are none for this table."""
    held = result.judge.calibration if result.judge else None
    if held is None:
        return UNCALIBRATED
    from harness.scoring.calibration import Calibration

    try:
        made = Calibration.from_data(held)
    except InputError:
        return "Calibration: kept by another version of recallbench. Measure it again with `recallbench judge calibrate`."
    if made.threshold != result.threshold:
        return (
            f"Calibration: measured at a pass threshold of {made.threshold:g}, which says nothing of "
            f"{result.threshold:g}. Measure it with `recallbench judge calibrate --pass-threshold {result.threshold:g}`."
        )
    return f"Calibration of this judge: {made.summary()}."


def dimensions(result: Comparison) -> Grid | None:
    """Return the table of dimensions: what share of the criteria, by weight, each system met."""
    if result.judge is None:
        return None
    held = {system.system: _by_name(dimensions_of(system.scores)) for system in result.systems}
    counted = _by_name(dimensions_of(result.systems[0].scores)) if result.systems else {}
    names = [name for name in _TITLES if any(name in found for found in held.values())]
    if not names:
        return None
    rows = []
    for name in names:
        cells = [_met(held[system.system].get(name)) for system in result.systems]
        most = max(
            (found[name].criteria for found in held.values() if name in found),
            default=counted[name].criteria if name in counted else 0,
        )
        rows.append((f"{_TITLES[name]} ({most})", *cells))
    return Grid(("Dimension (criteria)", *(system.system for system in result.systems)), tuple(rows))


def disagreements(result: Comparison) -> Grid | None:
    """Return the table of what judge and keyword recall see differently, None when it is empty."""
    found = result.judge.disagreements if result.judge else None
    if not found:
        return None
    many = len(result.systems) > 1
    rows = [
        (f"{item.system} {item.case_id}" if many else item.case_id, item.id, item.judge, item.keyword)
        for item in found
    ]
    return Grid(("Judge and keyword recall differ", "On", "Judge", "Keyword recall"), tuple(rows))


def as_data(judge: JudgeSummary) -> dict[str, Any]:
    """Return the judge's part of the JSON report."""
    return {
        "judges": [
            {
                "judge": use.label,
                "models": list(use.models),
                "parameters": list(use.sent),
                "substitution": use.substitution,
                "answers": use.asked,
                "errors": dict(use.errors),
                "usage": _usage(use.spent),
            }
            for use in judge.judges
        ],
        "prompt_hash": judge.prompt_hash,
        "with_transcript": judge.with_transcript,
        "per_criterion": judge.per_criterion,
        "repeats": judge.repeats,
        "errors": dict(judge.errors),
        "flips": judge.flips._asdict() if judge.repeats > 1 else None,
        "agreement": judge.agreement._asdict() if len(judge.judges) > 1 else None,
        "calibration": judge.calibration,
        "disagreements": (
            None if judge.disagreements is None else [item._asdict() for item in judge.disagreements]
        ),
        "stopped": judge.stopped,
    }


def dimension_data(scores: Sequence[CaseScore]) -> dict[str, dict[str, float]]:
    """Return a system's dimensions: share met by weight, and how many criteria."""
    return {
        met.dimension: {"met": met.met / met.weight, "criteria": met.criteria}
        for met in dimensions_of(scores)
    }


def case_data(score: CaseScore) -> dict[str, Any] | None:
    """Return what judges ruled on one answer, for the JSON report."""
    if score.judged is None:
        return None
    judgement = score.judged.judgement
    return {
        "reasoning": judgement.reasoning if judgement else None,
        "criteria": [
            {"id": ruling.id, "verdict": ruling.verdict, "quote": ruling.quote, "votes": list(ruling.votes)}
            for ruling in (judgement.rulings if judgement else ())
        ],
        "wrong_values": [value._asdict() for value in (judgement.wrong_values if judgement else ())],
        "unsupported": [claim._asdict() for claim in (judgement.unsupported if judgement else ())],
        "reply_flags": list(judgement.flags) if judgement else [],
        "judges": [
            {"judge": trace.judge, "model": trace.model, "error": trace.error, "usage": _usage(trace.spent)}
            for trace in score.judged.traces
        ],
    }


def _judge(use: JudgeUse, judge: JudgeSummary) -> str:
    parts = [f"Judge: {use.label}"]
    echoed = [model for model in use.models if model != use.label.partition("/")[2]]
    if echoed:
        parts.append(f"served as {', '.join(echoed)}")
    parts.append(f"prompts {judge.prompt_hash[:12]}")
    if judge.per_criterion:
        parts.append("one criterion a call")
    if judge.with_transcript:
        parts.append("with transcript")
    parts.append(f"accepted {' / '.join(use.sent)}" if use.sent else "")
    parts.append(_spent(use.spent))
    return ", ".join(filter(None, parts)) + "."


def _unruled(use: JudgeUse) -> str:
    kinds = ", ".join(f"{kind} {count}" for kind, count in use.errors.items())
    return f"{use.label}: no ruling on {sum(use.errors.values())} of {use.asked} answers ({kinds}); the others decided."


def _spent(spent: Spent) -> str:
    if not spent.calls:
        return "no reply"
    tokens = (
        f"{spent.prompt_tokens:,} + {spent.completion_tokens:,} tokens" if spent.counted else "tokens unknown"
    )
    if spent.counted and spent.counted < spent.calls:
        tokens += f" ({spent.counted} of {spent.calls} replies say)"
    if spent.cost is None:
        cost = "cost unknown"
    elif spent.priced < spent.calls:
        cost = f"${spent.cost:.4f} for {spent.priced} of {spent.calls} replies"
    else:
        cost = f"${spent.cost:.4f}"
    noun = "reply" if spent.calls == 1 else "replies"
    return f"{spent.calls:,} {noun}, {tokens}, {cost}"


def _usage(spent: Spent) -> dict[str, Any]:
    return {
        "replies": spent.calls,
        "prompt_tokens": spent.prompt_tokens if spent.counted else None,
        "completion_tokens": spent.completion_tokens if spent.counted else None,
        "replies_counted": spent.counted,
        "cost_usd": spent.cost,
        "replies_priced": spent.priced,
    }


def _disagreeing(found: Sequence[Disagreement]) -> str:
    if not found:
        return "Judge and keyword recall agree on every linked criterion and forbidden value."
    noun = "place" if len(found) == 1 else "places"
    return f"Judge and keyword recall differ in {len(found)} {noun}, listed above: read those answers first."


def _kinship(result: Comparison, judge: JudgeSummary) -> list[str]:
    """Warn of judges that rule on answers of their own family: they favour them."""
    from harness.llm.providers import family_of

    warned = []
    for system, model in result.models.items():
        family = family_of(model)
        kin = [use.label for use in judge.judges if family is not None and use.family == family]
        if kin:
            warned.append(
                f"Careful: {', '.join(kin)} and the model of {system} ({model}) are of one family, {family}; "
                "judges favour their own."
            )
    return warned


def _vetoes(result: Comparison) -> str:
    named = {
        "contradicted": "a criterion contradicted",
        "forbidden_stated": "a wrong value stated",
        "hallucination": "an unsupported claim",
    }
    parts = []
    for system in result.systems:
        counts = [
            f"{words} {count}"
            for flag, words in named.items()
            if (count := sum(flag in score.flags for score in system.scores))
        ]
        if counts:
            parts.append(f"{system.system} ({', '.join(counts)})")
    return f"Vetoed, reward at most 0.5 and never passed: {', '.join(parts)}." if parts else ""


def _share(count: Count) -> str:
    share = f" ({count.share:.0%})" if count.share is not None else ""
    return f"{count.k}/{count.n}{share}"


def _met(met: Met | None) -> str:
    return "–" if met is None else numbers.reward(met.met / met.weight)


def _by_name(found: Sequence[Met]) -> dict[str, Met]:
    return {met.dimension: met for met in found}
