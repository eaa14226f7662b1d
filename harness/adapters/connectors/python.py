"""Any Python class or function, with no line written for the harness.

    --system "python(target='my_module:Store', add='add', search='search')"
    --system "python(target='my_module:answer_from')"        # answer_from(question, messages) -> str

Templates and paths are those of docs/connect-http.md; a name in a path may be an attribute.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

from harness.adapters.connectors import http_values as values
from harness.adapters.connectors.http_items import memories_from, one_text
from harness.adapters.connectors.http_paths import JsonPath, PathError, find, parse_path
from harness.adapters.connectors.value_templates import filled, placeholders
from harness.adapters.protocol import Adapter, AgentFailure, Capability, Memory, Question, Space
from harness.adapters.states import own_state
from harness.errors import InputError
from harness.naming import load_target
from harness.suite import Conversation

Arguments = list[Any] | dict[str, Any]
_OPEN = frozenset({"namespace", "folder"})
_SEARCHES = ("search", "recall")


class PythonOptions(BaseModel):
    """Options of `python`.

    Attributes:
        target: `module:attribute` of a class, a function that makes an object, or a function that answers.
        arguments: of the class or the function that makes an object.
        add: method that takes in what was said.
        add_arguments: its arguments, a list or by name.
        per: what is handed over in one call: message, round or conversation.
        message: form of one entry of `{messages}`.
        search: method that returns memories.
        search_arguments: its arguments.
        answer: method that returns an answer.
        answer_arguments: its arguments.
        close: method that cleans up.
        items: where in the result of `search` the list of memories lies.
        id, text, score, created_at, type, importance: where in each of them these lie; without `text` each
            has to be a string.
        answer_text: where in the result of `answer` the text lies.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: str
    arguments: Arguments = []
    add: str = "add"
    add_arguments: Arguments = ["{text}"]
    per: values.Per = "message"
    message: dict[str, Any] = dict(values.PLAIN_MESSAGE)
    search: str | None = None
    search_arguments: Arguments = ["{question}"]
    answer: str | None = None
    answer_arguments: Arguments | None = None
    close: str | None = None
    items: str = "$"
    id: str | None = None
    text: str | None = None
    score: str | None = None
    created_at: str | None = None
    type: str | None = None
    importance: str | None = None
    answer_text: str = "$"

    @field_validator("items", "id", "text", "score", "created_at", "type", "importance", "answer_text")
    @classmethod
    def _path(cls, value: str | None) -> str | None:
        if value is not None:
            parse_path(value)
        return value

    @field_validator("arguments", "add_arguments", "search_arguments", "answer_arguments", "message")
    @classmethod
    def _template(cls, value: Any, info: Any) -> Any:
        known = {
            "arguments": _OPEN,
            "add_arguments": _OPEN | values.OF_PIECE,
            "search_arguments": _OPEN | values.OF_QUESTION,
            "answer_arguments": _OPEN | (values.OF_QUESTION - {"limit"}) | {"messages"},
            "message": values.OF_MESSAGE,
        }[info.field_name]
        for name in placeholders(value):
            if name not in known:
                listed = ", ".join(f"{{{one}}}" for one in sorted(known))
                raise ValueError(f"{{{name}}} stands for nothing here; known: {listed}")
        return value


class PythonObject(Adapter):
    """A class or function of anybody's."""

    Options = PythonOptions

    def __init__(self, options: PythonOptions) -> None:
        super().__init__(options)
        self._options = options
        module, _, attribute = options.target.partition(":")
        if not module or not attribute:
            raise InputError(f"--system python: target is {options.target!r}. Write 'module:attribute'.")
        self._target = load_target(options.target, "--system", "python")
        made_of = inspect.isclass(self._target)
        if not callable(self._target):
            raise InputError(
                f"--system python: {options.target} is one object, which all cases would share. "
                "Name its class, or a function that makes it."
            )
        self._answers = not (made_of or options.search or options.answer)
        self._search = options.search
        if made_of and not options.search and not options.answer:
            self._search = next((name for name in _SEARCHES if hasattr(self._target, name)), None)
            if self._search is None:
                raise InputError(
                    f"--system python: {options.target} has neither search nor recall. "
                    "Name the method: search='…' or answer='…'."
                )
        can: set[Capability] = set()
        if self._search:
            can.add("recall")
        if self._answers or options.answer:
            can.add("answer")
        self.capabilities = frozenset(can)  # type: ignore[misc]  # it depends on the target

    async def open(self, space: Space) -> Any:
        """Make an object for one haystack."""
        known = {"namespace": space.namespace, "folder": str(space.folder)}
        if self._answers:
            return _Answerer(self._target, self._options, known)
        made = self._target
        if callable(made):
            made = await _called(made, self._options.arguments, known)
        return _Agent(made, self._options, self._search, known)

    def version(self) -> str:
        """Return the target, with its module's version where it has one."""
        module = inspect.getmodule(self._target)
        name = self._options.target.partition(":")[0]
        state = own_state(name)
        parts = (
            self._options.target,
            getattr(module, "__version__", ""),
            f"(source {state})" if state else "",
        )
        return " ".join(filter(None, parts))


