"""The JSON report: everything the tables are made of, with evidence, under a named schema.

`docs/report-json.md` describes the fields; `schema` changes when they do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.comparison import Comparison
from harness.errors import InputError
from harness.report import evidence, footers
from harness.scoring import CaseScore, FactVerdict, SystemScores
from harness.standing import METHODS, Pair, Standing, Statistics
from harness.statistics.power import ALPHA, POWER

SCHEMA = "recallbench.comparison/1"
STATISTICS_SCHEMA = "recallbench.statistics/1"


def as_data(result: Comparison) -> dict[str, Any]:
    """Return the report as plain data."""
    return {
        "schema": SCHEMA,
        "scorer": result.scorer,
        "pass_threshold": result.threshold if result.has_pass else None,
        "suite": {"path": result.suite, "hash": result.suite_hash, "cases": len(result.cases)},
        "source": result.source,
        "notes": footers.lines(result),
        **_judge(result),
        "statistics": statistics_data(result),
        "groups": [
            {"group": group, "title": result.title(group), "cases": result.size(group)}
            for group in result.groups
        ],
        "systems": [
            {
                "system": system.system,
                "summary": {group: result.cell(group, system)._asdict() for group in result.groups},
                **_dimensions(system, result),
                "cases": [_case(score, result) for score in system.scores],
            }
            for system in result.systems
        ],
    }


def render(result: Comparison, behind: Mapping[str, Any] | None = None) -> str:
    """Return the report as JSON text.

    Args:
        result: what to show.
        behind: further parts by their key, of the runs behind it.
    """
    return (
        json.dumps({**as_data(result), **(behind or {})}, ensure_ascii=False, indent=2, allow_nan=False)
        + "\n"
    )


def statistics_data(result: Comparison) -> dict[str, Any]:
    """Return intervals, tests and ranks as plain data; `read_statistics` reads them back."""
    found = result.statistics
    return {
        "schema": STATISTICS_SCHEMA,
        "level": 0.95,
        "alpha": ALPHA,
        "power": POWER,
        "resamples": found.resamples,
        "seed": found.seed,
        "cases": found.cases,
        "clusters": found.clusters,
        "cluster_of": {case.id: case.cluster for case in result.cases if case.cluster},
        "methods": METHODS,
        "detectable": found.detectable,
        "standings": [{**one._asdict(), "ranks": list(one.ranks)} for one in found.standings],
        "pairs": [{**pair._asdict(), "apart": pair.apart} for pair in found.pairs],
    }


def read_statistics(data: Mapping[str, Any]) -> Statistics:
    """Read the `statistics` of a report back.

    Raises:
        InputError: for another schema, or fields that are missing or unknown.
    """
    schema = data.get("schema")
    if schema != STATISTICS_SCHEMA:
        raise InputError(f"the statistics have schema {schema!r}; this version reads {STATISTICS_SCHEMA!r}.")
    try:
        return Statistics(
            standings=tuple(Standing(**{**one, "ranks": tuple(one["ranks"])}) for one in data["standings"]),
            pairs=tuple(
                Pair(**{name: value for name, value in pair.items() if name != "apart"})
                for pair in data["pairs"]
            ),
            **{name: data[name] for name in ("cases", "clusters", "detectable", "resamples", "seed")},
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"the statistics do not fit schema {STATISTICS_SCHEMA}: {error}.") from None


def _case(score: CaseScore, result: Comparison) -> dict[str, Any]:
    return {
        "test_id": score.case_id,
        "category": score.category,
        "outcome": score.status,
        "reason": evidence.outcome_words(score) or None,
        "reward": score.reward,
        "passed": score.passed(result.threshold) if result.has_pass else None,
        "mention": score.mention,
        "flags": list(score.flags),
        "words": score.words,
        "memory_words": score.memory_words,
        "latency_s": score.latency_s,
        "tokens": score.tokens,
        "facts": [_fact(verdict) for verdict in score.verdicts],
        **_judged(score),
    }


def _judge(result: Comparison) -> dict[str, Any]:
    if result.judge is None:
        return {}
    from harness.report import judged

    return {"judge": judged.as_data(result.judge)}


def _dimensions(system: SystemScores, result: Comparison) -> dict[str, Any]:
    if result.judge is None:
        return {}
    from harness.report import judged

    return {"dimensions": judged.dimension_data(system.scores)}


def _judged(score: CaseScore) -> dict[str, Any]:
    if score.judged is None:
        return {}
    from harness.report import judged

    return {"judged": judged.case_data(score)}


def _fact(verdict: FactVerdict) -> dict[str, Any]:
    match = verdict.match
    return {
        "id": verdict.fact.id or None,
        "fact": verdict.fact.fact,
        "type": verdict.fact.type.value,
        "role": verdict.role,
        "counts": verdict.counts,
        "mentioned": match.mentioned,
        "asserted": match.asserted,
        "voided_by": verdict.voided_by,
        "form": match.form,
        "span": list(match.span) if match.span else None,
        "clause": match.clause or None,
        "flags": list(match.flags),
    }
