"""What is measured, in what amounts, and within what bounds."""

from __future__ import annotations

import hashlib
import json
import math
import time
from dataclasses import dataclass
from typing import Literal, get_args

from harness.errors import InputError

Part = Literal["insert", "search", "load", "limit", "freshness", "contention"]
EVERY: tuple[Part, ...] = get_args(Part)
PARTS: tuple[Part, ...] = tuple(part for part in EVERY if part != "limit")
Arrivals = Literal["poisson", "constant"]
MOST_ARRIVALS = 200_000
_MOST = {"requests": 100_000, "warm_up": 100_000, "users": 1_000, "writers": 10_000}
"""What is made before any time cap is looked at."""
_LONGEST = 1_000_000
SIZES = (1_000, 5_000, 10_000, 50_000)
LENGTHS = (100, 500, 1_000, 5_000)
RATES = (5.0, 20.0)


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of a measurement.

    Attributes:
        parts: what is measured; `limit` is the rate at which p99 bends.
        sizes: numbers of memories among which is searched.
        lengths: characters of the texts that are stored.
        requests: searches at each size, and inserts of each length, that count.
        warm_up: requests before them that do not.
        recall_limit: memories that a search asks for.
        max_seconds: how long each part may take.
        timeout: how long one request may take.
        rates: requests a second that arrive, one step each.
        duration: seconds of a step.
        arrivals: whether gaps are drawn (`poisson`) or all alike (`constant`).
        search_share: searches among the requests; the rest are inserts.
        users: agents that share the load, each with memories of its own.
        load_memories: memories that each user has before the load begins.
        bend: how many times the p99 at the lowest rate a p99 has to be to count as bent.
        highest_rate: where the search for it ends.
        samples: writes whose freshness is measured.
        seen_within: seconds after which a write counts as not seen, and as lost when read back.
        writers: writers at once.
        writes: what each of them writes.
        length: characters of the texts that are written under contention and for freshness.
        seed: of texts and arrivals.
    """

    parts: tuple[Part, ...] = PARTS
    sizes: tuple[int, ...] = SIZES
    lengths: tuple[int, ...] = LENGTHS
    requests: int = 200
    warm_up: int = 20
    recall_limit: int = 10
    max_seconds: float = 300.0
    timeout: float = 30.0
    rates: tuple[float, ...] = RATES
    duration: float = 10.0
    arrivals: Arrivals = "poisson"
    search_share: float = 0.8
    users: int = 2
    load_memories: int = 200
    bend: float = 3.0
    highest_rate: float = 1_000.0
    samples: int = 30
    seen_within: float = 5.0
    writers: int = 8
    writes: int = 25
    length: int = 300
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("sizes", "lengths", "rates"):
            values = getattr(self, name)
            if list(values) != sorted(set(values)):
                object.__setattr__(self, name, tuple(sorted(set(values))))
        for name, top in _MOST.items():
            if getattr(self, name) > top:
                flag = f"--{name.replace('_', '-')}"
                raise InputError(f"{flag} {getattr(self, name)}: expected at most {top:,}.")
        if (longest := max((*self.lengths, self.length))) > _LONGEST:
            raise InputError(f"--length {longest}: expected at most {_LONGEST:,} characters.")
        if not 0 <= self.search_share <= 1:
            raise InputError(f"--search-share {self.search_share:g}: expected a share from 0 to 1.")
        for flag, value in (
            *(("--rate", rate) for rate in self.rates),
            ("--duration", self.duration),
            ("--highest-rate", self.highest_rate),
            ("--seen-within", self.seen_within),
            ("--timeout", self.timeout),
            ("--max-seconds", self.max_seconds),
            ("--bend", self.bend),
        ):
            if not 0 < value < math.inf:
                raise InputError(f"{flag} {value:g}: expected a number above 0.")
        most = max((*self.rates, self.highest_rate if "limit" in self.parts else 0.0))
        if most * self.duration > MOST_ARRIVALS:
            raise InputError(
                f"{most:g} requests a second for {self.duration:g} s are more than {MOST_ARRIVALS:,} requests. "
                "Lower --rate, --highest-rate or --duration."
            )

    def digest(self, texts: str) -> str:
        """Return what tells whether two measurements asked the same of a system.

        Args:
            texts: digest of the workload.
        """
        told = (
            texts, self.recall_limit, self.duration, self.arrivals, self.search_share, self.users,
            self.load_memories, self.bend, self.writers, self.writes, self.length, self.seed,
            self.seen_within, self.timeout,
        )  # fmt: skip
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]


class Deadline:
    """A moment by which a part has to be through.

    Args:
        seconds: from now.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._at = time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        """Whether it is over."""
        return time.monotonic() >= self._at

    def within(self, most: float = math.inf) -> float:
        """Return the seconds that are left, at most `most` and never quite nothing."""
        return max(0.001, min(most, self._at - time.monotonic()))

    def __str__(self) -> str:
        return f"the time cap of {self.seconds:g} s"
