"""Run cases on the workers of an existing Dask cluster; the journal stays here, in one hand.

A task is one attempt at one case. Dask runs a lost worker's tasks again on another one; each run
of a task takes a namespace of its own, and only the one result that arrives is journalled.
Workers need recallbench in the same version, what the adapters need, and the keys of the models
in their own environment: no key is sent.
"""

from __future__ import annotations

import asyncio
import os
import threading
import uuid
from collections.abc import Mapping
from dataclasses import replace
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
_CONNECT_S = 10


class Job(NamedTuple):
    """All that a worker needs for one attempt, as values that can be pickled.

    Attributes:
        info: the adapter.
        spec: its options.
        models: `ModelSettings` as data.
        llm: whether a model reads.
        asking: budget, limit and timeouts.
        begun: which attempt; the worker takes a namespace of its own.
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
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._client is not None:
            await self._client.close()

    @property
    def capacity(self) -> int:
        """Attempts that the cluster's workers take at once."""
        assert self._client is not None, "connect first"
        workers: Mapping[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return max(1, sum(int(worker["nthreads"]) for worker in workers.values()))

    async def ask(self, job: Job) -> Record:
        """Have one attempt made.

        Raises:
            HarnessError: what has to stop the whole run.
        """
        from distributed import KilledWorker
        from distributed.scheduler import NoValidWorkerError

        assert self._client is not None, "connect first"
        future = self._client.submit(work, job, pure=False, key=f"recallbench-{uuid.uuid4().hex}")
        try:
            data: Mapping[str, Any] = await future
        except (KilledWorker, NoValidWorkerError) as lost:
            said = f"the cluster's workers died of it: {type(lost).__name__}: {lost}"
            begun = job.begun
            return Record(
                begun.case,
                begun.repeat,
                begun.attempt,
                begun.namespace,
                failure=Failure("crashed", said[:600], ""),
            )
        finally:
            future.release()
        return record_from(data)


def work(job: Job) -> dict[str, Any]:
    """Make one attempt, on a worker of the cluster; hosts are kept for the next one."""
    return asyncio.run_coroutine_threadsafe(_attempt(job), _site().loop).result()


async def _attempt(job: Job) -> dict[str, Any]:
    site = _site()
    host, reader = await site.serving(job)
    begun = replace(job.begun, namespace=uuid.uuid4().hex)
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
