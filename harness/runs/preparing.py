"""From the systems that a user names to runs that can begin: adapters loaded, folders there and locked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from harness.adapters.hosts import Host, Timeouts, make_host
from harness.adapters.protocol import AgentFailure
from harness.adapters.registry import AdapterInfo
from harness.adapters.serving import Description
from harness.errors import InputError
from harness.llm.models import Models
from harness.naming import Spec
from harness.runs.attempt import Asking
from harness.runs.folder import LOG, RunFolder
from harness.runs.journal import Journal
from harness.runs.manifest import Manifest, ReaderPart, SystemPart, versions
from harness.runs.reader import DEFAULT_BUDGET, DEFAULT_LIMIT, ExtractiveReader, LLMReader, Reader
from harness.suite import Suite
from harness.suite.hashing import case_hashes

UNCUT = ("control", "cheater")
LOCAL = "local"
_LOADED_AT_ONCE = 4


class Entrant(NamedTuple):
    """A system to be run: what was asked for, and the adapter that it names."""

    spec: Spec
    info: AdapterInfo


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run is carried out.

    Attributes:
        reader: extractive, llm, or own (systems that write answers write them).
        budget: words of memory that a reader is given; controls are not cut.
        limit: memories that a system is asked for.
        repeats: how often each case is asked.
        concurrency: cases in flight, over all systems.
        timeouts: seconds for each phase.
        max_errors: share of system errors above which new work stops.
        retry_errors: do again what failed before.
        executor: `local`, or the `dask://HOST:PORT` of a cluster.
    """

    reader: str = "extractive"
    budget: int = DEFAULT_BUDGET
    limit: int = DEFAULT_LIMIT
    repeats: int = 1
    concurrency: int = 4
    timeouts: Timeouts = field(default_factory=Timeouts)
    max_errors: float | None = None
    retry_errors: bool = False
    executor: str = LOCAL


@dataclass(slots=True)
class Running:
    """One system at work.

    Attributes:
        entrant: the system.
        host: where its adapter runs.
        folder: the run.
        asking: how it is asked.
        reader: writes its answers.
        finished: what is finished, and whether it is an answer (or a failure).
        attempts: namespaces of the attempts so far.
        begun: the journal of attempts.
        answers: the journal of answers.
        discards: whether the adapter cleans up after a killed attempt.
    """

    entrant: Entrant
    host: Host
    folder: RunFolder
    asking: Asking
    reader: Reader
    finished: dict[tuple[str, int], bool]
    attempts: dict[tuple[str, int], list[str]]
    begun: Journal
    answers: Journal
    discards: bool


def manifest_of(
    suite: Suite,
    entrant: Entrant,
    found: Description,
    settings: Settings,
    models: Models,
    reader: Reader,
    hashes: tuple[str, dict[str, str]],
) -> Manifest:
    """Return what a run of one system is."""
    writes = entrant.info.kind == "strategy" or bool(found.prompts) or _asks_by_itself(entrant, found, models)
    kind = _reader_kind(found, settings)
    reads = reader if kind == "llm" and isinstance(reader, LLMReader) else None
    return Manifest(
        SystemPart(
            entrant.spec.label,
            entrant.spec.text,
            entrant.spec.name,
            entrant.info.kind,
            dict(found.options),
            found.version,
            tuple(sorted(found.capabilities)),
            dict(found.prompts),
            models.endpoint(found.options.get("model")).label if writes else None,
        ),
        ReaderPart(
            kind,
            None if entrant.info.kind in UNCUT else settings.budget,
            settings.limit,
            models.endpoint().label if reads else None,
            reads.prompt_hash if reads else None,
        ),
        str(suite.root),
        hashes[1],
        hashes[0],
        settings.repeats,
        versions(entrant.info.target),
    )


def _asks_by_itself(entrant: Entrant, found: Description, models: Models) -> bool:
    """Say whether a system's own work depends on the run's model, as far as can be seen from here."""
    settings = models.settings
    if entrant.info.kind == "own":  # it may ask; a model that the user named is part of what the run is
        return any((settings.provider, settings.model, settings.base_url))
    options = found.options
    return bool(options.get("infer") or options.get("manager")) or entrant.info.name == "graphiti"


