"""Run cases on the workers of an existing Dask cluster; the journal stays here, in one hand.

A task is one attempt at one case. Dask runs a lost worker's tasks again on another one; each run
of a task takes a namespace of its own, the first one that which is journalled, the later ones
names that follow from it. Only the one result that arrives counts.
Workers need recallbench in the same version, what the adapters need, and the keys of the models
in their own environment: no key is sent.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.adapters import wire
from harness.adapters.hosts import Host, make_host
from harness.adapters.protocol import AgentFailure, Question
from harness.adapters.registry import AdapterInfo
from harness.errors import HarnessError, InputError
from harness.llm.models import Models, ModelSettings
from harness.naming import Spec
from harness.runs.attempt import Asking, Begun, Haystack, attempt
from harness.runs.delivery import delivered
from harness.runs.reader import ExtractiveReader, LLMReader, Reader
from harness.runs.record import Failure, Record, record_from

if TYPE_CHECKING:
    from distributed import Client

SCHEME = "dask://"
_CONNECT_S = 10.0
_NAMESPACE = 32
_LOOK_S = 2.0
_WORKERLESS_S = 60.0
"""How long a run waits for workers to come back when all are gone: they may be restarted."""


class Job(NamedTuple):
    """All that a worker needs for one attempt, as values that can be pickled.

    Attributes:
        info: the adapter.
        spec: its options.
        models: `ModelSettings` as data.
        llm: whether a model reads.
        asking: budget, limit and timeouts.
        begun: which attempt, as it is journalled; a later run of the task is the next one.
        conversations: what is ingested, as `wire.conversation_data`.
        question: what is asked, as `wire.question_data`.
        version: what is under test here; a worker that has another version of it stops the run.
    """

    info: AdapterInfo
    spec: Spec
    models: Mapping[str, Any]
    llm: bool
    asking: Asking
    begun: Begun
    conversations: list[dict[str, Any]]
    question: dict[str, Any]
    version: str = ""


class Cluster:
    """A connection to a Dask scheduler; an async context manager.

    Args:
        address: `dask://HOST:PORT`.
    """

    def __init__(self, address: str) -> None:
        host = address.removeprefix(SCHEME)
        if not address.startswith(SCHEME) or not host:
            raise InputError(f"--executor {address}: expected local or {SCHEME}HOST:PORT.")
        self._address = f"tcp://{host}"
        self._client: Client | None = None
        self._alone_since: float | None = None
        self.capacity = 1
        """Attempts that the cluster's workers take at once."""

    async def __aenter__(self) -> Cluster:
        try:
            from distributed import Client
        except ImportError:
            raise InputError(
                "--executor dask://… needs distributed: pip install 'recallbench[dask]'."
            ) from None
        try:
            self._client = await Client(
                self._address, asynchronous=True, timeout=_CONNECT_S, set_as_default=False
            )
        except (OSError, TimeoutError) as error:
            raise InputError(
                f"--executor: no Dask scheduler answers at {self._address}: {type(error).__name__}: {error}"
            ) from None
        try:
            self.capacity = await self._first_threads()
        except BaseException:
            await self._client.close()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._client is not None:
            await self._client.close()

    async def _threads(self) -> int:
        """Return the threads of all workers that are there now."""
        assert self._client is not None, "connect first"
        threads: Mapping[str, int] = await self._client.nthreads()
        return sum(threads.values())

    async def _first_threads(self) -> int:
        """Return the threads of the workers, waited for a little where they are just being started."""
        until = time.monotonic() + _CONNECT_S
        while not (threads := await self._threads()):
            if time.monotonic() > until:
                raise InputError(
                    f"--executor: the Dask scheduler at {self._address} has no workers. "
                    f"Start some: dask worker {self._address}."
                )
            await asyncio.sleep(0.2)
        return threads

    async def _check_workers(self) -> None:
        """Stop the run when there has been nobody to work on it for a while.

        Raises:
            HarnessError: when the workers, or the scheduler, are gone for good.
        """
        try:
            there = await self._threads()
        except (OSError, TimeoutError):
            there = 0
        if there:
            self._alone_since = None
            return
        self._alone_since = self._alone_since or time.monotonic()
        if time.monotonic() - self._alone_since >= _WORKERLESS_S:
            raise HarnessError(
                f"--executor: the Dask scheduler at {self._address} has had no workers for {_WORKERLESS_S:g} s. "
                "What is finished is kept; start workers, and the same command goes on from there."
            )

    async def ask(self, job: Job) -> Record:
        """Have one attempt made.

        Raises:
            HarnessError: what has to stop the whole run.
        """
        from distributed import KilledWorker
        from distributed.scheduler import NoValidWorkerError

        assert self._client is not None, "connect first"
        future = self._client.submit(work, job, pure=False, key=f"recallbench-{uuid.uuid4().hex}")
        result = asyncio.ensure_future(_result_of(future))
        try:
            while not (await asyncio.wait({result}, timeout=_LOOK_S))[0]:
                await self._check_workers()
            return record_from(await result)
        except (KilledWorker, NoValidWorkerError) as lost:
            said = f"the cluster's workers died of it: {type(lost).__name__}: {lost}"
            last = job.begun
            while await self._is_taken((after := following(last)).namespace):
                last = after
            return Record(
                last.case,
                last.repeat,
                last.attempt,
                last.namespace,
                failure=Failure("crashed", said[:600], ""),
            )
        finally:
            result.cancel()
            future.release()
            await self._forget(job.begun)

    async def _is_taken(self, namespace: str) -> bool:
        from distributed import Event

        taken: bool = await Event(namespace, client=self._client).is_set()
        return taken

    async def _forget(self, begun: Begun) -> None:
        """Take the notes on a task's runs off the scheduler."""
        from distributed import Event

        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_LOOK_S):
                while await self._is_taken(begun.namespace):
                    await Event(begun.namespace, client=self._client).clear()
                    begun = following(begun)


