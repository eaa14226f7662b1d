"""From a directory to a suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import Problem, SuiteError
from harness.resources import bundled
from harness.suite.cases import read_case
from harness.suite.chunks import read_header
from harness.suite.discovery import find_cases
from harness.suite.models import Case, Suite
from harness.suite.yaml_reader import parse

if TYPE_CHECKING:
    from harness.suite.gold import GoldFile


def load_suite(root: Path | str | None = None, *, gold: Path | str | None = None) -> Suite:
    """Load a suite: the headers of its cases; conversations stay on disk.

    Args:
        root: a directory of case files, or one such file; the bundled suite by default.
        gold: a gold file, whose facts override those of the cases it names.

    Raises:
        SuiteError: when anything is wrong with any file; it lists every problem of all of them.
        InputError: when there is nothing to load.
    """
    suite, problems = read_suite(root, gold=gold)
    if problems:
        raise SuiteError(problems)
    return suite


def read_suite(
    root: Path | str | None = None, *, gold: Path | str | None = None
) -> tuple[Suite, list[Problem]]:
    """Return the cases that could be read, and every problem met on the way.

    It is `load_suite` for those who want to look at the sound part of a broken suite.

    Raises:
        InputError: when there is nothing to load.
    """
    root = bundled("test_cases") if root is None else Path(root)
    gold = None if gold is None else Path(gold)
    paths, problems = find_cases(root, gold)
    overriding, gold_problems = _read_gold(gold)
    problems += gold_problems

    cases: list[Case] = []
    named: set[str] = set()
    for path in paths:
        case, case_problems = read_case(path)
        problems += case_problems
        if case is not None:
            cases.append(case if overriding is None else overriding.override(case))
            named.add(case.id)
    problems += _repeated(cases)
    if overriding is not None and len(cases) == len(paths):
        problems += overriding.unknown_ids(named)
    return Suite(root, tuple(sorted(cases, key=lambda case: case.id))), problems


def _read_gold(path: Path | None) -> tuple[GoldFile | None, list[Problem]]:
    if path is None:
        return None, []
    from harness.suite.gold import read_gold  # most suites are loaded without a gold file

    try:
        return read_gold(path)
    except SuiteError as error:
        return None, list(error.problems)


def _repeated(cases: Iterable[Case]) -> Iterator[Problem]:
    """Yield a problem for each case whose id another case has already."""
    first: dict[str, Path] = {}
    for case in cases:
        if case.id in first:
            document = parse(read_header(case.path))  # only a broken suite pays for the line
            message = f"another case is called {case.id!r} too: {first[case.id]}."
            mend = "Give each case a name of its own."
            yield document.problem(("test_id",), message, mend, "duplicate-id")
        first.setdefault(case.id, case.path)
