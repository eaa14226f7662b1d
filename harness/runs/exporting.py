"""The answers of runs as a responses file, which `compare` and `batch` take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.errors import InputError
from harness.runs.folder import RunFolder, models_of


def responses(runs: Sequence[RunFolder], note: str = "") -> dict[str, Any]:
    """Return `{system: {test_id: {answer, memory, tokens}}}` of the runs' first repeat, failures with their cause.

    Args:
        runs: which.
        note: what a reader of the file has to know; it stands under every table made from it.

    Raises:
        InputError: for two runs with one label.
    """
    labels = [run.manifest.system.label for run in runs]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"{label}: two of the runs are called so. Name only one of them.")
    return {
        "_note": " ".join(filter(None, (note, _kept(runs)))),
        "_models": models_of(runs),
        **{run.manifest.system.label: _answers(run) for run in runs},
    }


def _kept(runs: Sequence[RunFolder]) -> str:
    """Say how much of what was recalled each system was given to be read."""
    each = (
        f"{run.manifest.system.label} {run.manifest.reader.budget or 'all'}"
        for run in runs
        if run.manifest.reader.kind != "own"
    )
    told = ", ".join(each)
    return f"Exported from runs; words of memory that were read at most: {told}." if told else ""


def _answers(run: RunFolder) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for record in run.records():
        if record.repeat:
            continue
        answer = {
            "answer": record.answer,
            "memory": None if record.kept is None else list(record.kept),
            "tokens": record.tokens,
            "error": None if record.failure is None else str(record.failure),
        }
        found[record.case] = {name: value for name, value in answer.items() if value is not None}
    return {case: found[case] for case in run.manifest.cases if case in found}