async def _result_of(future: Any) -> Mapping[str, Any]:
    """Wait for a result.

    Raises:
        HarnessError: when the scheduler is lost; Dask cancels by itself what it was to tell of.
    """
    from distributed import CancelledError
    from distributed.comm.core import CommClosedError

    try:
        data: Mapping[str, Any] = await future
    except (CancelledError, CommClosedError) as error:
        raise HarnessError(
            f"--executor: the Dask scheduler was lost: {type(error).__name__}. What is finished is kept; "
            "the same command goes on from there."
        ) from None
    return data


def following(begun: Begun) -> Begun:
    """Return the attempt that a task's next run is, should this one's worker be lost."""
    namespace = sha256(begun.namespace.encode()).hexdigest()[:_NAMESPACE]
    return replace(begun, attempt=begun.attempt + 1, namespace=namespace)


def lost_before(begun: Begun, record: Record) -> list[Begun]:
    """Return the attempts after the first that a record's task took; its own is the last."""
    found: list[Begun] = []
    while begun.attempt < record.attempt:
        begun = following(begun)
        found.append(begun)
    return found


def work(job: Job) -> dict[str, Any]:
    """Make one attempt, on a worker of the cluster; hosts are kept for the next one."""
    begun = _next(job.begun)
    return asyncio.run_coroutine_threadsafe(_attempt(job, begun), _site().loop).result()


def _next(begun: Begun) -> Begun:
    """Return the first attempt that no run of the task has made, and note that it is made now.

    The scheduler holds the notes: a worker that was lost has told nobody else.
    """
    from distributed import Event

    while (note := Event(begun.namespace)).is_set():
        begun = following(begun)
    note.set()
    return begun


async def _attempt(job: Job, begun: Begun) -> dict[str, Any]:
    site = _site()
    host, reader = await site.serving(job)
    conversations = tuple(map(wire.conversation_from, job.conversations))
    given = Haystack(conversations, tuple(map(delivered, conversations)))
    question: Question = wire.question_from(job.question)
    record = await attempt(begun, given, question, host, reader, job.asking)
    return record.as_data()


class _Site:
    """What a process of the cluster keeps between tasks: an event loop, and hosts by adapter."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._hosts: dict[str, asyncio.Task[tuple[Host, Reader]]] = {}
        threading.Thread(target=self.loop.run_forever, name="recallbench", daemon=True).start()

    async def serving(self, job: Job) -> tuple[Host, Reader]:
        """Return the host and the reader for a job, started when it is the first of its kind."""
        key = repr((job.spec, job.models, job.llm, job.asking.timeouts, job.version))
        if key not in self._hosts:
            self._hosts[key] = asyncio.create_task(self._start(job))
        try:
            return await asyncio.shield(self._hosts[key])
        except Exception:
            self._hosts.pop(key, None)
            raise

    async def _start(self, job: Job) -> tuple[Host, Reader]:
        models = Models(ModelSettings(**job.models), os.environ)
        host = make_host(job.info, job.spec, models, job.asking.timeouts)
        try:
            found = await host.start()
        except AgentFailure as failure:
            raise HarnessError(f"--system {job.spec.text}: {failure}") from None
        if found.version != job.version:
            await host.close()
            raise HarnessError(
                f"--system {job.spec.text}: a worker of the cluster has {found.version or 'another version'}, "
                f"here it is {job.version or 'another version'}. Bring both to one state, and restart the workers."
            )
        return host, LLMReader(models) if job.llm else ExtractiveReader()


_SITES: list[_Site] = []
_MAKING = threading.Lock()


def _site() -> _Site:
    with _MAKING:
        if not _SITES:
            _SITES.append(_Site())
        return _SITES[0]
