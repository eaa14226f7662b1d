"""All parts of a measurement of one system, one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from harness.adapters.protocol import AgentFailure
from harness.llm.models import Models
from harness.naming import Spec
from harness.performance.contention import measure_contention
from harness.performance.footprint import unseen
from harness.performance.found import Measured
from harness.performance.freshness import measure_freshness
from harness.performance.latency import Tell, time_inserts, time_searches
from harness.performance.limit import find_limit
from harness.performance.load import run_load
from harness.performance.machine import busy, this_machine
from harness.performance.plan import EVERY, Part, Plan
from harness.performance.subject import Subject
from harness.performance.workload import Workload

_MEASURES: Mapping[Part, Callable[[Subject, Plan, Workload, Measured, Tell], Awaitable[None]]] = {
    "insert": time_inserts,
    "search": time_searches,
    "load": run_load,
    "limit": find_limit,
    "freshness": measure_freshness,
    "contention": measure_contention,
}


async def measure(spec: Spec, models: Models, plan: Plan, found: Measured, tell: Tell) -> None:
    """Measure a system; `found` is filled in as it goes on, whatever ends it.

    Args:
        spec: the system.
        models: what it may ask.
        plan: what to measure.
        found: is filled in.
        tell: is told what is being done, often.

    Raises:
        InputError: when it cannot be loaded.
        EndpointError: when a model's endpoint cannot be reached.
    """
    subject = Subject(spec, models, plan.timeout)
    texts = Workload(plan.seed)
    found.busy = busy(this_machine())
    found.resident_unseen = unseen(subject.info)
    found.serial = subject.serial
    await subject.start()
    try:
        found.version = subject.version
        for part in EVERY:
            if part not in plan.parts:
                continue
            if lacks := _lacking(subject, plan, part):
                found.missing[part] = lacks
                continue
            found.begun.append(part)
            try:
                await _MEASURES[part](subject, plan, texts, found, tell)
            except AgentFailure as failure:
                found.missing[part] = f"its agent cannot be opened: {failure}"
    finally:
        await subject.close()
        for fault in subject.faults:
            found.fault(fault)


def _lacking(subject: Subject, plan: Plan, part: Part) -> str:
    """Say what a system lacks for a part; nothing where it has all."""
    recalls = subject.can("recall")
    if part in ("search", "freshness") and not recalls:
        return "it answers and cannot recall"
    if part in ("load", "limit") and not recalls and plan.search_share > 0:
        return "it answers and cannot recall; --search-share 0 loads it with inserts alone"
    if part == "contention" and not recalls and not subject.can("list"):
        return "it can neither list nor recall what was written"
    return ""
