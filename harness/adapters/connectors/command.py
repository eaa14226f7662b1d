"""A program in any language that speaks JSON lines; docs/connect-command.md has the protocol.

--system "command(run='node my_memory.js')"
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness.adapters.connectors.variables import resolved, without_secrets
from harness.adapters.environment import without_own
from harness.adapters.protocol import Adapter, AgentFailure, Question, Space
from harness.adapters.states import changed, files_state, marks
from harness.adapters.wire import conversation_data
from harness.errors import InputError
from harness.suite import Conversation

_LONGEST_LINE = 16 << 20
_START_S = 60.0
_GOODBYE_S = 5.0
_DRAIN_S = 0.5
_LEFT_S = 0.1
_LAST_LINES = 5
_MOST_SHOWN = 300
Offer = Literal["recall", "answer"]


class CommandOptions(BaseModel):
    """Options of `command`.

    Attributes:
        run: the program with its arguments, as a shell would cut them, or as a list; no shell runs.
        folder: where it is started.
        env: variables for it, beside those of the harness; `${NAME}` takes one of those.
        offers: what it can do, `recall` or `answer` or both; its first line has to say the same.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: tuple[str, ...] = Field(min_length=1)
    folder: str = "."
    env: dict[str, str] = {}
    offers: tuple[Offer, ...] = Field(("recall",), min_length=1)

    @field_validator("env")
    @classmethod
    def _no_keys(cls, value: dict[str, str]) -> dict[str, str]:
        return dict(without_secrets(value))

    @field_validator("run", mode="before")
    @classmethod
    def _cut(cls, value: Any) -> Any:
        return tuple(shlex.split(value)) if isinstance(value, str) else value


class CommandSystem(Adapter):
    """One process of the program for each agent."""

    Options = CommandOptions
    isolation = "inline"

    def __init__(self, options: CommandOptions) -> None:
        super().__init__(options)
        self._options = options
        self.capabilities = frozenset(options.offers)  # type: ignore[misc]  # it depends on the options
        self._folder = Path(options.folder or ".").expanduser()
        self._marks = marks(options.run, self._folder)
        self._state = files_state(options.run, self._folder)

    async def open(self, space: Space) -> CommandAgent:
        """Start the program and open a space in it.

        Raises:
            InputError: when a file of the command has changed since the run began.
        """
        self._check_files()
        program = await Program.start(self._options)
        try:
            said = await program.hello()
            lacking = sorted(set(self._options.offers) - said)
            if lacking:
                offered = ", ".join(sorted(said)) or "nothing"
                raise AgentFailure(
                    "bad_value",
                    f"the program offers {offered}, and not {', '.join(lacking)}: set the option offers to it",
                )
            await program.ask(
                {
                    "op": "open",
                    "namespace": space.namespace,
                    "folder": str(space.folder),
                    "repeat": space.repeat,
                }
            )
        except BaseException:
            await program.kill()
            raise
        return CommandAgent(program, self._options.offers)

    def version(self) -> str:
        """Return the command, and the state of the files that stand in it."""
        name = shlex.join(self._options.run)
        return f"{name} (files {self._state})" if self._state else name

    def _check_files(self) -> None:
        """Refuse to go on with another program than the one that the run began with."""
        seen = marks(self._options.run, self._folder)
        if seen == self._marks:
            return
        if files_state(self._options.run, self._folder) != self._state:
            raise InputError(changed(f"--system command: {shlex.join(self._options.run)}"))
        self._marks = seen


