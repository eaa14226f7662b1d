"""What `compare` and `batch` have in common: from the flags to a comparison, shown and gated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli import console, judging, options
from harness.errors import InputError

if TYPE_CHECKING:
    from harness.scoring import Responses
    from harness.suite import Suite


def run(
    answers: Callable[[Suite], Responses],
    source: Path | None,
    *,
    per_case: bool = False,
    evidence: bool = False,
    **flags: Any,
) -> None:
    """Score answers with the flags of `options.comparison_options`; print, write and gate the result.

    Args:
        answers: reads the answers against the whole suite.
        source: the file they are read from, where the user named one.
        per_case: add the case-by-system matrix.
        evidence: show each case with the facts found and missing.
        flags: what the command line gave for the shared options.
    """
    from harness.comparison import compare

    console.check_outputs(flags["output"], (source, flags["gold"]))
    if flags["partial"] and flags["fail_under"] is not None:
        raise InputError(
            "--fail-under does not go with --partial: a gate must not be passed by not answering. "
            "Leave out --partial; what is missing then counts as 0."
        )
    names = ("suite", "gold", "scorer", "pass_threshold", "format", *judging.SETTINGS)
    values = options.settings(**{name: flags[name] for name in names})
    whole, asked = options.chosen_suite(values, flags["layer"], flags["cases"])
    used = judging.scorer(values, flags)
    given = answers(whole)
    with judging.watched(used):
        result = compare(
            asked, given, scorer=used, partial=flags["partial"], threshold=values["pass_threshold"].value
        )
    if evidence and result.judge is not None:
        from dataclasses import replace

        from harness.scoring.judge.disagreement import disagreements

        found = disagreements(asked, result.systems, given.systems)
        result = replace(result, judge=result.judge._replace(disagreements=found))
    console.show_comparison(result, values["format"].value, per_case=per_case, evidence=evidence)
    console.write_outputs(result, flags["output"], per_case=per_case, evidence=evidence)
    judging.gate(result, flags["max_errors"])
    console.gate(result, flags["fail_under"])
