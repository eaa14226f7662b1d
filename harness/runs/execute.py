"""Carry out runs: many cases and systems side by side, each finished answer journalled at once.

- Cases go in order, every system on the same case, so that a case's conversations are read
  once; no more than a handful are in memory, however many cases and systems there are.
- Cases that share a haystack are put to one agent, one after the other: it is ingested once.
- What is finished is not done again. A case that was begun and not finished, because the
  process was killed, is begun anew in a namespace of its own, with what is left of its haystack.
- A system that fails is recorded with its cause, and the run goes on.
"""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness.adapters.protocol import AgentFailure, Question
from harness.adapters.serving import folder_of
from harness.adapters.wire import conversation_data, question_data
from harness.llm.models import Models
from harness.runs.attempt import Begun, Haystack, Sitting
from harness.runs.delivery import conversations_for, delivered, in_order_of_time
from harness.runs.folder import RunFolder
from harness.runs.manifest import Manifest
from harness.runs.preparing import LOCAL, Entrant, Running, Settings, prepare
from harness.runs.reader import LLMReader
from harness.runs.record import Record
from harness.runs.sittings import haystack_of, haystacks, sittings
from harness.suite import Case, Conversation, Suite

if TYPE_CHECKING:
    from harness.runs.dask_cluster import Cluster, Job


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
        sorted: how many haystacks hold their conversations out of order; they were handed over by time.
    """

    folders: tuple[RunFolder, ...]
    fresh: int
    failed: int
    stopped: str = ""
    sorted: int = 0


async def execute(
    suite: Suite,
    entrants: Sequence[Entrant],
    settings: Settings,
    models: Models,
    root: Path,
    progress: Callable[[Tick], None] = lambda tick: None,
    check: Callable[[Sequence[Manifest]], None] = lambda manifests: None,
) -> Done:
    """Run systems over the cases of a suite.

    Args:
        suite: the cases asked.
        entrants: the systems.
        settings: how.
        models: what strategies and readers may ask.
        root: the folder of runs.
        progress: told after every answer.
        check: told what the runs will be before one is begun; it may refuse them.

    Raises:
        InputError: for an adapter that cannot be loaded, or a run that another process works on.
        EndpointError: when a model's endpoint stops the run; what is finished is kept.
    """
    async with AsyncExitStack() as stack:
        running = await prepare(suite, entrants, settings, models, root, stack, check)
        cluster = None
        if settings.executor != LOCAL:
            from harness.runs.dask_cluster import Cluster

            cluster = await stack.enter_async_context(Cluster(settings.executor))
        return await _Execution(suite, running, settings, models, cluster, progress).carry_out()


class _Work(NamedTuple):
    """The questions that one agent is to be asked.

    Attributes:
        one: the system.
        asked: all of them, finished ones included.
        left: those that are not finished; they are taken off as they are asked.
        repeat: which repetition.
    """

    one: Running
    asked: tuple[Case, ...]
    left: list[Case]
    repeat: int


class _Execution:
    """The work of one `execute`."""

    def __init__(
        self,
        suite: Suite,
        running: Sequence[Running],
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
        folders = tuple(one.folder for one in self._running)
        return Done(folders, self._fresh, self._failed, self._stopped, len(self._talks.sorted))

    def _work(self) -> Iterator[_Work]:
        """Yield what is left to do: the questions of one sitting at a time."""
        for cases in haystacks(self._suite):
            for repeat in range(self._settings.repeats):
                for one in self._running:
                    for asked in self._sittings(one, cases):
                        left = [case for case in asked if (case.id, repeat) not in one.finished]
                        if left:
                            yield _Work(one, asked, left, repeat)

    def _sittings(self, one: Running, cases: tuple[Case, ...]) -> list[tuple[Case, ...]]:
        if self._cluster is not None:  # its tasks are single questions
            return [(case,) for case in cases]
        return sittings(one.entrant.info, cases)

    async def _worker(self, every: Iterator[_Work]) -> None:
        for work in every:
            if self._stopped:
                return
            await self._clean_up_before(work)
            if self._cluster is not None:
                await self._ask_a_cluster(self._cluster, work)
                continue
            while work.left and not self._stopped:
                await self._sit(work)

    async def _sit(self, work: _Work) -> None:
        """Ask one agent what is left, as far as it holds out."""
        one, namespace = work.one, uuid.uuid4().hex
        given = self._talks.given(one, work.left[0])
        discarded = False
        async with Sitting(namespace, work.repeat, given, one.host, one.reader, one.asking) as sitting:
            while work.left and sitting.usable and not self._stopped:
                case = work.left.pop(0)
                begun = _begin(one, _attempt_at(one, case, work.repeat, namespace))
                record = await sitting.ask(begun, _question(case), last=not work.left)
                if record.failure is not None and not sitting.at_work and not discarded:
                    discarded = True
                    await self._discard(one, namespace)  # a killed agent cleaned nothing up
                self._keep(one, record)

    async def _ask_a_cluster(self, cluster: Cluster, work: _Work) -> None:
        (case,) = work.left
        begun = _begin(work.one, _attempt_at(work.one, case, work.repeat, uuid.uuid4().hex))
        given = self._talks.given(work.one, case)
        record = await cluster.ask(_job(work.one, begun, given, _question(case), self._models))
        await self._own_up_to_lost(work.one, begun, record)
        self._keep(work.one, record)

    async def _own_up_to_lost(self, one: Running, begun: Begun, record: Record) -> None:
        """Journal the further attempts that a cluster made by itself, and clean up after the lost ones."""
        from harness.runs.dask_cluster import lost_before

        for after in lost_before(begun, record):
            await self._discard(one, begun.namespace)
            begun = _begin(one, after)

    async def _clean_up_before(self, work: _Work) -> None:
        """Remove what earlier attempts left, those at questions that were finished in the same sitting, too."""
        earlier = (work.one.attempts.get((case.id, work.repeat), ()) for case in work.asked)
        for namespace in dict.fromkeys(chain.from_iterable(earlier)):
            await self._discard(work.one, namespace)

    async def _discard(self, one: Running, namespace: str) -> None:
        """Clean up after an attempt that was killed; that the store cannot is no fault of this attempt."""
        shutil.rmtree(folder_of(namespace), ignore_errors=True)
        if one.discards:
            with suppress(AgentFailure):
                await one.host.discard(namespace)

    def _keep(self, one: Running, record: Record) -> None:
        one.answers.append(record.as_data())
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


def _attempt_at(one: Running, case: Case, repeat: int, namespace: str) -> Begun:
    """Return the next attempt at a question."""
    return Begun(case.id, repeat, len(one.attempts.get((case.id, repeat), ())) + 1, namespace)


def _begin(one: Running, begun: Begun) -> Begun:
    """Journal that a question is about to be asked."""
    one.begun.append(asdict(begun))
    one.attempts.setdefault((begun.case, begun.repeat), []).append(begun.namespace)
    return begun


def _question(case: Case) -> Question:
    return Question(case.question, case.question_time)


def _job(one: Running, begun: Begun, given: Haystack, question: Question, models: Models) -> Job:
    from harness.runs.dask_cluster import Job

    return Job(
        one.entrant.info,
        one.entrant.spec,
        models.settings.as_data(),
        isinstance(one.reader, LLMReader),
        one.asking,
        begun,
        list(map(conversation_data, given.conversations)),
        question_data(question),
        one.folder.manifest.system.version,
    )


class _Talks:
    """The last few haystacks, so that systems at work on the same one read it once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Haystack] = OrderedDict()
        self.sorted: set[Hashable] = set()

    def given(self, one: Running, case: Case) -> Haystack:
        """Return what a system is given of a case."""
        whole = self._whole(case)
        part = conversations_for(one.entrant.info, case, whole.conversations)
        return whole if part == whole.conversations else _digested(part)

    def _whole(self, case: Case) -> Haystack:
        name = haystack_of(case)
        if name not in self._kept:
            told = case.conversations()
            talks = in_order_of_time(told)
            if talks != told:
                self.sorted.add(name)
            self._kept[name] = _digested(talks)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return self._kept[name]


def _digested(conversations: tuple[Conversation, ...]) -> Haystack:
    return Haystack(conversations, tuple(map(delivered, conversations)))
