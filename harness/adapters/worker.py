"""The worker process: loads one adapter and serves its agents, one after the other.

`python -m harness.adapters.worker LINE LIFELINE`, two descriptors; see `harness.adapters.processes` for the other end.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from concurrent.futures import thread as pools
from typing import Any

from harness.adapters import wire
from harness.adapters.protocol import AgentFailure
from harness.adapters.registry import AdapterInfo
from harness.adapters.serving import OpenAgent, Serving, said
from harness.errors import HarnessError
from harness.llm.exchange import BudgetSpent
from harness.llm.models import Models, ModelSettings
from harness.naming import Spec

_GRACE_S = 1.0
_MOST_THREADS = 64
_PARENT_GONE = 3


class _Desk:
    """What the requests are about: the adapter, and the agent that is open."""

    def __init__(self) -> None:
        self.serving: Serving | None = None
        self.models: Models | None = None
        self.agent: OpenAgent | None = None
        self.folder = ""
        self.threads: frozenset[threading.Thread] = frozenset()
        self.tasks: frozenset[asyncio.Task[Any]] = frozenset()

    async def do(self, request: Mapping[str, Any]) -> Any:
        match request["op"]:
            case "load":
                return self._load(request)
            case "open":
                os.chdir(self.folder)  # wherever the agent before has gone
                self.threads = frozenset(threading.enumerate())
                self.tasks = frozenset(asyncio.all_tasks())
                self.agent = await self._adapter.open(request["namespace"], request["repeat"])
                return None
            case "close":
                return await self._close()
            case "discard":
                return await self._adapter.discard(request["namespace"])
            case "quit":
                return await self._quit()
        assert self.agent is not None, "open comes first"
        match request["op"]:
            case "ingest":
                return await self.agent.ingest(wire.conversation_from(request["conversation"]))
            case "wait":
                return await self.agent.wait()
            case "recall":
                question = wire.question_from(request["question"])
                return list(map(wire.memory_data, await self.agent.recall(question, request["limit"])))
            case "answer":
                return wire.answer_data(await self.agent.answer(wire.question_from(request["question"])))
            case "report":
                return await self.agent.report()
            case "list":
                return list(map(wire.memory_data, await self.agent.list()))
            case "add":
                return await self.agent.add(request["text"], request["user"])
            case "delete":
                return await self.agent.delete(request["id"])
        raise AssertionError(request["op"])

    @property
    def _adapter(self) -> Serving:
        assert self.serving is not None, "load comes first"
        return self.serving

    def _load(self, request: Mapping[str, Any]) -> dict[str, Any]:
        info = AdapterInfo(**{**request["info"], "modules": tuple(request["info"]["modules"])})
        self.folder = request["folder"]
        sys.path.append(self.folder)
        self.models = Models(ModelSettings(**request["models"]), os.environ)
        self.serving = Serving(info, Spec(**request["spec"]), self.models)
        found = self.serving.describe()
        return {**found._asdict(), "capabilities": sorted(found.capabilities)}

    async def _close(self) -> None:
        agent, self.agent = self.agent, None
        if agent is not None:
            await agent.close()
        await _cancel_tasks(self.tasks)
        await _check_threads(self.threads)

    async def _quit(self) -> None:
        if self.serving is not None:
            await self.serving.close()
        if self.models is not None:
            await self.models.close()


async def _serve(line: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    inbox: asyncio.Queue[bytes] = asyncio.Queue()
    # A thread listens, so that the end of the parent is noticed whatever the adapter is stuck in.
    threading.Thread(target=_listen, args=(line, loop, inbox), name="recallbench", daemon=True).start()
    desk = _Desk()
    while True:
        request = json.loads(await inbox.get())
        line.sendall(await _reply(desk, request))
        if request["op"] == "quit":
            return


async def _reply(desk: _Desk, request: Mapping[str, Any]) -> bytes:
    try:
        reply: dict[str, Any] = {"value": await desk.do(request)}
    except AgentFailure as failure:
        _log(failure.__cause__)
        reply = {"failure": {"kind": failure.kind, "message": failure.message, "phase": failure.phase}}
    except (HarnessError, BudgetSpent) as stop:
        reply = {"stop": {"class": type(stop).__name__, "message": str(stop)}}
    except asyncio.CancelledError as error:
        reply = {"failure": {"kind": "raised", "message": said(error), "phase": ""}}
    except BaseException as error:  # sys.exit() in an adapter ends a case, not the worker
        _log(error)
        reply = {"failure": {"kind": "raised", "message": said(error), "phase": ""}}
    return json.dumps(reply).encode() + b"\n"


def _listen(line: socket.socket, loop: asyncio.AbstractEventLoop, inbox: asyncio.Queue[bytes]) -> None:
    with line.makefile("rb") as requests:
        for request in requests:
            loop.call_soon_threadsafe(inbox.put_nowait, request)
    _leave()


def _leave() -> None:
    """End this process and, where it leads its group, what the adapter started."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(_PARENT_GONE)


def _end_with_parent(lifeline: int) -> None:
    """Have the kernel kill this process and its children when the parent is gone.

    No thread runs while an adapter keeps the interpreter's lock. Nothing is ever written to the
    lifeline, so the one event on it is that its other end is closed.
    """
    if sys.platform == "linux" and os.getpgrp() == os.getpid():
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        os.set_inheritable(lifeline, False)


async def _cancel_tasks(before: frozenset[asyncio.Task[Any]]) -> None:
    """Cancel what an agent left running in the loop."""
    left = asyncio.all_tasks() - before
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=_GRACE_S)


async def _check_threads(before: frozenset[threading.Thread]) -> None:
    """Refuse threads that outlive their agent.

    Daemon threads and the idle workers of pools are what many libraries keep for good reason;
    they are refused only in number.
    """
    until = time.monotonic() + _GRACE_S
    while leaked := _leaked(before):
        if time.monotonic() > until:
            names = ", ".join(sorted(thread.name for thread in leaked)[:3])
            raise AgentFailure(
                "leaked_threads", f"{len(leaked)} threads run on after close: {names}", "close"
            )
        await asyncio.sleep(0.02)


def _leaked(before: frozenset[threading.Thread]) -> list[threading.Thread]:
    fresh = [thread for thread in threading.enumerate() if thread not in before]
    if threading.active_count() > _MOST_THREADS:
        return fresh
    pooled = set(pools._threads_queues)  # no public way tells a pool's threads from others
    return [thread for thread in fresh if not thread.daemon and thread not in pooled]


def _log(error: BaseException | None) -> None:
    if error is not None:
        with contextlib.suppress(Exception):  # an adapter may have closed or replaced the stream
            traceback.print_exception(error)


def main() -> None:
    """Serve until told to quit, or until the parent is gone."""
    _end_with_parent(int(sys.argv[2]))
    line = socket.socket(fileno=int(sys.argv[1]))
    line.set_inheritable(False)  # a child of the adapter must not hold the line open
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(line))
    sys.stdout.flush()
    os._exit(0)  # what libraries do at exit is of no use here, and some fail at it


if __name__ == "__main__":
    main()
