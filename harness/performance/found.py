"""What a measurement finds, filled in while it goes on, so that an interrupted one leaves what it has."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from harness.performance.footprint import Footprint
from harness.performance.latencies import Latencies
from harness.performance.plan import Part
from harness.performance.subject import Failures


@dataclass(slots=True)
class Timed:
    """Times of one kind of request, one after the other.

    Attributes:
        at: number of memories, or of characters.
        wanted: requests that were to count.
        latencies: the times of those that succeeded.
        failures: those that failed.
        warm_up: requests that came before and do not count.
        first_s: how long the very first took.
        cut: why it was not reached or not finished; empty where it was.
    """

    at: int
    wanted: int
    latencies: Latencies = field(default_factory=Latencies)
    failures: Failures = field(default_factory=Failures)
    warm_up: int = 0
    first_s: float | None = None
    cut: str = ""

    @property
    def done(self) -> int:
        """Requests that counted."""
        return self.latencies.n + self.failures.total


@dataclass(slots=True)
class AtSize(Timed):
    """Searches among a number of memories.

    Attributes:
        fill_s: how long the system took to store what came on top of the size before.
        filled: memories that came on top of it.
        ready_s: how long until it said that they can be recalled; None where it says nothing.
        takes: its memory and disk, above an empty one.
    """

    fill_s: float = 0.0
    filled: int = 0
    ready_s: float | None = None
    takes: Footprint | None = None


@dataclass(slots=True)
class ReadBack:
    """What became of marked texts that were written.

    Attributes:
        how: whether it was looked up by `list` or by `recall`.
        whole: texts that are there as they were written.
        torn: the beginnings of those that are there in part, or mixed with others.
        lost: the beginnings of those that are not there.
        doubled: texts that are there more than once.
    """

    how: str
    whole: int = 0
    torn: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    doubled: int = 0

    @property
    def written(self) -> int:
        """How many were looked for."""
        return self.whole + len(self.torn) + len(self.lost)


@dataclass(slots=True)
class Step:
    """Requests that arrived at one rate.

    Attributes:
        rate: a second.
        arrived: how many were to be sent.
        sent: how many were.
        searches, inserts: times of those that succeeded, from when they were to be sent.
        every: both together.
        late: how much later than intended the harness sent them.
        failures: those that failed.
        elapsed_s: the seconds of the step, or until the last reply where that came later.
        most_at_once: most requests under way at one time.
        back: what became of the inserts; None where nothing can be listed.
        cut: why it was not finished; empty where it was.
    """

    rate: float
    arrived: int
    sent: int = 0
    searches: Latencies = field(default_factory=Latencies)
    inserts: Latencies = field(default_factory=Latencies)
    every: Latencies = field(default_factory=Latencies)
    late: Latencies = field(default_factory=Latencies)
    failures: Failures = field(default_factory=Failures)
    elapsed_s: float = 0.0
    most_at_once: int = 0
    back: ReadBack | None = None
    cut: str = ""

    @property
    def throughput(self) -> float | None:
        """Requests that succeeded, a second."""
        return self.every.n / self.elapsed_s if self.elapsed_s > 0 and self.every.n else None

    @property
    def succeeded(self) -> float | None:
        """Share of the requests sent that succeeded."""
        return self.every.n / self.sent if self.sent else None


@dataclass(slots=True)
class Limit:
    """The rate at which p99 bends.

    Attributes:
        steps: every rate that was tried, in order; a rate that bent was tried twice.
        base_ms: p99 at the lowest rate.
        holds: the highest rate that held.
        bends: the lowest rate that bent.
        why: what bent there.
        cut: why the search ended early.
    """

    steps: list[Step] = field(default_factory=list)
    base_ms: float | None = None
    holds: float | None = None
    bends: float | None = None
    why: str = ""
    cut: str = ""


@dataclass(slots=True)
class Freshness:
    """How soon a write can be recalled.

    Attributes:
        wanted: writes that were to be made.
        within_s: how long each was looked for.
        seen: times from a write's return to the return of the first search that had it.
        at_once: writes that the first search had.
        unseen: writes that no search had in time.
        failures: writes and searches that failed.
        cut: why it was not finished.
    """

    wanted: int
    within_s: float
    seen: Latencies = field(default_factory=Latencies)
    at_once: int = 0
    unseen: int = 0
    failures: Failures = field(default_factory=Failures)
    cut: str = ""

    @property
    def written(self) -> int:
        """Writes that were followed up."""
        return self.seen.n + self.unseen


@dataclass(slots=True)
class Contention:
    """What becomes of writes when several write at once.

    Attributes:
        writers: how many write at once.
        wanted: writes of all together.
        acknowledged: those that the system said are stored.
        failures: those that it refused.
        most_at_once: most writes under way at one time.
        alone: what became of writes that were made one at a time before.
        back: what became of those acknowledged.
        cut: why it was not finished.
    """

    writers: int
    wanted: int
    acknowledged: int = 0
    failures: Failures = field(default_factory=Failures)
    most_at_once: int = 0
    alone: ReadBack | None = None
    back: ReadBack | None = None
    cut: str = ""


@dataclass(slots=True)
class Measured:
    """Everything that was found of one system.

    Attributes:
        system: its label.
        version: what it says it is.
        serial: whether an agent takes one request at a time.
        resident_unseen: why its memory cannot be seen; empty where it can.
        missing: by part, why it could not be measured.
        begun: parts that were begun.
        faults: what is wrong with the system, each in a line.
        line_ms: what the way to its worker process takes by itself; None where that is not known.
        stored: memories that it listed at the end, with how many were acknowledged.
        busy: what else keeps the machine busy.
        interrupted: whether the user ended it.
    """

    system: str
    version: str = ""
    serial: bool = False
    resident_unseen: str = ""
    missing: dict[Part, str] = field(default_factory=dict)
    begun: list[Part] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    line_ms: float | None = None
    stored: tuple[int, int] | None = None
    busy: str = ""
    interrupted: bool = False
    inserts: list[Timed] = field(default_factory=list)
    searches: list[AtSize] = field(default_factory=list)
    load: list[Step] = field(default_factory=list)
    limit: Limit | None = None
    freshness: Freshness | None = None
    contention: Contention | None = None

    def fault(self, text: str) -> None:
        """Keep what is wrong, once."""
        if text not in self.faults:
            self.faults.append(text)

    @property
    def causes(self) -> Counter[str]:
        """All failures by cause."""
        every = [one.failures for one in (*self.inserts, *self.searches)]
        every += [step.failures for step in (*self.load, *(self.limit.steps if self.limit else ()))]
        every += [self.freshness.failures] if self.freshness else []
        every += [self.contention.failures] if self.contention else []
        total: Counter[str] = Counter()
        for failures in every:
            total.update(failures.by_cause)
        return total
