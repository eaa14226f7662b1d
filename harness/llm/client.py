"""Ask a chat model for a reply that fits a schema, through the cassette.

One `ChatModel` a judge and run. It owns the policy of retrying:

- A reply that arrived and cannot be used (malformed, cut off, a quote that is not in the
  answer …) is asked for again with a word on what was wrong, up to `ATTEMPTS` in all. Each
  attempt is stored, so that a replay takes the same way.
- Trouble on the way (429, 5xx, a dropped connection …) is retried with growing pauses, or with
  the pause the server asks for, and is never stored.
- A refused key, an exhausted quota, an unknown model or an endpoint that cannot be reached
  stop the run.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from harness.errors import EndpointError, InputError
from harness.llm import usage
from harness.llm.cassette import Cassette, Entry, canonical, request_key
from harness.llm.dialect import Dialect, described
from harness.llm.endpoint import Endpoint
from harness.llm.exchange import Answered, BudgetSpent, ChatRequest, Served, Unanswered, Unrecorded
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
from harness.llm.slots import Slots
from harness.llm.usage import Budget, Price, Spent

if TYPE_CHECKING:
    from harness.llm.transport import Transport

T = TypeVar("T")

ATTEMPTS = 3
"""Replies asked for before one question is given up."""
TRIES = 6
"""Tries to get one reply over a troubled line."""
BUSY_TRIES = 20
"""Tries while a server says that it is too much: the limit on requests in flight is still falling then."""
FIRST_TRIES = 3
"""Tries while the endpoint has never answered: a wrong address should not take a minute to show."""
LONGEST_PAUSE_S = 300.0
"""A server that asks for a longer pause than this stops the run."""
_BACKOFF_S = (0.5, 30.0)
_MOST_STEPS = 8
_MOST_TOKENS = 32_768
# So many questions in a row given up for want of a connection: nobody is there.
_DEAD_AFTER = 3


Reading = Parsed | TextReply | ReplyError


class _Got(NamedTuple):
    """A reply that arrived: as it came, what was sent for it, and what it reads as."""

    raw: RawReply
    text: str
    sent: dict[str, Any]
    reading: Reading


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
        self.slots = Slots(concurrency)
        self.fresh = Spent()
        self._cassette = cassette
        self._timeout_s = timeout_s
        self._prices = prices or {}
        self._budget = max_cost if isinstance(max_cost, Budget) else Budget(max_cost)
        self._retry_errors = retry_errors
        self._dialect = Dialect()
        self._transport: Transport | None = None
        self._ever_reached = False
        self._unreached = 0
        self._resume_at = 0.0

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
                entry, got, new = await self._reply(request, messages, wanted, attempt, fresh=fresh)
            except Unanswered as failed:  # the attempts before it were used all the same
                raise Unanswered(failed.error, failed.served._replace(spent=total)) from None
            raw, reading = got.raw, got.reading
            asked += new
            total = total.plus(self._use(raw, reading))
            served = Served(entry.provider, _model_of(raw), entry.sent, total, asked)
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
    ) -> tuple[Entry, _Got, int]:
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
            return kept, _got(kept, request.schema), 0
        if self._cassette.mode == "replay":
            raise Unrecorded(
                f"{request.label}: the cassette {self._cassette.path} holds no reply of {self.endpoint.model} "
                f"for this (attempt {attempt + 1}, repeat {request.repeat + 1}). Record it, without "
                "--cassette-mode replay, in a .sqlite cassette."
            )
        got = await self._fetch(request, messages, wanted)
        entry = Entry(key, asked, got.raw.status, got.text, self.endpoint.provider, canonical(got.sent))
        stands = self._cassette.put(entry, replace=fresh)
        return stands, got if stands is entry else _got(stands, request.schema), 1

    async def _fetch(
        self, request: ChatRequest, messages: list[Mapping[str, str]], wanted: Mapping[str, Any]
    ) -> _Got:
        """Get one reply over the wire, retrying trouble on the way."""
        from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

        def enough(state: RetryCallState) -> bool:
            error = state.outcome.exception() if state.outcome else None
            if isinstance(error, ReplyError) and error.kind in ("rate_limited", "overloaded"):
                return state.attempt_number >= BUSY_TRIES
            return state.attempt_number >= (TRIES if self._ever_reached else FIRST_TRIES)

        def pause(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            said = error.wait_s if isinstance(error, ReplyError) else None
            low, high = _BACKOFF_S
            grown = min(high, low * 2 ** (state.attempt_number - 1))
            return grown * random.uniform(0.5, 1.0) if said is None else said + random.uniform(0, 0.1 * grown)

        trying = AsyncRetrying(
            stop=enough,
            retry=retry_if_exception(lambda error: isinstance(error, ReplyError) and error.retry),
            wait=pause,
            sleep=asyncio.sleep,
            reraise=True,
        )
        try:
            got: _Got = await trying(self._send, request, messages, wanted)
        except ReplyError as error:
            if error.kind in ("connection", "timeout") or (
                error.kind == "provider_error" and not self._ever_reached
            ):
                self._count_unreached(error)
            served = Served(self.endpoint.provider, None, "{}", Spent(), 1)
            raise Unanswered(error, served) from None
        self._unreached = 0
        return got

    async def _send(
        self, request: ChatRequest, messages: list[Mapping[str, str]], wanted: Mapping[str, Any]
    ) -> _Got:
        """Send one request, in as many forms as the endpoint makes necessary."""
        for _ in range(_MOST_STEPS):
            async with self.slots:
                await self._wait_for_turn()
                self._check_budget()
                cuts = self.slots.cuts
                body = self._dialect.body(self.endpoint.model, messages, wanted, request.schema)
                raw, text = await self._post(body)
            reading = _read(raw, request.schema)
            if not isinstance(reading, ReplyError) or reading.arrived:
                self._ever_reached = True
                self.slots.went_well()
                self._count(raw, reading)
                return _Got(raw, text, described(body), reading)
            trouble = reading
            assert self._transport is not None
            trouble.message = self._transport.without_key(trouble.message)  # escaped, it was hidden from it
            if trouble.stops_run:
                raise EndpointError(self._refused(trouble))
            if trouble.kind != "provider_error":  # which a wrong address gives, too
                self._ever_reached = True
            if trouble.kind in ("unsupported_param", "unsupported_format"):
                if self._dialect.adapt(trouble, body):
                    continue
                raise Unanswered(trouble, Served(self.endpoint.provider, None, "{}", Spent(), 1))
            if trouble.kind in ("rate_limited", "overloaded"):
                self.slots.slow_down(cuts)
            self._yield_to(trouble)
            raise trouble
        raise EndpointError(
            f"{self.endpoint.label}: refused {_MOST_STEPS} forms of the same request. "
            "Check --base-url and --model with `recallbench judge check`."
        )

    async def _post(self, body: Mapping[str, Any]) -> tuple[RawReply, str]:
        if self._transport is None:
            from harness.llm.transport import Transport

            self._transport = Transport(self.endpoint, self._timeout_s, self.slots.ceiling)
        status, headers, text = await self._transport.post(body)
        return RawReply(status, headers, _decoded(text)), text

    async def _wait_for_turn(self) -> None:
        """Wait for the end of a pause that the server asked everybody for."""
        loop = asyncio.get_running_loop()
        while (left := self._resume_at - loop.time()) > 0:
            await asyncio.sleep(left)

    def _yield_to(self, trouble: ReplyError) -> None:
        """Hold every request back for as long as the server asks."""
        if trouble.wait_s is None:
            return
        if trouble.wait_s > LONGEST_PAUSE_S:
            raise EndpointError(
                f"{self.endpoint.label}: asks to wait {trouble.wait_s:.0f} s ({trouble.message})."
                f"{self._kept} Run the same command again later."
            )
        until = asyncio.get_running_loop().time() + trouble.wait_s
        self._resume_at = max(self._resume_at, until)

    def _count_unreached(self, error: ReplyError) -> None:
        self._unreached += 1
        if not self._ever_reached or self._unreached >= _DEAD_AFTER:
            found = (
                "answers, but not as a chat endpoint,"
                if error.kind == "provider_error"
                else "cannot be reached"
            )
            raise EndpointError(
                f"{self.endpoint.label}: {found} at {self.endpoint.base_url}: "
                f"{error.message.rstrip('.')}. Check --base-url, and that the server runs.{self._kept}"
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

    def _count(self, raw: RawReply, reading: Reading) -> None:
        used = self._use(raw, reading)
        self.fresh = self.fresh.plus(used)
        self._budget.spent += used.cost or 0.0

    def _use(self, raw: RawReply, reading: Reading) -> Spent:
        said = (usage_of(raw) if isinstance(reading, ReplyError) else reading.usage) or Usage()
        return usage.spent(
            said.prompt_tokens, said.completion_tokens, said.cost, self.endpoint.model, self._prices
        )

    def _refused(self, trouble: ReplyError) -> str:
        name = self.endpoint.key_name
        mend = {
            "auth": f"Check the key in {name}, or name another variable with --api-key-env."
            if name
            else "No key was sent: name the variable that holds one with --api-key-env.",
            "quota": "Top up the account, or choose another provider.",
        }.get(trouble.kind, "Check --model and --base-url with `recallbench judge check`.")
        return f"{self.endpoint.label}: {trouble.kind}: {trouble.message} {mend}{self._kept}"

    @property
    def _kept(self) -> str:
        """What to add for the user when a run stops: nothing where nothing is kept."""
        return " What is finished is kept." if self._cassette.mode == "auto" else ""

    async def close(self) -> None:
        """Close the connections."""
        if self._transport is not None:
            await self._transport.close()
            self._transport = None

    async def __aenter__(self) -> ChatModel:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _read(raw: RawReply, schema: ReplySchema | None) -> Reading:
    try:
        return read_text(raw) if schema is None else read_reply(raw, schema)
    except ReplyError as error:
        return error


def _got(kept: Entry, schema: ReplySchema | None) -> _Got:
    raw = RawReply(kept.status, {}, _decoded(kept.body))
    return _Got(raw, kept.body, {}, _read(raw, schema))


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _model_of(raw: RawReply) -> str | None:
    named = raw.body.get("model") if isinstance(raw.body, dict) else None
    return named if isinstance(named, str) and named else None


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