class CommandAgent:
    """One haystack in a process of its own; it has the methods that were offered."""

    def __init__(self, program: Program, offers: tuple[Offer, ...]) -> None:
        self._program = program
        for name in offers:
            setattr(self, name, getattr(self, f"_{name}"))

    async def ingest(self, conversation: Conversation) -> None:
        """Hand a conversation over."""
        data = conversation_data(conversation)
        messages = [
            {"number": number, "role": role, "text": text, "timestamp": stamp or data["timestamp"]}
            for number, (role, text, stamp) in enumerate(data["messages"], start=1)
        ]
        await self._program.ask(
            {
                "op": "ingest",
                "conversation_id": data["id"],
                "timestamp": data["timestamp"],
                "metadata": data["metadata"],
                "messages": messages,
            }
        )

    async def close(self) -> None:
        """Say goodbye to the program, and end it with whatever it started."""
        await self._program.close()

    async def _recall(self, question: Question, limit: int) -> Any:
        reply = await self._program.ask({"op": "recall", **_asked(question), "limit": limit})
        memories = _field(reply, "memories", "recall")
        return memories[:limit] if isinstance(memories, list) else memories

    async def _answer(self, question: Question) -> Any:
        reply = await self._program.ask({"op": "answer", **_asked(question)})
        _field(reply, "answer", "answer")
        return {name: reply[name] for name in ("answer", "memory", "tokens") if name in reply}


