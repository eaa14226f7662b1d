"""The evidence of scored answers for a terminal, and any renderable as plain text."""

from __future__ import annotations

import io

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.comparison import Comparison
from harness.report import evidence, numbers
from harness.report.boxes import visible
from harness.scoring import CaseScore

_MARKS = {
    "found": ("✓", "green"),
    "missing": ("✗", "red"),
    "wrong": ("!", "bold red"),
    "optional": ("+", "cyan"),
}


def cases(result: Comparison) -> RenderableType:
    """Return every case with its evidence."""
    parts: list[RenderableType] = []
    for system in result.systems:
        for case, score in zip(result.cases, system.scores, strict=True):
            parts.append(
                case_score(score, threshold=result.threshold, title=case.title, has_pass=result.has_pass)
            )
    return Group(*parts)


def case_score(
    score: CaseScore, *, threshold: float, title: str = "", has_pass: bool = True
) -> RenderableType:
    """Return one answer's reward with what was found, what is missing and what is wrong."""
    head = Text(score.case_id, style="bold")
    if title:
        head.append(f"  {visible(title)}", style="dim")
    parts: list[RenderableType] = [head]
    if score.reward is None:
        parts.append(Padding(Text(visible(evidence.outcome_words(score)), style="yellow"), (0, 0, 0, 2)))
        return Group(*parts, Text(""))
    parts.append(Padding(_verdict_line(score, threshold, has_pass), (0, 0, 0, 2)))
    lines = list(evidence.fact_lines(score))
    if lines:
        table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
        for column in ("", "name", "value", "remark"):
            table.add_column(column, overflow="fold")
        for line in lines:
            mark, style = _MARKS[line.mark]
            table.add_row(
                Text(mark, style=style),
                Text(visible(line.name)),
                Text(visible(line.value), style="bold"),
                Text(visible(line.remark), style="dim"),
            )
        parts.append(Padding(table, (0, 0, 0, 2)))
    return Group(*parts, Text(""))


def _verdict_line(score: CaseScore, threshold: float, has_pass: bool) -> Text:
    line = Text(f"reward {numbers.reward(score.reward)}")
    if has_pass:
        passed = score.passed(threshold)
        line.append("  passed" if passed else "  not passed", style="green" if passed else "red")
    if score.mention is not None and has_pass:
        line.append(f"  mention {numbers.reward(score.mention)}", style="dim")
    for flag in score.flags:
        line.append(f"  flagged as {flag}", style="bold yellow")
    return line


def as_text(renderable: RenderableType, width: int) -> str:
    """Render without colour to a string, lines without trailing space."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, no_color=True, force_terminal=False, legacy_windows=False, highlight=False
    )
    console.print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).rstrip("\n") + "\n"
