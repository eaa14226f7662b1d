"""Holding a JSON report against what its runs and its suite say now: key by key, each difference named.

The report is read as plain data and so is what is recomputed, so that a field which json_report
gains is held to the same without a word here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

ABSENT = "not there"
_ELSEWHERE = re.compile(r"(suite\.path|source)$|disclosure\.(systems\[.+\]\.)?rows\[(suite|run)\]")
"""Where things lay when the report was made; they may have been moved since."""
_NAMES = (
    ("system", "group"),
    ("first", "second"),
    ("test_id", "fact"),
    ("test_id",),
    ("system",),
    ("case_id", "id"),
    ("group",),
    ("judge",),
    ("key",),
    ("id",),
)
"""What tells the objects of a list apart, the most telling first."""
_UNJUDGED = ("test_id", "category", "memory_words", "latency_s", "tokens")
_WHOLE = ("schema", "scorer", "pass_threshold", "suite", "groups")
_OF_THE_RUN = re.compile(r"disclosure\.systems\[.+\]\.rows\[(?!coverage)")
_COST = re.compile(r".*(\.cost_usd|\.replies_priced|rows\[judge_cost\w*\]\.\w+)$")
_CALIBRATION = re.compile(r"judge\.calibration$|disclosure\.rows\[judge_calibration\]")
_RESCORED_SINCE = "judged examples were measured anew since, or elsewhere"
_LEFT_OUT = "judge error (not_asked)"
_NO_PRICES = "the provider names no cost and no --prices file is given"


_OF_CASE = re.compile(
    r"(disclosure\.)?systems\[(?P<system>.+?)\]\."
    r"(?:cases\[(?P<case>[^\]]+)\]|rows\[answers_hash\]\.value\.cases\.(?P<hashed>.+))"
)


class Difference(NamedTuple):
    """One field on which the report and the journals disagree."""

    path: str
    reported: Any
    recomputed: Any

    @property
    def place(self) -> tuple[str, str] | None:
        """The system and the case that it is about, None where it is about no single case."""
        found = _OF_CASE.match(self.path)
        return None if found is None else (found["system"], found["case"] or found["hashed"])


class Unverifiable(NamedTuple):
    """Fields of one kind that nothing here can be held against, how many, and why."""

    path: str
    fields: int
    why: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of it.

    Attributes:
        numbers: how many numbers agree.
        others: how many other fields agree: outcomes, quotes, notes.
        differences: what does not agree; cases first, since sums follow from them.
        unverifiable: what could not be held against anything.
        unclaimed: fields that this version writes and the report does not have.
    """

    numbers: int
    others: int
    differences: tuple[Difference, ...]
    unverifiable: tuple[Unverifiable, ...]
    unclaimed: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether everything was held against something and agrees, and nothing is left out."""
        return not self.differences and not self.unverifiable and not self.unclaimed

    @property
    def answers_unseen(self) -> bool:
        """Whether the report holds no hashes of answers, so that one which changes no figure is not seen."""
        return any(name.startswith("disclosure") for name in self.unclaimed)

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """The systems and cases that differ, each once."""
        return tuple(dict.fromkeys(one.place for one in self.differences if one.place))

    def as_data(self) -> dict[str, Any]:
        """Return the verification as plain data."""
        return {
            "schema": "recallbench.verification/1",
            "agrees": self.agrees,
            "numbers": self.numbers,
            "others": self.others,
            "differences": [one._asdict() for one in self.differences],
            "unverifiable": [one._asdict() for one in self.unverifiable],
            "unclaimed": list(self.unclaimed),
        }


def verify(
    reported: Mapping[str, Any],
    recomputed: Mapping[str, Any],
    *,
    unjudged: str | None = None,
    unasked: Mapping[str, Sequence[tuple[str, int]]] | None = None,
) -> Verification:
    """Hold a report against what was recomputed.

    Args:
        reported: the report.
        recomputed: the same of the runs as they are now.
        unjudged: why no judge could be replayed; what depends on one is then not verifiable.
        unasked: by system, answers in its journal to what it was never asked: case and repeat.
    """
    found = _Found(unjudged)
    found.walk(dict(reported), dict(recomputed), "")
    found.differences += [
        Difference(
            f"systems[{system}].cases[{case}]", ABSENT, f"answered (repeat {repeat + 1}), though never asked"
        )
        for system, keys in (unasked or {}).items()
        for case, repeat in keys
    ]
    ordered = sorted(found.differences, key=lambda one: one.place is None)  # stable within both
    unverified = tuple(
        Unverifiable(path, count, why) for (path, why), count in sorted(found.unverifiable.items())
    )
    return Verification(
        found.numbers, found.others, tuple(ordered), unverified, tuple(sorted(found.unclaimed))
    )


@dataclass(slots=True)
class _Found:
    """What has been seen so far."""

    unjudged: str | None
    numbers: int = 0
    others: int = 0
    differences: list[Difference] = field(default_factory=list)
    unverifiable: Counter[tuple[str, str]] = field(default_factory=Counter)
    unclaimed: set[str] = field(default_factory=set)

    def walk(self, reported: Any, recomputed: Any, path: str, *, judged: bool = True) -> None:
        """Compare two values.

        Args:
            reported: what the report has.
            recomputed: what the journals give.
            path: where.
            judged: whether it hangs on a judge, as far as is known.
        """
        if _ELSEWHERE.match(path):
            return
        if isinstance(reported, dict) and isinstance(recomputed, dict):
            self._object(reported, recomputed, path, judged)
        elif isinstance(reported, list) and isinstance(recomputed, list):
            if path == "notes":
                self._notes(reported, recomputed)
            else:
                self._list(reported, recomputed, path, judged)
        else:
            self._value(reported, recomputed, path, judged)

    def _object(self, reported: dict[str, Any], recomputed: dict[str, Any], path: str, judged: bool) -> None:
        if self.unjudged and "test_id" in reported and "outcome" in recomputed:
            # A case without an answer comes out the same whoever judges, and one that has none must say so.
            judged = recomputed["outcome"] == "judge_error" and reported.get("outcome") in (
                "scored",
                "judge_error",
            )
        for key, value in sorted(
            reported.items(), key=lambda item: item[0] == "notes"
        ):  # they repeat the rest
            here = f"{path}.{key}" if path else key
            hangs = judged and key not in _UNJUDGED and here not in _WHOLE
            if _CALIBRATION.match(here) and value != recomputed.get(key):
                self._unverified(here, value, _RESCORED_SINCE)
            elif key in recomputed:
                self.walk(value, recomputed[key], here, judged=hangs)
            elif not _ELSEWHERE.match(here):
                why = self.unjudged if self.unjudged and hangs else "this version does not compute it"
                self._unverified(here, value, why)
        self.unclaimed |= {
            _kind_of(f"{path}.{key}" if path else key) for key in recomputed if key not in reported
        }

    def _list(self, reported: list[Any], recomputed: list[Any], path: str, judged: bool) -> None:
        names = _naming(reported, recomputed)
        if names is None:
            if len(reported) != len(recomputed):
                self._value(reported, recomputed, path, judged)
                return
            for at, (one, other) in enumerate(zip(reported, recomputed, strict=True)):
                self.walk(one, other, f"{path}[{at}]", judged=judged)
            return
        held = {_name(one, names): one for one in reported}
        now = {_name(one, names): one for one in recomputed}
        asked = names in (("test_id",), ("system",))  # what was asked hangs on no judge
        for name in (*held, *(name for name in now if name not in held)):
            here = f"{path}[{name}]"
            if name in held and name in now:
                self.walk(held[name], now[name], here, judged=judged)
            elif not _ELSEWHERE.match(here):
                self._value(held.get(name, ABSENT), now.get(name, ABSENT), here, judged and not asked)

    def _value(self, reported: Any, recomputed: Any, path: str, judged: bool) -> None:
        if self.unjudged and judged and not _OF_THE_RUN.match(path):
            self._unverified(path, reported, self.unjudged)
        elif _same(reported, recomputed) or _both_left_out(path, reported, recomputed):
            number = isinstance(reported, int | float) and not isinstance(reported, bool)
            self.numbers += number
            self.others += not number
        elif _COST.match(path) and recomputed in (None, 0, "not recorded"):
            self._unverified(path, reported, _NO_PRICES)
        else:
            self.differences.append(Difference(path, reported, recomputed))

    def _notes(self, reported: list[Any], recomputed: list[Any]) -> None:
        """Compare the lines under a table; which line stands where says nothing."""
        if self.unjudged:
            self._unverified("notes", reported, self.unjudged)
            return
        gone = list((Counter(map(str, reported)) - Counter(map(str, recomputed))).elements())
        new = list((Counter(map(str, recomputed)) - Counter(map(str, reported))).elements())
        self.others += len(reported) - len(gone)
        for line in list(gone):
            head = line.partition(":")[0]
            match = next((other for other in new if other.partition(":")[0] == head), None)
            told = {
                "Judge": _NO_PRICES,
                "Calibration": _RESCORED_SINCE,
                "Calibration of this judge": _RESCORED_SINCE,
            }
            if head in told and any(why == told[head] for _, why in self.unverifiable):
                self._unverified("notes", line, told[head])
            else:
                self.differences.append(Difference("notes", line, ABSENT if match is None else match))
            if match is not None:
                new.remove(match)
        self.differences += [
            Difference("notes", ABSENT, line) for line in new if not line.startswith("Calibration")
        ]

    def _unverified(self, path: str, value: Any, why: str) -> None:
        self.unverifiable[_kind_of(path), why] += sum(1 for _ in _leaves(value))


def _both_left_out(path: str, *reasons: Any) -> bool:
    """Say whether nobody was asked about an answer on either side; when the work stopped is not kept."""
    return path.endswith(".reason") and all(str(one).startswith(_LEFT_OUT) for one in reasons)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        try:
            return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
        except OverflowError:  # an integer beyond every float
            return one == other
    return type(one) is type(other) and bool(one == other)


def _naming(*lists: Sequence[Any]) -> tuple[str, ...] | None:
    """Return the keys that tell the objects of both lists apart, None where nothing does."""
    every = [one for each in lists for one in each]
    if not every or not all(isinstance(one, dict) for one in every):
        return None
    for names in _NAMES:
        if all(isinstance(one.get(name), str) for one in every for name in names) and all(
            len({_name(one, names) for one in each}) == len(each) for each in lists
        ):
            return names
    return None


def _name(one: Mapping[str, Any], names: Sequence[str]) -> str:
    return ", ".join(str(one[name]) for name in names)


def _kind_of(path: str) -> str:
    """Return a path with what it picks out left open: `systems[].cases[].reward`."""
    parts, depth = [], 0
    for char in path:
        if char == "]":
            depth = max(0, depth - 1)
        if depth == 0:
            parts.append(char)
        if char == "[":
            depth += 1
    return "".join(parts)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list) and value:
        for one in value.values() if isinstance(value, dict) else value:
            yield from _leaves(one)
    else:
        yield value
