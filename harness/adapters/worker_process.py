"""One worker process: how it is started, spoken to and ended, and what it prints."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.adapters.environment import without_own
from harness.adapters.hosts import timed_out
from harness.adapters.protocol import AgentFailure
from harness.errors import EndpointError, HarnessError, InputError, SettingsError
from harness.llm.exchange import BudgetSpent

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
        self._ended = False

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
                # Several workers share the processors; BLAS in each would take all of them.
                env={"OPENBLAS_NUM_THREADS": "1", **without_own(variables), "PYTHONUNBUFFERED": "1"},
            )
        os.close(write_end)
        os.close(watched)
        reader, writer = await asyncio.open_connection(sock=ours, limit=_LARGEST_LINE)
        worker = cls(process, reader, writer, lifeline)
        worker._listening = asyncio.create_task(worker._listen(read_end, log))
        return worker

    @property
    def alive(self) -> bool:
        """Whether the process runs, and was not told to end."""
        return not self._ended and self._process.poll() is None

    async def ask(self, request: Mapping[str, Any], within: float) -> Any:
        """Send a request and return its result.

        Raises:
            AgentFailure: what the worker reports, `timeout`, `crashed` or `oversized`.
            HarnessError, BudgetSpent: what has to stop the run.
        """
        phase = str(request["op"])
        if self._ended:  # a late reply may still lie there, and is none to this
            raise await self._crashed(phase, garbled=False)
        try:
            async with asyncio.timeout(within):
                self._writer.write(json.dumps(request).encode() + b"\n")
                await self._writer.drain()
                line = await self._reader.readline()
        except TimeoutError:
            self._end()  # its reply, should one still come, must not be taken for the next one's
            raise timed_out(phase, within) from None
        except ValueError:  # what is left of the line would be taken for the next reply
            self._end()
            raise AgentFailure(
                "oversized", f"its reply is longer than {_LARGEST_LINE >> 20} MB", phase
            ) from None
        except ConnectionError:
            line = b""
        except BaseException:
            self._end()
            raise
        reply = _read(line)
        if reply is None:
            raise await self._crashed(phase, garbled=line.endswith(b"\n"))
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
        self._ended = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def _crashed(self, phase: str, *, garbled: bool) -> AgentFailure:
        """Return the failure of a worker that can't be spoken to any more, and end it."""
        self._end()
        status = await asyncio.to_thread(self._process.wait)
        if self._listening is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._listening), 1.0)
        if garbled:
            return AgentFailure("crashed", "what came back from its process cannot be read", phase)
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
