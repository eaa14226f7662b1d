from __future__ import annotations

from typing import Any

import pytest

from harness.adapters import Adapter
from harness.adapters.plain import agent_capabilities, as_adapter
from harness.errors import InputError
from harness.naming import parse_spec


class Plain:
    """A class that is an agent itself."""

    def __init__(self, space: Any, k: int = 5, *, where: str = "here", untyped=None, **rest: Any) -> None:
        self.given = (space, k, where, untyped, rest)

    def ingest(self, conversation: Any) -> None: ...

    def recall(self, question: Any, limit: int) -> list[str]:
        return []


class Complete(Plain):
    async def answer(self, question: Any) -> str:
        return ""

    def wait_until_ready(self) -> None: ...

    def add(self, text: str, user: str | None = None) -> str:
        return ""

    def list(self) -> list[str]:
        return []

    def delete(self, memory_id: str) -> None: ...


class AddsForOne(Plain):
    def add(self, text: str) -> str:
        return ""


class NoIngest:
    def recall(self, question: Any, limit: int) -> list[str]:
        return []


class NoRecall:
    def __init__(self, space: Any) -> None: ...

    def ingest(self, conversation: Any) -> None: ...


class NoSpace(NoRecall):
    def __init__(self, *, k: int = 5) -> None: ...

    def recall(self, question: Any, limit: int) -> list[str]:
        return []


class StringAnnotation(Plain):
    def __init__(self, space: "Nowhere", k: "AlsoNowhere" = 5) -> None:  # type: ignore[name-defined]  # noqa: F821, UP037
        self.k = k


SPEC = parse_spec("mine:Class", "--system")


def adapter(target: Any, **options: Any) -> Adapter:
    made = as_adapter(target, SPEC)
    return made(made.Options(**options))


@pytest.mark.parametrize(
    ("agent", "capabilities"),
    [
        (Plain, {"recall"}),
        (Complete, {"recall", "answer", "wait", "add", "list", "delete", "user"}),
        (AddsForOne, {"recall", "add"}),
        (NoRecall, set()),
    ],
)
def test_capabilities_are_the_methods_there_are(agent: type, capabilities: set[str]) -> None:
    assert agent_capabilities(agent) == capabilities


def test_options_are_the_keyword_arguments() -> None:
    space = object()
    agent = adapter(Plain, k="7", where="there").open(space)  # type: ignore[arg-type]
    assert agent.given == (space, 7, "there", None, {})


@pytest.mark.parametrize("wrong", [{"k": "many"}, {"nothing": 1}, {"rest": {}}])
def test_options_that_do_not_fit_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        adapter(Plain, **wrong)


def test_annotations_that_cannot_be_resolved_are_no_hindrance() -> None:
    assert adapter(StringAnnotation, k="any").open(object()).k == "any"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (NoIngest, "is no adapter. Name a class with ingest(conversation)"),
        (len, "is no adapter"),
        (None, "is no adapter"),
        (Plain(None), "is no adapter"),
        (NoRecall, "has neither recall nor answer"),
        (NoSpace, "has to take the space first: __init__(self, space, …)"),
    ],
)
def test_what_is_no_agent_is_refused(target: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        as_adapter(target, SPEC)
    assert said in str(caught.value)
    assert str(caught.value).startswith("--system mine:Class: ")


def test_the_adapter_is_called_as_the_class_is() -> None:
    made = as_adapter(Complete, SPEC)
    assert made.__name__ == "Complete"
    assert made.isolation == "process"
    assert made.capabilities == agent_capabilities(Complete)