class _Streams(asyncio.subprocess.SubprocessStreamProtocol):
    """The program's streams, and word of its end.

    `Process.wait` waits for the pipes too, which a child that the program leaves behind keeps open.
    """

    def __init__(self) -> None:
        super().__init__(limit=_LONGEST_LINE, loop=asyncio.get_running_loop())
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class Program:
    """A running program: one request at a time, one line each way.

    A cancelled or failed request ends it, since nobody can tell what its next line belongs to.
    """

    def __init__(self, transport: asyncio.SubprocessTransport, streams: _Streams, command: str) -> None:
        self._transport = transport
        self._process = asyncio.subprocess.Process(transport, streams, asyncio.get_running_loop())
        self._exited = streams.exited
        self._command = command
        self._number = 0
        self._turn = asyncio.Lock()
        self._ended = False
        self._said: deque[bytes] = deque(maxlen=_LAST_LINES)
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, options: CommandOptions) -> Program:
        """Start the program in a process group of its own.

        Raises:
            AgentFailure: when it cannot be started.
        """
        folder = Path(options.folder).expanduser()
        if not folder.is_dir():
            raise AgentFailure("options", f"folder {options.folder}: no such folder")
        try:
            transport, streams = await asyncio.get_running_loop().subprocess_exec(
                _Streams,
                *options.run,
                cwd=folder,
                env={**without_own(os.environ), **resolved(options.env)},
                start_new_session=True,
            )
        except FileNotFoundError:
            raise AgentFailure("not_installed", f"{options.run[0]}: no such program") from None
        except OSError as error:
            raise AgentFailure("options", f"{options.run[0]}: cannot be started: {error.strerror}") from None
        return cls(transport, streams, shlex.join(options.run))

    async def hello(self) -> frozenset[str]:
        """Return what the program says that it offers in its first line."""
        try:
            async with asyncio.timeout(_START_S):
                said = await self._line()
        except TimeoutError:
            raise AgentFailure(
                "timeout", f"{self._command}: said nothing within {_START_S:g} s{await self._words()}"
            ) from None
        offered = said.get("capabilities")
        if said.get("ready") is not True or not isinstance(offered, list):
            raise AgentFailure(
                "bad_value",
                f"{self._command}: began with {_shown(json.dumps(said))}; expected "
                '{"ready": true, "capabilities": ["recall"]}',
            )
        return frozenset(map(str, offered))

    async def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return its reply.

        Raises:
            AgentFailure: `crashed` when the program ends, `bad_value` for a line that is no reply,
                `oversized`, `raised` for an error that it reports.
        """
        async with self._turn:
            if self._ended:
                raise AgentFailure("crashed", f"{self._command}: was ended after an earlier failure")
            self._number += 1
            try:
                reply = await self._exchange({"id": self._number, **request})
            except BaseException:
                await self.kill()
                raise
        if reply.get("error") is not None:
            raise AgentFailure("raised", _shown(str(reply["error"])))
        return reply

    async def close(self) -> None:
        """Ask the program to end, wait a little, and kill what is left of it."""
        try:
            if not self._ended:
                with suppress(TimeoutError, AgentFailure):
                    async with asyncio.timeout(_GOODBYE_S):
                        await self.ask({"op": "close"})
                        assert self._process.stdin is not None
                        self._process.stdin.close()
                        await self._exited.wait()
        finally:
            await self.kill()

    async def kill(self) -> None:
        """End the process and its group at once; a second call does nothing."""
        if self._ended:
            return
        self._ended = True
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await asyncio.shield(self._buried())

    async def _buried(self) -> None:
        await self._exited.wait()
        await asyncio.wait({self._listening}, timeout=_LEFT_S)
        self._listening.cancel()
        await asyncio.wait({self._listening})
        self._transport.close()  # a child in a session of its own may still hold the other ends
        await asyncio.sleep(0)

    async def _exchange(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        line = json.dumps(request, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        # A program that is gone shows by its missing reply.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._process.stdin.write(line)
            await self._process.stdin.drain()
        reply = await self._line()
        if reply.get("id") != request["id"]:
            raise AgentFailure(
                "bad_value",
                f"{self._command}: the reply to {request['op']} has the id {_shown(str(reply.get('id')))}; "
                f"expected {request['id']}",
            )
        return reply

    async def _line(self) -> dict[str, Any]:
        """Return the next line that the program prints."""
        assert self._process.stdout is not None
        try:
            line = await self._read(self._process.stdout)
        except ValueError:
            raise AgentFailure(
                "oversized", f"{self._command}: printed a line longer than {_LONGEST_LINE >> 20} MB"
            ) from None
        if not line.endswith(b"\n"):
            raise AgentFailure("crashed", await self._end())
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict):
            raise AgentFailure(
                "bad_value",
                f"{self._command}: printed a line that is no JSON object: {_shown(line.decode(errors='replace'))!r}. "
                "Print what is for people to stderr",
            )
        return reply

    async def _read(self, output: asyncio.StreamReader) -> bytes:
        """Return the next line, or what there is of it once the program has ended.

        A child that the program leaves behind keeps the pipe open, and nothing may ever come.
        """
        reading = asyncio.ensure_future(output.readline())
        ending = asyncio.ensure_future(self._exited.wait())
        try:
            await asyncio.wait({reading, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                await asyncio.wait({reading}, timeout=_DRAIN_S)
            return reading.result() if reading.done() else b""
        finally:
            reading.cancel()
            ending.cancel()

    async def _end(self) -> str:
        """Say how the program ended, or that it closed its output."""
        try:
            async with asyncio.timeout(_GOODBYE_S):
                await self._exited.wait()
            status = self._process.returncode or 0
            how = f"ended with status {status}" if status >= 0 else f"was killed by signal {-status}"
        except TimeoutError:
            how = "closed its standard output"
        return f"{self._command}: {how} before it replied{await self._words()}"

    async def _words(self) -> str:
        """Return the last lines of stderr, as the end of a message."""
        await asyncio.wait({self._listening}, timeout=_DRAIN_S)
        said = " | ".join(_shown(line.decode(errors="replace")) for line in self._said if line.strip())
        return f"; it said: {said}" if said else ""

    async def _listen(self) -> None:
        """Keep the last lines of stderr, however much there is."""
        assert self._process.stderr is not None
        rest = b""
        while chunk := await self._process.stderr.read(1 << 16):
            *lines, rest = (rest + chunk).split(b"\n")
            self._said.extend(line[: 4 * _MOST_SHOWN] for line in lines)
            rest = rest[-4 * _MOST_SHOWN :]
        if rest:
            self._said.append(rest)


def _asked(question: Question) -> dict[str, Any]:
    asked = question.asked_at
    return {"question": question.text, "asked_at": asked.isoformat() if asked else None}


def _field(reply: Mapping[str, Any], name: str, op: str) -> Any:
    if name not in reply:
        has = ", ".join(sorted(map(str, reply))) or "nothing"
        raise AgentFailure("bad_value", f"the reply to {op} lacks {name!r}; it has {_shown(has)}")
    return reply[name]


def _shown(text: str) -> str:
    line = " ".join(text[: 4 * _MOST_SHOWN].split())
    line = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)
    return line if len(line) <= _MOST_SHOWN else line[: _MOST_SHOWN - 1] + "…"
