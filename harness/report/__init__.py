"""Renderers: a Comparison in, text out. Which format a file gets is told by its ending."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from harness.comparison import Comparison
from harness.errors import InputError

Format = Literal["table", "md", "json", "csv"]
FORMATS: tuple[Format, ...] = ("table", "md", "json", "csv")
PLAIN_WIDTH = 100
"""Columns of a plain-text table where nothing else is asked for."""
_ENDINGS: dict[str, Format] = {
    ".txt": "table",
    ".md": "md",
    ".markdown": "md",
    ".json": "json",
    ".csv": "csv",
}


def format_of(path: Path) -> Format:
    """Return the format that a file's ending asks for.

    Raises:
        InputError: for another ending.
    """
    found = _ENDINGS.get(path.suffix.lower())
    if found is None:
        raise InputError(f"{path}: the ending says nothing about the format. Use {', '.join(_ENDINGS)}.")
    return found


def render(
    result: Comparison,
    format: Format = "md",
    *,
    per_case: bool = False,
    evidence: bool = False,
    width: int | None = None,
) -> str:
    """Return a comparison as text.

    Args:
        result: what to show.
        format: `table` (plain text), `md`, `json` or `csv`.
        per_case: add the case-by-system matrix (in CSV: one line an answer instead).
        evidence: show each case with the facts found and missing, as `batch` does.
        width: columns of a plain-text table; 100 when left out.
    """
    if format not in FORMATS:
        raise InputError(f"no such format: {format!r}. The formats are {', '.join(FORMATS)}.")
    match format:
        case "json":
            from harness.report import json_report

            return json_report.render(result)
        case "csv":
            from harness.report import csv_report

            return csv_report.comparison(result, per_case=per_case or evidence)
        case "md":
            from harness.report import markdown

            return markdown.batch(result) if evidence else markdown.comparison(result, per_case=per_case)
        case "table":
            from harness.report import summary

            columns = width or PLAIN_WIDTH
            table = summary.comparison(result, columns, per_case=per_case)
            if not evidence:
                return table
            from harness.report import terminal

            return f"{terminal.as_text(terminal.cases(result), columns)}\n{table}"


__all__ = ["FORMATS", "Format", "format_of", "render"]
