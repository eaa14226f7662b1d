"""Markdown that pastes into GitHub: a table, the evidence of a batch, the footer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.comparison import Comparison
from harness.report import evidence, footers, layout, numbers
from harness.report.boxes import visible
from harness.report.layout import Grid

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~]|&(?=#?\w+;)|^[-+](?= |--|$))")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?= |$)")


def escape(text: str) -> str:
    """Write text so that Markdown shows it as it is, in one line."""
    return _NUMBERED.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", " ".join(visible(text).split())))


def comparison(result: Comparison, *, per_case: bool = False) -> str:
    """Return the layer-by-system table, the case matrix if asked for, and the footer."""
    parts = [_table(layout.by_layer(result))]
    if result.judge is not None:
        from harness.report import judged

        if dimensions := judged.dimensions(result):
            parts.append(_table(dimensions))
        if differing := judged.disagreements(result):
            parts.append(_table(differing))
    if per_case:
        parts.append(_table(layout.by_case(result)))
    parts.append("\n".join(f"- {escape(line)}" for line in footers.lines(result)))
    return "\n\n".join(parts) + "\n"


def batch(result: Comparison) -> str:
    """Return the summary, then each case with its evidence."""
    parts = [comparison(result).rstrip("\n")]
    for system in result.systems:
        for case, score in zip(result.cases, system.scores, strict=True):
            head = f"### {escape(case.id)}: {escape(case.title)}"
            if score.reward is None:
                parts.append(f"{head}\n\n{escape(evidence.outcome_words(score))}")
                continue
            passed = score.passed(result.threshold)
            verdict = f"Reward {numbers.reward(score.reward)}"
            if result.has_pass:
                verdict += ", passed" if passed else ", not passed"
            if score.flags:
                verdict += f", flagged as {', '.join(map(escape, score.flags))}"
            rows = tuple(
                (line.mark, line.name, line.value, line.remark) for line in evidence.fact_lines(score)
            )
            table = _table(Grid(("", "Fact", "Value", "Evidence"), rows)) if rows else ""
            parts.append("\n\n".join(filter(None, (head, verdict, table))))
    return "\n\n".join(parts) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table of plain texts."""
    return _table(Grid(tuple(header), tuple(tuple(row) for row in rows)))


def _table(grid: Grid) -> str:
    lines = [_row(grid.header), _row(("---", *("---:" for _ in grid.header[1:])), raw=True)]
    lines.extend(_row(row) for row in grid.rows)
    return "\n".join(lines)


def _row(cells: tuple[str, ...], *, raw: bool = False) -> str:
    return "| " + " | ".join(cell if raw else escape(cell) for cell in cells) + " |"