class _Messages:
    """What was said so far, in the form that the options give."""

    def __init__(self, options: PythonOptions) -> None:
        self._form = options.message
        self.all: list[Any] = []

    def take(self, conversation: Conversation) -> None:
        whole = values.of_pieces(conversation, "conversation", self._form)
        self.all += [message for piece in whole for message in piece["messages"]]


class _Answerer:
    """A function that is asked with everything that was said."""

    def __init__(
        self, function: Callable[..., Any], options: PythonOptions, known: Mapping[str, Any]
    ) -> None:
        self._function = function
        self._options = options
        self._known = known
        self._said = _Messages(options)

    def ingest(self, conversation: Conversation) -> None:
        self._said.take(conversation)

    async def answer(self, question: Question) -> str:
        given = self._options.answer_arguments
        known = {**self._known, **values.of_question(question), "messages": self._said.all}
        arguments = ["{question}", "{messages}"] if given is None else given
        return _text(await _called(self._function, arguments, known), self._options)


class _Agent:
    """An object with a method that takes in, and one that recalls or answers."""

    def __init__(
        self, made: Any, options: PythonOptions, search: str | None, known: Mapping[str, Any]
    ) -> None:
        self._options = options
        self._known = known
        self._said = _Messages(options)
        self._add = _method(made, options.add)
        self._close = _method(made, options.close) if options.close else None
        if search:
            self._search = _method(made, search)
            self.recall = self._recall
        if options.answer:
            self._answered = _method(made, options.answer)
            self.answer = self._answer

    async def ingest(self, conversation: Conversation) -> None:
        self._said.take(conversation)
        for piece in values.of_pieces(conversation, self._options.per, self._options.message):
            await _called(self._add, self._options.add_arguments, {**self._known, **piece})

    async def _recall(self, question: Question, limit: int) -> list[Memory]:
        known = {**self._known, **values.of_question(question, limit)}
        found = await _called(self._search, self._options.search_arguments, known)
        try:
            return memories_from(found, _paths(self._options), attributes=True)[:limit]
        except PathError as error:
            hint = "" if self._options.text else " (set text to where the text of each lies, as '$.text')"
            raise AgentFailure("bad_value", f"{error}{hint}") from None

    async def _answer(self, question: Question) -> str:
        given = self._options.answer_arguments
        known = {**self._known, **values.of_question(question), "messages": self._said.all}
        arguments = ["{question}"] if given is None else given
        return _text(await _called(self._answered, arguments, known), self._options)

    async def close(self) -> None:
        if self._close is not None:
            await _called(self._close, [], self._known)


def _paths(options: PythonOptions) -> dict[str, JsonPath]:
    named = {
        "items": options.items,
        "id": options.id,
        "text": options.text or "$",
        "score": options.score,
        "created_at": options.created_at,
        "type": options.type,
        "importance": options.importance,
    }
    return {name: parse_path(path) for name, path in named.items() if path is not None}


def _text(result: Any, options: PythonOptions) -> str:
    try:
        return one_text(find(parse_path(options.answer_text), result, attributes=True), "the answer")
    except PathError as error:
        raise AgentFailure("bad_value", str(error)) from None


def _method(made: Any, name: str) -> Callable[..., Any]:
    found = getattr(made, name, None)
    if not callable(found):
        raise AgentFailure("options", f"a {type(made).__name__} has no method {name!r}")
    method: Callable[..., Any] = found
    return method


async def _called(function: Callable[..., Any], arguments: Arguments, known: Mapping[str, Any]) -> Any:
    named = filled(arguments, known) if isinstance(arguments, dict) else {}
    listed = [filled(one, known) for one in arguments] if isinstance(arguments, list) else []
    result = function(*listed, **named)
    return await result if inspect.isawaitable(result) else result
