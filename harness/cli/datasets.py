"""What `dataset validate` looks at: suites, and retrieval and effectiveness data sets, told apart by their form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, NamedTuple

from harness.errors import InputError, Problem, SuiteError

Profile = Literal["basic", "bundled"]


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
    if kinds == {"retrieval"}:
        return _look_at_retrieval(path)
    if kinds == {"effectiveness"}:
        return _look_at_effectiveness(path)
    if len(kinds) > 1:
        raise InputError(f"{path}: holds retrieval and effectiveness data sets. Name one of them.")
    return look_at_suite(path, profile, gold)


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


def _kind(path: Path) -> str | None:
    """Return what a file is a data set of, None for anything else; a broken file is told by its neighbours."""
    if path.is_dir():
        return "retrieval" if (path / "corpus.jsonl").is_file() else None
    if path.suffix != ".json":
        return None
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return "effectiveness" if path.parent.name == "effectiveness" else "retrieval"
    cases = value.get("test_cases") if isinstance(value, dict) else None
    entries = [each for each in cases if isinstance(each, dict)] if isinstance(cases, list) else []
    if any("test_case_id" in each for each in entries):
        return "effectiveness"
    return "retrieval" if entries or (isinstance(value, dict) and "queries" in value) else None


def _counted(counts: dict[str, int]) -> str:
    told = (f"{count} {_noun(unit, count)}" for unit, count in counts.items())
    return f"({', '.join(told)})"


def _noun(unit: str, count: int) -> str:
    singular = {"memories": "memory", "queries": "query", "entries": "entry"}.get(
        unit, unit.removesuffix("s")
    )
    return unit if count != 1 else singular
