"""HTTP/1.1 as a server speaks it: keep-alive, Content-Length and chunked bodies, one write a response."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import NamedTuple

MOST_HEADER_BYTES = 64 * 1024
MOST_BODY_BYTES = 64 * 1024 * 1024


class Request(NamedTuple):
    """One request.

    Attributes:
        method: such as POST.
        path: with its query.
        headers: their names in lower case.
        body: as bytes, whatever way it was sent.
        arrived: when it was there as a whole, by the loop's clock.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    arrived: float


class Response(NamedTuple):
    """What is written back.

    Attributes:
        status: the HTTP status.
        body: the bytes of the body.
        headers: headers beside Content-Length and Content-Type.
        content_type: of the body.
        sent: how many bytes of the whole response are written before the connection is cut, counted
            from the end when negative; None for all of them, after which the connection stays open.
        claimed: the Content-Length to claim; the true one when None. A false one closes the connection.
        pause_s: how long to wait between headers and body.
    """

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "application/json"
    sent: int | None = None
    claimed: int | None = None
    pause_s: float = 0.0


Handler = Callable[[Request], Awaitable[Response]]
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Malformed(Exception):
    """Bytes that are no HTTP request; the text is sent back with status 400."""


class Connection(asyncio.Protocol):
    """One client's connection: its requests are answered one after another.

    Args:
        handle: returns the response to a request.
        opened: called once a connection is made.
    """

    def __init__(self, handle: Handler, opened: Callable[[], None]) -> None:
        self._handle = handle
        self._opened = opened
        self._buffer = bytearray()
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._continued = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._opened()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._task is None:
            self._next()

    def _next(self) -> None:
        """Begin to answer the next request, once it is whole."""
        transport = self._transport
        if transport is None:
            return
        try:
            request = self._cut()
        except (Malformed, ValueError) as error:
            transport.write(rendered(Response(400, str(error).encode()), close=True))
            transport.close()
            return
        if request is not None:
            self._task = asyncio.get_running_loop().create_task(self._answer(request))

    def _cut(self) -> Request | None:
        """Take a whole request off the buffer; None while it is not there yet."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MOST_HEADER_BYTES:
                raise Malformed("the headers are too long")
            return None
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        words = first.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise Malformed(f"not a request line: {first[:80]!r}")
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
        }
        if "expect" in headers and not self._continued and self._transport is not None:
            self._continued = True
            self._transport.write(CONTINUE)
        if "chunked" in headers.get("transfer-encoding", "").lower():
            body, stop = unchunked(self._buffer, end + 4)
        else:
            stop = end + 4 + _length(headers)
            body = bytes(self._buffer[end + 4 : stop])
        if stop < 0 or stop > len(self._buffer):
            return None
        del self._buffer[:stop]
        self._continued = False
        return Request(words[0], words[1], headers, body, asyncio.get_running_loop().time())

    async def _answer(self, request: Request) -> None:
        response = await self._handle(request)
        transport = self._transport
        if transport is None:
            return
        close = request.headers.get("connection", "").lower() == "close"
        await self._write(transport, response, close=close)
        self._task = None
        if not transport.is_closing():
            self._next()

    async def _write(self, transport: asyncio.Transport, response: Response, *, close: bool) -> None:
        whole = rendered(response, close=close or response.claimed is not None)
        if response.pause_s:
            split = len(whole) - len(response.body)
            transport.write(whole[:split])
            await asyncio.sleep(response.pause_s)
            whole = whole[split:]
        if response.sent is not None:
            transport.write(whole[: response.sent])
        else:
            transport.write(whole)
        if close or response.sent is not None or response.claimed is not None:
            transport.close()


def _length(headers: Mapping[str, str]) -> int:
    said = headers.get("content-length", "0")
    if not said.isdecimal() or int(said) > MOST_BODY_BYTES:
        raise Malformed(f"not a length: {said[:40]!r}")
    return int(said)


def unchunked(buffer: bytes | bytearray, at: int) -> tuple[bytes, int]:
    """Return a chunked body and where it ends; the end is -1 while it is not whole.

    Raises:
        Malformed: for a chunk whose size can't be read.
    """
    parts: list[bytes] = []
    while True:
        line = buffer.find(b"\r\n", at)
        if line < 0:
            return b"", -1
        said = bytes(buffer[at:line]).split(b";")[0].strip()
        try:
            size = int(said, 16)
        except ValueError:
            raise Malformed("not the size of a chunk") from None
        if size == 0:
            return b"".join(parts), _after_trailers(buffer, line + 2)
        start = line + 2
        if len(buffer) < start + size + 2:
            return b"", -1
        parts.append(bytes(buffer[start : start + size]))
        at = start + size + 2


def _after_trailers(buffer: bytes | bytearray, at: int) -> int:
    while (line := buffer.find(b"\r\n", at)) >= 0:
        if line == at:
            return line + 2
        at = line + 2
    return -1


def rendered(response: Response, *, close: bool) -> bytes:
    """Return the bytes of a response."""
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:
        phrase = "Overloaded" if response.status == 529 else "Unknown"
    length = len(response.body) if response.claimed is None else response.claimed
    lines = [
        f"HTTP/1.1 {response.status} {phrase}",
        f"content-type: {response.content_type}",
        f"content-length: {length}",
        *(f"{name}: {value}" for name, value in response.headers),
    ]
    if close:
        lines.append("connection: close")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + response.body
