"""The conformance kit: does an adapter do what the harness relies on?

    python -m harness.adapters.conformance my_memory:MyMemory

or in a test of one's own:

    from harness.adapters.conformance import assert_conforms

    def test_my_memory():
        assert_conforms("my_memory:MyMemory")

The adapter runs as it does in a benchmark, in worker processes where it is not the harness's own.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from harness.adapters.hosts import Host, Timeouts
from harness.adapters.observed import READINGS, observe
from harness.adapters.planted import Planter
from harness.adapters.protocol import AgentFailure
from harness.adapters.registry import FLAG, find_adapter
from harness.adapters.rig import Finding, Rig, Verdict, failed, ok
from harness.adapters.trials import TRIALS
from harness.errors import ExitCode, HarnessError, InputError
from harness.llm.models import Models, ModelSettings
from harness.naming import parse_spec

__all__ = ["Finding", "Report", "assert_conforms", "check", "lines"]

LOADS = "loads"
SURFACES = "surfaces its failures"
_TIMEOUTS = Timeouts(load=60, open=30, ingest=60, wait=120, recall=30, close=15)
_CRASHES = "see the message; an adapter's process must not end by itself"
_MENDS = {
    "timeout": "answer faster or raise; give more time with timeouts=Timeouts(…)",
    "crashed": _CRASHES,
    "bad_value": "return what harness.adapters.protocol says",
    "leaked_threads": "stop in close() every thread that the agent started",
    "unreachable": "start the server, or name where it is",
}


@dataclass(frozen=True, slots=True)
class Report:
    """What the kit found about one adapter.

    Attributes:
        spec: the adapter as it was named.
        findings: one a check, in order.
    """

    spec: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether no check failed; warnings are none."""
        return not self.failures

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The checks that failed."""
        return tuple(finding for finding in self.findings if finding.outcome == "failed")


def check(
    spec: str, *, models: Models | None = None, timeouts: Timeouts | None = None, seed: int | None = None
) -> Report:
    """Try an adapter.

    Not to be called from a running event loop; `checked` is.

    Args:
        spec: `name`, `module:Class`, each with options in brackets.
        models: what the adapter may ask; without it the environment's.
        timeouts: how long each step may take.
        seed: makes the planted words the same in every check, so that a cassette can be replayed.

    Raises:
        InputError: when no such adapter exists, or what it needs is not installed.
    """
    return asyncio.run(checked(spec, models=models, timeouts=timeouts, seed=seed))


def assert_conforms(spec: str, *, models: Models | None = None, timeouts: Timeouts | None = None) -> None:
    """Fail a test with every check that an adapter does not pass.

    Raises:
        AssertionError: naming the checks, what was seen, and the mend.
    """
    report = check(spec, models=models, timeouts=timeouts)
    if not report.ok:
        raise AssertionError("\n".join(lines(report)))


async def checked(
    spec: str, *, models: Models | None = None, timeouts: Timeouts | None = None, seed: int | None = None
) -> Report:
    """Try an adapter, inside an event loop; see `check`."""
    parsed = parse_spec(spec, FLAG)
    own = models is None
    # A worker finds what can be imported here, the modules beside a test included.
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path)}
    models = models or Models(ModelSettings(), variables)
    rig = Rig(find_adapter(parsed), parsed, models, timeouts or _TIMEOUTS, Planter(seed))
    try:
        return Report(parsed.text, tuple([finding async for finding in _findings(rig)]))
    finally:
        if own:
            await models.close()


def lines(report: Report) -> list[str]:
    """Return a report as lines for a terminal."""
    width = max(len(finding.check) for finding in report.findings)
    shown = []
    for check, outcome, said, mend in report.findings:
        shown.append(f"  {outcome:<7}  {check:<{width}}  {said}")
        if mend:
            shown.append(f"  {'':<7}  {'':<{width}}  Mend: {mend}.")
    failures = len(report.failures)
    warnings = sum(finding.outcome == "warning" for finding in report.findings)
    head = "conforms" if not failures else f"does not conform: {_count(failures, 'check')} failed"
    also = f", {_count(warnings, 'warning')}" if warnings else ""
    return [f"{report.spec} {head}{also}", *shown]


async def _findings(rig: Rig) -> AsyncIterator[Finding]:
    first = [*READINGS]
    async with _loaded(rig) as (host, loading):
        yield Finding(LOADS, *loading)
        if loading.outcome == "failed":
            for name in (*first, *TRIALS):
                yield Finding(name, "n/a", "it does not load")
            return
        seen = None
        try:
            seen = await observe(rig, host)
        except (AgentFailure, HarnessError) as failure:
            yield Finding(first[0], *_failed(failure))
            for name in (*first[1:], *TRIALS):
                yield Finding(name, "n/a", "ingesting and asking fails")
            return
        for name, reading in READINGS.items():
            yield Finding(name, *reading(rig, seen))
        for name, trial in TRIALS.items():
            yield Finding(name, *await _tried(trial(rig, host)))
    yield Finding(
        SURFACES,
        "n/a",
        "a failure inside cannot be forced from outside; let exceptions through, swallow none",
    )


@asynccontextmanager
async def _loaded(rig: Rig) -> AsyncIterator[tuple[Host, Verdict]]:
    host = rig.host()
    try:
        try:
            rig.capabilities = (await host.start()).capabilities
            loading = ok(f"offers {', '.join(sorted(rig.capabilities)) or 'nothing'}")
        except (InputError, AgentFailure) as error:
            loading = failed(str(error), "see the message")
        yield host, loading
    finally:
        await host.close()


async def _tried(trial: Awaitable[Verdict]) -> Verdict:
    try:
        return await trial
    except (AgentFailure, HarnessError) as failure:
        return _failed(failure)


def _failed(failure: AgentFailure | HarnessError) -> Verdict:
    if isinstance(failure, AgentFailure):
        said = f"{failure.phase}: {failure.kind}: {failure.message}"
        return failed(said, _MENDS.get(failure.kind, "mend what it says, or raise what a user can act on"))
    return failed(str(failure), "see the message")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def main(specs: Sequence[str]) -> int:
    """Check adapters and print what was found; 0 when all conform, 1 when one does not, 2 for bad usage."""
    if not specs or specs[0].startswith("-"):
        print("usage: python -m harness.adapters.conformance SPEC…", file=sys.stderr)
        return ExitCode.BAD_INPUT
    status = ExitCode.DONE
    for spec in specs:
        try:
            report = check(spec)
        except HarnessError as error:
            print(error, file=sys.stderr)
            return error.exit_code
        print("\n".join(lines(report)))
        if not report.ok:
            status = ExitCode.GATE_FAILED
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
