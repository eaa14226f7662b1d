"""Worker processes for adapters that block, or that are anybody's code.

One worker serves one agent at a time and is used again for the next, since loading a memory
system can take seconds. Whatever goes wrong in it (a hang, a crash, threads that stay behind)
ends that worker, and only the case it was working on is lost.

Parent and worker talk JSON lines over a socket pair; the worker's standard streams lead into a
log. A worker whose parent is gone ends itself.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from harness.adapters import wire
from harness.adapters.hosts import Session, Timeouts
from harness.adapters.protocol import AgentFailure, Memory, Question
from harness.adapters.registry import AdapterInfo
from harness.adapters.serving import Description, folder_of
from harness.adapters.states import changed, same_code
from harness.adapters.worker_process import Log, Worker
from harness.errors import InputError
from harness.llm.models import Models
from harness.naming import Spec
from harness.suite import Conversation
from harness.suite.answer import Answer


class ProcessHost:
    """Runs an adapter in worker processes, as many as sessions are open at once."""

    def __init__(self, info: AdapterInfo, spec: Spec, models: Models, timeouts: Timeouts) -> None:
        self._hello = {
            "op": "load",
            "info": info._asdict(),
            "spec": spec._asdict(),
            "models": models.settings.as_data(),
            "folder": str(Path.cwd()),
        }
        self._variables = models.variables
        self._name = spec.text
        self._timeouts = timeouts
        self._log = Log()
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._description: Description | None = None

    async def start(self) -> Description:
        """Load the adapter in a first worker."""
        worker = await self._spawn()
        self._idle.append(worker)
        assert self._description is not None
        return self._description

    @asynccontextmanager
    async def session(self, namespace: str, repeat: int = 0) -> AsyncIterator[Session]:
        """Open an agent in a worker that has none."""
        worker = await self._free()
        sound = False
        try:
            await worker.ask({"op": "open", "namespace": namespace, "repeat": repeat}, self._timeouts.open)
            try:
                yield _WorkerSession(worker)
            except AgentFailure as failure:
                if worker.alive and failure.kind not in ("timeout", "crashed"):
                    sound = await self._closed_quietly(worker)
                raise
            await worker.ask({"op": "close"}, self._timeouts.close)
            sound = True
        finally:
            if sound:
                self._idle.append(worker)
            else:
                self._all.discard(worker)
                await worker.kill()
                shutil.rmtree(folder_of(namespace), ignore_errors=True)

    async def discard(self, namespace: str) -> None:
        """Remove what an agent left."""
        worker = await self._free()
        try:
            await worker.ask({"op": "discard", "namespace": namespace}, self._timeouts.close)
        except BaseException:
            self._all.discard(worker)
            await worker.kill()
            raise
        self._idle.append(worker)

    def log_to(self, path: Path) -> None:
        """Keep what the workers print in a file, from the first line on."""
        self._log.keep_in(path)

    async def close(self) -> None:
        """Close the adapter in every worker and end the processes."""
        workers, self._all = self._all, set()
        await asyncio.gather(*(worker.quit(self._timeouts.close) for worker in workers))
        self._idle.clear()

    async def _free(self) -> Worker:
        """Return a worker without an agent; one that has died meanwhile is nobody's failure."""
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            self._all.discard(worker)
            await worker.kill()
        return await self._spawn()

    async def _spawn(self) -> Worker:
        worker = await Worker.start(self._variables, self._log)
        self._all.add(worker)
        try:
            found = await worker.ask(self._hello, self._timeouts.load)
        except AgentFailure as failure:
            self._all.discard(worker)
            await worker.kill()
            if self._description is None:
                raise InputError(f"--system {self._name}: cannot be loaded: {failure.message}") from None
            raise
        except BaseException:
            self._all.discard(worker)
            await worker.kill()
            raise
        said = Description(
            frozenset(found["capabilities"]), found["options"], found["version"], found["prompts"]
        )
        if self._description is None:
            self._description = said
        elif not same_code(self._description.version, said.version):
            self._all.discard(worker)
            await worker.kill()
            raise InputError(changed(f"--system {self._name}"))
        return worker

    async def _closed_quietly(self, worker: Worker) -> bool:
        try:
            await worker.ask({"op": "close"}, self._timeouts.close)
        except AgentFailure:
            return False  # the failure that came before is the one to report
        return True


class _WorkerSession:
    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    async def ingest(self, conversation: Conversation, within: float) -> None:
        await self._worker.ask({"op": "ingest", "conversation": wire.conversation_data(conversation)}, within)

    async def wait(self, within: float) -> None:
        await self._worker.ask({"op": "wait"}, within)

    async def recall(self, question: Question, limit: int, within: float) -> tuple[Memory, ...]:
        asked = {"op": "recall", "question": wire.question_data(question), "limit": limit}
        return tuple(wire.memory_from(data) for data in await self._worker.ask(asked, within))

    async def answer(self, question: Question, within: float) -> Answer:
        asked = {"op": "answer", "question": wire.question_data(question)}
        return wire.answer_from(await self._worker.ask(asked, within))

    async def report(self, within: float) -> dict[str, Any]:
        found: dict[str, Any] = await self._worker.ask({"op": "report"}, within)
        return found

    async def list(self, within: float) -> tuple[Memory, ...]:
        return tuple(wire.memory_from(data) for data in await self._worker.ask({"op": "list"}, within))

    async def add(self, text: str, user: str | None, within: float) -> str:
        return str(await self._worker.ask({"op": "add", "text": text, "user": user}, within))

    async def delete(self, memory_id: str, within: float) -> None:
        await self._worker.ask({"op": "delete", "id": memory_id}, within)
