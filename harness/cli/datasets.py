"""What `dataset validate` looks at: suites, and retrieval and effectiveness data sets, told apart by their form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from harness.errors import InputError, Problem, SuiteError

Profile = Literal["basic", "bundled"]
Kind = Literal["retrieval", "effectiveness", "either"]
_MARKS: Mapping[Kind, frozenset[str]] = {
    "effectiveness": frozenset(
        "test_case_id input_text types expected_facts expected_memory_type expected_importance_score "
        "duplicates_of supersedes".split()
    ),
    "retrieval": frozenset("memories queries query expected_results expected_ids relevance_score".split()),
}
"""Keys that only one kind of data set has, at the top or in a test case."""


class Looked(NamedTuple):
    """What was found.

    Attributes:
        name: what was looked at.
        problems: everything that is wrong.
        counted: how much there is, in brackets, and by which rules.
    """

    name: str
    problems: tuple[Problem, ...]
    counted: str


def look_at_suite(chosen: Path | None, profile: Profile, gold: Path | None) -> Looked:
    """Look at a suite; the bundled one when None."""
    from harness.resources import bundled
    from harness.validation import validate

    report = validate(chosen or bundled("test_cases"), profile=profile, gold=gold)
    counted = _counted(
        {unit: getattr(report, unit) for unit in ("cases", "conversations", "rounds", "words")}
    )
    name = str(chosen) if chosen else "bundled suite"
    return Looked(name, report.problems, f"under the {profile} profile {counted}")


def look_at(path: Path, profile: Profile, gold: Path | None) -> Looked:
    """Look at whatever a path holds.

    Raises:
        InputError: when it is not there, or holds nothing that is known.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder.")
    kinds = {_kind(each) for each in _files(path)} - {None}
    sure = kinds - {"either"}
    if len(sure) > 1:
        raise InputError(f"{path}: holds retrieval and effectiveness data sets. Name one of them.")
    if not kinds or (not sure and _holds_cases(path)):
        return look_at_suite(path, profile, gold)
    if sure == {"retrieval"} or (not sure and "retrieval" in path.parts):
        return _look_at_retrieval(path)
    return _look_at_effectiveness(path)


def _look_at_retrieval(path: Path) -> Looked:
    from harness.retrieval.loading import load_retrieval

    try:
        sets = load_retrieval(path)
    except SuiteError as error:
        return Looked(str(path), tuple(error.problems), "as a retrieval data set")
    memories = sum(len(one.memories) for one in sets)
    queries = sum(len(one.queries) for one in sets)
    counted = _counted({"sets": len(sets), "memories": memories, "queries": queries})
    return Looked(str(path), (), f"as a retrieval data set {counted}")


def _look_at_effectiveness(path: Path) -> Looked:
    from harness.effectiveness.loading import load_effectiveness

    try:
        found = load_effectiveness(path)
    except SuiteError as error:
        return Looked(str(path), tuple(error.problems), "as an effectiveness data set")
    counted = _counted({"sets": len(found), "entries": sum(len(one.entries) for one in found)})
    return Looked(str(path), (), f"as an effectiveness data set {counted}")


def _files(path: Path) -> list[Path]:
    if path.is_file() or (path / "corpus.jsonl").is_file():
        return [path]
    return [each for each in sorted(path.iterdir()) if each.suffix == ".json" or each.is_dir()]


def _kind(path: Path) -> Kind | None:
    """Return what a file is a data set of by its keys, None for anything else.

    A file that does not say, being broken or empty, is `either`: its neighbours tell.
    """
    if path.is_dir():
        return "retrieval" if (path / "corpus.jsonl").is_file() else None
    if path.suffix != ".json":
        return None
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return "either"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _by_keys(set(re.findall(r'"(\w+)"\s*:', text))) or "either"
    if isinstance(value, Mapping):
        cases = value.get("test_cases")
        keys = set(value) | _keys_of(cases if isinstance(cases, list) else [])
        return _by_keys(keys) or ("either" if "test_cases" in value else None)
    if isinstance(value, list):
        return _by_keys(_keys_of(value)) or "either"
    return None


def _keys_of(cases: Sequence[Any]) -> set[str]:
    return {key for case in cases if isinstance(case, Mapping) for key in case}


def _by_keys(keys: set[str]) -> Kind | None:
    return next((kind for kind, marks in _MARKS.items() if keys & marks), None)


def _holds_cases(path: Path) -> bool:
    return path.is_dir() and any(each.suffix.lower() in (".yaml", ".yml") for each in path.rglob("*"))


def _counted(counts: dict[str, int]) -> str:
    told = (f"{count} {_noun(unit, count)}" for unit, count in counts.items())
    return f"({', '.join(told)})"


def _noun(unit: str, count: int) -> str:
    singular = {"memories": "memory", "queries": "query", "entries": "entry"}.get(
        unit, unit.removesuffix("s")
    )
    return unit if count != 1 else singular
