"""Any system with an HTTP API, described in a small YAML file; docs/connect-http.md has the format.

--system "http(description='my_system.yaml', url='http://127.0.0.1:8000')"
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from harness.adapters.connectors import http_values as values
from harness.adapters.connectors.http_description import HttpDescription, load_description
from harness.adapters.connectors.http_items import memories_from, one_text, whole_number
from harness.adapters.connectors.http_paths import PathError, find
from harness.adapters.connectors.http_reading import Step
from harness.adapters.connectors.http_wire import HttpWire
from harness.adapters.protocol import Adapter, AgentFailure, Capability, Memory, Question, Space
from harness.suite import Conversation
from harness.suite.answer import Answer

T = TypeVar("T")

_METHODS: tuple[Capability, ...] = ("recall", "answer", "add", "list", "delete")


class HttpOptions(BaseModel):
    """Options of `http`.

    Attributes:
        description: path of the description.
        url: base URL instead of the description's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str
    url: str | None = None


class HttpSystem(Adapter):
    """A system behind HTTP; what it can do is what its description has steps for."""

    Options = HttpOptions
    isolation = "inline"

    def __init__(self, options: HttpOptions) -> None:
        super().__init__(options)
        self._description = load_description(Path(options.description).expanduser(), options.url)
        self._wire = HttpWire(self._description)
        self._undoing: set[asyncio.Task[None]] = set()
        steps = self._description.steps
        can: set[Capability] = {name for name in _METHODS if name in steps}
        if "ready" in steps or "close_session" in steps:
            can.add("wait")
        if "add" in steps and "user" in steps["add"].names:
            can.add("user")
        if "close" in steps and steps["close"].names <= {"namespace"}:
            can.add("discard")
        self.capabilities = frozenset(can)  # type: ignore[misc]  # it depends on the description

    async def open(self, space: Space) -> HttpAgent:
        """Open an agent; what a cancelled opening leaves on the server is closed as soon as it is known."""
        agent = HttpAgent(self._description, self._wire, space.namespace, self.capabilities)
        opening = asyncio.ensure_future(agent.start())
        try:
            await asyncio.shield(opening)
        except asyncio.CancelledError:
            undoing = asyncio.create_task(_undo(opening, agent))
            self._undoing.add(undoing)
            undoing.add_done_callback(self._undoing.discard)
            raise
        return agent

    def version(self) -> str:
        """Return name and version from the description, with the state of the file."""
        said = self._description
        return f"{said.name} {said.version}".strip() + f" (description {said.digest})"

    async def discard(self, namespace: str) -> None:
        """Remove what is stored under a namespace, where the description can say how."""
        if "discard" in self.capabilities:
            await self._wire.send(self._description.steps["close"], {"namespace": namespace})

    async def close(self) -> None:
        """Close the connections."""
        await asyncio.gather(*self._undoing, return_exceptions=True)
        await self._wire.close()


async def _undo(opening: asyncio.Future[None], agent: HttpAgent) -> None:
    """Let an opening end, and close what it opened."""
    with suppress(AgentFailure):
        await opening
        await agent.close()


