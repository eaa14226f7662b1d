"""From a JSON report to what it was made of: its runs, its cases, its scorer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.json_file import strict_json
from harness.report.json_report import SCHEMA
from harness.runs.comparing import common_cases, standing
from harness.runs.folder import RunFolder, find_runs, newest
from harness.runs.reading import Reading
from harness.suite import Suite
from harness.suite.hashing import case_hashes


def load_report(path: Path) -> dict[str, Any]:
    """Read the JSON report of a comparison.

    Raises:
        InputError: when it cannot be read, or is something else.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = strict_json(text)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file. Give the JSON that compare, run or score wrote.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not JSON: {error.msg}.") from None
    except RecursionError:
        raise InputError(f"{path}: not JSON that can be read: nested too deep.") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON that can be read: {error}.") from None
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise InputError(f"{path}: no report of a comparison: the schema is {schema!r}, not {SCHEMA!r}.")
    if not _has_shape(data):
        raise InputError(f"{path}: no whole report: suite, scorer, systems or their cases are not there.")
    return dict(data)


def asked(report: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the cases that a report is over."""
    return tuple(dict.fromkeys(case["test_id"] for one in report["systems"] for case in one["cases"]))


def readings(report: Mapping[str, Any]) -> dict[str, Reading]:
    """Return by system what a report's card says it was read with; what is not recorded is left out."""
    card = report.get("disclosure")
    parts = card.get("systems") if isinstance(card, dict) else None
    found: dict[str, Reading] = {}
    for part in parts if isinstance(parts, list) else []:
        try:
            rows = {row["key"]: row["value"] for row in part["rows"]}
            reader, prompt, budget, limit = (
                rows[key] for key in ("reader", "reader_prompt", "budget", "recall_limit")
            )
        except (KeyError, TypeError):
            continue
        if isinstance(reader, str) and type(limit) is int and (budget == "all" or type(budget) is int):
            found[str(part["system"])] = Reading(
                reader,
                None if prompt in (None, "none") else str(prompt),
                None if budget == "all" else budget,
                limit,
            )
    return found


def scorer_of(report: Mapping[str, Any]) -> str | None:
    """Return the scorer with its options as a report's card has it, None where it does not say."""
    card = report.get("disclosure")
    rows = card.get("rows") if isinstance(card, dict) else None
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and row.get("key") == "scorer" and "(" in str(row.get("value")):
            return str(row["value"])
    return None


def chosen_runs(report: Mapping[str, Any], paths: Sequence[Path]) -> list[RunFolder]:
    """Return the runs behind a report, in its order.

    Args:
        report: names the systems, and in its `source` the folders.
        paths: runs, or folders of runs, in which others may lie too.

    Raises:
        InputError: for a system whose run is not there, or a run named that is no system's.
    """
    named = [run for path in paths for run in find_runs(path) if run.path == path]
    every = [run for path in paths for run in find_runs(path)]
    folders = {Path(name.strip()).name for name in str(report.get("source", "")).split(",")}
    labels = [str(one["system"]) for one in report["systems"]]
    chosen = [_chosen(label, every, folders) for label in labels]
    lacking = [label for label, run in zip(labels, chosen, strict=True) if run is None]
    if lacking:
        raise InputError(
            f"{lacking[0]}: the report has this system, and none of the runs named is a run of it."
        )
    found = [run for run in chosen if run is not None]
    places = {run.path.resolve() for run in found}
    for run in named:
        if run.path.resolve() not in places:
            raise InputError(
                f"{run.path}: the report is not over this run, which is of {run.manifest.system.label}."
            )
    return found


def _chosen(label: str, runs: Sequence[RunFolder], folders: set[str]) -> RunFolder | None:
    """Return the run that a report calls so: the one in its source, else the latest."""
    fitting = [run for run in runs if label in (run.path.name, str(run.path))]
    fitting = fitting or [run for run in runs if run.manifest.system.label == label]
    listed = [run for run in fitting if run.path.name in folders]
    latest = newest(listed or fitting)[0]
    return latest[0] if latest else None


def cases_of(report: Mapping[str, Any], suite: Suite, runs: Sequence[RunFolder]) -> Suite:
    """Return the suite to recompute a report over, once it is sure that all fits together.

    Args:
        report: names the cases and the hash over them.
        suite: the whole suite as it is now.
        runs: the runs behind the report.

    Raises:
        InputError: when the suite is not the report's, or a run was not asked its cases.
    """
    wanted = asked(report)
    known = set(suite.ids)
    for case in wanted:
        if case not in known:
            raise InputError(
                f"{suite.root}: does not hold {case}, which the report is over. Name its --suite."
            )
    part = Suite(suite.root, tuple(case for case in suite if case.id in wanted))
    if part.hash != report["suite"]["hash"]:
        raise InputError(
            f"{suite.root}: is not the suite of the report: the hash of its cases is {part.hash[:12]}, "
            f"the report has {str(report['suite']['hash'])[:12]}. Name the --suite and --gold that it was made with."
        )
    hashes = case_hashes(suite)
    for run in runs:
        stand = {case.id for case in standing(suite, run, hashes)}
        lacking = [case for case in wanted if case not in stand]
        if lacking:
            raise InputError(f"{run.path}: was not asked {lacking[0]} as the report's suite has it.")
    common = common_cases(suite, runs, hashes).suite  # its notes speak of the cases that it was chosen from
    return suite if set(common.ids) == set(wanted) else part


def _has_shape(data: Mapping[str, Any]) -> bool:
    suite, systems = data.get("suite"), data.get("systems")
    return (
        isinstance(data.get("scorer"), str)
        and isinstance(suite, dict)
        and isinstance(suite.get("hash"), str)
        and isinstance(systems, list)
        and bool(systems)
        and all(
            isinstance(one, dict)
            and isinstance(one.get("system"), str)
            and isinstance(one.get("cases"), list)
            and all(isinstance(case, dict) and isinstance(case.get("test_id"), str) for case in one["cases"])
            for one in systems
        )
        and isinstance(data.get("pass_threshold"), int | float | None)
    )
