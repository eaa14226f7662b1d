"""What GitHub Actions shows: annotations of a run, and the summary of a step.

An annotation is a workflow command, a line of the log. Answers, names and titles are untrusted:
nothing in them ends a line or a property, so that none of them is a command. GitHub shows ten
annotations of a kind a step; the cases beyond are counted, and stand in the summary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.comparison import Comparison
from harness.gates import Breach, shortcomings
from harness.report import evidence, markdown, numbers
from harness.report.boxes import visible
from harness.scoring import CaseScore, JudgeFailed, Missing, SystemFailed

SHOWN = 10
"""Annotations of a kind that GitHub shows of one step."""
SUMMARY_LIMIT = 1024 * 1024 - 1
"""The most bytes that a step's summary may have; GitHub refuses a longer one as a whole."""
_CUT = "\n…and more: a step's summary holds at most 1 MiB.\n"
_CASES = 20


def workflow_commands(results: Sequence[Comparison], breaches: Sequence[Breach] = ()) -> str:
    """Return the workflow commands: an error a gate that is broken or could not be held, a warning a case that failed."""
    lines = [
        command("error", "\n".join((breach.message, *breach.cases)), title=breach.title)
        for breach in breaches
    ]
    failed = [one for result in results for one in _failed(result)]
    lines += [
        command("warning", why, title=f"{system}: {score.case_id}") for system, score, why in failed[:SHOWN]
    ]
    if more := len(failed[SHOWN:]):
        lines.append(command("notice", f"{more} more are in the step's summary.", title="Cases not passed"))
    return "".join(f"{line}\n" for line in lines)


def command(name: str, message: str, **properties: str) -> str:
    """Return a workflow command, escaped as GitHub reads it."""
    shown = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {shown}::{_data(message)}"


def summary(
    results: Sequence[Comparison], breaches: Sequence[Breach] = (), limit: int = SUMMARY_LIMIT
) -> str:
    """Return the summary of a step as Markdown: the gates, the tables, the cases that failed.

    Args:
        results: the tables.
        breaches: the gates that are broken or could not be held.
        limit: the most bytes to return; what does not fit is left out, from the end, and that is said.
    """
    kept: list[str] = []
    room = limit - len(_CUT.encode())
    for block in _blocks(results, breaches):
        size = len(block.encode(errors="replace"))
        if size > room:
            return "".join([*kept, _CUT]) if limit >= len(_CUT.encode()) else ""
        kept.append(block)
        room -= size
    return "".join(kept)


def _blocks(results: Sequence[Comparison], breaches: Sequence[Breach]) -> Iterator[str]:
    """Yield the summary in pieces that are left out whole."""
    yield "## recallbench\n\n"
    for breach in breaches:
        refused = "could not be held: " if breach.refused else ""
        yield f"- ❌ {refused}{markdown.escape(breach.message)}\n"
        yield from (f"  - {markdown.escape(line)}\n" for line in breach.cases[:_CASES])
        if more := len(breach.cases[_CASES:]):
            yield f"  - and {more} more\n"
    for result in results:
        yield f"\n{markdown.comparison(result)}"
        rows = [
            (system, score.case_id, numbers.reward(score.reward), why)
            for system, score, why in _failed(result)
        ]
        if rows:
            yield f"\n### Cases not passed: {len(rows)}\n\n"
            head, *lines = _rows(rows)
            yield head
            yield from lines


def _rows(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table's header, then its rows one by one."""
    lines = markdown.table(("System", "Case", "Reward", "Why"), rows).split("\n")
    yield f"{lines[0]}\n{lines[1]}\n"
    yield from (f"{line}\n" for line in lines[2:])


def _failed(result: Comparison) -> Iterator[tuple[str, CaseScore, str]]:
    """Yield what did not pass, in the order of the table, and why."""
    for system in result.systems:
        for score in system.scores:
            if isinstance(score.outcome, SystemFailed | JudgeFailed | Missing):
                yield system.system, score, evidence.outcome_words(score)
            elif result.has_pass and score.passed(result.threshold) is False:
                why = f"reward {numbers.exact(score.reward)}, passes from {result.threshold:g}"
                yield system.system, score, "; ".join(filter(None, (why, shortcomings(score))))


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
