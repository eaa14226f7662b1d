"""A real HTTP server in a thread, which hands each request to an app and remembers it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit


class Request(NamedTuple):
    method: str
    parts: tuple[str, ...]
    query: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]

    @property
    def line(self) -> str:
        return f"{self.method} /{'/'.join(self.parts)}"


class Reply(NamedTuple):
    status: int = 200
    data: Any = None
    headers: Mapping[str, str] = {}


App = Callable[[Request], "Reply | None"]
"""Answers a request; None closes the connection without a word."""


class Running(NamedTuple):
    url: str
    requests: list[Request]

    @property
    def lines(self) -> list[str]:
        return [request.line for request in self.requests]


@contextmanager
def serve(app: App) -> Iterator[Running]:
    seen: list[Request] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16
        disable_nagle_algorithm = True
        timeout = 20

        def answer(self) -> None:
            held = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            split = urlsplit(self.path)
            request = Request(
                self.command,
                tuple(unquote(part) for part in split.path.split("/")[1:]),
                dict(parse_qsl(split.query, keep_blank_values=True)),
                json.loads(held) if held else None,
                {name.lower(): value for name, value in self.headers.items()},
            )
            seen.append(request)
            reply = app(request)
            if reply is None:
                self.close_connection = True
                return
            kind = {} if isinstance(reply.data, bytes) else {"Content-Type": "application/json"}
            data = reply.data if isinstance(reply.data, bytes) else json.dumps(reply.data).encode()
            self.send_response(reply.status)
            for name, value in {**kind, "Content-Length": str(len(data)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(data)
            except OSError:
                self.close_connection = True

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield Running(f"http://127.0.0.1:{server.server_address[1]}", seen)
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def overlap(question: str, text: str) -> int:
    return len(set(question.lower().split()) & set(text.lower().split()))
