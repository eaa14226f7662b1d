"""Ask a chat model for a reply that fits a schema, through the cassette.

One `ChatModel` a judge and run:

- A reply that arrived and cannot be used (malformed, cut off, a quote that is not in the
  answer …) is asked for again with a word on what was wrong, up to `ATTEMPTS` in all. Each
  attempt is stored, so that a replay takes the same way.
- A form of a request that the endpoint does not take is changed, see `dialect`.
- Trouble on the way is retried and never stored, see `line`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

from harness.errors import EndpointError, InputError
from harness.llm import usage
from harness.llm.cassette import Cassette, Entry, canonical, request_key
from harness.llm.chat_reply import model_of
from harness.llm.dialect import Dialect, described
from harness.llm.endpoint import Endpoint
from harness.llm.exchange import Answered, BudgetSpent, ChatRequest, Served, Unanswered, Unrecorded
from harness.llm.line import Advice, Arrived, Line, decoded
from harness.llm.replies import (
    Parsed,
    RawReply,
    ReplyError,
    TextReply,
    Usage,
    read_reply,
    read_text,
    usage_of,
)
from harness.llm.schema import ReplySchema
from harness.llm.usage import Budget, Price, Spent

T = TypeVar("T")

ATTEMPTS = 3
"""Replies asked for before one question is given up."""
_MOST_STEPS = 8
_MOST_TOKENS = 32_768
_ROUTE = "/chat/completions"

Reading = Parsed | TextReply


class ChatModel:
    """A model at an endpoint, asked through a cassette; an async context manager.

    Args:
        endpoint: where and whom to ask.
        cassette: where replies are kept.
        concurrency: most requests in flight.
        timeout_s: seconds to wait for one reply.
        prices: dollars for a million tokens by model, for providers that name no cost.
        max_cost: dollars after which no request is sent; a `Budget` is one for several models.
        retry_errors: ask again where the cassette holds an error.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        cassette: Cassette,
        *,
        concurrency: int = 16,
        timeout_s: float = 120.0,
        prices: Mapping[str, Price] | None = None,
        max_cost: Budget | float | None = None,
        retry_errors: bool = False,
    ) -> None:
        self.endpoint = endpoint
        self.fresh = Spent()
        self._cassette = cassette
        self._prices = prices or {}
        self._budget = max_cost if isinstance(max_cost, Budget) else Budget(max_cost)
        self._retry_errors = retry_errors
        self._dialect = Dialect()
        keeps = cassette.mode == "auto"
        self._line = Line(
            endpoint, _ROUTE, _advice(endpoint), keeps=keeps, concurrency=concurrency, timeout_s=timeout_s
        )
        self.slots = self._line.slots

    async def ask(self, request: ChatRequest, read: Callable[[Any], T] | None = None) -> Answered:
        """Return a usable reply.

        Args:
            request: what to ask.
            read: makes something of the reply's value (the schema's fields, or the text where there is
                no schema); a `ReplyError` that it raises makes the reply unusable.

        Raises:
            Unanswered: when every attempt failed.
            EndpointError: when the run has to stop, or the cassette lacks an entry in replay.
            BudgetSpent: when the cost limit is reached.
        """
        try:
            return await self._converse(request, read, fresh=False)
        except Unanswered as failed:
            if not self._retry_errors or failed.served.asked or self._cassette.mode != "auto":
                raise
        return await self._converse(request, read, fresh=True)

    async def _converse(
        self, request: ChatRequest, read: Callable[[Any], T] | None, *, fresh: bool
    ) -> Answered:
        messages = list(request.messages)
        wanted = dict(request.parameters)
        total, asked = Spent(), 0
        for attempt in range(ATTEMPTS):
            try:
                entry, arrived, new = await self._reply(request, messages, wanted, attempt, fresh=fresh)
            except Unanswered as failed:  # the attempts before it were used all the same
                raise Unanswered(failed.error, failed.served._replace(spent=total)) from None
            raw, reading = arrived.raw, arrived.reading
            asked += new
            total = total.plus(self._use(raw, reading))
            served = Served(entry.provider, model_of(raw), entry.sent, total, asked)
            try:
                if isinstance(reading, ReplyError):
                    raise reading
                value: Any = reading.text if isinstance(reading, TextReply) else reading.value
                return Answered(read(value) if read else value, reading.flags, served)
            except ReplyError as error:
                problem = error
            if not problem.retry or attempt + 1 == ATTEMPTS:
                raise Unanswered(problem, served)
            if problem.kind == "truncated":
                wanted["max_tokens"] = min(2 * int(wanted.get("max_tokens", 1024)), _MOST_TOKENS)
            else:
                messages[len(request.messages) :] = _correction(raw, problem, request.schema)
        raise AssertionError("the last attempt returns or raises")

    async def _reply(
        self,
        request: ChatRequest,
        messages: list[Mapping[str, str]],
        wanted: Mapping[str, Any],
        attempt: int,
        *,
        fresh: bool,
    ) -> tuple[Entry, Arrived[Reading], int]:
        """Return a reply that arrived, from the cassette or the wire, and how many went over the wire."""
        asked = canonical(
            {
                "model": self.endpoint.model,
                "messages": list(request.messages),
                "schema": request.schema and request.schema.json_schema(),
                "parameters": dict(request.parameters),
                "repeat": request.repeat,
                "attempt": attempt,
            }
        )
        key = request_key(asked)
        kept = None if fresh else self._cassette.get(key)
        if kept is not None:
            return kept, _stored(kept, request), 0
        if self._cassette.mode == "replay":
            raise Unrecorded(
                f"{request.label}: the cassette {self._cassette.path} holds no reply of {self.endpoint.model} "
                f"for this (attempt {attempt + 1}, repeat {request.repeat + 1}). Record it, without "
                "--cassette-mode replay, in a .sqlite cassette."
            )
        arrived, sent = await self._fetch(request, messages, wanted)
        entry = Entry(
            key, asked, arrived.raw.status, arrived.text, self.endpoint.provider, canonical(described(sent))
        )
        stands = self._cassette.put(entry, replace=fresh)
        return stands, arrived if stands is entry else _stored(stands, request), 1

    async def _fetch(
        self, request: ChatRequest, messages: list[Mapping[str, str]], wanted: Mapping[str, Any]
    ) -> tuple[Arrived[Reading], Mapping[str, Any]]:
        """Get one reply over the wire, in as many forms as the endpoint makes necessary; return what it took."""
        sent: Mapping[str, Any] = {}

        def body() -> Mapping[str, Any]:
            # In the moment of sending: what it costs and what is accepted is learned while a request waits.
            nonlocal sent
            self._check_budget()
            sent = self._dialect.body(self.endpoint.model, messages, wanted, request.schema)
            return sent

        for _ in range(_MOST_STEPS):
            try:
                arrived = await self._line.ask(body, partial(_read, request=request))
            except ReplyError as trouble:
                if self._dialect.adapt(trouble, sent):
                    continue
                raise Unanswered(trouble, Served(self.endpoint.provider, None, "{}", Spent(), 1)) from None
            self._count(arrived)
            return arrived, sent
        raise EndpointError(
            f"{self.endpoint.label}: refused {_MOST_STEPS} forms of the same request. "
            "Check --base-url and --model with `recallbench judge check`."
        )

    def _check_budget(self) -> None:
        if self._budget.limit is None:
            return
        if self.fresh.calls and self.fresh.priced < self.fresh.calls:
            raise InputError(
                f"--max-cost: {self.endpoint.label} names no cost and --prices has no price for "
                f"{self.endpoint.model}. Give --prices FILE, or leave out --max-cost."
            )
        if self._budget.used_up:
            raise BudgetSpent(
                f"{self._budget.spent:.4f} US dollars spent of --max-cost {self._budget.limit:g}"
            )

    def _count(self, arrived: Arrived[Reading]) -> None:
        used = self._use(arrived.raw, arrived.reading)
        self.fresh = self.fresh.plus(used)
        self._budget.spent += used.cost or 0.0

    def _use(self, raw: RawReply, reading: Reading | ReplyError) -> Spent:
        said = (usage_of(raw) if isinstance(reading, ReplyError) else reading.usage) or Usage()
        return usage.spent(
            said.prompt_tokens, said.completion_tokens, said.cost, self.endpoint.model, self._prices
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._line.close()

    async def __aenter__(self) -> ChatModel:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _advice(endpoint: Endpoint) -> Advice:
    return Advice(
        expected="as a chat endpoint",
        address="--base-url",
        key=f"Check the key in {endpoint.key_name}, or name another variable with --api-key-env.",
        refused="Check --model and --base-url with `recallbench judge check`.",
    )


def _read(raw: RawReply, request: ChatRequest) -> Reading:
    return read_text(raw, cut=request.cut) if request.schema is None else read_reply(raw, request.schema)


def _stored(kept: Entry, request: ChatRequest) -> Arrived[Reading]:
    raw = RawReply(kept.status, {}, decoded(kept.body))
    try:
        return Arrived(raw, kept.body, _read(raw, request))
    except ReplyError as error:
        return Arrived(raw, kept.body, error)


def _correction(raw: RawReply, problem: ReplyError, schema: ReplySchema | None) -> list[Mapping[str, str]]:
    """Return the turns that tell a model what was wrong with its reply."""
    said = _content_of(raw)
    form = "in plain words" if schema is None else "with one JSON object of the form asked for"
    words = f"Your reply could not be used: {problem.message} Reply again {form}."
    again: list[Mapping[str, str]] = [{"role": "user", "content": words}]
    return [{"role": "assistant", "content": said}, *again] if said else again


def _content_of(raw: RawReply) -> str:
    try:
        content = raw.body["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        return ""
    return content if isinstance(content, str) else ""
