"""CSV for spreadsheets: one line a system and group, or one line a system and case."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from harness.comparison import Comparison
from harness.report import numbers
from harness.report.boxes import visible

_SUMMARY = (
    "system", "group", "mean", "scored", "asked", "low", "high", "passed", "mention", "missing", "errors",
    "dumps", "not_annotated", "scorer", "pass_threshold", "suite_hash", "low95", "high95", "rank",
    "pass_low95", "pass_high95",
)  # fmt: skip
_CASES = (
    "system",
    "test_id",
    "category",
    "outcome",
    "reward",
    "passed",
    "mention",
    "flags",
    "facts_found",
    "facts_missing",
)


def comparison(result: Comparison, *, per_case: bool = False) -> str:
    """Return the summary lines, or with `per_case` the lines of every answer."""
    return _write(_CASES, _case_rows(result)) if per_case else _write(_SUMMARY, _summary_rows(result))


def _summary_rows(result: Comparison) -> Iterable[Sequence[object]]:
    for system in result.systems:
        for group in result.groups:
            cell = result.cell(group, system)
            standing = result.statistics.standing(system.system, group)
            yield (
                system.system, group, cell.mean, cell.scored, cell.asked, cell.low, cell.high, cell.passed,
                cell.mention, cell.missing, cell.errors, cell.dumps, cell.not_annotated, result.scorer,
                result.threshold if result.has_pass else None, result.suite_hash,
                standing.low95, standing.high95, numbers.ranks(standing.ranks) if standing.ranks else None,
                standing.pass_low95, standing.pass_high95,
            )  # fmt: skip


def _case_rows(result: Comparison) -> Iterable[Sequence[object]]:
    for system in result.systems:
        for score in system.scores:
            required = score.of_role("required")
            yield (
                system.system,
                score.case_id,
                score.category,
                score.status,
                score.reward,
                score.passed(result.threshold) if result.has_pass else None,
                score.mention,
                " ".join(score.flags),
                " ".join(verdict.fact.id or verdict.fact.fact for verdict in required if verdict.counts),
                " ".join(verdict.fact.id or verdict.fact.fact for verdict in required if not verdict.counts),
            )


def _write(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    """Keep a spreadsheet from running a system's name as a formula."""
    if isinstance(value, str):
        value = visible(value)
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value
