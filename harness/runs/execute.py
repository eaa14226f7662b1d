"""Carry out runs: many cases and systems side by side, each finished answer journalled at once.

- Cases go in order, every system on the same case, so that a case's conversations are read
  once; no more than a handful are in memory, however many cases and systems there are.
- What is finished is not done again. A case that was begun and not finished, because the
  process was killed, is begun anew in a namespace of its own.
- A system that fails is recorded with its cause, and the run goes on.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness.adapters.hosts import Host, Timeouts, make_host
from harness.adapters.protocol import AgentFailure, Question
from harness.adapters.registry import AdapterInfo
from harness.adapters.serving import Description
from harness.adapters.wire import conversation_data, question_data
from harness.errors import InputError
from harness.llm.models import Models
from harness.naming import Spec
from harness.runs.attempt import Asking, Begun, attempt
from harness.runs.delivery import conversations_for
from harness.runs.folder import LOG, RunFolder
from harness.runs.journal import Journal
from harness.runs.manifest import Manifest, ReaderPart, SystemPart, versions
from harness.runs.reader import DEFAULT_BUDGET, DEFAULT_LIMIT, ExtractiveReader, LLMReader, Reader
from harness.runs.record import Record
from harness.suite import Case, Conversation, Suite

if TYPE_CHECKING:
    from harness.runs.dask_cluster import Cluster, Job

UNCUT = ("control", "cheater")
LOCAL = "local"


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


class Tick(NamedTuple):
    """How far a run is: answers finished of so many, failures among them, and the last record."""

    done: int
    of: int
    failed: int
    system: str
    record: Record | None


class Done(NamedTuple):
    """What came of carrying out runs.

    Attributes:
        folders: one a system, in the order asked for.
        fresh: answers that were got now, the rest was finished before.
        failed: system errors among all of them.
        stopped: why new work stopped early, empty when it did not.
    """

    folders: tuple[RunFolder, ...]
    fresh: int
    failed: int
    stopped: str = ""


@dataclass(slots=True)
class _Running:
    """One system at work."""

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


async def execute(
    suite: Suite,
    entrants: Sequence[Entrant],
    settings: Settings,
    models: Models,
    root: Path,
    progress: Callable[[Tick], None] = lambda tick: None,
) -> Done:
    """Run systems over the cases of a suite.

    Args:
        suite: the cases asked.
        entrants: the systems.
        settings: how.
        models: what strategies and readers may ask.
        root: the folder of runs.
        progress: told after every answer.

    Raises:
        InputError: for an adapter that cannot be loaded, or a run that another process works on.
        EndpointError: when a model's endpoint stops the run; what is finished is kept.
    """
    _no_two_alike(entrants)
    hashes = suite.hash, {case.id: Suite(suite.root, (case,)).hash for case in suite}
    async with AsyncExitStack() as stack:
        running = [
            await _prepare(suite, entrant, settings, models, root, hashes, stack) for entrant in entrants
        ]
        cluster = None
        if settings.executor != LOCAL:
            from harness.runs.dask_cluster import Cluster

            cluster = await stack.enter_async_context(Cluster(settings.executor))
        return await _Execution(suite, running, settings, models, cluster, progress).carry_out()


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
    writes = entrant.info.kind == "strategy" or found.prompts
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
        versions(),
    )


def _reader_kind(found: Description, settings: Settings) -> str:
    if "recall" not in found.capabilities:
        return "own"
    if settings.reader == "own" and "answer" not in found.capabilities:
        return "extractive"  # what it recalls is all that there is to score
    return settings.reader


async def _prepare(
    suite: Suite,
    entrant: Entrant,
    settings: Settings,
    models: Models,
    root: Path,
    hashes: tuple[str, dict[str, str]],
    stack: AsyncExitStack,
) -> _Running:
    host = make_host(entrant.info, entrant.spec, models, settings.timeouts)
    stack.push_async_callback(_close_quietly, host)
    found = await host.start()
    reader: Reader = LLMReader(models) if settings.reader == "llm" else ExtractiveReader()
    folder = RunFolder.begin(root, manifest_of(suite, entrant, found, settings, models, reader, hashes))
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
    return _Running(
        entrant, host, folder, asking, reader, finished, folder.attempts(), begun, answers,
        "discard" in found.capabilities,
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


class _Execution:
    """The work of one `execute`."""

    def __init__(
        self,
        suite: Suite,
        running: Sequence[_Running],
        settings: Settings,
        models: Models,
        cluster: Cluster | None,
        progress: Callable[[Tick], None],
    ) -> None:
        self._models = models
        self._cluster = cluster
        self._in_flight = cluster.capacity if cluster else settings.concurrency
        self._suite = suite
        self._running = running
        self._settings = settings
        self._progress = progress
        self._of = len(suite) * settings.repeats * len(running)
        self._wanted = {(case.id, repeat) for case in suite for repeat in range(settings.repeats)}
        before = [good for one in running for key, good in one.finished.items() if key in self._wanted]
        self._done = len(before)
        self._failed = before.count(False)
        self._fresh = 0
        self._stopped = ""
        self._talks = _Talks(self._in_flight + 1)

    async def carry_out(self) -> Done:
        """Do what is left to do."""
        self._progress(Tick(self._done, self._of, self._failed, "", None))
        self._check_errors()  # those of an earlier run count, too
        work = self._work()
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._in_flight, self._of)):
                    group.create_task(self._worker(work))
        except ExceptionGroup as several:
            raise several.exceptions[0] from None  # one stopped the run, the others followed
        return Done(tuple(one.folder for one in self._running), self._fresh, self._failed, self._stopped)

    def _work(self) -> Iterator[tuple[_Running, Case, int]]:
        for case in self._suite:
            for repeat in range(self._settings.repeats):
                for one in self._running:
                    if (case.id, repeat) not in one.finished:
                        yield one, case, repeat

    async def _worker(self, work: Iterator[tuple[_Running, Case, int]]) -> None:
        for one, case, repeat in work:
            if self._stopped:
                return
            record = await self._ask(one, case, repeat)
            one.answers.append(record.as_data())
            self._count(one, record)

    async def _ask(self, one: _Running, case: Case, repeat: int) -> Record:
        earlier = one.attempts.setdefault((case.id, repeat), [])
        begun = Begun(case.id, repeat, len(earlier) + 1, uuid.uuid4().hex)
        if one.discards:
            for namespace in earlier:
                await self._discard(one, namespace)
        one.begun.append(
            {"case": case.id, "repeat": repeat, "attempt": begun.attempt, "namespace": begun.namespace}
        )
        earlier.append(begun.namespace)
        given = conversations_for(one.entrant.info, case, self._talks.of(case))
        question = Question(case.question, case.question_time)
        if self._cluster is None:
            return await attempt(begun, given, question, one.host, one.reader, one.asking)
        return await self._cluster.ask(_job(one, begun, given, question, self._models))

    async def _discard(self, one: _Running, namespace: str) -> None:
        """Clean up after an attempt that was killed; that the store cannot is no fault of this attempt."""
        try:
            await one.host.discard(namespace)
        except AgentFailure:
            return

    def _count(self, one: _Running, record: Record) -> None:
        self._done += 1
        self._fresh += 1
        self._failed += record.failure is not None
        self._progress(Tick(self._done, self._of, self._failed, one.entrant.spec.label, record))
        self._check_errors()

    def _check_errors(self) -> None:
        limit = self._settings.max_errors
        if limit is not None and self._failed > limit * self._of:
            self._stopped = (
                f"{self._failed} system errors in {self._of} answers, more than --max-errors {limit:g}"
            )


def _job(
    one: _Running, begun: Begun, given: Sequence[Conversation], question: Question, models: Models
) -> Job:
    from harness.runs.dask_cluster import Job

    return Job(
        one.entrant.info,
        one.entrant.spec,
        models.settings.as_data(),
        isinstance(one.reader, LLMReader),
        one.asking,
        begun,
        list(map(conversation_data, given)),
        question_data(question),
    )


class _Talks:
    """The conversations of the last few cases, so that systems at work on the same case read them once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, tuple[Conversation, ...]] = OrderedDict()

    def of(self, case: Case) -> tuple[Conversation, ...]:
        if case.id not in self._kept:
            self._kept[case.id] = case.conversations()
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return self._kept[case.id]
