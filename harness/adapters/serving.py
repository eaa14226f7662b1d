"""One adapter and its open agent, wherever they run: calls go in, checked values come out."""

from __future__ import annotations

import inspect
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from harness.adapters.plain import agent_capabilities
from harness.adapters.protocol import Adapter, AgentFailure, Capability, Memory, Question, Space
from harness.adapters.registry import AdapterInfo, make_adapter
from harness.adapters.states import own_state
from harness.adapters.wire import checked_answer, checked_id, checked_memories, checked_report
from harness.errors import HarnessError
from harness.llm.exchange import BudgetSpent
from harness.llm.models import Models
from harness.naming import Spec
from harness.suite import Conversation
from harness.suite.answer import Answer

T = TypeVar("T")

_MOST_SAID = 600


class Description(NamedTuple):
    """What an adapter says of itself once it is loaded; it goes into the manifest.

    Attributes:
        capabilities: what its agents can do beside ingesting.
        options: the options as they hold, defaults included.
        version: what is under test.
        prompts: name and hash of each prompt that it sends to a model.
    """

    capabilities: frozenset[Capability]
    options: Mapping[str, Any]
    version: str
    prompts: Mapping[str, str]


class Serving:
    """An adapter that serves one agent after the other.

    Every method that calls into the adapter raises `AgentFailure` when that fails, and lets
    through what has to stop a run: `HarnessError` and `BudgetSpent`.
    """

    def __init__(self, info: AdapterInfo, spec: Spec, models: Models) -> None:
        self._models = models
        self._info = info
        self._adapter: Adapter = make_adapter(info, spec)

    def describe(self) -> Description:
        """Return what the adapter says of itself."""
        prompts = getattr(self._adapter, "prompts", None)
        return Description(
            frozenset(self._adapter.capabilities),
            self._adapter.options.model_dump(mode="json"),
            _version(self._adapter, own=self._info.kind == "own"),
            prompts() if prompts else {},
        )

    async def open(self, namespace: str, repeat: int) -> OpenAgent:
        """Open an agent in a fresh space."""
        folder = folder_of(namespace)
        used = self._adapter.uses_folder
        if used:
            folder.mkdir(mode=0o700)
        space = Space(namespace, folder, self._models, repeat)
        try:
            agent = await _call("open", self._adapter.open, space)
            if agent is None or not callable(getattr(agent, "ingest", None)):
                raise AgentFailure(
                    "bad_value",
                    f"open returned a {type(agent).__name__}; expected an agent with ingest",
                    "open",
                )
            lacking = {"recall", "answer"} & self._adapter.capabilities - agent_capabilities(agent)
            if lacking:
                raise AgentFailure("bad_value", f"the agent lacks {', '.join(sorted(lacking))}", "open")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return OpenAgent(agent, folder if used else None)

    async def discard(self, namespace: str) -> None:
        """Remove what a killed agent left behind."""
        await _call("discard", self._adapter.discard, namespace)

    async def close(self) -> None:
        """Close the adapter."""
        await _call("close", self._adapter.close)


def folder_of(namespace: str) -> Path:
    """Return the folder of an agent; the harness removes it where a killed worker cannot."""
    return Path(tempfile.gettempdir(), f"recallbench-{namespace}")


class OpenAgent:
    """One agent between `open` and `close`."""

    def __init__(self, agent: Any, folder: Path | None) -> None:
        self._agent = agent
        self._folder = folder
        self._kept_files = False

    async def ingest(self, conversation: Conversation) -> None:
        """Hand a conversation over."""
        await _call("ingest", self._agent.ingest, conversation)
        self._kept_files = self._kept_files or self._has_files()

    async def wait(self) -> None:
        """Wait until everything can be recalled, where the agent knows."""
        wait = getattr(self._agent, "wait_until_ready", None)
        if wait is not None:
            await _call("wait", wait)

    async def recall(self, question: Question, limit: int) -> tuple[Memory, ...]:
        """Return the memories for a question."""
        self._check_store("recall")
        value = await _call("recall", self._agent.recall, question, limit)
        self._check_store("recall")
        return _checked("recall", checked_memories, value)

    async def answer(self, question: Question) -> Answer:
        """Return the agent's own answer."""
        self._check_store("answer")
        value = await _call("answer", self._agent.answer, question)
        self._check_store("answer")
        return _checked("answer", checked_answer, value)

    async def list(self) -> tuple[Memory, ...]:
        """Return everything that is stored."""
        return _checked("list", checked_memories, await _call("list", self._agent.list))

    async def add(self, text: str, user: str | None = None) -> str:
        """Store one memory; return its id."""
        given = {} if user is None else {"user": user}
        return _checked("add", checked_id, await _call("add", self._agent.add, text, **given))

    async def delete(self, memory_id: str) -> None:
        """Remove one memory."""
        await _call("delete", self._agent.delete, memory_id)

    async def report(self) -> dict[str, Any]:
        """Return what the agent says of its work, nothing where it says nothing."""
        report = getattr(self._agent, "report", None)
        said = {} if report is None else await _call("report", report)
        return _checked("report", checked_report, said)

    async def close(self) -> None:
        """Close the agent and remove its folder."""
        try:
            close = getattr(self._agent, "close", None)
            if close is not None:
                await _call("close", close)
        finally:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _has_files(self) -> bool:
        """Say whether there is any file, however deep; which ones come and go is a store's own affair."""
        return self._folder is not None and any(files for _, _, files in os.walk(self._folder))

    def _check_store(self, phase: str) -> None:
        """Refuse to take an empty recall for forgetfulness when the store itself is gone."""
        if self._folder is None:
            return
        if not self._folder.is_dir() or (self._kept_files and not self._has_files()):
            raise AgentFailure("store_lost", "what the agent had stored in its folder is gone", phase)


def _version(adapter: Adapter, *, own: bool) -> str:
    """Return what is under test; of the user's own code also which state of it."""
    said = str(adapter.version())
    if not own:
        return said
    agent = getattr(type(adapter), "agent", type(adapter))
    state = own_state(agent.__module__)
    return f"{said} (source {state})".strip() if state else said


async def _call(phase: str, method: Any, *args: Any, **named: Any) -> Any:
    try:
        value = method(*args, **named)
        return await value if inspect.isawaitable(value) else value
    except AgentFailure as failure:
        failure.phase = failure.phase or phase
        failure.message = _short(failure.message)
        raise
    except (HarnessError, BudgetSpent):
        raise
    except Exception as error:
        raise AgentFailure("raised", said(error), phase) from error


def _checked(phase: str, check: Callable[[Any], T], value: Any) -> T:
    try:
        return check(value)
    except AgentFailure as failure:
        failure.phase = phase
        failure.message = _short(failure.message)
        raise
    except Exception as error:  # the value's own methods may fail
        raise AgentFailure("bad_value", f"what it returned cannot be read: {said(error)}", phase) from error


def said(error: BaseException) -> str:
    """Return what an exception says, in one line of bounded length."""
    try:
        words = str(error)
    except Exception:
        words = "(it cannot say what)"
    line = " ".join(f"{type(error).__name__}: {words}".split()).removesuffix(":")
    return _short("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line))


def _short(line: str) -> str:
    return line if len(line) <= _MOST_SAID else line[: _MOST_SAID - 1] + "…"
