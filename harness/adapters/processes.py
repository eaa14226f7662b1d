"""Worker processes for adapters that block, or that are anybody's code.

One worker serves one agent at a time and is used again for the next, since loading a memory
system can take seconds. Whatever goes wrong in it (a hang, a crash, threads that stay behind)
ends that worker, and only the case it was working on is lost.

Parent and worker talk JSON lines over a socket pair; the worker's standard streams lead into a
log. A worker whose parent is gone ends itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from harness.adapters import wire
from harness.adapters.hosts import Session, Timeouts, timed_out
from harness.adapters.protocol import AgentFailure, Memory, Question
from harness.adapters.registry import AdapterInfo
from harness.adapters.serving import Description, folder_of
from harness.errors import EndpointError, HarnessError, InputError, SettingsError
from harness.llm.exchange import BudgetSpent
from harness.llm.models import Models
from harness.naming import Spec
from harness.suite import Conversation
from harness.suite.answer import Answer

_LARGEST_LINE = 64 << 20
_LAST_WORDS = 5
_MOST_LOGGED = 1 << 20
_STOPPING: Mapping[str, type[Exception]] = {
    "EndpointError": EndpointError,
    "Unrecorded": EndpointError,
    "BudgetSpent": BudgetSpent,
    "InputError": InputError,
    "SettingsError": SettingsError,
}


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
        self._description = Description(
            frozenset(found["capabilities"]), found["options"], found["version"], found["prompts"]
        )
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


class Log:
    """What workers print: its first megabyte, in a file as soon as there is one."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._early = b""
        self._written = 0

    def keep_in(self, path: Path) -> None:
        """Write to a file from now on, what came before first."""
        self._path = path
        early, self._early = self._early, b""
        self._written = 0
        if early:
            self.write(early)

    def write(self, data: bytes) -> None:
        """Take what was printed, up to the limit."""
        data = data[: max(0, _MOST_LOGGED - self._written)]
        self._written += len(data)
        if self._path is None:
            self._early += data
        elif data:
            with self._path.open("ab") as file:
                file.write(data)


class Worker:
    """One worker process and the line to it."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        lifeline: int,
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._lifeline = lifeline
        self._last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._listening: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, variables: Mapping[str, str], log: Log) -> Worker:
        """Start a process; it has loaded nothing yet."""
        ours, theirs = socket.socketpair()
        read_end, write_end = os.pipe()
        watched, lifeline = os.pipe()  # closed by the kernel when this process ends, however it does
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", "harness.adapters.worker", str(theirs.fileno()), str(watched)],
                stdin=subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                pass_fds=(theirs.fileno(), watched),
                start_new_session=True,  # Ctrl-C is for the harness; and a group can be killed as one
                env={**variables, "PYTHONUNBUFFERED": "1"},
            )
        os.close(write_end)
        os.close(watched)
        reader, writer = await asyncio.open_connection(sock=ours, limit=_LARGEST_LINE)
        worker = cls(process, reader, writer, lifeline)
        worker._listening = asyncio.create_task(worker._listen(read_end, log))
        return worker

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    async def ask(self, request: Mapping[str, Any], within: float) -> Any:
        """Send a request and return its result.

        Raises:
            AgentFailure: what the worker reports, `timeout` or `crashed`.
            HarnessError, BudgetSpent: what has to stop the run.
        """
        phase = str(request["op"])
        try:
            async with asyncio.timeout(within):
                self._writer.write(json.dumps(request).encode() + b"\n")
                await self._writer.drain()
                line = await self._reader.readline()
        except TimeoutError:
            self._end()  # its reply, should one still come, must not be taken for the next one's
            raise timed_out(phase, within) from None
        except (ConnectionError, ValueError):
            line = b""
        except BaseException:
            self._end()
            raise
        reply = _read(line)
        if reply is None:
            raise await self._crashed(phase)
        if (stop := reply.get("stop")) is not None:
            raise _STOPPING.get(stop["class"], HarnessError)(stop["message"])
        if (failure := reply.get("failure")) is not None:
            raise AgentFailure(failure["kind"], failure["message"], failure["phase"] or phase)
        return reply["value"]

    async def quit(self, within: float) -> None:
        """Let the adapter close, then end the process whatever it says."""
        with contextlib.suppress(AgentFailure, HarnessError, BudgetSpent):
            await self.ask({"op": "quit"}, within)
        await self.kill()

    async def kill(self) -> None:
        """End the process and everything it started."""
        self._end()
        self._writer.close()
        os.close(self._lifeline)
        await asyncio.to_thread(self._process.wait)
        if self._listening is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._listening, 1.0)

    def _end(self) -> None:
        """Kill the process and what it started; it cannot be spoken to any more."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def _crashed(self, phase: str) -> AgentFailure:
        self._end()
        status = await asyncio.to_thread(self._process.wait)
        if self._listening is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._listening), 1.0)
        how = f"exit status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"
        words = " | ".join(self._last_words)
        return AgentFailure("crashed", f"its process ended ({how}){f': {words}' if words else ''}", phase)

    async def _listen(self, descriptor: int, log: Log) -> None:
        """Take in what the process prints, so that it never blocks on a full pipe."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=1 << 16)
        with os.fdopen(descriptor, "rb", buffering=0) as pipe:
            transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
            try:
                while data := await reader.read(1 << 16):
                    log.write(data)
                    lines = data.decode("utf-8", "replace").splitlines()
                    self._last_words += [line.strip()[:200] for line in lines if line.strip()]
            finally:
                transport.close()


def _read(line: bytes) -> dict[str, Any] | None:
    """Read a reply; None for a torn line, or what an adapter itself wrote into the line."""
    if not line.endswith(b"\n"):
        return None
    try:
        reply = json.loads(line)
    except ValueError:
        return None
    return reply if isinstance(reply, dict) else None
