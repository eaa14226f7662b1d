"""A suite in other forms: JSON, JSON lines, Markdown, and the one-document YAML of older suites.

JSON has each case in the one-document form too, so a case of an export, saved as a `.yaml` file in the
folder of its layer, loads as it was. Facts of a gold file stand in the cases.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.authoring.case_text import as_legacy, header_data, one_document
from harness.authoring.folders import new_folder, place_of
from harness.authoring.markdown import suite_in_markdown
from harness.errors import InputError
from harness.suite import Case, Suite

TEXTS: Mapping[str, Callable[[Suite], Iterator[str]]]


def export_suite(suite: Suite, form: str, folder: Path | None = None) -> Iterator[str]:
    """Yield a suite as text, piece by piece; the legacy form is written to a folder instead.

    Args:
        suite: what to export; the conversations are read case by case.
        form: one of `EXPORTS`.
        folder: where the legacy form goes, a case a file.

    Raises:
        SuiteError: when conversations are broken.
        InputError: when the folder holds something, or can't be written.
    """
    if form != LEGACY:
        yield from TEXTS[form](suite)
        return
    assert folder is not None
    if any(case.haystack is not None for case in suite):
        raise InputError(
            f"{suite.root}: its groups have names of their own, which the legacy form has no place for. "
            "Export it as json, jsonl or md; `dataset split` and `sample` copy it as it is."
        )
    with new_folder(folder, suite) as made:
        for case in suite:
            place = made / place_of(suite, case)
            place.parent.mkdir(parents=True, exist_ok=True)
            text = as_legacy(header_data(case), case.conversations())
            place.write_text(text, encoding="utf-8", newline="\n")


def case_data(case: Case) -> dict[str, Any]:
    """Return a case as plain data, in the one-document form."""
    return one_document(header_data(case), case.conversations())


def _json(suite: Suite) -> Iterator[str]:
    yield f'{{"hash": "{suite.hash}",\n"cases": [\n'
    for number, case in enumerate(suite):
        yield (",\n" if number else "") + json.dumps(case_data(case), ensure_ascii=False, indent=1)
    yield "\n]}\n"


def _json_lines(suite: Suite) -> Iterator[str]:
    for case in suite:
        yield json.dumps(case_data(case), ensure_ascii=False) + "\n"


LEGACY = "legacy"
TEXTS = {"json": _json, "jsonl": _json_lines, "md": suite_in_markdown}
EXPORTS = (*TEXTS, LEGACY)
"""The forms that `export_suite` knows."""
