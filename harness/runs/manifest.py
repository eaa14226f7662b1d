"""What a run is: the system, the reader, the cases and the versions; its identity follows from them."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

SCHEMA = "recallbench.run/1"
_SLUG = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class SystemPart:
    """The system under test.

    Attributes:
        label: what tables call it.
        spec: what the user typed, without the label.
        name: the adapter.
        kind: control, cheater, strategy, retrieval, connector or own.
        options: the options as they hold.
        version: what was under test, in its own words.
        capabilities: what its agents can do beside ingesting.
        prompts: name and hash of each prompt that it sends to a model.
        model: the model that writes for it, None where none does.
    """

    label: str
    spec: str
    name: str
    kind: str
    options: Mapping[str, Any]
    version: str = ""
    capabilities: tuple[str, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None


@dataclass(frozen=True, slots=True)
class ReaderPart:
    """The reader and what it is given.

    Attributes:
        kind: extractive, llm or own.
        budget: words of memory it is given, None for systems that are not cut.
        limit: memories that a system is asked for.
        model: the model that reads, None where none does.
        prompt: hash of its prompt.
    """

    kind: str
    budget: int | None
    limit: int
    model: str | None = None
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """A run, as its `manifest.json` has it.

    Attributes:
        system: what is tested.
        reader: what turns memories into answers.
        suite: where the cases came from.
        cases: hash of each case asked, in the suite's order.
        suite_hash: hash over them.
        repeats: how often each case is asked.
        versions: of the harness and of Python; the machine is not part of a run's identity.
        created: when the run was begun, ISO 8601.
    """

    system: SystemPart
    reader: ReaderPart
    suite: str
    cases: Mapping[str, str]
    suite_hash: str
    repeats: int = 1
    versions: Mapping[str, str] = field(default_factory=dict)
    created: str = ""

    @property
    def id(self) -> str:
        """The run's name: the same for the same system, options, reader, cases and versions."""
        return _identity(asdict(self))

    @property
    def asked(self) -> int:
        """How many answers the run consists of."""
        return len(self.cases) * self.repeats

    def as_data(self) -> dict[str, Any]:
        """Return the manifest as plain data."""
        return {"schema": SCHEMA, "id": self.id, **asdict(self)}


def manifest_from(data: Mapping[str, Any]) -> Manifest:
    """Read what `Manifest.as_data` wrote.

    Raises:
        KeyError, TypeError, ValueError: when it is something else, or has been edited.
    """
    if data["schema"] != SCHEMA:
        raise ValueError(f"the schema is {data['schema']!r}; this version reads {SCHEMA}")
    fields = {name: value for name, value in data.items() if name not in ("schema", "id")}
    system = {**data["system"], "capabilities": tuple(data["system"]["capabilities"])}
    fields |= {"system": SystemPart(**system), "reader": ReaderPart(**data["reader"])}
    if data["id"] != (identity := _identity(data)):
        raise ValueError(f"the id is {data['id']!r}; by what is in it, it would be {identity!r}")
    return Manifest(**fields)


def _identity(data: Mapping[str, Any]) -> str:
    """Return the name of a run: over everything but where the suite lay and when the run was begun."""
    told = {name: value for name, value in data.items() if name not in ("schema", "id", "suite", "created")}
    digest = sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()
    slug = _SLUG.sub("-", str(data["system"]["label"])).strip("-.")[:40] or "system"
    return f"{slug}-{digest[:10]}"


def dated(manifest: Manifest, now: str) -> Manifest:
    """Return the manifest with the time it was begun."""
    return replace(manifest, created=now)


def versions(target: str) -> dict[str, str]:
    """Return the versions that a run depends on.

    Args:
        target: the adapter, `module:attribute`. For one of the harness's own the state of all of
            them is among the versions, since a checkout changes within a version.
    """
    found = {"recallbench": version("recallbench"), "python": platform.python_version()}
    if target.startswith("harness."):
        files = sorted((Path(__file__).parents[1] / "adapters").rglob("*.py"))
        found["adapters"] = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    return found
