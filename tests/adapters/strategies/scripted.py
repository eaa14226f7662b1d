"""A chat endpoint on loopback that says what a script says, reply by reply, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Scripted:
    """The script still to be said, and the requests so far.

    A line of the script is an object (said as JSON), a text (said as it is), or a number: an HTTP status
    with an error body. When nothing is left, requests are refused.
    """

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        self.base_url = ""

    def reply(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.requests.append(body)
        line = self.script.pop(0) if self.script else 400
        if isinstance(line, int):
            return line, {"error": {"message": f"scripted {line}", "type": "scripted"}}
        text = line if isinstance(line, str) else json.dumps(line)
        choice = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
        }
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return 200, {
            "id": "x",
            "object": "chat.completion",
            "model": "scripted",
            "choices": [choice],
            "usage": usage,
        }

    def text(self, at: int) -> str:
        """Return all that the request `at` says, roles left out."""
        return "\n".join(message["content"] for message in self.requests[at]["messages"])


@contextmanager
def serving(*script: Any) -> Iterator[Scripted]:
    """Serve a script for as long as the block lasts; a block that ends well has used it up."""
    model = Scripted(*script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, said = model.reply(body)
            data = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        model.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
    assert model.script == [], "the script was not said to its end"
