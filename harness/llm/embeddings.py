"""Ask an embedding model for the vectors of texts, through the cassette.

- Each text's vector is stored under a key of its own, so that it does not matter in what company a text
  was asked about; a text that is stored never goes over the wire.
- A batch that a server refuses, or answers with something else than its vectors, is halved: so one text
  that is too long is found, and a server that takes few texts at once is served. A single text is asked
  about `ATTEMPTS` times; the last unusable reply to it is stored, so that a replay repeats the error.
- Trouble on the way is retried and never stored, see `line`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from types import TracebackType

from harness.llm.cassette import Cassette, Entry, canonical, request_key
from harness.llm.chat_reply import RawReply
from harness.llm.client import ATTEMPTS
from harness.llm.embedding_reply import Embedded, as_reply, read_embeddings
from harness.llm.endpoint import Endpoint
from harness.llm.exchange import Served, Unanswered, Unrecorded
from harness.llm.line import REFUSED_FORM, Advice, Line, decoded
from harness.llm.reply_error import ReplyError, shown
from harness.llm.usage import Spent

BATCH = 64
"""Most texts in one request."""
_ROUTE = "/embeddings"


class EmbeddingModel:
    """An embedding model at an endpoint, asked through a cassette; an async context manager.

    Args:
        endpoint: where and whom to ask.
        cassette: where vectors are kept.
        concurrency: most requests in flight.
        timeout_s: seconds to wait for one reply.
    """

    def __init__(
        self, endpoint: Endpoint, cassette: Cassette, *, concurrency: int = 16, timeout_s: float = 120.0
    ) -> None:
        self.endpoint = endpoint
        self._cassette = cassette
        self._dimensions: int | None = None
        keeps = cassette.mode == "auto"
        self._line = Line(
            endpoint, _ROUTE, _advice(endpoint), keeps=keeps, concurrency=concurrency, timeout_s=timeout_s
        )

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text, in their order; a text that comes twice is asked about once.

        Raises:
            Unanswered: when a text gets no usable vector.
            EndpointError: when the run has to stop, or the cassette lacks a text in replay.
        """
        vectors: dict[str, list[float]] = {}
        lacking = []
        for text in dict.fromkeys(texts):
            kept = self._cassette.get(request_key(self._asked(text)))
            if kept is None:
                lacking.append(text)
            else:
                vectors[text] = self._stored(kept)
        if lacking and self._cassette.mode == "replay":
            raise Unrecorded(
                f"the cassette {self._cassette.path} holds no vector of {self.endpoint.model} for {len(lacking)} "
                f"of {len(vectors) + len(lacking)} texts, the first: {shown(lacking[0])}. Record it, without "
                "--cassette-mode replay, in a .sqlite cassette."
            )
        # All of them to their end: what is paid for is kept when one fails.
        replies = await asyncio.gather(*map(self._fetch, _batches(lacking)), return_exceptions=True)
        for reply in replies:
            if isinstance(reply, BaseException):
                raise reply
            vectors.update(reply)
        return [self._fitting(vectors[text]) for text in texts]

    async def _fetch(self, batch: Sequence[str]) -> dict[str, list[float]]:
        """Return the vectors of texts that the cassette lacks, and store them."""
        body = {"model": self.endpoint.model, "input": list(batch)}
        for attempt in range(1, ATTEMPTS + 1):
            read = partial(_read, count=len(batch), known=self._dimensions)
            try:
                arrived = await self._line.ask(lambda: body, read)
            except ReplyError as error:
                raise self._unanswered(error, attempt) from None
            reading = arrived.reading
            if not isinstance(reading, ReplyError):
                return self._take(batch, *reading)
            if len(batch) > 1:
                middle = len(batch) // 2
                return {**await self._fetch(batch[:middle]), **await self._fetch(batch[middle:])}
            if not reading.retry or attempt == ATTEMPTS:
                self._store(batch[0], arrived.raw.status, arrived.text)
                raise self._unanswered(reading, attempt, batch[0])
        raise AssertionError("the last attempt returns or raises")

    def _take(
        self, batch: Sequence[str], written: Sequence[Embedded], model: str | None
    ) -> dict[str, list[float]]:
        """Store the vectors of a reply; return those that stand."""
        self._dimensions = len(written[0].vector)
        return {
            text: self._stored(self._store(text, 200, as_reply(one, model)))
            for text, one in zip(batch, written, strict=True)
        }

    def _asked(self, text: str) -> str:
        """Return the canonical request for one text; the server's address is no part of it."""
        return canonical({"model": self.endpoint.model, "input": text, "parameters": {}})

    def _store(self, text: str, status: int, body: str) -> Entry:
        asked = self._asked(text)
        entry = Entry(request_key(asked), asked, status, body, self.endpoint.provider, "{}")
        return self._cassette.put(entry)

    def _stored(self, kept: Entry) -> list[float]:
        try:
            [one] = read_embeddings(RawReply(kept.status, {}, decoded(kept.body)), 1)
        except ReplyError as error:
            raise self._unanswered(error, 0) from None
        return one.vector

    def _fitting(self, vector: list[float]) -> list[float]:
        """Return a vector if it is as long as all others of the model, wherever they came from."""
        self._dimensions = self._dimensions or len(vector)
        if len(vector) != self._dimensions:
            lengths = f"{len(vector)} and {self._dimensions}"
            message = f"Vectors of {self.endpoint.model} differ in length: {lengths}. Use a new cassette."
            raise self._unanswered(ReplyError("bad_shape", message), 0)
        return vector

    def _unanswered(self, error: ReplyError, asked: int, text: str | None = None) -> Unanswered:
        if text is not None:
            error = ReplyError(error.kind, f"{error.message} The text: {shown(text)}", retry=error.retry)
        return Unanswered(error, Served(self.endpoint.provider, None, "{}", Spent(), asked))

    async def close(self) -> None:
        """Close the connections."""
        await self._line.close()

    async def __aenter__(self) -> EmbeddingModel:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), BATCH):
        yield texts[start : start + BATCH]


def _advice(endpoint: Endpoint) -> Advice:
    return Advice(
        expected=f"as it should at {_ROUTE}",
        address="the base URL",
        key=f"Check the key in {endpoint.key_name}.",
        refused=f"Check the model, and that {endpoint.base_url} has {_ROUTE}.",
    )


def _read(raw: RawReply, *, count: int, known: int | None) -> tuple[list[Embedded], str | None]:
    """Return the vectors of a reply, and the model as the server names it."""
    try:
        found = read_embeddings(raw, count, known)
    except ReplyError as error:
        if error.kind not in REFUSED_FORM:
            raise
        # There is no other form: a refusal like any other.
        raise ReplyError("bad_request", error.message) from None
    named = raw.body.get("model")
    return found, named if isinstance(named, str) else None
