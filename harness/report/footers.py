"""The lines under a table, the same in every format: what was measured, and on what."""

from __future__ import annotations

from harness.comparison import OVERALL, Comparison
from harness.report import numbers


def lines(comparison: Comparison) -> list[str]:
    """Return the lines that stand under a comparison."""
    made = list(comparison.notes)
    made.append(_caption(comparison))
    if comparison.has_pass:
        made.append(_passes(comparison))
    made.extend(_mentions(comparison))
    made.extend(_words(comparison))
    made.extend(_gaps(comparison))
    made.extend(_dumps(comparison))
    made.extend(_judge(comparison))
    made.append(comparison.footnote)
    return [line for line in made if line]


def _judge(comparison: Comparison) -> list[str]:
    if comparison.judge is None:
        return []
    from harness.report import judged  # loads what only a judged table needs

    return judged.lines(comparison)


def _caption(comparison: Comparison) -> str:
    noun = "case" if len(comparison.cases) == 1 else "cases"
    return (
        f"Mean {comparison.scorer} reward in [0, 1]; {len(comparison.cases)} {noun}, "
        f"suite {comparison.suite_hash[:12]}; overall: each case counts once."
    )


def _passes(comparison: Comparison) -> str:
    shares = []
    for system in comparison.systems:
        cell = comparison.cell(OVERALL, system)
        if cell.passed is not None and cell.scored:
            shares.append(f"{system.system} {cell.passed}/{cell.scored}")
    return f"Passed (reward ≥ {comparison.threshold:g}): {', '.join(shares)}." if shares else ""


def _mentions(comparison: Comparison) -> list[str]:
    shares = []
    for system in comparison.systems:
        cell = comparison.cell(OVERALL, system)
        if cell.mention is not None:
            shares.append(f"{system.system} {numbers.reward(cell.mention)}")
    if not shares or comparison.scorer == "evidence-recall":
        return []
    return [f"Mention recall (the value is present, whether or not stated as true): {', '.join(shares)}."]


def _words(comparison: Comparison) -> list[str]:
    """Say how much each memory handed over, where it is the memory that is scored."""
    if comparison.scorer != "evidence-recall":
        return []
    shares = []
    for system in comparison.systems:
        words = [score.memory_words for score in system.scores if score.memory_words is not None]
        if words:
            shares.append(f"{system.system} {sum(words) / len(words):.0f}")
    return [f"Words handed over a case (mean): {', '.join(shares)}."] if shares else []


def _gaps(comparison: Comparison) -> list[str]:
    made = []
    for system in comparison.systems:
        cell = comparison.cell(OVERALL, system)
        if not cell.complete:
            errors = "1 error" if cell.errors == 1 else f"{cell.errors} errors"
            parts = [f"{cell.missing} missing" if cell.missing else "", errors if cell.errors else ""]
            why = ", ".join(filter(None, parts))
            made.append(
                f"{system.system}: {cell.scored} of {cell.asked} scored ({why}); not to be ranked. "
                "Bounds count what is missing as 0 and as 1."
            )
    left_out = max(
        (comparison.cell(OVERALL, system).not_annotated for system in comparison.systems), default=0
    )
    if left_out:
        noun, counts = ("case has", "counts") if left_out == 1 else ("cases have", "count")
        made.append(
            f"{left_out} {noun} nothing that {comparison.scorer} can compare with, and {counts} for nobody."
        )
    return made


def _dumps(comparison: Comparison) -> list[str]:
    counted = ((system.system, comparison.cell(OVERALL, system).dumps) for system in comparison.systems)
    flagged = [f"{name} {dumps}" for name, dumps in counted if dumps]
    return [f"Dumps (transcript instead of an answer, reward 0): {', '.join(flagged)}."] if flagged else []
