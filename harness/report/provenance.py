"""What a run's folder says of how its answers came about: one pass over its journals."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from harness.runs.folder import ANSWERS, RunFolder
from harness.runs.journal import lines
from harness.runs.manifest import Manifest
from harness.runs.record import Record

_IDENTITY = ("case", "repeat", "answer", "memories", "kept", "tokens", "delivered", "failure", "report")
"""What of a record counts as its content: attempts, namespaces and timings differ between equal runs."""

_DIGITS = 12
Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Provenance:
    """How the answers to some cases of a run came about.

    Attributes:
        manifest: what the run is.
        run: name of its folder.
        answers: answers that are in the journal, failures among them.
        attempts: attempts that were begun, None where none was journalled.
        again: questions that were begun more than once, and how often.
        replaced: answers that a later one took the place of.
        failures: by kind.
        tokens: tokens of the answers, None where no answer says.
        tokens_told: how many answers say.
        written: what a model that writes memories took: calls, prompt_tokens, completion_tokens; empty
            where nothing is told.
        models: the models that read, as their servers named them.
        cost: US dollars that reading took, None where no answer says.
        priced: how many answers say.
        words_read: words of memory that were read, None where nothing was recalled.
        digest: hash over the content of the answers, 64 hexadecimal digits.
        digests: the first 12 digits of the hash over each case's, by case.
    """

    manifest: Manifest
    run: str
    answers: int
    attempts: int | None
    again: Mapping[str, int]
    replaced: int
    failures: Mapping[str, int]
    tokens: int | None
    tokens_told: int
    written: Mapping[str, int]
    models: tuple[str, ...]
    cost: float | None
    priced: int
    words_read: int | None
    digest: str
    digests: Mapping[str, str]


def provenance(run: RunFolder, cases: Collection[str]) -> Provenance:
    """Read how a run's answers to these cases came about.

    Raises:
        InputError: for a journal that is no journal.
    """
    wanted = frozenset(cases)
    failures: Counter[str] = Counter()
    written: Counter[str] = Counter()
    tokens: list[int] = []
    words: list[int] = []
    models: set[str] = set()
    costs: list[float] = []
    digests: dict[Key, bytes] = {}
    begun = {key: len(names) for key, names in run.attempts().items() if key[0] in wanted}
    for record in run.records():
        if record.case not in wanted:
            continue
        begun[record.key] = max(record.attempt, begun.get(record.key, 0))
        digests[record.key] = _content(record)
        if record.failure is not None:
            failures[record.failure.kind] += 1
        if record.tokens is not None:
            tokens.append(record.tokens)
        if record.kept is not None:
            words.append(record.as_answer().memory_words or 0)
        written.update(_written(record.report))
        model, cost = _served(record.report)
        models |= {model} if model else set()
        costs += [] if cost is None else [cost]
    by_case: dict[str, list[Key]] = {}
    for key in digests:
        by_case.setdefault(key[0], []).append(key)
    told = sum(1 for data in lines(run.path / ANSWERS) if data.get("case") in wanted)
    return Provenance(
        manifest=run.manifest,
        run=run.path.name,
        answers=len(digests),
        attempts=sum(begun.values()) if begun else None,
        again={_name(key, run.manifest.repeats): count for key, count in sorted(begun.items()) if count > 1},
        replaced=told - len(digests),
        failures=dict(sorted(failures.items())),
        tokens=sum(tokens) if tokens else None,
        tokens_told=len(tokens),
        written=dict(written),
        models=tuple(sorted(models)),
        cost=math.fsum(costs) if costs else None,
        priced=len(costs),
        words_read=sum(words) if words else None,
        digest=_joined(digests, digests),
        digests={case: _joined(digests, keys)[:_DIGITS] for case, keys in sorted(by_case.items())},
    )


def _content(record: Record) -> bytes:
    data = record.as_data()
    told = {name: data.get(name) for name in _IDENTITY}
    return sha256(json.dumps(told, sort_keys=True, default=str).encode()).digest()


def _joined(digests: Mapping[Key, bytes], keys: Iterable[Key]) -> str:
    return sha256(b"".join(digests[key] for key in sorted(keys))).hexdigest()


def _written(report: Mapping[str, Any]) -> dict[str, int]:
    """Return what a system that has a model write says of it; a report may hold anything."""
    names = ("calls", "prompt_tokens", "completion_tokens")
    return {name: value for name in names if type(value := report.get(name)) is int and value >= 0}


def _served(report: Mapping[str, Any]) -> tuple[str | None, float | None]:
    """Return the model that read as its server named it, and what it cost; an older journal says neither."""
    told = report.get("read_by")
    model, cost = (told.get("model"), told.get("cost_usd")) if isinstance(told, Mapping) else (None, None)
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost < math.inf:
        cost = None
    return model if isinstance(model, str) else None, cost


def _name(key: Key, repeats: int) -> str:
    return f"{key[0]} (repeat {key[1] + 1})" if repeats > 1 else key[0]