class HttpAgent:
    """One haystack of a described system; it has the methods that the description has steps for."""

    def __init__(
        self,
        description: HttpDescription,
        wire: HttpWire,
        namespace: str,
        capabilities: frozenset[Capability],
    ) -> None:
        self._description = description
        self._steps = description.steps
        self._wire = wire
        self._namespace = namespace
        self._saved: dict[str, Any] = {"namespace": namespace}
        self._sessions: list[dict[str, Any]] = []
        self._unclosed: dict[str, Any] | None = None
        for name in {*_METHODS} & capabilities:
            setattr(self, name, getattr(self, f"_{name}"))

    async def start(self) -> None:
        """Do what `open` says."""
        if "open" in self._steps:
            await self._send(self._steps["open"], self._saved, keep=self._saved)

    async def ingest(self, conversation: Conversation) -> None:
        """Hand a conversation over, in as many requests as the description asks for."""
        session: dict[str, Any] = {}
        self._sessions.append(session)
        if "open_session" in self._steps:
            self._unclosed = session
            known = {**self._saved, **values.of_conversation(conversation)}
            await self._send(self._steps["open_session"], known, keep=session)
        step = self._steps["ingest"]
        template = values.PLAIN_MESSAGE if step.message is None else step.message
        for piece in values.of_pieces(conversation, step.per, template):
            await self._send(step, {**self._saved, **session, **piece}, keep=session)
        if "open_session" in self._steps:
            await self._close_session(session)

    async def wait_until_ready(self) -> None:
        """Close the one session there is, and poll until everything can be recalled."""
        if "open_session" not in self._steps:
            await self._close_session({})
        if "ready" in self._steps:
            for session in self._scopes("ready"):
                await self._poll(self._steps["ready"], {**self._saved, **session})

    async def close(self) -> None:
        """Close a session that ingesting left open, and do what `close` says."""
        if self._unclosed is not None:
            with suppress(AgentFailure):  # it may never have been opened
                await self._close_session(self._unclosed)
        if "close" in self._steps:
            for session in self._scopes("close"):
                await self._send(self._steps["close"], {**self._saved, **session})

    async def _recall(self, question: Question, limit: int) -> list[Memory]:
        step = self._steps["recall"]
        data = await self._send(step, {**self._saved, **values.of_question(question, limit)})
        return self._read(step, lambda: memories_from(data, step.paths))[:limit]

    async def _answer(self, question: Question) -> Answer:
        step = self._steps["answer"]
        data = await self._send(step, {**self._saved, **values.of_question(question)})
        tokens = step.paths.get("tokens")
        return self._read(
            step,
            lambda: Answer(
                one_text(find(step.paths["text"], data), "the answer"),
                tokens=None if tokens is None else whole_number(find(tokens, data)),
            ),
        )

    async def _add(self, text: str, user: str | None = None) -> str:
        step = self._steps["add"]
        whose = self._namespace if user is None else f"{self._namespace}-{user}"
        data = await self._send(step, {**self._saved, "text": text, "user": whose})
        return self._read(step, lambda: one_text(find(step.paths["id"], data), "the id", number=True))

    async def _list(self) -> list[Memory]:
        step = self._steps["list"]
        data = await self._send(step, self._saved)
        return self._read(step, lambda: memories_from(data, step.paths))

    async def _delete(self, memory_id: str) -> None:
        await self._send(self._steps["delete"], {**self._saved, "id": memory_id})

    async def _close_session(self, session: dict[str, Any]) -> None:
        if "close_session" in self._steps:
            await self._send(self._steps["close_session"], {**self._saved, **session})
        self._unclosed = None

    async def _poll(self, step: Step, known: Mapping[str, Any]) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + step.longest_s
        while True:
            data = await self._send(step, known)
            state = self._read(step, partial(find, step.paths["path"], data))
            if _same(state, step.value):
                return
            if step.failed is not None and _same(state, step.failed):
                raise AgentFailure("raised", f"ready: {step.paths['path'].text} is {str(state)[:100]!r}")
            if loop.time() + step.interval_s > end:
                raise AgentFailure(
                    "timeout",
                    f"ready: {step.paths['path'].text} is {str(state)[:100]!r} "
                    f"and not {step.value!r} after {step.longest_s:g} s",
                )
            await asyncio.sleep(step.interval_s)

    def _scopes(self, name: str) -> list[dict[str, Any]]:
        """Return the saved values that a step is to be run with, once each."""
        if not self._description.per_session(name):
            return [{}]
        needed = self._steps[name].names & self._description.session_values
        return [session for session in self._sessions if needed <= session.keys()]

    async def _send(self, step: Step, known: Mapping[str, Any], keep: dict[str, Any] | None = None) -> Any:
        lacking = sorted(step.names - known.keys() - {"namespace"})
        if lacking:
            raise AgentFailure("bad_value", f"{step.name}: nothing was saved yet as {', '.join(lacking)}")
        data = await self._wire.send(step, known)
        if keep is not None:
            keep.update(
                self._read(step, lambda: {name: find(path, data) for name, path in step.save.items()})
            )
        return data

    def _read(self, step: Step, read: Callable[[], T]) -> T:
        """Take values from a reply; say which step's reply is not as described."""
        try:
            return read()
        except PathError as error:
            raise AgentFailure(
                "bad_value", self._wire.hidden(f"{step.name}: {step.method} {step.path}: {error}")
            ) from None


def _same(found: Any, wanted: Any) -> bool:
    """Tell whether a value is the one described; 1 is not true."""
    return type(found) is type(wanted) and bool(found == wanted)
