"""Which fault strikes which request, by rules in JSON.

    [{"when": {"every": 10}, "do": {"rate_limited": {"retry_after": 0.05}}, "once": true},
     {"when": {"contains": "Lynx", "first": 3}, "do": ["think", {"delay": 200}]}]

`when` (left out: always; several conditions: all of them):

- `nth`: 3, or [3, 5]: those chat requests, counted from 1 since the start, `/reset` or `/faults`;
  `every`: 10: each tenth; `first`: 5: the first five; `after`: 5: all but the first five;
- `share`: 0.3 with an optional `seed`: decided by a hash of the request's body, so the same request is always
  struck, in whatever order requests come;
- `contains`: the text stands in the last user message, whatever its case; `param`: the request has that parameter;
  `format`: "json_schema", "json_object" or "text"; `model`: its model;
- `route`: "embeddings", for a rule that is about those; all others are about chat requests.

Beside them, `"once": true` spares a body that the rule has struck before (so a retry succeeds), and `"times": n` ends
the rule after n strikes. `do`: a fault's name, `{name: its main argument}`, `{name: {argument: value, …}}`, or a list
of those. Every rule that strikes counts; of several faults that refuse, the first one does.

| faults | main argument |
| --- | --- |
| `delay`; `slow_headers`, `slow_body` (nothing comes for so long, then all does) | ms; s |
| `drop` (before headers), `drop_mid_body`, `long_length`, `short_length` (a wrong Content-Length), `bad_body` | |
| those of `refusals`: statuses and error bodies | see there |
| those of `replies`: what the envelope and the text of a reply are like | see there |
| those of `spoiled`: what a bad judge says | |
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from .refusals import REFUSALS
from .replies import REPLY_FAULTS
from .spoiled import SPOILED

WIRE = {
    "delay": "ms",
    "slow_headers": "seconds",
    "slow_body": "seconds",
    "drop": "",
    "drop_mid_body": "",
    "long_length": "",
    "short_length": "",
    "bad_body": "",
}
MAIN_ARGUMENT: Mapping[str, str] = {
    **WIRE,
    **{name: refusal.main for name, refusal in REFUSALS.items()},
    **REPLY_FAULTS,
    **dict.fromkeys(SPOILED, ""),
}
_CONDITIONS = frozenset("nth every first after share seed contains param format model route".split())


class Fault(NamedTuple):
    """One thing that goes wrong."""

    name: str
    arguments: Mapping[str, Any]


class Asked(NamedTuple):
    """What the rules look at.

    Attributes:
        number: which request of its route it is, from 1.
        body: the decoded body.
        raw: its bytes.
        said: the last user message.
        route: "chat" or "embeddings".
    """

    number: int
    body: Mapping[str, Any]
    raw: bytes
    said: str
    route: str = "chat"


@dataclass(slots=True)
class Rule:
    """One rule, and what it has done so far."""

    when: Mapping[str, Any]
    faults: tuple[Fault, ...]
    once: bool = False
    times: int | None = None
    struck: int = 0
    bodies: set[bytes] = field(default_factory=set)

    def strike(self, asked: Asked) -> bool:
        """Say whether the rule strikes this request, and remember that it did."""
        if self.times is not None and self.struck >= self.times:
            return False
        if not _holds(self.when, asked):
            return False
        if self.once:
            digest = blake2b(asked.raw, digest_size=16).digest()
            if digest in self.bodies:
                return False
            self.bodies.add(digest)
        self.struck += 1
        return True


def parse_rules(given: Any) -> list[Rule]:
    """Return rules as written in JSON.

    Raises:
        ValueError: for anything that isn't one; the message says which rule and why.
    """
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ValueError("rules: expected a list")
    rules = []
    for at, item in enumerate(given):
        try:
            rules.append(_rule(item))
        except (TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"rule {at}: {error}") from None
    return rules


def _rule(item: Mapping[str, Any]) -> Rule:
    if unknown := set(item) - {"when", "do", "once", "times"}:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    when = item.get("when") or {}
    if unknown := set(when) - _CONDITIONS:
        raise ValueError(f"unknown in when: {', '.join(sorted(unknown))}")
    faults = tuple(parse_faults(item.get("do", [])))
    if not faults:
        raise ValueError("nothing to do")
    return Rule(when, faults, bool(item.get("once")), item.get("times"))


def parse_faults(given: Any) -> Iterator[Fault]:
    """Yield the faults of a `do`.

    Raises:
        ValueError: for a name that is not known.
    """
    if isinstance(given, str):
        name, found, value = given.partition("=")
        yield _fault(name, _decoded(value) if found else {})
    elif isinstance(given, Mapping):
        for name, arguments in given.items():
            yield _fault(name, {} if arguments is True else arguments)
    else:
        for item in given:
            yield from parse_faults(item)


def persona(text: str) -> tuple[Fault, ...]:
    """Return the faults of a path's prefix, such as `think+delay=200`.

    Raises:
        ValueError: for a name that is not known.
    """
    return tuple(parse_faults(text.split("+"))) if text else ()


def _fault(name: str, arguments: Any) -> Fault:
    if name not in MAIN_ARGUMENT:
        raise ValueError(f"no fault is called {name!r}; known: {', '.join(sorted(MAIN_ARGUMENT))}")
    if isinstance(arguments, Mapping):
        return Fault(name, arguments)
    main = MAIN_ARGUMENT[name]
    if not main:
        raise ValueError(f"{name} takes no argument")
    return Fault(name, {main: arguments})


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def faults_for(rules: Iterable[Rule], asked: Asked) -> tuple[Fault, ...]:
    """Return the faults that strike a request, in the order of the rules."""
    return tuple(fault for rule in rules if rule.strike(asked) for fault in rule.faults)


def _holds(when: Mapping[str, Any], asked: Asked) -> bool:
    if when.get("route", "chat") != asked.route:
        return False
    number = asked.number
    nth = when.get("nth")
    if nth is not None and number not in (nth if isinstance(nth, list) else [nth]):
        return False
    if "every" in when and number % when["every"]:
        return False
    if number > when.get("first", number) or number <= when.get("after", 0):
        return False
    if "share" in when and hashed_share(asked.raw, when.get("seed", 0)) >= when["share"]:
        return False
    if "contains" in when and when["contains"].lower() not in asked.said.lower():
        return False
    if "param" in when and when["param"] not in asked.body:
        return False
    if "format" in when and when["format"] != format_of(asked.body):
        return False
    return "model" not in when or bool(when["model"] == asked.body.get("model"))


def hashed_share(raw: bytes, seed: int = 0) -> float:
    """Return a number in [0, 1) that only the bytes and the seed decide."""
    digest = blake2b(raw, digest_size=8, salt=str(seed).encode()[:16]).digest()
    return int.from_bytes(digest, "big") / 2**64


def format_of(body: Mapping[str, Any]) -> str:
    """Return the type of the response format that a request asks for."""
    wanted = body.get("response_format")
    return str(wanted.get("type", "text")) if isinstance(wanted, Mapping) else "text"
