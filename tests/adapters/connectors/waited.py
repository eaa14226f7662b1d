"""Agents whose methods are `async`, as the shared checks want them: each call waits until it is done."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from harness.adapters.protocol import Adapter, Space


class Waited:
    """An adapter whose agents run in an event loop of their own."""

    def __init__(self, made: Adapter) -> None:
        self.made = made

    def open(self, space: Space) -> WaitedAgent:
        """Open an agent."""
        return WaitedAgent(self.made, space)


class WaitedAgent:
    """An agent and its loop; `inner` is the agent itself."""

    def __init__(self, made: Adapter, space: Space) -> None:
        self._runner = asyncio.Runner()
        try:
            self.inner: Any = self._wait(made.open, space)
        except BaseException:
            self._runner.close()
            raise

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.inner, name)
        return lambda *args, **named: self._wait(method, *args, **named)

    def close(self) -> None:
        """Close the agent, and then its loop."""
        try:
            self._wait(self.inner.close)
        finally:
            self._runner.close()

    def _wait(self, method: Any, *args: Any, **named: Any) -> Any:
        async def call() -> Any:
            value = method(*args, **named)
            return await value if inspect.isawaitable(value) else value

        return self._runner.run(call())
