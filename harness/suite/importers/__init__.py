"""Public data sets that a user has downloaded, made into suites."""

from __future__ import annotations

from harness.suite.importers.answers import Fields, Supplied, read_answers
from harness.suite.importers.forms import FORMS, import_files
from harness.suite.importers.made import Finding, Imported, Question, Report
from harness.suite.importers.overlay import Correction, Overlay, read_overlay
from harness.suite.importers.writing import report_path, write_suite

__all__ = [
    "FORMS",
    "Correction",
    "Fields",
    "Finding",
    "Imported",
    "Overlay",
    "Question",
    "Report",
    "Supplied",
    "import_files",
    "read_answers",
    "read_overlay",
    "report_path",
    "write_suite",
]
