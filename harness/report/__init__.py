"""Renderers: a Comparison in, text out. Which format a file gets is told by its ending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from harness.comparison import Comparison
from harness.errors import InputError

if TYPE_CHECKING:
    from harness.gates import Breach
    from harness.runs.folder import RunFolder
    from harness.scoring import Answer
    from harness.suite import Suite

Format = Literal["table", "md", "json", "csv"]
FORMATS: tuple[Format, ...] = ("table", "md", "json", "csv")
"""The formats of every table."""
ComparisonFormat = Format | Literal["html", "junit", "github"]
COMPARISON_FORMATS: tuple[ComparisonFormat, ...] = (*FORMATS, "html", "junit", "github")
"""The formats of a comparison."""
SINGLE: tuple[ComparisonFormat, ...] = ("json", "csv", "html", "junit")
"""Formats of which one text holds one comparison."""
PLAIN_WIDTH = 100
"""Columns of a plain-text table where nothing else is asked for."""
_ENDINGS: dict[str, Format] = {
    ".txt": "table",
    ".md": "md",
    ".markdown": "md",
    ".json": "json",
    ".csv": "csv",
}
_COMPARISON_ENDINGS: dict[str, ComparisonFormat] = {**_ENDINGS, ".html": "html", ".xml": "junit"}
_Any = TypeVar("_Any", bound=str)


def format_of(path: Path) -> Format:
    """Return the format that a file's ending asks for.

    Raises:
        InputError: for another ending.
    """
    return _by_ending(path, _ENDINGS)


def comparison_format_of(path: Path) -> ComparisonFormat:
    """Return the format that the ending of a comparison's file asks for.

    Raises:
        InputError: for another ending.
    """
    return _by_ending(path, _COMPARISON_ENDINGS)


def _by_ending(path: Path, endings: Mapping[str, _Any]) -> _Any:
    found = endings.get(path.suffix.lower())
    if found is None:
        raise InputError(f"{path}: the ending says nothing about the format. Use {', '.join(endings)}.")
    return found


def render(
    result: Comparison,
    format: ComparisonFormat = "md",
    *,
    per_case: bool = False,
    evidence: bool = False,
    width: int | None = None,
    suite: Suite | None = None,
    runs: Sequence[RunFolder] = (),
    answers: Mapping[str, Mapping[str, Answer]] | None = None,
    breaches: Sequence[Breach] = (),
) -> str:
    """Return a comparison as text.

    Args:
        result: what to show.
        format: `table` (plain text), `md`, `json`, `csv`, `html`, `junit` (XML) or `github` (annotations).
        per_case: add the case-by-system matrix (in CSV: one line an answer instead).
        evidence: show each case with the facts found and missing, as `batch` does.
        width: columns of a plain-text table; 100 when left out.
        suite: the cases with their conversations, which `html` shows.
        runs: the runs that answers come from: `html` shows them, and `json` and `md` disclose how they were made.
        answers: the answers by system and test id where they come from a file: `html` shows them, and with the suite
            `json` and `md` tell where missed facts were lost.
        breaches: gates that are broken or could not be held, for `github` and `junit`.
    """
    match format:
        case "json":
            from harness.report import json_report

            return json_report.render(result, _behind(result, suite, runs, answers))
        case "csv":
            from harness.report import csv_report

            return csv_report.comparison(result, per_case=per_case or evidence)
        case "md":
            from harness.report import markdown

            shown = markdown.batch(result) if evidence else markdown.comparison(result, per_case=per_case)
            from harness.report import attribution, disclosure

            lost = attribution.grid(attribution.attribute(result, suite, runs, answers)) if suite else None
            parts = [shown] if lost is None else [shown, markdown.table(lost.header, lost.rows) + "\n"]
            return "\n".join([*parts, disclosure.as_markdown(disclosure.card(result, runs))])
        case "html":
            if suite is None:
                raise InputError("html shows the cases too: hand in the suite that was compared over.")
            from harness.report.html.render import render_report

            return render_report(result, suite, runs, answers=answers)
        case "junit":
            from harness.report import junit

            return junit.render(result, breaches)
        case "github":
            from harness.report import github

            return github.workflow_commands([result], breaches)
        case "table":
            from harness.report import summary

            columns = width or PLAIN_WIDTH
            table = summary.comparison(result, columns, per_case=per_case)
            if not evidence:
                return table
            from harness.report import terminal

            return f"{terminal.as_text(terminal.cases(result), columns)}\n{table}"
    raise InputError(f"no such format: {format!r}. The formats are {', '.join(COMPARISON_FORMATS)}.")


def _behind(
    result: Comparison,
    suite: Suite | None,
    runs: Sequence[RunFolder],
    answers: Mapping[str, Mapping[str, Answer]] | None,
) -> dict[str, Any]:
    """Return what a JSON report holds besides: how answers were made, as far as known, and where facts were lost."""
    from harness.report import attribution, disclosure

    told: dict[str, Any] = {"disclosure": disclosure.as_data(disclosure.card(result, runs))}
    if suite is not None:
        told["attribution"] = attribution.as_data(attribution.attribute(result, suite, runs, answers))
    return told


__all__ = [
    "COMPARISON_FORMATS",
    "FORMATS",
    "SINGLE",
    "ComparisonFormat",
    "Format",
    "comparison_format_of",
    "format_of",
    "render",
]
