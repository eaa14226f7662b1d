"""A loopback chat endpoint that remembers by tool calls, as langmem's manager asks for."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

_LOCKER = re.compile(r"locker at the swimming pool is number (\d+)")


class ToolCaller:
    """Calls the first tool it is offered with the locker's number, where the conversation states one.

    Attributes:
        base_url: where it listens.
        asked: the bodies of the requests so far.
    """

    def __init__(self, port: int, asked: list[dict[str, Any]]) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self.asked = asked


@contextmanager
def tool_caller() -> Iterator[ToolCaller]:
    """Run one for as long as the block lasts."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append(body)
            reply = json.dumps(_reply(body)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield ToolCaller(server.server_port, asked)
        finally:
            server.shutdown()
            thread.join()


def _reply(body: dict[str, Any]) -> dict[str, Any]:
    said = json.dumps(body["messages"])
    tools = {tool["function"]["name"] for tool in body["tools"]}
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": "Memory",
                "arguments": json.dumps({"content": f"The user's pool locker is {number}"}),
            },
        }
        for number in dict.fromkeys(_LOCKER.findall(said))
        if "Memory" in tools
    ]
    message = {
        "role": "assistant",
        "content": None if calls else "Nothing to keep.",
        "tool_calls": calls or None,
    }
    return {
        "id": "reply",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
