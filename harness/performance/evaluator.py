"""The evaluator of performance: what was found of a system becomes an Evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version

from harness.evaluation import Evaluation, Item, MetricDefinition
from harness.performance.faults import faults_of, warnings_of
from harness.performance.figures import definitions, metrics_of, reason_of
from harness.performance.found import Measured, Timed
from harness.performance.latencies import Latencies
from harness.performance.machine import Machine, this_machine
from harness.performance.plan import Part, Plan
from harness.performance.rows import sections_of
from harness.performance.workload import Workload

EVALUATOR = "performance"


@dataclass(frozen=True)
class PerformanceEvaluator:
    """Makes metrics, tables and faults of what was measured.

    Attributes:
        plan: what was to be measured.
        machine: where.
    """

    plan: Plan
    machine: Machine = field(default_factory=this_machine)
    name: str = EVALUATOR

    def metrics(self) -> tuple[MetricDefinition, ...]:
        """Return what is measured, in the order in which it is shown."""
        return definitions(self.plan)

    @property
    def workload(self) -> str:
        """What tells whether two runs asked the same of a system."""
        return self.plan.digest(Workload(self.plan.seed).digest)

    def evaluate(self, dataset: Measured) -> Evaluation:
        """Return the figures of one system."""
        plan = self.plan
        return Evaluation(
            evaluator=self.name,
            system=dataset.system,
            dataset=f"synthetic memories, seed {plan.seed}",
            metrics=tuple(metrics_of(dataset, plan)),
            items=tuple(_items(dataset, plan)),
            errors=tuple(faults_of(dataset, plan)),
            warnings=tuple(warnings_of(dataset, plan)),
            at=datetime.now(UTC),
            provenance={
                "harness": version("recallbench"),
                "system_version": dataset.version,
                "machine": str(self.machine),
                "workload": self.workload,
                "dataset_hash": Workload(plan.seed).digest,
                "seed": str(plan.seed),
                "parts": ", ".join(plan.parts),
                "timeout_s": f"{plan.timeout:g}",
                "max_seconds": f"{plan.max_seconds:g}",
                "limit": _limit_told(dataset),
            },
            sections=sections_of(dataset, plan),
        )


def _items(found: Measured, plan: Plan) -> list[Item]:
    items = []
    parts: tuple[tuple[Part, tuple[int, ...], Mapping[int, Timed], str], ...] = (
        ("insert", plan.lengths, {one.at: one for one in found.inserts}, "inserts of {:,} characters"),
        ("search", plan.sizes, {one.at: one for one in found.searches}, "searches among {:,} memories"),
    )
    for part, ats, records, label in parts:
        for at in ats if part in plan.parts else ():
            one = records.get(at)
            why = reason_of(one, found, part)
            values = _values(one.latencies if one else None)
            failure = f"not reached: {why}" if not values else ""
            detail = {"failed": dict(one.failures.by_cause), "warm_up": one.warm_up} if one else {}
            items.append(Item(f"{part}@{at}", label.format(at), values, None, (part,), failure, detail))
    for kind, steps in (("load", found.load), ("limit", found.limit.steps if found.limit else [])):
        for number, step in enumerate(steps, start=1):
            values = _values(step.every)
            if step.throughput is not None:
                values["throughput"] = step.throughput
            detail = {
                "arrived": step.arrived, "sent": step.sent, "succeeded": step.every.n,
                "failed": dict(step.failures.by_cause), "most_at_once": step.most_at_once,
                "search": _values(step.searches), "insert": _values(step.inserts),
                "sent_late": _values(step.late), "cut": step.cut,
            }  # fmt: skip
            id = f"{kind}@{step.rate:g}" + (f"#{number}" if kind == "limit" else "")
            failure = "" if values else step.cut or f"every request failed: {step.failures}"
            items.append(Item(id, f"{step.rate:g} requests a second", values, None, (kind,), failure, detail))
    if found.freshness is not None:
        fresh = found.freshness
        detail = {"writes": fresh.written, "at_once": fresh.at_once, "not_seen": fresh.unseen}
        items.append(
            Item("freshness", "writes until recalled", _values(fresh.seen), None, ("freshness",), fresh.cut, detail)
        )  # fmt: skip
    if (many := found.contention) is not None and many.back is not None:
        detail = {"lost": list(many.back.lost), "torn": list(many.back.torn), "by": many.back.how}
        values = {"whole": float(many.back.whole), "acknowledged": float(many.acknowledged)}
        passed = many.back.whole == many.back.written
        items.append(
            Item("contention", f"{many.writers} writers", values, passed, ("contention",), "", detail)
        )
    return items


def _values(times: Latencies | None) -> dict[str, float | None]:
    summary = times.summary() if times is not None else None
    if summary is None:
        return {}
    return {f"{name}_ms": getattr(summary, name) for name in summary._fields if name != "n"}


def _limit_told(found: Measured) -> str:
    limit = found.limit
    if limit is None:
        return ""
    if limit.bends is None:
        held = f"holds at {limit.holds:g}/s" if limit.holds is not None else "nothing is known"
        return f"{held}; {limit.cut or 'no rate that was tried bends'}"
    holds = f"holds at {limit.holds:g}/s, " if limit.holds is not None else ""
    return f"{holds}bends at {limit.bends:g}/s: {limit.why}"