def _reader_kind(found: Description, settings: Settings) -> str:
    if "recall" not in found.capabilities:
        return "own"
    if settings.reader == "own" and "answer" not in found.capabilities:
        return "extractive"  # what it recalls is all that there is to score
    return settings.reader


class Loaded(NamedTuple):
    """A system whose adapter is loaded, and the run that it would make; nothing is written yet."""

    entrant: Entrant
    host: Host
    discards: bool
    reader: Reader
    manifest: Manifest


async def load(
    suite: Suite, entrants: Sequence[Entrant], settings: Settings, models: Models, stack: AsyncExitStack
) -> list[Loaded]:
    """Load every adapter.

    Args:
        suite: the cases asked.
        entrants: the systems.
        settings: how they are run.
        models: what strategies and readers may ask.
        stack: closes everything again.

    Raises:
        InputError: for an adapter that cannot be loaded, or whose options do not fit.
    """
    _no_two_alike(entrants)
    hosts = [make_host(entrant.info, entrant.spec, models, settings.timeouts) for entrant in entrants]
    for host in hosts:
        stack.push_async_callback(_close_quietly, host)
    hashes = suite.hash, case_hashes(suite)
    loaded = []
    for entrant, host, said in zip(entrants, hosts, await _started(hosts), strict=True):
        reader: Reader = LLMReader(models) if settings.reader == "llm" else ExtractiveReader()
        manifest = manifest_of(suite, entrant, said, settings, models, reader, hashes)
        loaded.append(Loaded(entrant, host, "discard" in said.capabilities, reader, manifest))
    return loaded


async def prepare(
    suite: Suite,
    entrants: Sequence[Entrant],
    settings: Settings,
    models: Models,
    root: Path,
    stack: AsyncExitStack,
    check: Callable[[Sequence[Manifest]], None] = lambda manifests: None,
) -> list[Running]:
    """Load every adapter, and only then begin or take up the runs.

    Args:
        suite: the cases asked.
        entrants: the systems.
        settings: how they are run.
        models: what strategies and readers may ask.
        root: the folder of runs.
        stack: closes everything again.
        check: told what the runs will be before one is begun; it may refuse them.

    Raises:
        InputError: for an adapter that cannot be loaded, or a run that another process works on.
    """
    loaded = await load(suite, entrants, settings, models, stack)
    check([one.manifest for one in loaded])
    return [_begin(one, settings, root, stack) for one in loaded]


async def _started(hosts: Sequence[Host]) -> list[Description]:
    """Load the adapters, a few at a time; the first one that cannot be loaded is the error."""
    places = asyncio.Semaphore(_LOADED_AT_ONCE)

    async def start(host: Host) -> Description:
        async with places:
            return await host.start()

    said = await asyncio.gather(*map(start, hosts), return_exceptions=True)
    found: list[Description] = []
    for one in said:
        if isinstance(one, BaseException):
            raise one
        found.append(one)
    return found


def _begin(one: Loaded, settings: Settings, root: Path, stack: AsyncExitStack) -> Running:
    entrant, host = one.entrant, one.host
    folder = RunFolder.begin(root, one.manifest)
    stack.enter_context(folder.locked())
    host.log_to(folder.path / LOG)
    finished = folder.finished()
    if settings.retry_errors:
        finished = {key: good for key, good in finished.items() if good}
    begun, answers = folder.journals()
    stack.callback(begun.close)
    stack.callback(answers.close)
    part = folder.manifest.reader
    asking = Asking(part.kind == "own", part.budget, part.limit, settings.timeouts)
    return Running(
        entrant, host, folder, asking, one.reader, finished, folder.attempts(), begun, answers, one.discards,
    )  # fmt: skip


async def _close_quietly(host: Host) -> None:
    try:
        await host.close()
    except AgentFailure:
        return  # every answer is journalled; there is nothing left that this could spoil


def _no_two_alike(entrants: Sequence[Entrant]) -> None:
    seen: set[str] = set()
    for label in (entrant.spec.label for entrant in entrants):
        if label in seen:
            raise InputError(
                f"--system {label}: named twice. Give one of them a label: --system NAME={label}."
            )
        seen.add(label)
