"""Reading predictions, so that the output of any system can be scored without running it.

    {system: {test_case_id: {facts, memory_type, importance_score, cluster, kept_as, …}}}

or {test_case_id: {…}} of one system, which is then called after the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.effectiveness.dataset import EffectivenessSet
from harness.effectiveness.observed import Observed, Prediction
from harness.errors import Problem, SuiteError
from harness.json_file import FieldPath, JsonFile
from harness.suite import nearest

_LISTS = (
    "facts",
    "stored_after_update",
    "recalled_after_update",
    "recalled",
    "recalled_by_others",
    "recalled_before_deletion",
    "recalled_after_deletion",
)
_KEYS = (*_LISTS, "memory_type", "importance_score", "cluster", "kept_as", "error")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "extraction": ("facts",),
    "classification": ("memory_type",),
    "importance": ("importance",),
    "deduplication": ("cluster",),
    "update": ("stored_after_update", "recalled_after_update"),
    "isolation": ("recalled", "recalled_by_others"),
    "deletion": ("recalled_before_deletion", "recalled_after_deletion"),
}
"""What each evaluator needs, at least one of; where no entry has any, it is not applicable."""


def load_predictions(path: Path, data: EffectivenessSet) -> list[Observed]:
    """Load the predictions of one or several systems for a data set.

    Raises:
        SuiteError: with every problem of the file.
        InputError: when it cannot be read.
    """
    file = JsonFile(path)
    value = file.value
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()) or not value:
        mend = 'Write {"system": {"test_case_id": {…}}}.'
        raise SuiteError([Problem(path, 1, "", "holds no predictions.", mend, "bad-form")], "the predictions")
    ids = {entry.id for entry in data.entries}
    plain = value.keys() <= ids or any(key in _KEYS for one in value.values() for key in one)
    systems: dict[str, tuple[Mapping[str, Any], FieldPath]] = (
        {path.stem: (value, ())} if plain else {name: (given, (name,)) for name, given in value.items()}
    )
    observed = [_system(file, data, name, given, at, ids) for name, (given, at) in systems.items()]
    if file.problems:
        raise SuiteError(file.problems, "the predictions")
    return observed


def _system(
    file: JsonFile, data: EffectivenessSet, name: str, given: Mapping[str, Any], at: FieldPath, ids: set[str]
) -> Observed:
    predictions: dict[str, Prediction] = {}
    failures: dict[tuple[str, str], str] = {}
    for id, item in given.items():
        here = (*at, id)
        if id not in ids:
            told = f"there is no test case {id!r}; {nearest(id, tuple(sorted(ids)))}."
            file.wrong(here, told, "Correct the id.", "unknown-case")
        elif not isinstance(item, dict):
            file.wrong(here, "must be an object.", f"Write one with {', '.join(_KEYS)}.")
        else:
            predictions[id] = _prediction(file, item, here)
            if error := file.string(item, "error", here):
                failures |= {(evaluator, id): error for evaluator in _FIELDS}
    if given and len(failures) == len(_FIELDS) * len(given):  # nothing but errors is a failure, and no lack
        return Observed(data, name, predictions, failures, source=str(file.path))
    lacking = {
        evaluator: f"the predictions have no {' or '.join(_spelt(one) for one in fields)}"
        for evaluator, fields in _FIELDS.items()
        if not any(getattr(one, name) is not None for one in predictions.values() for name in fields)
    }
    return Observed(data, name, predictions, failures, lacking, source=str(file.path))


def _prediction(file: JsonFile, item: Mapping[str, Any], at: FieldPath) -> Prediction:
    file.unknown_keys(item, at, _KEYS)
    cluster = item.get("cluster")
    if cluster is not None and (isinstance(cluster, bool) or not isinstance(cluster, str | int)):
        file.wrong((*at, "cluster"), f"is {cluster!r}.", 'Write a name, or "" where no memory holds it.')
        cluster = None
    score = file.number(item, "importance_score", at, -1e9, 1e9)
    lists = {key: tuple(found) for key in _LISTS if (found := file.strings(item, key, at)) is not None}
    return Prediction(
        **lists,
        memory_type=file.string(item, "memory_type", at) or None,
        importance=score,
        cluster=None if cluster is None else str(cluster),
        kept_as=file.string(item, "kept_as", at) or None,
    )


def _spelt(field: str) -> str:
    return "importance_score" if field == "importance" else field
