"""A client of the Model Context Protocol over a server's standard input and output.

Newline-delimited JSON-RPC 2.0, of which it speaks what calling tools takes: the handshake, `tools/list`,
`tools/call`, and polite answers to what a server may ask of a client.
The `mcp` package is not used: its sessions must be opened and closed by one task, which an agent that is
called piece by piece cannot promise, and a line that is no JSON leaves its caller waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from harness.adapters.protocol import AgentFailure

PROTOCOL = "2025-06-18"
KNOWN_PROTOCOLS = frozenset({"2024-11-05", "2025-03-26", PROTOCOL, "2025-11-25"})
"""Versions of the protocol in which handshake and tool calls are what they are here."""
_INHERITED = (
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMPDIR",
    "USER",
)
"""Variables that a server gets: a key in the environment is none of its business unless `env` gives it."""
_LONGEST_LINE = 64 * 1024 * 1024
_LOOK_S = 0.005
_GRACE_S = 2.0
_MOST_SAID = 300


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returned.

    Attributes:
        texts: its text parts.
        structured: its structured content, None where it has none.
    """

    texts: tuple[str, ...]
    structured: Mapping[str, Any] | None


class McpClient:
    """One server process. After a failure on the wire it is of no more use; `close` is still due.

    Attributes:
        server: name and version as the server gives them.
    """

    def __init__(self, process: asyncio.subprocess.Process, said: IO[bytes], timeout_s: float) -> None:
        self.server = ""
        self._process = process
        self._waiter: threading.Thread | None = None
        self._said = said
        self._timeout_s = timeout_s
        self._asked = 0

    @classmethod
    async def start(
        cls, command: Sequence[str], env: Mapping[str, str], folder: Path, timeout_s: float
    ) -> McpClient:
        """Start a server and shake hands.

        The server stays in the process group of its worker, so that whatever kills a worker kills it.

        Args:
            command: program and arguments.
            env: variables beside the few that it inherits.
            folder: its working directory.
            timeout_s: seconds to wait for each reply.

        Raises:
            AgentFailure: `unreachable` when it does not start, dies, or does not speak the protocol;
                `timeout` when it does not reply.
        """
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        before = set(threading.enumerate())
        said = tempfile.TemporaryFile()  # noqa: SIM115  closed with the client
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=said,
                cwd=folder,
                env={**inherited, **env},
                limit=_LONGEST_LINE,
            )
        except OSError as error:
            said.close()
            raise AgentFailure("unreachable", f"cannot start the MCP server {command[0]}: {error}") from None
        client = cls(process, said, timeout_s)
        client._waiter = next((one for one in threading.enumerate() if _waits_for_child(one, before)), None)
        try:
            await client._shake_hands()
        except BaseException:
            await client.close()
            raise
        return client

    async def tools(self) -> frozenset[str]:
        """Return the names of the server's tools."""
        names: set[str] = set()
        cursor: str | None = None
        while True:
            page = await self._request("tools/list", {} if cursor is None else {"cursor": cursor})
            names.update(str(tool.get("name")) for tool in page.get("tools", ()))
            cursor = page.get("nextCursor")
            if not cursor:
                return frozenset(names)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool.

        Raises:
            AgentFailure: `raised` when the tool reports an error; as `start` for what fails on the wire.
        """
        reply = await self._request("tools/call", {"name": tool, "arguments": arguments})
        texts = tuple(str(part.get("text", "")) for part in _parts(reply) if part.get("type") == "text")
        if reply.get("isError"):
            why = _short(" ".join(texts)) or "it does not say why"
            raise AgentFailure("raised", f"the MCP tool {tool} failed: {why}")
        structured = reply.get("structuredContent")
        return ToolResult(texts, structured if isinstance(structured, Mapping) else None)

    async def close(self) -> None:
        """Stop the server: close its input, wait, then make it end. Safe to call twice."""
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        for end in (None, process.terminate, process.kill):
            if end is not None:
                with contextlib.suppress(ProcessLookupError):
                    end()
            if await self._ended(_GRACE_S):
                break
        # A child of the server may hold its output open; asyncio offers no other way to let go of it.
        transport = getattr(process, "_transport", None)
        if transport is not None:
            transport.close()
        if self._waiter is not None and process.returncode is not None:
            self._waiter.join(_GRACE_S)  # it has told us that the process ended, and ends too
        self._said.close()
        await asyncio.sleep(0)

    async def _shake_hands(self) -> None:
        told = await self._request(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                "capabilities": {},
                "clientInfo": {"name": "recallbench", "version": version("recallbench")},
            },
        )
        spoken = told.get("protocolVersion")
        if spoken not in KNOWN_PROTOCOLS:
            raise AgentFailure(
                "unreachable",
                f"the MCP server speaks protocol {_short(str(spoken))}; known are "
                f"{', '.join(sorted(KNOWN_PROTOCOLS))}",
            )
        about = told.get("serverInfo") or {}
        self.server = f"{about.get('name', '')} {about.get('version', '')}".strip()
        await self._send({"method": "notifications/initialized"})

    async def _request(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a request and return its result."""
        self._asked += 1
        number = self._asked
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._send({"id": number, "method": method, "params": params})
                reply = await self._reply(number)
        except TimeoutError:
            raise AgentFailure(
                "timeout", f"the MCP server did not reply to {method} within {self._timeout_s:g} s"
            ) from None
        if "error" in reply:
            error = reply["error"] if isinstance(reply["error"], Mapping) else {}
            raise AgentFailure(
                "raised",
                f"the MCP server refused {method}: {_short(str(error.get('message', reply['error'])))}"
                f" (code {error.get('code')})",
            )
        result = reply.get("result")
        if not isinstance(result, Mapping):
            raise AgentFailure("bad_value", f"the MCP server's reply to {method} has no result")
        return result

    async def _reply(self, number: int) -> Mapping[str, Any]:
        """Read lines until the reply of a number; answer or pass over what comes in between."""
        while True:
            message = await self._read()
            if "method" in message:
                if "id" in message:
                    await self._answer(message)
            elif message.get("id") == number:
                return message

    async def _answer(self, message: Mapping[str, Any]) -> None:
        if message["method"] == "ping":
            await self._send({"id": message["id"], "result": {}})
        else:
            refusal = {"code": -32601, "message": "this client offers no methods"}
            await self._send({"id": message["id"], "error": refusal})

    async def _read(self) -> Mapping[str, Any]:
        assert self._process.stdout is not None
        try:
            line = await self._process.stdout.readline()
        except ValueError:
            raise AgentFailure(
                "oversized", f"the MCP server wrote a line of over {_LONGEST_LINE:,} bytes"
            ) from None
        if not line:
            raise await self._gone()
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, Mapping):
            wrote = _short(line.decode("utf-8", "replace"))
            raise AgentFailure("bad_value", f"the MCP server wrote what is no JSON-RPC message: {wrote}")
        return message

    async def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=True) + "\n"
        try:
            self._process.stdin.write(line.encode())
            await self._process.stdin.drain()
        except (ConnectionError, RuntimeError):
            raise await self._gone() from None

    async def _gone(self) -> AgentFailure:
        ended = await self._ended(_GRACE_S)
        how = f"exit status {self._process.returncode}" if ended else "its output is closed"
        self._said.seek(0)
        said = _short(self._said.read().decode("utf-8", "replace"), end=True)
        return AgentFailure(
            "unreachable", f"the MCP server is gone ({how}){f'; it last said: {said}' if said else ''}"
        )

    async def _ended(self, within_s: float) -> bool:
        """Wait for the server's end; `Process.wait` would wait for pipes that a child of it keeps open, too."""
        until = time.monotonic() + within_s
        while self._process.returncode is None and time.monotonic() < until:
            await asyncio.sleep(_LOOK_S)
        return self._process.returncode is not None


def _waits_for_child(thread: threading.Thread, before: set[threading.Thread]) -> bool:
    """Tell whether asyncio started a thread to wait for the process that was just made, as it does on 3.11."""
    return thread not in before and thread.name.startswith("asyncio-waitpid-")


def _parts(reply: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = reply.get("content")
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []


def _short(text: str, *, end: bool = False) -> str:
    """Return a text in one line of bounded length, of its beginning or of its end."""
    line = " ".join(text.split())
    if len(line) <= _MOST_SAID:
        return line
    return f"…{line[-_MOST_SAID:]}" if end else f"{line[:_MOST_SAID]}…"
