"""Classes that are agents themselves: an adapter in one class, without an `Adapter` around it.

class MyMemory:
    def __init__(self, space, k: int = 5): ...      # one a haystack; options are keyword arguments
    def ingest(self, conversation): ...
    def recall(self, question, limit): ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import Any

from pydantic import ConfigDict, create_model

from harness.adapters.protocol import Adapter, Capability, Space
from harness.errors import InputError
from harness.naming import Spec

_METHODS: dict[str, Capability] = {
    "recall": "recall",
    "answer": "answer",
    "wait_until_ready": "wait",
    "add": "add",
    "list": "list",
    "delete": "delete",
}


def as_adapter(target: Any, spec: Spec) -> type[Adapter]:
    """Return the adapter around an agent class.

    Raises:
        InputError: when it is no class with `ingest` and one of `recall` and `answer`.
    """
    if not inspect.isclass(target) or not callable(getattr(target, "ingest", None)):
        raise InputError(
            f"--system {spec.text}: {spec.name} is no adapter. Name a class with ingest(conversation) and "
            "recall(question, limit) or answer(question); for other classes there is --system python(…)."
        )
    capabilities = agent_capabilities(target)
    if not capabilities & {"recall", "answer"}:
        raise InputError(f"--system {spec.text}: {spec.name} has neither recall nor answer.")
    return type(
        target.__name__,
        (_Plain,),
        {
            "__doc__": target.__doc__,
            "agent": target,
            "capabilities": capabilities,
            "Options": _options_of(target, spec),
        },
    )


def agent_capabilities(agent: Any) -> frozenset[Capability]:
    """Return what an agent, or a class of agents, can do beside ingesting."""
    found = {can for name, can in _METHODS.items() if callable(getattr(agent, name, None))}
    if "add" in found and "user" in _parameters(agent.add):
        found.add("user")
    return frozenset(found)


class _Plain(Adapter):
    agent: Callable[..., Any]

    def open(self, space: Space) -> Any:
        return type(self).agent(space, **{name: getattr(self.options, name) for name in self._names})

    def version(self) -> str:
        package = type(self).agent.__module__.partition(".")[0]
        try:
            names = packages_distributions().get(package, [])
            return f"{names[0]} {version(names[0])}" if names else ""
        except PackageNotFoundError:
            return ""

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(type(self.options).model_fields)


def _options_of(target: type, spec: Spec) -> Any:
    """Return a pydantic model of the keyword arguments after the space."""
    parameters = list(_parameters(target).values())
    if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
        raise InputError(
            f"--system {spec.text}: {spec.name}.__init__ has to take the space first: __init__(self, space, …)."
        )
    named = [one for one in parameters[1:] if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    made: dict[str, Any] = {
        one.name: (
            Any if one.annotation is one.empty or isinstance(one.annotation, str) else one.annotation,
            ... if one.default is one.empty else one.default,
        )
        for one in named
    }
    return create_model(
        "Options", __config__=ConfigDict(extra="forbid", arbitrary_types_allowed=True), **made
    )


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function, eval_str=True).parameters)
    except (NameError, TypeError, ValueError):
        try:
            return dict(inspect.signature(function).parameters)
        except (TypeError, ValueError):
            return {}
